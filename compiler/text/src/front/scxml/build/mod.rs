//! Turns a document into the syntax of a chart.
//!
//! The problem: SCXML names states by ids that are unique in the document, matches events by prefixes, and gives access to the current
//! event everywhere. A chart has paths, events with declared data, and data only where a transition binds them. The idea: a document with
//! resolved names and inferred kinds (`Family`) says what each expression means at its place; each element then becomes an item, and a
//! transition for several events becomes one for each. For example:
//!
//! ```text
//! <transition event="a b done.state.s" target="t">       on a -> t { log "…" }
//!   <log expr="_event.name"/>                            on b -> t { log "…" }
//! </transition>                                          on done(s) -> t { log "…" }
//!
//! the `…` are `a`, `b` and `done.state.s`: where a line takes one event, its name is known
//! ```

mod action;
mod chart;
mod invoke;
mod line;
mod send;
mod state;
mod statement;

pub(super) use chart::file;

use super::convert::Converter;
use super::document::{ActKind, Document, walk};
use super::scope::Scope;
use crate::diagnostic::Diagnostic;
use crate::rules::outside_subset;
use crate::span::{Ident, Span, Spanned};
use crate::syntax::{Comment, Noted, Path, Trivia};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of transitions and actions of a document: a `transition` for several events becomes one for each.
const MOST: usize = 200_000;

/// The maximum number of transitions that result from words for many events, such as `done`.
const SPREAD: usize = 20_000;

/// The state of the builder of one chart.
pub(super) struct Builder<'b, 'd> {
    document: &'d Document,
    scope: Scope<'d>,
    /// For each invoked document, the ids of its data that receive a value, each with the name of its param.
    params: Vec<BTreeMap<String, String>>,
    findings: &'b mut Vec<Diagnostic>,
    /// The number of transitions and actions that may still be built.
    left: usize,
    /// The number of transitions for words for many events that may still be built.
    spread: usize,
    inside: Inside,
}

/// The events that originate inside a document.
struct Inside {
    /// The names of the events that the document raises.
    raised: BTreeSet<String>,
    /// The states that can reach their end.
    ended: Vec<usize>,
    /// Whether any state or invoked document can end.
    ends: bool,
    /// The names of events, without those that have another one as a prefix. Computed on first use.
    known: OnceCell<Vec<(String, Vec<Ident>)>>,
}

impl Inside {
    fn new(document: &Document) -> Self {
        let mut raised = BTreeSet::new();
        for block in document.blocks() {
            walk(block, &mut |act| {
                if let ActKind::Raise(event, _) = &act.kind {
                    raised.insert(event.text());
                }
            });
        }
        let all = 0..document.states.len();
        let ended: Vec<usize> = all.filter(|nth| document.is_ever_done(*nth)).collect();
        let ends = !ended.is_empty() || !document.invokes.is_empty();
        Self { raised, ended, ends, known: OnceCell::new() }
    }

    /// Whether any event originates inside the document.
    fn happens(&self) -> bool {
        self.ends || !self.raised.is_empty()
    }
}

impl Builder<'_, '_> {
    fn converter(&mut self) -> Converter<'_, '_> {
        Converter { scope: &self.scope, findings: &mut *self.findings }
    }

    /// Takes `count` transitions from the budget for words for many events. Returns `false`, and reports it once, if too few are left.
    fn take_spread(&mut self, count: usize, span: Span) -> bool {
        let spreads = count <= self.spread;
        if !spreads && self.left > 0 {
            let message =
                format!("words for many events come to more than {SPREAD} lines in this document");
            self.findings.push(outside_subset::at(span, message));
            self.left = 0;
        }
        self.spread -= count.min(self.spread);
        spreads
    }

    /// Takes `count` transitions and actions from the budget. Returns `false`, and reports it once, if too few are left.
    fn take_budget(&mut self, count: usize, span: Span) -> bool {
        if self.left < count && self.left > 0 {
            let message = format!("this document comes to more than {MOST} lines and actions");
            self.findings.push(outside_subset::at(span, message));
            self.left = 0;
        }
        let affords = self.left >= count;
        self.left -= if affords { count } else { 0 };
        affords
    }
}

/// A node with comments before it.
fn noted<T>(node: T, span: Span, before: &[Spanned<String>]) -> Noted<T> {
    let trivia = Trivia { before: comments(before), ..Trivia::default() };
    Noted { trivia, doc: String::new(), node, span }
}

/// A node with comments and a blank line before it.
fn apart<T>(node: T, span: Span, before: &[Spanned<String>]) -> Noted<T> {
    let mut made = noted(node, span, before);
    made.trivia.blank_before = true;
    made
}

/// The lines of XML comments, as comments of a chart.
fn comments(all: &[Spanned<String>]) -> Vec<Comment> {
    let lines = all.iter().flat_map(|comment| comment.node.lines()).map(str::trim);
    let lines = lines.filter(|line| !line.is_empty());
    lines.map(|line| Comment { blank_before: false, text: format!(" {line}") }).collect()
}

fn path(names: Vec<Ident>, span: Span) -> Path {
    Path { names, span }
}
