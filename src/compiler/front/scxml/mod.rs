//! SCXML documents, parsed into the same syntax as `.chart` files. `docs/scxml.md` describes the translation.
//!
//! The problem: SCXML is XML with ECMAScript in attributes, and both mean more than a chart can say. The idea: read the elements with their
//! places, parse every expression, infer what each variable may hold, and build the chart. What cannot be translated is reported at its
//! place and never changed silently. For example:
//!
//! ```text
//! <data id="n" expr="0"/>                       1. `xml`      elements with their places; `&lt;` in an attribute is `<`
//! <state id="a">                                2. `known`    unknown elements and attributes are findings
//!   <transition event="go"                      3. `read`     a `Document`: states, transitions, the expression `n < 2`
//!               cond="n &lt; 2" target="b"/>    4. `infer`    `n` only ever holds integers
//! </state>                                      5. `build`    var n: Int = 0   event go   state a { on go if n < 2 -> b }
//! ```

mod build;
mod convert;
mod document;
pub mod elements;
mod infer;
mod read;
mod scope;
mod script;
mod xml;

use super::{Frontend, Nearby};
use crate::rules::{left_out, outside_subset, unknown_field};
use crate::syntax;
use crate::syntax::diagnostic::Diagnostic;
use crate::syntax::source::{FileId, Ident, Source, Span};
use convert::{Converter, ExprContext};
use document::{ActKind, Descriptor, Document, Invoke, ScxmlStateKind, To, dotted, walk};
use elements::{EXECUTABLE, Tag};
use scope::{Kinds, Scope};
use std::collections::{BTreeMap, BTreeSet};
use xml::{Attribute, Child, Element};

/// The front end of `.scxml` files, and of texts that begin like XML.
pub const FRONTEND: Frontend = Frontend {
    name: "scxml",
    comment: ("<!--", "-->"),
    takes: |name| name.ends_with(".scxml"),
    looks: |text| text.trim_start().starts_with('<'),
    parse,
};

fn parse(
    id: FileId,
    source: &Source,
    nearby: &mut dyn Nearby,
    diagnostics: &mut Vec<Diagnostic>,
) -> syntax::File {
    let empty = syntax::File::new(id);
    if source.text.trim().is_empty() {
        return empty;
    }
    let Some(tree) = xml::read(id, source, diagnostics) else { return empty };
    check_parts(&tree.root, diagnostics);
    let comments = tree.comments.clone();
    let Some(document) = read::document(tree, source, nearby, diagnostics) else { return empty };
    check_events(&document, diagnostics);
    syntax::File { comments, ..build::file(id, &document, diagnostics) }
}

// Reports parts of a document that SCXML does not define.

/// Reports attributes and elements that SCXML does not define, in `root` and below it.
fn check_parts(root: &Element, findings: &mut Vec<Diagnostic>) {
    let mut open = vec![root];
    while let Some(element) = open.pop() {
        let Some(Tag { name, attributes, inside, .. }) = row(element) else { continue };
        for Attribute { name: attribute, .. } in &element.attributes {
            let known = attributes.iter().map(|known| known.name);
            if !known.clone().any(|known| known == attribute.node) {
                let what = format!("`<{name}>`");
                let finding =
                    unknown_field::attribute(&what, &attribute.node, attribute.span, known);
                findings.push(finding);
            }
        }
        for child in &element.children {
            match child {
                Child::Element(child) if inside.contains(&child.name.node.as_str()) => {
                    open.push(child);
                }
                Child::Element(child) => {
                    let found = &child.name;
                    let elsewhere = row(child).is_some();
                    findings.push(unknown_field::element(
                        name,
                        &found.node,
                        found.span,
                        elsewhere,
                        inside.iter().copied(),
                    ));
                }
                Child::Foreign(found) if inside.first().is_some_and(|n| EXECUTABLE.contains(n)) => {
                    findings.push(left_out::foreign(&found.node, found.span));
                }
                Child::Text(span) if !matches!(*name, "script" | "content" | "data" | "assign") => {
                    findings.push(left_out::text(name, *span));
                }
                Child::Foreign(_) | Child::Comment(_) | Child::Text(_) => {}
            }
        }
    }
}

fn row(element: &Element) -> Option<&'static Tag> {
    elements::named(&element.name.node)
}

/// Whether SCXML permits this child in this parent.
fn fits(parent: &Element, child: &Element) -> bool {
    row(parent).is_some_and(|tag| tag.inside.contains(&child.name.node.as_str()))
}

// Finds events between a document and those that it invokes that charts do not support.

/// Reports these events for a document and, recursively, for those that it invokes.
fn check_events(document: &Document, findings: &mut Vec<Diagnostic>) {
    let mut own = None;
    for invoke in &document.invokes {
        if let Some(span) = invoke.forward {
            let own = own.get_or_insert_with(|| sent(document, |to| matches!(to, To::Own)));
            forwarded(own, invoke, span, findings);
        }
        check_events(&invoke.child, findings);
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
    fn is_meant(&self, id: Option<&Ident>) -> bool {
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

// Resolves the names of documents that invoke documents, and the values that are passed to invoked ones.

/// A document and those that it invokes, with names and kinds resolved.
struct Family<'d> {
    scope: Scope<'d>,
    /// The invoked documents, in the order of `Document::invokes`.
    children: Vec<Family<'d>>,
}

/// The initial value that a variable of an invoked document receives, as a param of its chart.
#[derive(Debug, Clone)]
struct PassedParam {
    /// The name of the param. It is the variable's own if nothing is assigned to the variable.
    name: String,
    kinds: Kinds,
}

impl<'d> Family<'d> {
    /// Resolves a document that receives values of these kinds, by the ids of its data.
    fn new(document: &'d Document, given: &BTreeMap<&str, Kinds>) -> Self {
        let mut scope = Scope::new(document, given);
        infer::settle(&mut scope);
        let children = document.invokes.iter().map(|invoke| {
            // The values are translated again when the step is built, which reports their errors.
            let mut muted = Vec::new();
            let mut converter = Converter { scope: &scope, findings: &mut muted };
            let at = ExprContext::state(invoke.state);
            let kinds = |value| converter.value(value, &at).kinds;
            let values: Vec<Kinds> =
                invoke.given.iter().map(|(_, value)| value).map(kinds).collect();
            let names = invoke.given.iter().map(|(name, _)| name.node.as_str());
            Self::new(&invoke.child, &names.zip(values).collect())
        });
        let children = children.collect();
        Self { scope, children }
    }
}
