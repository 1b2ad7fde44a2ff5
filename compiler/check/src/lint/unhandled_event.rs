//! Events that nothing handles.

use super::{Context, Lint, words};
use crate::facts::handling::{Handler, Unhandled, unhandled};
use crate::lower::PostSpans;
use chartc_text::diagnostic::{Diagnostic, Severity};
use chartc_text::rules::UNHANDLED_EVENT;
use chartc_text::span::Span;

use chartc_core::model::Receiver;
use chartc_core::tables::CATCH_ALL;

pub(super) static LINT: Lint = Lint { rule: &UNHANDLED_EVENT, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, family, .. } = context;
    for one in unhandled(chart, facts) {
        let name = &chart.events[one.event.index()].name;
        // An event may be declared only to be sent to other charts.
        let posted = |post: &PostSpans| post.event == one.event && post.to != Receiver::Own;
        let is_told = family.place(map).is_some_and(|own| family.is_told(own, name));
        let elsewhere =
            is_told || facts.passed.contains(&one.event) || map.posts.iter().any(posted);
        if name == CATCH_ALL || elsewhere {
            continue;
        }
        let declared = map.events[one.event.index()];
        if !one.dead.is_empty() {
            diagnostics.push(dead(context, &one));
            continue;
        }
        let mut own: Vec<Span> =
            map.posts.iter().filter(|post| post.event == one.event).map(|post| post.span).collect();
        own.sort_unstable();
        own.dedup();
        let mut own = own.into_iter();
        let found = match own.next() {
            Some(first) => {
                let found = UNHANDLED_EVENT
                    .at(first, format!("nothing handles `{name}`, which is sent here"))
                    .help(format!("add a line `on {name}` where it may come, or do not send it"));
                if declared == first { found } else { found.related(declared, "declared here") }
            }
            None => UNHANDLED_EVENT.at(declared, format!("nothing handles `{name}`")).help(
                format!("add a line `on {name}` where it may come, or remove the declaration"),
            ),
        };
        diagnostics.push(own.take(2).fold(found, |found, at| found.related(at, "sent here, too")));
    }
}

/// The finding for an event that is handled only in states that are never active.
fn dead(context: &Context<'_>, one: &Unhandled) -> Diagnostic {
    let Context { chart, map, .. } = context;
    let name = &chart.events[one.event.index()].name;
    let message = format!("`{name}` is handled only where the run never is");
    let mut found = UNHANDLED_EVENT
        .at(map.events[one.event.index()], message)
        .help("lead the run there, or handle the event in a state that can be active");
    for handler in one.dead.iter().take(3) {
        let (span, state) = match handler {
            Handler::Transition(transition) => {
                (map.transition(*transition).whole, chart.transition(*transition).source)
            }
            Handler::Question(step) => (map.step(*step).name, chart.steps[step.index()].state),
        };
        found = found.related(span, format!("{} is never active", words::state(chart, state)));
    }
    // Another rule reports that the states are unreachable.
    found.severity = Severity::Note;
    found
}
