//! Parses Python's statements, and continues after a faulty one.

use super::expr::Parser;
use super::token::Tok;
use super::{Expr, PyExprKind, Statement, StatementKind};
use crate::rules::REFUSED_CODE;
use crate::syntax::BinaryOp;
use crate::syntax::source::Ident;

/// The maximum depth of nested blocks.
const MAX_BLOCKS: usize = 20;

/// The first words of refused statements, each with the words for the message and for the help.
const REFUSED: &[(&str, &str, &str)] = &[
    ("import", "imports", "ask the host for what the step needs"),
    ("from", "imports", "ask the host for what the step needs"),
    ("def", "functions", ""),
    ("class", "classes", ""),
    ("return", "functions", ""),
    ("while", "loops without bound", "write `for x in xs:` over a list"),
    ("try", "handlers of errors", "test with `in`, `.get(…)` or `isinstance(…)` before"),
    ("with", "`with` blocks", ""),
    ("del", "deletions", "code-step variables are gone with the turn"),
    ("global", "declarations of scope", "every assigned name is a context variable"),
    ("nonlocal", "declarations of scope", "every assigned name is a context variable"),
    ("assert", "assertions", "write a condition on the step"),
    ("raise", "raised errors", "write a condition on the step"),
    ("break", "jumps", "filter the list before"),
    ("continue", "jumps", "write `if` around the rest"),
    ("async", "waiting steps", ""),
    ("yield", "generators", ""),
    ("exec", "evaluations of text", ""),
    ("print", "prints", "the trace records what a step sets"),
];

impl Parser<'_, '_> {
    /// Parses a whole code step.
    pub(super) fn code(mut self) -> Vec<Statement> {
        let mut statements = Vec::new();
        while *self.peek() != Tok::End {
            let before = self.at;
            self.statements(&mut statements, 0);
            // Skips a stray dedent after an error.
            self.at += usize::from(self.at == before);
        }
        statements
    }

    /// Parses statements up to the end of the block.
    fn statements(&mut self, out: &mut Vec<Statement>, depth: usize) {
        // The end of the last statement or comment, and whether a comment line has followed the last statement.
        let (mut line_end, mut commented) = (self.range().start, false);
        loop {
            match self.peek().clone() {
                Tok::Newline => self.at += 1,
                Tok::Comment(trailing) => {
                    commented |= !trailing;
                    line_end = self.range().end;
                    self.at += 1;
                }
                Tok::Dedent | Tok::End => return,
                Tok::Indent => {
                    self.failed = false;
                    self.expected("no deeper indentation");
                    self.skip_block(depth);
                }
                _ => {
                    self.failed = false;
                    let apart = !std::mem::take(&mut commented) && self.blank_line(line_end);
                    let count = out.len();
                    self.statement(out, depth);
                    if let Some(first) = out.get_mut(count) {
                        first.apart = apart;
                    }
                    line_end = self.tokens[..self.at].last().map_or(line_end, |t| t.range.end);
                    if self.failed {
                        self.recover(depth);
                    }
                }
            }
        }
    }

    /// Whether a blank line separates the last statement from the current token.
    fn blank_line(&self, line_end: usize) -> bool {
        let between = self.text.value.get(line_end..self.range().start).unwrap_or_default();
        line_end > 0
            && between.matches('\n').count()
                > usize::from(!self.text.value[..line_end].ends_with('\n'))
    }

    /// Skips to the next line, and over the block of a faulty line.
    fn recover(&mut self, depth: usize) {
        while !matches!(self.peek(), Tok::Newline | Tok::End | Tok::Indent | Tok::Dedent) {
            self.at += 1;
        }
        while matches!(self.peek(), Tok::Newline | Tok::Comment(..)) {
            self.at += 1;
        }
        if *self.peek() == Tok::Indent {
            self.skip_block(depth);
        }
    }

    fn skip_block(&mut self, _depth: usize) {
        let mut open = 0usize;
        loop {
            match self.peek() {
                Tok::Indent => open += 1,
                Tok::Dedent => open = open.saturating_sub(1),
                Tok::End => return,
                _ => {}
            }
            self.at += 1;
            if open == 0 {
                return;
            }
        }
    }

