//! Parses expressions of ECMAScript by precedence climbing.

use super::{Expr, Fault, Placed, ScriptExprKind, Token, tokens};
use crate::front::scxml::xml::Text;
use crate::syntax::source::{Ident, Span};
use crate::syntax::{BinaryOp, CompareOp};

/// The maximum depth of an expression: the resulting chart is printed and parsed again, with limits of its own.
const DEEPEST: usize = 40;

/// The words that begin constructs which are not translated.
pub(super) const REFUSED: &[&str] =
    &["function", "new", "this", "class", "delete", "await", "async", "yield", "super", "import"];

/// The words that cannot be names.
pub(super) const WORDS: &[&str] = &[
    "in",
    "instanceof",
    "of",
    "var",
    "let",
    "const",
    "if",
    "else",
    "for",
    "while",
    "do",
    "return",
    "switch",
    "case",
    "break",
    "continue",
    "throw",
    "try",
    "catch",
    "finally",
    "with",
    "export",
    "extends",
    "default",
    "debugger",
    "enum",
];

/// Whether a word can name a variable.
pub(in crate::front::scxml) fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '$'))
        && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'))
        && !REFUSED.contains(&word)
        && !["true", "false", "null", "undefined", "typeof", "void"].contains(&word)
        && (word == "of" || !WORDS.contains(&word))
}

pub(super) fn whole(text: &Text) -> Result<Expr, Fault> {
    let mut parser = Parser::new(text)?;
    let found = parser.expr()?;
    let closed = matches!(parser.peek(), Token::Mark(";")) && parser.tokens.len() == parser.at + 2;
    if closed || *parser.peek() == Token::End {
        return Ok(found);
    }
    Err(parser.unexpected("the end"))
}

pub(super) struct Parser {
    tokens: Vec<Placed>,
    pub(super) at: usize,
    depth: usize,
}

impl Parser {
    pub(super) fn new(text: &Text) -> Result<Self, Fault> {
        Ok(Self { tokens: tokens(text)?, at: 0, depth: 0 })
    }

    pub(super) fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    pub(super) fn place(&self) -> Span {
        self.tokens[self.at].1
    }

    /// Whether a line break precedes the next token: there, ECMAScript may insert a semicolon.
    pub(super) fn broken(&self) -> bool {
        self.tokens[self.at].2
    }

    pub(super) fn next(&mut self) -> (Token, Span) {
        let (token, span, _) = self.tokens[self.at].clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        (token, span)
    }

    pub(super) fn eat(&mut self, mark: &str) -> bool {
        let found = matches!(self.peek(), Token::Mark(m) if *m == mark);
        if found {
            self.next();
        }
        found
    }

