//! The neighbours of a line in its body. If an author wrote one line as two, only its neighbours show it.

use super::Follower;
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::illegal_structure;
use chartc_text::span::Span;
use chartc_text::syntax::{self, LineKind, StateItem};

/// An item to which a condition may belong.
#[derive(Clone, Copy)]
pub(super) enum Neighbour<'s> {
    Line(&'s syntax::Line),
    Allow(&'s syntax::Allow),
    Step(&'s syntax::Step),
}

/// The neighbours of a line in its body.
#[derive(Clone, Copy)]
pub(super) struct Beside<'s> {
    pub(super) before: Option<Neighbour<'s>>,
    pub(super) next: Option<Follower>,
}

impl<'s> Beside<'s> {
    pub(super) fn new(
        before: Option<(Neighbour<'s>, Span)>,
        next: Option<(Neighbour<'s>, Span)>,
    ) -> Self {
        let next = next.and_then(|(item, span)| match item {
            Neighbour::Line(line) => Some(follower(line, span)),
            Neighbour::Allow(_) | Neighbour::Step(_) => None,
        });
        Self { before: before.map(|(item, _)| item), next }
    }
}

/// The item, if a condition may belong to it.
pub(super) fn item(item: &StateItem) -> Option<Neighbour<'_>> {
    match item {
        StateItem::Line(line) => Some(Neighbour::Line(line)),
        StateItem::Allow(allow) => Some(Neighbour::Allow(allow)),
        StateItem::Step(step) => Some(Neighbour::Step(step)),
        _ => None,
    }
}

fn follower(line: &syntax::Line, span: Span) -> Follower {
    let word = match line.kind {
        LineKind::On(_) => "on",
        LineKind::When(_) => "when",
        LineKind::After { each: false, .. } => "after",
        LineKind::After { each: true, .. } => "each",
        LineKind::May(_) => "may",
    };
    let is_condition = matches!(line.kind, LineKind::When(_)) && line.tail.guard.is_none();
    Follower { word, span: first(span, word), is_condition }
}

/// The span of the first word of an item.
fn first(span: Span, word: &str) -> Span {
    Span { end: span.start + word.len() as u32, ..span }
}

/// The finding for a `when` line that does nothing, whose condition may have been meant for the item before it.
pub(super) fn idle_when(span: Span, before: Option<Neighbour<'_>>) -> Diagnostic {
    let word = first(span, "when");
    match before {
        Some(Neighbour::Allow(allow)) if allow.guard.is_none() => {
            illegal_structure::idle_when(span, "a condition is `if`: `allow a -> b if …`")
                .replace(word, "if", false)
        }
        Some(Neighbour::Line(line))
            if line.tail.guard.is_none() && !line.tail.targets.is_empty() =>
        {
            illegal_structure::idle_when(
                span,
                "give it `-> state`, or actions that make its condition false; the condition of the line before it is written `if`, before the arrow",
            )
        }
        Some(Neighbour::Step(step)) if is_open(step) => illegal_structure::idle_when(
            span,
            "the condition of a step is `if`, before its body: `llm s if … { }`",
        )
        .replace(word, "if", false),
        Some(Neighbour::Line(_) | Neighbour::Allow(_) | Neighbour::Step(_)) | None => {
            illegal_structure::idle_when(span, illegal_structure::GIVE_TARGET)
        }
    }
}

/// Whether a condition and a body may still follow a step as it is written.
fn is_open(step: &syntax::Step) -> bool {
    step.guard.is_none() && step.items.is_empty() && step.then.is_none()
}
