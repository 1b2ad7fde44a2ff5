//! Parses operands: names, literals, calls, lists, objects.

use super::expr::{Parser, REFUSED, WORDS, is_name, make};
use super::token::Token;
use super::{Expr, Fault, ScriptExprKind};
use crate::span::{Ident, Span};

impl Parser {
    pub(super) fn postfix(&mut self) -> Result<Expr, Fault> {
        let mut found = self.primary()?;
        loop {
            let place = self.place();
            match self.peek() {
                Token::Mark(".") => {
                    self.next();
                    let (Token::Name(name), at) = self.next() else {
                        self.at = self.at.saturating_sub(1);
                        return Err(self.unexpected("a name"));
                    };
                    let span = found.span.to(at);
                    found =
                        make(ScriptExprKind::Member(Box::new(found), Ident::new(name, at)), span)?;
                }
                Token::Mark("[") => {
                    self.next();
                    let index = self.expr()?;
                    let span = found.span.to(self.expect("]")?);
                    found = make(ScriptExprKind::Index(Box::new(found), Box::new(index)), span)?;
                }
                Token::Mark("(") => {
                    self.next();
                    let (arguments, end) = self.list(")")?;
                    let span = found.span.to(end);
                    found = make(ScriptExprKind::Call(Box::new(found), arguments), span)?;
                }
                Token::Mark("?.") => return self.refuse("`?.` is not translated"),
                Token::Mark("=>") => {
                    return Err(Fault::Refused(
                        found.span.to(place),
                        "a function is not translated".to_owned(),
                    ));
                }
                _ => return Ok(found),
            }
        }
    }

    /// Parses expressions, separated by commas, up to a closing mark.
    pub(super) fn list(&mut self, close: &str) -> Result<(Vec<Expr>, Span), Fault> {
        let mut items = Vec::new();
        loop {
            let place = self.place();
            if self.eat(close) {
                return Ok((items, place));
            }
            if matches!(self.peek(), Token::Mark("...")) {
                return self.refuse("`...` is not translated");
            }
            items.push(self.expr()?);
            if !self.eat(",") && !matches!(self.peek(), Token::Mark(m) if *m == close) {
                return Err(self.unexpected(&format!("`{close}`")));
            }
        }
    }

    fn primary(&mut self) -> Result<Expr, Fault> {
        let place = self.place();
        if let Token::Name(word) = self.peek() {
            if REFUSED.contains(&word.as_str()) {
                let why = match word.as_str() {
                    "function" | "async" => "a function is not translated".to_owned(),
                    word => format!("`{word}` is not translated"),
                };
                return self.refuse(&why);
            }
            if WORDS.contains(&word.as_str()) {
                return Err(self.unexpected("an expression"));
            }
        }
        match self.peek() {
            Token::Mark("(") => {
                self.next();
                let inner = self.expr()?;
                if matches!(self.peek(), Token::Mark(",")) {
                    return self.refuse("`,` between expressions is not translated");
                }
                let end = self.expect(")")?;
                if matches!(self.peek(), Token::Mark("=>")) {
                    return self.refuse("a function is not translated");
                }
                return Ok(Expr { span: place.to(end), ..inner });
            }
            Token::Mark("[") => {
                self.next();
                let (items, end) = self.list("]")?;
                return make(ScriptExprKind::Array(items), place.to(end));
            }
            Token::Mark("{") => return self.object(),
            Token::Mark("/" | "/=") => {
                return self.refuse("a regular expression is not translated");
            }
            Token::Mark(_) | Token::End => return Err(self.unexpected("an expression")),
            _ => {}
        }
        let kind = match self.next().0 {
            Token::Int(i) => ScriptExprKind::Int(i),
            Token::Float(x) => ScriptExprKind::Float(x),
            Token::Text(text) => ScriptExprKind::Text(text),
            Token::Name(name) => match name.as_str() {
                "true" => ScriptExprKind::Bool(true),
                "false" => ScriptExprKind::Bool(false),
                "null" | "undefined" => ScriptExprKind::None,
                _ => ScriptExprKind::Name(name),
            },
            Token::Mark(_) | Token::End => ScriptExprKind::None,
        };
        make(kind, place)
    }

    fn object(&mut self) -> Result<Expr, Fault> {
        let start = self.expect("{")?;
        let mut entries: Vec<(Ident, Expr)> = Vec::new();
        loop {
            let place = self.place();
            if self.eat("}") {
                return make(ScriptExprKind::Object(entries), start.to(place));
            }
            let key = match self.peek().clone() {
                Token::Name(name) | Token::Text(name) => name,
                Token::Int(i) => i.to_string(),
                Token::Mark("[" | "...") => return self.refuse("this entry is not translated"),
                Token::Mark(_) | Token::Float(_) | Token::End => {
                    return Err(self.unexpected("a key"));
                }
            };
            self.next();
            let key = Ident::new(key, place);
            let value = if self.eat(":") {
                self.expr()?
            } else if matches!(self.peek(), Token::Mark("," | "}")) && is_name(&key.node) {
                make(ScriptExprKind::Name(key.node.clone()), place)?
            } else if matches!(self.peek(), Token::Mark("(")) {
                return self.refuse("a function is not translated");
            } else {
                return Err(self.unexpected("`:`"));
            };
            // Of several entries with one key, the last one counts.
            entries.retain(|(known, _)| known.node != key.node);
            entries.push((key, value));
            if entries.len() > 1000 {
                return self.refuse("an object with more than 1000 entries");
            }
            if !self.eat(",") && !matches!(self.peek(), Token::Mark("}")) {
                return Err(self.unexpected("`}`"));
            }
        }
    }
}
