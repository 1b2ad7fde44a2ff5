//! Finds events between a document and those that it invokes that charts do not support.

use super::document::{ActKind, Descriptor, Document, Invoke, ScxmlStateKind, To, dotted, walk};
use crate::diagnostic::Diagnostic;
use crate::rules::outside_subset;
use crate::span::{Ident, Span};
use std::collections::BTreeSet;

/// Reports these events for a document and, recursively, for those that it invokes.
pub(super) fn check(document: &Document, findings: &mut Vec<Diagnostic>) {
    let mut own = None;
    for invoke in &document.invokes {
        if let Some(span) = invoke.forward {
            let own = own.get_or_insert_with(|| sent(document, |to| matches!(to, To::Own)));
            forwarded(own, invoke, span, findings);
        }
        check(&invoke.child, findings);
    }
    for (nth, state) in document.states.iter().enumerate() {
        for descriptor in state.lines.iter().flat_map(|line| line.events.iter().flatten()) {
            if let Descriptor::DoneInvoke(id, span) = descriptor {
                over_there(document, nth, id.as_ref(), *span, findings);
            }
        }
    }
}

/// Reports events that would not be forwarded. SCXML forwards every external event; a chart forwards events of the host and of other
/// charts, but not those that it sends to itself, nor those that the invoked chart has sent.
fn forwarded(own: &[String], invoke: &Invoke, span: Span, findings: &mut Vec<Diagnostic>) {
    let mut heard = TriggerEvents::default();
    heard.add(&invoke.child);
    let own = own.iter().find(|name| heard.takes(name));
    let back = sent(&invoke.child, |to| matches!(to, To::Parent(_)));
    let back = back.iter().find(|name| heard.takes(name));
    let id = &invoke.id.node;
    let (why, help) = match (own, back) {
        (Some(name), _) => (
            format!("`{name}`, which this document sends to itself, would not be forwarded"),
            format!(
                "send it to the invoked document, too: `<send event=\"{name}\" target=\"#_{id}\"/>`"
            ),
        ),
        (None, Some(name)) => (
            format!("`{name}` would not be forwarded to the document that has sent it"),
            format!(
                "send it back in the transition that takes it: `<send event=\"{name}\" target=\"#_{id}\"/>`"
            ),
        ),
        (None, None) => return,
    };
    findings.push(outside_subset::at(span, why).help(help));
}

/// The names of the events that a document sends to the selected receivers.
fn sent(document: &Document, to: impl Fn(&To) -> bool) -> Vec<String> {
    let mut names = Vec::new();
    for block in document.blocks() {
        walk(block, &mut |act| {
            if let ActKind::Send(send) = &act.kind
                && to(&send.to)
            {
                names.push(send.event.text());
            }
        });
    }
    names
}

/// The events that trigger transitions of a document and of the documents to which it forwards events.
#[derive(Default)]
struct TriggerEvents {
    all: bool,
    names: BTreeSet<String>,
}

impl TriggerEvents {
    fn add(&mut self, document: &Document) {
        let lines = document.states.iter().flat_map(|state| &state.lines);
        for descriptor in lines.flat_map(|line| line.events.iter().flatten()) {
            match descriptor {
                Descriptor::All(_) => self.all = true,
                Descriptor::Event(names, _) => {
                    self.names.insert(dotted(names));
                }
                _ => {}
            }
        }
        for invoke in document.invokes.iter().filter(|invoke| invoke.forward.is_some()) {
            self.add(&invoke.child);
        }
    }

    fn takes(&self, name: &str) -> bool {
        let mut heads = name.match_indices('.').map(|(at, _)| &name[..at]).chain([name]);
        self.all || heads.any(|head| self.names.contains(head))
    }
}

/// Reports a `done.invoke` that cannot arrive. Charts report the end of an invoked document only while the invoking state is active;
/// in SCXML, it can be queued behind an event that leaves that state.
fn over_there(
    document: &Document,
    state: usize,
    id: Option<&Ident>,
    span: Span,
    findings: &mut Vec<Diagnostic>,
) {
    let mut meant = document.invokes.iter().filter(|invoke| invoke.is_meant(id)).peekable();
    let Some(first) = meant.peek().copied() else { return };
    if meant.any(|invoke| document.may_be_together(invoke.state, state)) {
        return;
    }
    let (here, there) = (&document.states[state].id.node, &document.states[first.state].id.node);
    let why = format!(
        "`{here}` is never active together with `{there}`, whose end takes the invoked document with it: its `done.invoke` does not come here"
    );
    let help = format!("take it in `{there}`, and go on from there");
    findings.push(outside_subset::at(span, why).help(help));
}

impl Invoke {
    /// Whether `done.invoke` with this id waits for the end of this document. The id is its own or a prefix of it up to a dot; without an
    /// id, any document is meant.
    pub(super) fn is_meant(&self, id: Option<&Ident>) -> bool {
        id.is_none_or(|id| {
            let rest = self.id.node.strip_prefix(&id.node);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    }
}

impl Document {
    /// Whether two states can be active at the same time: one contains the other, or a parallel state contains them in different regions.
    fn may_be_together(&self, a: usize, b: usize) -> bool {
        if a == b || self.is_below(a, b) || self.is_below(b, a) {
            return true;
        }
        let mut above = self.states[a].parent;
        while let Some(state) = above.filter(|state| !self.is_below(b, *state)) {
            above = self.states[state].parent;
        }
        above.is_some_and(|state| self.states[state].kind == ScxmlStateKind::Parallel)
    }
}
