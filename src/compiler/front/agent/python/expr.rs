//! Parses Python's expressions by recursive descent.
//!
//! The problem: conditions and code of an `agent.yaml` are Python, of which a chart can express a part. Everything else must be refused
//! with its name and its place, and deep nesting must not overflow the stack. The idea: one method for each level of precedence, from the
//! loosest to the tightest: `expression` (`a if c else b`), `or`, `and`, `not`, `comparison`, `arithmetic` (sums, then products), `unary`,
//! `postfix` (calls, attributes, subscripts), `atom`. Where Python has a form that charts have not, the method recognizes it and calls
//! `refused`.
//!
//! - The first error of a statement sets `failed`. All methods then return at once, because further errors would only be consequences.
//! - Two depths are bounded by `MAX_DEPTH`: the nesting of calls on the way down (`nesting`), and the depth of the finished tree (`node`),
//!   as a long chain such as `a.b.c` is deep without nested calls.
//!
//! For example, `not a.b > 2 ** -1 or c` is parsed as
//!
//! ```text
//! Or
//!   Not
//!     Compare >
//!       Attribute b of Name a
//!       Binary ** of 2 and Negate 1
//!   Name c
//! ```

use super::token::{Tok, Token, tokens};
use super::{Expr, MAX_DEPTH, PyExprKind};
use crate::front::agent::text::Text;
use crate::rules::{REFUSED_CODE, SYNTAX, syntax};
use crate::syntax::diagnostic::Diagnostic;
use crate::syntax::source::{Ident, Span};
use crate::syntax::{BinaryOp, CompareOp, UnaryOp};
use std::ops::Range;

/// A cursor over the tokens of one snippet.
pub(in crate::front::agent) struct Parser<'t, 'f> {
    pub(super) text: &'t Text,
    pub(super) tokens: Vec<Token>,
    pub(super) at: usize,
    pub(super) nesting: usize,
    /// Whether an error of the current statement is reported. Further errors would only be consequences.
    pub(super) failed: bool,
    pub(super) findings: &'f mut Vec<Diagnostic>,
}

/// The keywords of Python, which cannot be names.
pub(super) const KEYWORDS: &[&str] = &[
    "and", "or", "not", "in", "is", "if", "else", "elif", "for", "while", "def", "class", "return",
    "import", "from", "lambda", "try", "except", "finally", "with", "as", "pass", "break",
    "continue", "del", "global", "nonlocal", "assert", "raise", "yield", "async", "await",
];

impl<'t, 'f> Parser<'t, 'f> {
    /// Creates a parser of `text`; `flat` for a condition.
    pub(super) fn new(text: &'t Text, flat: bool, findings: &'f mut Vec<Diagnostic>) -> Self {
        let before = findings.len();
        let tokens = tokens(text, flat, findings);
        let failed = flat && findings.len() > before;
        Self { text, tokens, at: 0, nesting: 0, failed, findings }
    }

    pub(super) fn peek(&self) -> &Tok {
        self.tokens.get(self.at).map_or(&Tok::End, |t| &t.kind)
    }

    pub(super) fn range(&self) -> Range<usize> {
        let end = self.text.value.len();
        self.tokens.get(self.at).map_or(end..end, |t| t.range.clone())
    }

    /// The span of the current token. At the end of a line or of the text, the character before it.
    pub(super) fn here(&self) -> Span {
        let range = self.range();
        if range.is_empty() || *self.peek() == Tok::Newline {
            let before = self.text.value[..range.start].trim_end();
            let start = before.char_indices().next_back().map_or(0, |(i, _)| i);
            return self.text.span(start..before.len().max(start));
        }
        self.text.span(range)
    }