    fn statement(&mut self, out: &mut Vec<Statement>, depth: usize) {
        let Tok::Name(word) = self.peek().clone() else {
            self.simple_line(out);
            return;
        };
        match word.as_str() {
            "if" => self.conditional(out, depth),
            "for" => self.repeated(out, depth),
            "elif" | "else" => {
                self.expected("a statement");
            }
            // A part of a refused `try`, which is reported.
            "except" | "finally" => self.failed = true,
            word => {
                let refused = REFUSED.iter().find(|(w, ..)| *w == word);
                let calls = matches!(word, "print" | "exec");
                match refused {
                    Some((_, what, help)) if !calls || self.next_is("(") => {
                        self.refused(what, help);
                    }
                    _ => self.simple_line(out),
                }
            }
        }
    }

    fn next_is(&self, sign: &str) -> bool {
        matches!(self.tokens.get(self.at + 1).map(|t| &t.kind), Some(Tok::Sign(s)) if *s == sign)
    }

    /// Parses the simple statements of one line, separated by `;`.
    fn simple_line(&mut self, out: &mut Vec<Statement>) {
        loop {
            self.simple(out);
            if self.failed || !self.eat(";") {
                break;
            }
            // Python permits a `;` at the end of a line.
            if matches!(self.peek(), Tok::Newline | Tok::End | Tok::Comment(..)) {
                break;
            }
        }
        if !self.failed
            && !matches!(self.peek(), Tok::Newline | Tok::End | Tok::Comment(..) | Tok::Dedent)
        {
            self.expected("the end of the line");
        }
    }

    fn simple(&mut self, out: &mut Vec<Statement>) {
        if self.eat_word("pass") {
            return;
        }
        let first = self.expression();
        if self.failed {
            return;
        }
        let augmented = match self.sign() {
            "+=" => Some(BinaryOp::Add),
            "-=" => Some(BinaryOp::Subtract),
            "*=" => Some(BinaryOp::Multiply),
            "/=" => Some(BinaryOp::Divide),
            "//=" => Some(BinaryOp::FloorDivide),
            "%=" => Some(BinaryOp::Modulo),
            "**=" => Some(BinaryOp::Power),
            "&=" | "|=" | "^=" | "<<=" | ">>=" | "@=" => {
                self.refused("bit operators", "");
                return;
            }
            _ => None,
        };
        if let Some(op) = augmented {
            self.at += 1;
            let right = self.expression();
            let span = first.span.to(right.span);
            let value =
                Expr::new(PyExprKind::Binary(op, Box::new(first.clone()), Box::new(right)), span);
            self.assign(first, value, out);
            return;
        }
        if self.is(",") {
            self.refused("assignments to several names", "write one line for each");
            return;
        }
        if self.is(":") {
            self.refused("annotations", "write `name = value`");
            return;
        }
        if self.is("=") {
            let first_span = first.span;
            let mut targets = vec![first];
            while self.eat("=") {
                targets.push(self.expression());
            }
            if self.is(",") {
                self.refused("tuples without parentheses", "write a list: `[a, b]`");
            }
            let value = targets.pop().filter(|_| !self.failed);
            for target in targets {
                match &value {
                    Some(value) => self.assign(target, value.clone(), out),
                    // The name becomes a variable even if its value is refused, to avoid further findings.
                    None if matches!(target.kind, PyExprKind::Name(_)) => {
                        self.assign(target, Expr::new(PyExprKind::Bad, first_span), out);
                    }
                    None => {}
                }
            }
            return;
        }
        // A text alone is a comment; any other expression has no visible effect.
        if !matches!(first.kind, PyExprKind::Text(_)) {
            let finding = REFUSED_CODE
                .at(first.span, "a code step only assigns: this statement changes nothing")
                .help("write `name = …`; for a list `xs = xs + [x]`");
            self.fault(finding);
        }
    }

