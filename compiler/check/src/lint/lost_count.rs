//! Conditions on counters that bound nothing, because no cycle through them changes the counter effectively.

use super::backward_count::away;
use super::{Context, Lint, words};
use crate::facts::counter::{Owner, Writer};
use crate::facts::loops::{GuardOwner, Lost, LostReason, lost};
use crate::notation;
use chartc_core::arena::VarId;
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::LOST_COUNT;
use chartc_text::span::Span;
use std::collections::BTreeSet;

pub(super) static LINT: Lint = Lint { rule: &LOST_COUNT, needs_whole: true, run };

/// Also reports, from the same analysis, counters that move away from the bound of another transition or step.
fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, .. } = context;
    let mut told = BTreeSet::new();
    for found in lost(chart, facts) {
        let one = finding(context, &found);
        // For a transition that counts against its own guard, C0418 is reported at the guard, too.
        let own = matches!((found.owner, found.why), (GuardOwner::Transition(transition), LostReason::WrongDirection(writer))
            if writer.owner == Owner::Transition(transition));
        let asked = asked(context, found.owner).0;
        if told.insert(one.span) {
            let about = if own { asked } else { one.span };
            diagnostics.push(one.about(about));
        }
    }
}

fn finding(context: &Context<'_>, found: &Lost) -> Diagnostic {
    let Context { chart, map, .. } = context;
    let name = &chart.variables[found.counter.index()].name;
    let (asked, guard) = asked(context, found.owner);
    let comes = if found.holds { "always holds" } else { "never holds" };
    match found.why {
        LostReason::Reset(writer) => {
            let message = format!(
                "each iteration resets `{name}`, so `{guard}` {comes} when it is evaluated"
            );
            LOST_COUNT
                .at(place(context, found.counter, writer), message)
                .help("reset it where the loop begins, on the line that enters it")
                .related(asked, "this condition bounds nothing")
        }
        LostReason::WrongDirection(writer) => {
            let at = place(context, found.counter, writer);
            away(context, at, found, &guard).related(asked, "this condition bounds nothing")
        }
        LostReason::Elsewhere(writer) => {
            let message = format!("this bounds nothing: no cycle through here counts `{name}`");
            LOST_COUNT
                .at(asked, message)
                .help(format!("count it in the loop: `{name} = {name} + 1`"))
                .related(place(context, found.counter, writer), "counted here only")
        }
        LostReason::Turn(writer) => {
            let message = format!(
                "this bounds nothing: `{name}` begins afresh in each turn, so `{guard}` {comes}"
            );
            LOST_COUNT
                .at(asked, message)
                .help("count in a variable that outlasts the turn")
                .related(place(context, found.counter, writer), "counted here, until the turn ends")
        }
        LostReason::Never(writer) => {
            let message = format!("this bounds nothing: nothing counts `{name}`");
            LOST_COUNT
                .at(asked, message)
                .help(format!("count it in the loop: `{name} = {name} + 1`"))
                .related(place(context, found.counter, writer), "only ever set to a constant")
        }
    }
    .related(map.variables[found.counter.index()], "it begins here")
}

/// The span and the shortened text of a condition.
fn asked(context: &Context<'_>, asker: GuardOwner) -> (Span, String) {
    let Context { chart, map, .. } = context;
    let text = |guard: &Option<chartc_core::model::Expr>| {
        guard.as_ref().map(|guard| words::short(&notation::expression(chart, guard)))
    };
    let (span, text) = match asker {
        GuardOwner::Transition(id) => {
            let spans = map.transition(id);
            (spans.guard.unwrap_or(spans.trigger), words::guard(chart, id))
        }
        GuardOwner::Step(id) => {
            let spans = map.step(id);
            (spans.guard.unwrap_or(spans.name), text(&chart.steps[id.index()].guard))
        }
        GuardOwner::Permission(i) => (map.permissions[i], text(&chart.permissions[i].guard)),
    };
    (span, text.unwrap_or_default())
}

/// The span of an assignment.
pub(super) fn place(context: &Context<'_>, counter: VarId, writer: Writer) -> Span {
    let Context { chart, map, .. } = context;
    let whole = match writer.owner {
        Owner::Transition(id) => map.transition(id).whole,
        Owner::State(id) => map.state(id).whole,
        Owner::Step(id) => map.step(id).whole,
    };
    let within = |inner: Span, outer: Span| {
        inner.file == outer.file && outer.start <= inner.start && inner.end <= outer.end
    };
    // The parts of the state that are not its own blocks.
    let mut parts: Vec<Span> = Vec::new();
    if let Owner::State(id) = writer.owner {
        parts.extend(map.transitions.iter().map(|l| l.whole).filter(|s| within(*s, whole)));
        parts.extend(map.steps.iter().map(|s| s.whole).filter(|s| within(*s, whole)));
        let below = (id.0 + 1..chart.state(id).end.0).map(|s| map.states[s as usize].whole);
        parts.extend(below);
    }
    let mut own: Vec<Span> = map
        .assignments
        .iter()
        .filter(|(id, span)| *id == counter && within(*span, whole))
        .map(|(_, span)| *span)
        .filter(|span| !parts.iter().any(|part| within(*span, *part)))
        .collect();
    own.sort_by_key(|span| span.start);
    own.dedup();
    if let Some(span) = own.get(writer.nth).or(own.first()) {
        return *span;
    }
    // The block of a transition that is written as an arrow is behind its span.
    let behind = map.assignments.iter().filter(|(id, span)| {
        *id == counter && span.file == whole.file && span.start >= whole.start
    });
    behind.map(|(_, span)| *span).min_by_key(|span| span.start).unwrap_or(whole)
}