    pub(super) fn word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Name(name) if name == word)
    }

    pub(super) fn expect(&mut self, mark: &str) -> Result<Span, Fault> {
        let place = self.place();
        if self.eat(mark) { Ok(place) } else { Err(self.unexpected(&format!("`{mark}`"))) }
    }

    pub(super) fn unexpected(&self, wanted: &str) -> Fault {
        let found = match self.peek() {
            Token::End => "the end".to_owned(),
            Token::Int(_) | Token::Float(_) => "a number".to_owned(),
            Token::Text(_) => "a text".to_owned(),
            Token::Name(name) => format!("`{name}`"),
            Token::Mark(mark) => format!("`{mark}`"),
        };
        Fault::Faulty(self.place(), format!("expected {wanted}, found {found}"))
    }

    pub(super) fn refuse<T>(&self, why: &str) -> Result<T, Fault> {
        Err(Fault::Refused(self.place(), why.to_owned()))
    }

    /// Runs a parser one level deeper; refuses text that nests too deeply.
    pub(super) fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        if self.depth >= DEEPEST {
            return self.refuse("this nests too deep");
        }
        self.depth += 1;
        let found = read(self);
        self.depth -= 1;
        found
    }

    pub(super) fn expr(&mut self) -> Result<Expr, Fault> {
        self.nested(Self::conditional)
    }

    fn conditional(&mut self) -> Result<Expr, Fault> {
        let test = self.binary(0)?;
        if !self.eat("?") {
            if matches!(self.peek(), Token::Mark("=>")) {
                return self.refuse("a function is not translated");
            }
            return Ok(test);
        }
        let then = self.expr()?;
        self.expect(":")?;
        let other = self.expr()?;
        let span = test.span.to(other.span);
        make(ScriptExprKind::If(Box::new(test), Box::new(then), Box::new(other)), span)
    }

    /// Parses operators of a rank above `least`. Ranks begin at 1, the loosest.
    fn binary(&mut self, least: u8) -> Result<Expr, Fault> {
        let mut left = self.unary()?;
        loop {
            let (mark, rank) = match self.peek() {
                Token::Mark(mark) => match rank(mark) {
                    Some(rank) if rank > least => (*mark, rank),
                    _ => return Ok(left),
                },
                Token::Name(word) if matches!(word.as_str(), "in" | "instanceof") && least < 8 => {
                    let why = format!("`{word}` is not translated");
                    return self.refuse(&why);
                }
                _ => {
                    return Ok(left);
                }
            };
            if matches!(mark, "&" | "|" | "^" | "<<" | ">>" | ">>>") {
                return self.refuse("operators on bits are not translated");
            }
            self.next();
            // `**` is right-associative, so operators of its own rank belong to its right side.
            let right = self.nested(|p| p.binary(if mark == "**" { rank - 1 } else { rank }))?;
            let span = left.span.to(right.span);
            let (a, b) = (Box::new(left), Box::new(right));
            let kind = match mark {
                "&&" => ScriptExprKind::And(a, b),
                "||" => ScriptExprKind::Or(a, b),
                "??" => ScriptExprKind::Nullish(a, b),
                "===" | "==" => ScriptExprKind::Compare(CompareOp::Equal, a, b),
                "!==" | "!=" => ScriptExprKind::Compare(CompareOp::NotEqual, a, b),
                "<" => ScriptExprKind::Compare(CompareOp::Less, a, b),
                "<=" => ScriptExprKind::Compare(CompareOp::LessEqual, a, b),
                ">" => ScriptExprKind::Compare(CompareOp::Greater, a, b),
                ">=" => ScriptExprKind::Compare(CompareOp::GreaterEqual, a, b),
                "+" => ScriptExprKind::Binary(BinaryOp::Add, a, b),
                "-" => ScriptExprKind::Binary(BinaryOp::Subtract, a, b),
                "*" => ScriptExprKind::Binary(BinaryOp::Multiply, a, b),
                "/" => ScriptExprKind::Binary(BinaryOp::Divide, a, b),
                "%" => ScriptExprKind::Binary(BinaryOp::Modulo, a, b),
                _ => ScriptExprKind::Binary(BinaryOp::Power, a, b),
            };
            left = make(kind, span)?;
        }
    }

    fn unary(&mut self) -> Result<Expr, Fault> {
        let place = self.place();
        let of: fn(Box<Expr>) -> ScriptExprKind = match self.peek() {
            Token::Mark("!") => ScriptExprKind::Not,
            Token::Mark("-") => ScriptExprKind::Negate,
            Token::Mark("+") => ScriptExprKind::Number,
            Token::Mark("~") => return self.refuse("operators on bits are not translated"),
            Token::Mark("++" | "--") => {
                return self.refuse("`++` and `--` stand alone, in a script");
            }
            Token::Name(word) if word == "typeof" => ScriptExprKind::Typeof,
            Token::Name(word) if word == "void" => |_| ScriptExprKind::None,
            _ => {
                return self.postfix();
            }
        };
        self.next();
        let operand = self.nested(Self::unary)?;
        let span = place.to(operand.span);
        // A negative literal is a literal, so that it can be an initial value.
        let signed = matches!(operand.kind, ScriptExprKind::Int(_) | ScriptExprKind::Float(_));
        let kind = of(Box::new(operand));
        if let ScriptExprKind::Negate(number) = &kind
            && signed
        {
            if let ScriptExprKind::Int(i) = number.kind {
                return make(ScriptExprKind::Int(-i), span);
            }
            if let ScriptExprKind::Float(x) = number.kind {
                return make(ScriptExprKind::Float(-x), span);
            }
        }
        make(kind, span)
    }
}

/// Creates an expression, unless it nests too deeply.
pub(super) fn make(kind: ScriptExprKind, span: Span) -> Result<Expr, Fault> {
    let made = Expr::new(kind, span);
    if made.depth > DEEPEST {
        return Err(Fault::Refused(span, "this nests too deep".to_owned()));
    }
    Ok(made)
}

/// The rank of an operator: how tightly it binds. 1 is the loosest.
fn rank(mark: &str) -> Option<u8> {
    Some(match mark {
        "??" => 1,
        "||" => 2,
        "&&" => 3,
        "|" => 4,
        "^" => 5,
        "&" => 6,
        "==" | "!=" | "===" | "!==" => 7,
        "<" | "<=" | ">" | ">=" => 8,
        "<<" | ">>" | ">>>" => 9,
        "+" | "-" => 10,
        "*" | "/" | "%" => 11,
        "**" => 12,
        _ => return None,
    })
}

// Parses operands: names, literals, calls, lists, objects.

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