    fn assign(&mut self, target: Expr, value: Expr, out: &mut Vec<Statement>) {
        let span = target.span.to(value.span);
        let help = "build the whole value and assign it to a name";
        let kind = if let PyExprKind::Name(name) = target.kind {
            StatementKind::Assign(Ident::new(name, target.span), value)
        } else if let PyExprKind::Index(mapping, key) = target.kind
            && let (PyExprKind::Name(name), PyExprKind::Text(text)) = (mapping.kind, key.kind)
        {
            let mapping = Ident::new(name, mapping.span);
            StatementKind::Store { mapping, key: Ident::new(text, key.span), value }
        } else {
            let finding = REFUSED_CODE.at(target.span, "only names can be assigned to");
            self.fault(finding.help(help));
            return;
        };
        out.push(Statement { kind, apart: false, span });
    }

    /// Parses `if` or `elif`; the condition follows the current word.
    fn conditional(&mut self, out: &mut Vec<Statement>, depth: usize) {
        let start = self.here();
        self.at += 1;
        let condition = self.expression();
        if self.is("=") {
            let finding = crate::rules::SYNTAX
                .at(self.here(), "`=` assigns: a condition compares with `==`")
                .help("write `==`");
            self.fault(finding);
        }
        let Some(then) = self.block(depth) else { return };
        let mut other = Vec::new();
        let end = self.tokens[..self.at].iter().rev().find(|t| !t.range.is_empty());
        let span = start.to(end.map_or(start, |t| self.text.span(t.range.clone())));
        self.skip_blank_lines_before(&["elif", "else"]);
        if self.is_word("elif") {
            // A chain of `elif` nests as deeply as blocks do.
            if depth < MAX_BLOCKS {
                self.conditional(&mut other, depth + 1);
            } else {
                self.refused("branches of this depth", "");
            }
        } else if self.eat_word("else") {
            other = self.block(depth).unwrap_or_default();
        }
        let kind = StatementKind::If(condition, then, other);
        out.push(Statement { kind, apart: false, span });
    }

    /// Skips blank lines and comments between the branches of an `if`, which would otherwise end it.
    fn skip_blank_lines_before(&mut self, words: &[&str]) {
        let next = self.tokens[self.at..]
            .iter()
            .position(|t| !matches!(t.kind, Tok::Newline | Tok::Comment(..)));
        if let Some(skip) = next
            && matches!(&self.tokens[self.at + skip].kind, Tok::Name(n) if words.contains(&n.as_str()))
        {
            self.at += skip;
        }
    }

    fn repeated(&mut self, out: &mut Vec<Statement>, depth: usize) {
        let start = self.here();
        self.at += 1;
        let Some(name) = self.identifier() else {
            self.expected("a name");
            return;
        };
        if self.is(",") {
            self.refused("loops over pairs", "bind one name and index it");
            return;
        }
        if !self.eat_word("in") {
            self.expected("`in`");
            return;
        }
        let source = self.expression();
        let Some(body) = self.block(depth) else { return };
        let span = start.to(source.span);
        if self.is_word("else") {
            self.refused("`else` branches of loops", "");
            return;
        }
        let kind = StatementKind::For(name, source, body);
        out.push(Statement { kind, apart: false, span });
    }

    /// Parses `:` and what follows it: an indented block, or statements on the same line.
    fn block(&mut self, depth: usize) -> Option<Vec<Statement>> {
        if !self.failed && !self.eat(":") {
            self.expected("`:`");
        }
        if self.failed {
            return None;
        }
        if depth >= MAX_BLOCKS {
            self.refused("blocks of this depth", "");
            return None;
        }
        let mut body = Vec::new();
        if !matches!(self.peek(), Tok::Newline | Tok::Comment(..)) {
            self.simple_line(&mut body);
            return (!self.failed).then_some(body);
        }
        while matches!(self.peek(), Tok::Newline | Tok::Comment(..)) {
            self.at += 1;
        }
        if *self.peek() != Tok::Indent {
            self.expected("an indented block");
            return None;
        }
        self.at += 1;
        self.statements(&mut body, depth + 1);
        self.at += usize::from(*self.peek() == Tok::Dedent);
        self.failed = false;
        Some(body)
    }
}