    /// The sign at this position, or the empty text.
    pub(super) fn sign(&self) -> &'static str {
        if let Tok::Sign(sign) = self.peek() { sign } else { "" }
    }

    pub(super) fn is(&self, sign: &str) -> bool {
        self.sign() == sign
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Tok::Name(n) if n == word)
    }

    pub(super) fn eat(&mut self, sign: &str) -> bool {
        let found = self.is(sign);
        self.at += usize::from(found);
        found
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    /// Reports an error if it is the first one of the statement.
    pub(super) fn fault(&mut self, finding: Diagnostic) -> Expr {
        let span = finding.span;
        if !self.failed {
            self.failed = true;
            self.findings.push(finding);
        }
        Expr::new(PyExprKind::Bad, span)
    }

    /// Reports that the current token is not what was expected.
    pub(super) fn expected(&mut self, what: &str) -> Expr {
        if *self.peek() == Tok::Bad {
            self.failed = true;
        }
        let found = match self.peek() {
            Tok::Newline | Tok::End | Tok::Dedent | Tok::Indent | Tok::Comment(..) => {
                "the end of the line".to_owned()
            }
            _ => {
                format!("`{}`", &self.text.value[self.range()])
            }
        };
        let finding = syntax::expected(what, &found, self.here());
        self.fault(finding)
    }

    /// Reports a form that Python has and charts have not.
    pub(super) fn refused(&mut self, what: &str, help: &str) -> Expr {
        let mut finding = REFUSED_CODE.at(self.here(), format!("{what} are not available here"));
        if !help.is_empty() {
            finding = finding.help(help);
        }
        self.fault(finding)
    }

    /// A node that began at `start`; refused if its tree is too deep.
    pub(super) fn node(&mut self, kind: PyExprKind, start: Span) -> Expr {
        let end = self.tokens[..self.at].last().map_or(0..0, |t| t.range.clone());
        let expr = Expr::new(kind, start.to(self.text.span(end)));
        if expr.depth > MAX_DEPTH {
            let message = format!("this expression is nested more than {MAX_DEPTH} levels deep");
            let finding = REFUSED_CODE.at(start, message);
            return self.fault(finding.help("name its parts in statements of their own"));
        }
        expr
    }

    /// Parses a condition, which must take up the whole text.
    pub(super) fn condition(mut self) -> Option<Expr> {
        if *self.peek() == Tok::End {
            return None;
        }
        let expr = self.expression();
        if !self.failed && *self.peek() != Tok::End {
            if self.is("=") {
                let finding = SYNTAX
                    .at(self.here(), "`=` assigns: a condition compares with `==`")
                    .help("write `==`; the original took the right-hand side as the condition");
                self.fault(finding);
            } else {
                self.expected("an operator");
            }
        }
        (!self.failed).then_some(expr)
    }

    /// Parses `a if c else b` and everything that binds tighter.
    pub(super) fn expression(&mut self) -> Expr {
        if self.failed {
            return Expr::new(PyExprKind::Bad, self.here());
        }
        // Checked on the way down: the depth of the finished tree would be too late to save the stack.
        self.nesting += 1;
        if self.nesting > MAX_DEPTH {
            self.nesting -= 1;
            let message = format!("this expression is nested more than {MAX_DEPTH} levels deep");
            let finding = REFUSED_CODE.at(self.here(), message);
            return self.fault(finding);
        }
        let start = self.here();
        let mut expr = self.or();
        if self.is_word("if") && !self.failed {
            self.at += 1;
            let condition = self.or();
            if self.eat_word("else") {
                let other = self.expression();
                let kind = PyExprKind::If(Box::new(condition), Box::new(expr), Box::new(other));
                expr = self.node(kind, start);
            } else {
                expr = self.expected("`else`");
            }
        }
        if self.is(":=") {
            expr = self.refused("assignments inside of expressions", "assign in a line of its own");
        }
        self.nesting -= 1;
        expr
    }

    pub(super) fn or(&mut self) -> Expr {
        let start = self.here();
        let mut parts = vec![self.and()];
        while self.eat_word("or") {
            parts.push(self.and());
        }
        self.chain(parts, start, PyExprKind::Or)
    }

    fn and(&mut self) -> Expr {
        let start = self.here();
        let mut parts = vec![self.not()];
        while self.eat_word("and") {
            parts.push(self.not());
        }
        self.chain(parts, start, PyExprKind::And)
    }

    fn chain(
        &mut self,
        mut parts: Vec<Expr>,
        start: Span,
        kind: fn(Vec<Expr>) -> PyExprKind,
    ) -> Expr {
        match parts.pop() {
            Some(only) if parts.is_empty() => only,
            Some(last) => {
                parts.push(last);
                self.node(kind(parts), start)
            }
            None => self.expected("a value"),
        }
    }

    fn not(&mut self) -> Expr {
        let start = self.here();
        if !self.eat_word("not") {
            return self.comparison();
        }
        self.nested(|p| p.not()).map_or_else(
            |e| e,
            |operand| self.node(PyExprKind::Unary(UnaryOp::Not, Box::new(operand)), start),
        )
    }

    /// Runs a parser one level deeper. `Err` has the refusal, an expression of kind `Bad`.
    pub(super) fn nested(&mut self, inner: impl FnOnce(&mut Self) -> Expr) -> Result<Expr, Expr> {
        self.nesting += 1;
        let result = if self.nesting > MAX_DEPTH {
            let finding = REFUSED_CODE.at(self.here(), "this expression is nested too deeply");
            Err(self.fault(finding))
        } else {
            Ok(inner(self))
        };
        self.nesting -= 1;
        result
    }

    fn comparison(&mut self) -> Expr {
        let start = self.here();
        let first = self.arithmetic(0);
        let mut rest = Vec::new();
        while let Some(op) = self.comparison_operator() {
            rest.push((op, self.arithmetic(0)));
        }
        if rest.is_empty() {
            return first;
        }
        self.node(PyExprKind::Compare(Box::new(first), rest), start)
    }

    fn comparison_operator(&mut self) -> Option<CompareOp> {
        let word = if let Tok::Name(word) = self.peek() { word.as_str() } else { "" };
        if word == "not" {
            self.at += 1;
            if !self.eat_word("in") {
                self.expected("`in`");
                return None;
            }
            return Some(CompareOp::NotIn);
        }
        if word == "is" {
            self.at += 1;
            // `None`, `True` and `False` are singletons, so `is` means `==`.
            let not = self.eat_word("not");
            return Some(if not { CompareOp::NotEqual } else { CompareOp::Equal });
        }
        let op = match self.sign() {
            _ if word == "in" => CompareOp::In,
            "==" => CompareOp::Equal,
            "!=" => CompareOp::NotEqual,
            "<" => CompareOp::Less,
            "<=" => CompareOp::LessEqual,
            ">" => CompareOp::Greater,
            ">=" => CompareOp::GreaterEqual,
            _ => return None,
        };
        self.at += 1;
        Some(op)
    }

    /// Parses sums (level 0) and products (level 1).
    fn arithmetic(&mut self, level: usize) -> Expr {
        let start = self.here();
        let mut left = if level == 0 { self.arithmetic(1) } else { self.unary() };
        loop {
            let op = match (level, self.sign()) {
                (0, "+") => BinaryOp::Add,
                (0, "-") => BinaryOp::Subtract,
                (1, "*") => BinaryOp::Multiply,
                (1, "/") => BinaryOp::Divide,
                (1, "//") => BinaryOp::FloorDivide,
                (1, "%") => BinaryOp::Modulo,
                // Level 1 returns at these signs, so they are found here.
                (0, "&" | "|" | "^" | "<<" | ">>") => {
                    return self
                        .refused("bit operators", "write `and`, `or`, `not` for conditions");
                }
                (1, "@") => return self.refused("matrix products", ""),
                _ => return left,
            };
            self.at += 1;
            let right = if level == 0 { self.arithmetic(1) } else { self.unary() };
            left = self.node(PyExprKind::Binary(op, Box::new(left), Box::new(right)), start);
            if self.failed {
                return left;
            }
        }
    }

    fn unary(&mut self) -> Expr {
        let start = self.here();
        if self.is("~") {
            return self.refused("bit operators", "");
        }
        let negative = self.is("-");
        if negative || self.is("+") {
            self.at += 1;
            return match self.nested(|p| p.unary()) {
                Ok(operand) if negative => {
                    self.node(PyExprKind::Unary(UnaryOp::Negate, Box::new(operand)), start)
                }
                Ok(operand) | Err(operand) => operand,
            };
        }
        let base = self.postfix();
        // `**` binds tighter than a sign on its left, and less tight than one on its right: `-2 ** -1` is `-(2 ** (-1))`.
        if self.eat("**") {
            return match self.nested(|p| p.unary()) {
                Ok(power) => {
                    let kind = PyExprKind::Binary(BinaryOp::Power, Box::new(base), Box::new(power));
                    self.node(kind, start)
                }
                Err(refused) => refused,
            };
        }
        base
    }
}

// Parses names, literals, brackets, and what follows a value: calls, attributes, subscripts.

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
