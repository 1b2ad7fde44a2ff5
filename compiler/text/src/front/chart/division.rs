//! Finds `x = a // 2`, a division in Python, which here is `x = a` and a comment.

use super::parse_expression;
use super::scan::Comment;
use crate::diagnostic::Diagnostic;
use crate::rules::lost_division;
use crate::span::{FileId, Span};
use crate::syntax::{
    Action, BinaryOp, Block, ChartItem, Expr, ExprKind, File, Item, Line, LineKind, Noted,
    StateItem, Step, StepItem, StepKind, Tail, UnaryOp,
};
use std::collections::{BTreeMap, BTreeSet};

/// Functions that return numbers. After `//`, a call of any other undeclared name is probably a word of prose.
const FUNCTIONS: [&str; 8] = ["abs", "float", "int", "len", "max", "min", "round", "sum"];

/// Reports comments that directly follow an expression and read like its divisor.
pub(super) fn lost(file: &File, text: &str, comments: &[Comment], found: &mut Vec<Diagnostic>) {
    let divisors: Vec<(Comment, Expr)> = comments
        .iter()
        .filter(|c| !text[c.line..c.start].trim().is_empty())
        .filter_map(|c| Some((*c, divisor(file, text, *c)?)))
        .collect();
    if divisors.is_empty() {
        return;
    }
    let mut seen = DeclaredNames::default();
    seen.file(file);
    for (comment, divisor) in divisors {
        let Some(divided) = seen.behind(&text[..comment.start]) else { continue };
        // `count = 0 // seen` is prose, whatever `seen` is.
        let literal = |e: &Expr| matches!(e.kind, ExprKind::Int(_) | ExprKind::Float(_));
        let named = matches!(divisor.kind, ExprKind::Name(_) | ExprKind::Field(..));
        let prose = literal(divided) && named;
        if !prose && is_number(divided, &seen.names) && is_number(&divisor, &seen.names) {
            let span = Span::new(file.id, comment.start, comment.end);
            found.push(lost_division::comment(&text[comment.start..comment.end], span));
        }
    }
}

/// The expression of which a comment consists, if it consists of one.
fn divisor(file: &File, text: &str, comment: Comment) -> Option<Expr> {
    let body = text[comment.start..comment.end].strip_prefix("//")?;
    expression(body, file.id, comment.start)
}

fn expression(body: &str, file: FileId, at: usize) -> Option<Expr> {
    let written = body.trim();
    if written.starts_with('/') || written.is_empty() || written.len() > 200 || is_prose(written) {
        return None;
    }
    parse_expression(written, file, at).ok()
}

/// Whether a comment with this text could read as the divisor of the expression before it.
pub(in crate::front) fn may_divide(words: &str) -> bool {
    expression(words, FileId(0), 0).is_some()
}

/// Whether two words follow each other, as they never do in arithmetic. Most comments thus need no parser.
fn is_prose(text: &str) -> bool {
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let follows = words.peek().is_some_and(|next| next.starts_with(char::is_alphanumeric));
        if follows && word.ends_with(char::is_alphanumeric) {
            return true;
        }
    }
    false
}

/// Whether the expression computes a number from literals and known variables and functions.
fn is_number(expr: &Expr, names: &BTreeSet<&str>) -> bool {
    match &expr.kind {
        ExprKind::Int(_) | ExprKind::Float(_) => true,
        ExprKind::Name(name) => names.contains(name.as_str()),
        ExprKind::Field(base, _) => is_number(base, names),
        ExprKind::Index(base, _) => is_number(base, names),
        ExprKind::Call(function, _) => {
            let name = function.node.as_str();
            names.contains(name) || FUNCTIONS.contains(&name)
        }
        ExprKind::Unary(UnaryOp::Negate, inner) => is_number(inner, names),
        ExprKind::Binary(op, a, b) => {
            !matches!(op, BinaryOp::And | BinaryOp::Or)
                && is_number(a, names)
                && is_number(b, names)
        }
        ExprKind::Compare(first, rest) => {
            is_number(rest.last().map_or(first, |(_, last)| last), names)
        }
        _ => false,
    }
}

