//! The reads and writes of names in a turn's walk, in order. [`super::names`] derives the role of each name from them.

use super::prepare::Work;
use crate::front::agent::code::is_identity;
use crate::front::agent::format::FormatPart;
use crate::front::agent::python::{Asked, Expr, PyExprKind, Statement, StatementKind, uses};
use crate::span::Span;
use crate::syntax::UnaryOp;
use std::collections::BTreeSet;

/// A read or a write, in the order of a turn's walk.
pub(super) struct Event {
    pub(super) name: String,
    pub(super) span: Span,
    pub(super) kind: EventKind,
    /// For a read through `context`: the form of the access.
    pub(super) asked: Option<Asked>,
    /// For a read in a condition: how the condition uses the value.
    pub(super) condition: Option<ReadKind>,
}

/// The use of a value in a condition.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum ReadKind {
    /// Only its truth value, as in `not x`.
    Truth,
    /// The value itself, as in `x > 3`.
    Value,
}

impl Event {
    fn new(name: &str, span: Span, kind: EventKind) -> Self {
        Self { name: name.to_owned(), span, kind, asked: None, condition: None }
    }
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum EventKind {
    /// `nested`: inside of a comprehension of a code step. `lenient`: through `.get(…)`.
    Read { nested: bool, lenient: bool, prompt: bool },
    /// `sure`: on every path. `identity`: keeps the value.
    Write { sure: bool, identity: bool },
}

/// All reads and writes of an agent, in the order of the walk.
pub(super) fn events(work: &Work<'_>) -> Vec<Event> {
    let mut events = Vec::new();
    let mut moved = false;
    for one in &work.steps {
        let conditional = one.is_conditional();
        if let Some(run_if) = &one.run_if {
            conditions(run_if, &mut events);
        }
        fields(one.prompt.iter().flat_map(|w| &w.parts).chain(&one.arguments), &mut events);
        for injected in &one.injected {
            if let Some(condition) = &injected.condition {
                conditions(condition, &mut events);
            }
            fields(&injected.arguments, &mut events);
            fields(&work.components[injected.component].fragment.parts, &mut events);
        }
        writes(&one.code, !conditional, &mut events);
        let moves = one.step.to.is_some() || one.step.map.is_some();
        if super::decide::guesses(one.step) {
            for name in super::decide::HEURISTIC {
                let kind = EventKind::Read { nested: false, lenient: true, prompt: false };
                events.push(Event::new(name, one.step.name.span, kind));
            }
        }
        // The conditions of the table are evaluated at each move. The first one decides whether a name is read before it is set.
        if moves && !moved {
            moved = true;
            table(work, &mut events);
        }
    }
    if !moved {
        table(work, &mut events);
    }
    events
}

/// Adds the reads of the transition table, whose conditions are evaluated whenever a step moves.
fn table(work: &Work<'_>, events: &mut Vec<Event>) {
    for permit in &work.permits {
        if let Some(condition) = &permit.condition {
            conditions(condition, events);
        }
        fields(&permit.arguments, events);
    }
}

/// Adds the reads of a condition.
fn conditions(expr: &Expr, events: &mut Vec<Event>) {
    let before = events.len();
    reads(expr, false, events);
    let truths = truths(expr);
    for event in &mut events[before..] {
        let decides = truths.contains(&event.span);
        event.condition = Some(if decides { ReadKind::Truth } else { ReadKind::Value });
    }
}

/// The places of names whose truth value is all that a condition reads.
fn truths(expr: &Expr) -> BTreeSet<Span> {
    match &expr.kind {
        PyExprKind::Name(_) => BTreeSet::from([expr.span]),
        PyExprKind::Unary(UnaryOp::Not, inner) => truths(inner),
        PyExprKind::And(parts) | PyExprKind::Or(parts) => parts.iter().flat_map(truths).collect(),
        _ => BTreeSet::new(),
    }
}

fn reads(expr: &Expr, code: bool, events: &mut Vec<Event>) {
    for read in uses(expr) {
        let lenient = read.asked.as_ref().is_some_and(|asked| *asked != Asked::Key);
        let kind = EventKind::Read { nested: read.nested && code, lenient, prompt: false };
        events.push(Event { asked: read.asked, ..Event::new(&read.name, read.span, kind) });
    }
}

fn fields<'p>(parts: impl IntoIterator<Item = &'p FormatPart>, events: &mut Vec<Event>) {
    for part in parts {
        if let FormatPart::Field(field) = part {
            let kind = EventKind::Read { nested: false, lenient: false, prompt: true };
            events.push(Event::new(&field.name.node, field.name.span, kind));
        }
    }
}

fn writes(code: &[Statement], sure: bool, events: &mut Vec<Event>) {
    for one in code {
        match &one.kind {
            StatementKind::Assign(name, value) | StatementKind::Again(name, value) => {
                reads(value, true, events);
                let identity = is_identity(&name.node, value);
                let kind = EventKind::Write { sure, identity };
                events.push(Event::new(&name.node, name.span, kind));
            }
            StatementKind::Store { .. } => {}
            StatementKind::If(condition, then, other) => {
                reads(condition, true, events);
                writes(then, false, events);
                writes(other, false, events);
            }
            StatementKind::For(name, source, body) => {
                reads(source, true, events);
                let mut inner = Vec::new();
                writes(body, false, &mut inner);
                events.extend(inner.into_iter().filter(|e| e.name != name.node));
            }
        }
    }
}
