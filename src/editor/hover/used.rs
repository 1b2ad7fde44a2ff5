//! Where something is used.

use super::find::{self, Subject};
use super::mention::{self, Role};
use super::{View, code};
use chartc_core::arena::StateId;
use chartc_text::span::Span;

/// The places where something is used, in order; `sets` selects those that set it, or the others.
pub(super) fn places(view: &View<'_>, name: &str, subject: &Subject, sets: bool) -> Vec<Span> {
    let all = find::charts(view.done);
    let last = |text: &str| text.rsplit('.').next() == name.rsplit('.').next();
    let mut found = Vec::new();
    for file in &view.done.files {
        let names = mention::all(file).into_iter().filter(|one| last(&one.text));
        for one in names.filter(|one| (one.role == Role::Set) == sets) {
            let meant = find::resolve(view.done, &all, &one);
            let is_it = |other: &Subject| match (other, subject) {
                (Subject::Events(all), Subject::Events(own)) => {
                    own.iter().any(|event| all.contains(event))
                }
                (other, subject) => other == subject,
            };
            let same = |meant: &find::Found<'_>| {
                meant.of.map.name == view.one.map.name && is_it(&meant.subject)
            };
            if meant.as_ref().is_some_and(same) {
                found.push(one.span);
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// A row for a place: where it is, and in which state.
pub(super) fn row(view: &View<'_>, span: Span) -> String {
    let mut text = view.place(span);
    let inside = find::whole(view.one);
    let is_inside =
        inside.file == span.file && inside.start <= span.start && span.end <= inside.end;
    let state = find::around(view.one, span);
    if is_inside && state != StateId::at(0) {
        text.push_str(&format!(" in {}", code(&view.one.chart.state(state).path)));
    }
    text
}