/// The names that a file declares, and the ends of the expressions that a comment may follow.
#[derive(Default)]
struct DeclaredNames<'f> {
    names: BTreeSet<&'f str>,
    ends: BTreeMap<usize, &'f Expr>,
}

impl<'f> DeclaredNames<'f> {
    fn file(&mut self, file: &'f File) {
        for noted in &file.items {
            match &noted.node {
                Item::Chart(chart) => {
                    chart.items.iter().for_each(|item| self.item(&item.node));
                }
                Item::Function(function) => {
                    self.names.insert(&function.name.node);
                }
                _ => {}
            }
        }
    }

    fn item(&mut self, item: &'f ChartItem) {
        match item {
            ChartItem::Variable(variable) => {
                self.names.insert(&variable.name.node);
                self.expr(variable.default.as_ref());
            }
            ChartItem::Function(function) => {
                self.names.insert(&function.name.node);
            }
            ChartItem::Predicate(predicate) => self.expr(Some(&predicate.expr)),
            ChartItem::State(item) => self.states(item),
            _ => {}
        }
    }

    /// Collects from a state and its descendants, with an explicit stack, as states nest as deeply as the parser permits.
    fn states(&mut self, item: &'f StateItem) {
        let mut open = vec![item];
        while let Some(item) = open.pop() {
            match item {
                StateItem::State(state) => {
                    open.extend(state.body.iter().flat_map(|b| &b.items).map(|n| &n.node));
                }
                StateItem::Line(line) => self.line(line),
                StateItem::From(from) => from.lines.iter().for_each(|l| self.line(&l.node)),
                StateItem::Enter(block) | StateItem::Exit(block) => self.block(block),
                StateItem::Step(step) => self.step(step),
                StateItem::Initial(initial) => {
                    initial.actions.iter().for_each(|b| self.block(b));
                }
                StateItem::History(history) => {
                    history.actions.iter().for_each(|b| self.block(b));
                }
                _ => {}
            }
        }
    }

    fn line(&mut self, line: &'f Line) {
        if let LineKind::When(condition) = &line.kind {
            self.expr(Some(condition));
        }
        self.tail(&line.tail);
    }

    fn tail(&mut self, tail: &'f Tail) {
        self.expr(tail.guard.as_ref());
        tail.actions.iter().for_each(|b| self.block(b));
    }

    fn block(&mut self, block: &'f Block) {
        self.actions(&block.actions);
    }

    fn step(&mut self, step: &'f Step) {
        self.expr(step.guard.as_ref());
        if let StepKind::Code(body) = &step.kind {
            self.actions(body);
        }
        for noted in &step.items {
            if let StepItem::Outcome(outcome) = &noted.node {
                self.tail(&outcome.tail);
            }
        }
    }

    fn actions(&mut self, body: &'f [Noted<Action>]) {
        let mut open = vec![body];
        while let Some(block) = open.pop() {
            for noted in block {
                match &noted.node {
                    Action::Assign(name, value) => {
                        self.names.insert(&name.node);
                        self.expr(Some(value));
                    }
                    Action::If(_, then, other) => open.extend([&then[..], other]),
                    Action::For(name, _, inner) => {
                        self.names.insert(&name.node);
                        open.push(inner);
                    }
                    _ => {}
                }
            }
        }
    }

    /// The expression that ends where the text ends. Its span excludes its parentheses, so closing ones are skipped.
    fn behind(&self, text: &str) -> Option<&'f Expr> {
        let mut rest = text.trim_end_matches([' ', '\t']);
        loop {
            if let Some(found) = self.ends.get(&rest.len()) {
                return Some(found);
            }
            rest = rest.strip_suffix(')')?.trim_end_matches([' ', '\t']);
        }
    }

    fn expr(&mut self, expr: Option<&'f Expr>) {
        if let Some(expr) = expr {
            self.ends.insert(expr.span.end as usize, expr);
        }
    }
}
