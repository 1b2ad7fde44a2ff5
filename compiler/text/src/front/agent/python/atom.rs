//! Parses names, literals, brackets, and what follows a value: calls, attributes, subscripts.

use super::expr::{KEYWORDS, Parser};
use super::token::Tok;
use super::{Expr, PyExprKind};
use crate::span::{Ident, Span};

/// Keywords of refused expressions, each with the word for the message.
const REFUSED_WORDS: &[(&str, &str)] =
    &[("lambda", "functions"), ("await", "waiting"), ("yield", "generators")];

impl Parser<'_, '_> {
    pub(super) fn postfix(&mut self) -> Expr {
        let start = self.here();
        let mut expr = self.atom();
        while !self.failed {
            if self.eat(".") {
                let Some(name) = self.identifier() else { return self.expected("a name") };
                expr = self.node(PyExprKind::Attribute(Box::new(expr), name), start);
            } else if self.eat("(") {
                let arguments = self.arguments();
                expr = self.node(PyExprKind::Call(Box::new(expr), arguments), start);
            } else if self.eat("[") {
                expr = self.subscript(expr, start);
            } else {
                break;
            }
        }
        expr
    }

    pub(super) fn identifier(&mut self) -> Option<Ident> {
        let Tok::Name(name) = self.peek() else { return None };
        if KEYWORDS.contains(&name.as_str()) || matches!(name.as_str(), "None" | "True" | "False") {
            return None;
        }
        let ident = Ident::new(name.clone(), self.here());
        self.at += 1;
        Some(ident)
    }

    fn subscript(&mut self, base: Expr, start: Span) -> Expr {
        let from = if self.is(":") { None } else { Some(Box::new(self.expression())) };
        if self.eat(":") {
            let to =
                if self.is("]") || self.is(":") { None } else { Some(Box::new(self.expression())) };
            if self.is(":") {
                return self.refused("slices with a step", "");
            }
            if !self.eat("]") {
                return self.expected("`]`");
            }
            return self.node(PyExprKind::Slice(Box::new(base), from, to), start);
        }
        if !self.eat("]") {
            return self.expected("`]`");
        }
        match from {
            Some(index) => self.node(PyExprKind::Index(Box::new(base), index), start),
            None => self.expected("an index"),
        }
    }

    fn arguments(&mut self) -> Vec<Expr> {
        let mut arguments = Vec::new();
        while !self.is(")") && !self.failed {
            if self.is("*") || self.is("**") {
                self.refused("unpacked arguments", "write the arguments out");
                break;
            }
            let start = self.here();
            let argument = self.expression();
            if self.is("=") {
                self.refused("arguments by name", "give the arguments in order");
                break;
            }
            let argument =
                if self.is_word("for") { self.comprehension(argument, start) } else { argument };
            arguments.push(argument);
            if !self.eat(",") {
                break;
            }
        }
        if !self.failed && !self.eat(")") {
            self.expected("`,` or `)`");
        }
        arguments
    }

    /// Parses a comprehension after its item: `for name in source [if filter]`.
    fn comprehension(&mut self, item: Expr, start: Span) -> Expr {
        self.eat_word("for");
        let Some(name) = self.identifier() else { return self.expected("a name") };
        if self.is(",") {
            return self.refused("comprehensions over pairs", "bind one name and index it");
        }
        if !self.eat_word("in") {
            return self.expected("`in`");
        }
        // Not `expression`: an `if` here begins the filter.
        let (Ok(source) | Err(source)) = self.nested(|p| p.or());
        let source = Box::new(source);
        let filter = self.eat_word("if").then(|| self.nested(|p| p.or()));
        let filter = filter.map(|(Ok(filter) | Err(filter))| Box::new(filter));
        if self.is_word("if") {
            return self.refused("comprehensions with two conditions", "join them with `and`");
        }
        if self.is_word("for") || self.is_word("async") {
            return self.refused("comprehensions over two sources", "write two assignments");
        }
        self.node(PyExprKind::Comprehension { item: Box::new(item), name, source, filter }, start)
    }

    fn atom(&mut self) -> Expr {
        let start = self.here();
        let kind = match self.peek().clone() {
            Tok::Int(i) => PyExprKind::Int(i),
            Tok::Float(x) => PyExprKind::Float(x),
            Tok::Text(mut text) => {
                self.at += 1;
                // Adjacent strings are one string, as in Python.
                while let Tok::Text(more) = self.peek() {
                    text.push_str(more);
                    self.at += 1;
                }
                return self.node(PyExprKind::Text(text), start);
            }
            Tok::Name(word) => match word.as_str() {
                "None" => PyExprKind::None,
                "True" => PyExprKind::Bool(true),
                "False" => PyExprKind::Bool(false),
                word if KEYWORDS.contains(&word) => {
                    return match REFUSED_WORDS.iter().find(|(w, _)| *w == word) {
                        Some((_, what)) => self.refused(what, ""),
                        None => self.expected("a value"),
                    };
                }
                _ => PyExprKind::Name(word),
            },
            Tok::Sign("(") => return self.bracketed(")"),
            Tok::Sign("[") => return self.bracketed("]"),
            Tok::Sign("{") => return self.braced(),
            Tok::Bad => {
                self.failed = true;
                return Expr::new(PyExprKind::Bad, start);
            }
            _ => {
                return self.expected("a value");
            }
        };
        self.at += 1;
        self.node(kind, start)
    }

    /// Parses a tuple, a list, a value in parentheses, a comprehension or a generator.
    fn bracketed(&mut self, close: &'static str) -> Expr {
        let start = self.here();
        self.at += 1;
        let mut items = Vec::new();
        let mut comma = false;
        while !self.is(close) && !self.failed {
            if self.is("*") {
                return self.refused("unpacked values", "");
            }
            let item_start = self.here();
            let item = self.expression();
            if self.is_word("for") && items.is_empty() {
                let made = self.comprehension(item, item_start);
                if !self.failed && !self.eat(close) {
                    return self.expected(&format!("`{close}`"));
                }
                return if self.failed { made } else { self.node(made.kind, start) };
            }
            items.push(item);
            comma = self.eat(",");
            if !comma {
                break;
            }
        }
        if !self.failed && !self.eat(close) {
            return self.expected(&format!("`,` or `{close}`"));
        }
        // Without a comma, parentheses only group. A tuple becomes a list.
        if close == ")" && !comma && items.len() == 1 {
            return items.pop().unwrap_or_else(|| Expr::new(PyExprKind::Bad, start));
        }
        self.node(PyExprKind::List(items), start)
    }

    fn braced(&mut self) -> Expr {
        let start = self.here();
        self.at += 1;
        let mut entries = Vec::new();
        let mut items = Vec::new();
        while !self.is("}") && !self.failed {
            if self.is("*") || self.is("**") {
                return self.refused("unpacked values", "");
            }
            let key = self.expression();
            if self.eat(":") {
                entries.push((key, self.expression()));
            } else {
                items.push(key);
            }
            if self.is_word("for") {
                return self.refused("dict and set comprehensions", "build a list");
            }
            if !self.eat(",") {
                break;
            }
        }
        if !(self.failed || entries.is_empty() || items.is_empty()) {
            return self.expected("`:`");
        }
        if !self.failed && !self.eat("}") {
            return self.expected("`,` or `}`");
        }
        let kind =
            if items.is_empty() { PyExprKind::Dict(entries) } else { PyExprKind::Set(items) };
        self.node(kind, start)
    }
}
