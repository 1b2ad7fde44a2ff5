//! Lists the places where a name is used.

use super::find;
use super::{View, code};
use crate::editor::visit::{self, SyntaxNode};
use chartc_core::arena::StateId;
use chartc_text::span::Span;
use chartc_text::syntax::{Action, File, LineKind, MayKind, StepItem, TestItem};
use std::collections::BTreeSet;

/// The places where the thing declared at `declared` is used, in order, without the declaration.
pub(super) fn places(view: &View<'_>, declared: Span) -> Vec<Span> {
    let uses = view.done.uses.iter();
    let mut all: Vec<Span> = uses
        .filter(|one| one.declared == declared && one.at != declared)
        .map(|one| one.at)
        .collect();
    all.dedup();
    all
}

/// Formats places, each once.
pub(super) fn rows(view: &View<'_>, places: impl IntoIterator<Item = Span>) -> Vec<String> {
    let mut all: Vec<String> = places.into_iter().map(|span| row(view, span)).collect();
    all.dedup();
    all
}

/// Formats a place, with the state that it is in.
fn row(view: &View<'_>, span: Span) -> String {
    let mut text = view.place(span);
    let state = find::around(view.one, span);
    if find::contains(find::whole(view.one), span) && state != StateId::at(0) {
        text.push_str(&format!(" in {}", code(&view.one.chart.state(state).path)));
    }
    text
}

/// The spans of the names that a file assigns to: by actions, by answers of steps and tools, and by tests.
pub(super) fn sets(file: &File) -> BTreeSet<Span> {
    let mut found = BTreeSet::new();
    visit::file(file, &mut |node| match node {
        SyntaxNode::Action(noted) => {
            if let Action::Assign(name, _) = &noted.node {
                found.insert(name.span);
            }
        }
        SyntaxNode::Step(noted) => {
            if let StepItem::Returns(_, Some(into)) = &noted.node {
                found.insert(into.span);
            }
        }
        SyntaxNode::Line(line) => {
            if let LineKind::May(may) = &line.kind
                && let MayKind::Call(_, Some(into)) = &may.kind
            {
                found.insert(into.span);
            }
        }
        SyntaxNode::Test(noted) => {
            if let TestItem::Given(name, _) | TestItem::Set(name, _) = &noted.node {
                found.insert(name.span);
            }
        }
        _ => {}
    });
    found
}
