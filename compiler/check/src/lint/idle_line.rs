//! Transitions that do nothing, and guards that were read as transitions of their own.

use crate::facts::Facts;
use crate::facts::cover::{Key, keys};
use crate::facts::scope::exclusive;
use crate::lint::{Context, Lint, words};
use crate::lower::{Follower, TransitionSpans};
use crate::notation;
use chartc_core::arena::{StateId, TransitionId};
use chartc_core::model::{AskOn, Chart, Failure, Otherwise, StepKind, Transition, Trigger};
use chartc_text::diagnostic::{Broken, Diagnostic};
use chartc_text::rules::IDLE_LINE;
use chartc_text::span::Span;
use std::collections::BTreeSet;

// Runs on incomplete charts, too: a guard that was read as a transition may be the reason for the errors.
pub(super) static LINT: Lint = Lint { rule: &IDLE_LINE, needs_whole: false, run };

/// The position of the following transition in the source.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Behind {
    /// On the same line of the source, or indented further, like a continuation.
    GoesOn,
    /// On the next line.
    Next,
}

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    // In agents, such transitions are normal; in SCXML documents, they are deliberate.
    let name = &context.sources.get(map.file).name;
    if [".yaml", ".yml", ".scxml"].iter().any(|end| name.ends_with(end)) {
        return;
    }
    let mut told = BTreeSet::new();
    for Idle { transition, hides } in idle(chart, facts) {
        let spans = map.transition(transition);
        if !told.insert(spans.whole) {
            continue;
        }
        let name = words::transition(chart, transition);
        let next = spans.next.and_then(|next| Some((next, behind(context, spans, next)?)));
        let is_option = matches!(chart.transition(transition).trigger, Trigger::Choice(_));
        let open = spans.guard.is_none();
        match next {
            Some((next, Behind::GoesOn)) if next.word == "when" && open => {
                let found = condition(&name, is_option, spans, next);
                diagnostics.push(with_consequences(context, transition, next, found));
            }
            _ if hides || !context.all_read => {}
            Some((next, Behind::Next)) if next.is_condition && open => {
                let help = "lead it to a state or give it actions; if the `when` after it is meant as its condition, write `if`";
                diagnostics
                    .push(nothing(&name, spans.trigger, help).replace(next.span, "if", false));
            }
            Some((next, Behind::GoesOn)) => {
                let help = "lead it to a state, `-> state`, give it actions, or remove it";
                let found = nothing(&name, spans.trigger, help);
                let what = format!("`{}` begins a line of its own", next.word);
                diagnostics.push(found.related(next.span, what));
            }
            Some((_, Behind::Next)) | None => {
                let help = "lead it to a state, `-> state`, give it actions, or remove it";
                diagnostics.push(nothing(&name, spans.trigger, help));
            }
        }
    }
}

fn nothing(name: &str, place: Span, help: &str) -> Diagnostic {
    IDLE_LINE.at(place, format!("{name} does nothing: it has no target and no actions")).help(help)
}

/// The finding for a guard that was written with `when` instead of `if`.
fn condition(name: &str, is_option: bool, spans: &TransitionSpans, next: Follower) -> Diagnostic {
    let what = if is_option { "is offered without it" } else { "does nothing" };
    let message =
        format!("a condition is `if`: `when` begins a line of its own, and {name} {what}");
    let found = IDLE_LINE.at(next.span, message).help("write `if`").related(spans.trigger, what);
    // `if` can only replace a `when` whose condition ends where a guard would end.
    if next.is_condition { found.replace(next.span, "if", true) } else { found }
}

/// Adds the consequences of the misread guard, so that they are not reported separately: unknown names of the event's data, and transitions
/// that the unguarded one hides.
fn with_consequences(
    context: &Context<'_>,
    transition: TransitionId,
    next: Follower,
    mut found: Diagnostic,
) -> Diagnostic {
    let Context { chart, map, .. } = context;
    let within = |outer: Span, inner: Span| {
        outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end
    };
    let Some(when) = map.transitions.iter().find(|spans| within(spans.whole, next.span)) else {
        return found;
    };
    for name in notation::payload(chart.transition(transition)) {
        found = found.breaks(Broken::Name(name.to_owned(), Some(when.whole)));
    }
    found.breaks(Broken::Construct(map.transition(transition).whole))
}

/// The position of the following transition; `None` if there is more than white space between the two.
fn behind(context: &Context<'_>, spans: &TransitionSpans, next: Follower) -> Option<Behind> {
    let source = context.sources.get(spans.whole.file);
    let between = Span { start: spans.whole.end, end: next.span.start, ..spans.whole };
    if next.span.file != spans.whole.file || !source.slice(between).trim().is_empty() {
        return None;
    }
    let end = source.position(spans.whole.end);
    let (from, to) = (source.position(spans.whole.start), source.position(next.span.start));
    // The text before the transition on its line.
    let head = Span {
        start: spans.whole.start + 1 - from.column as u32,
        end: spans.whole.start,
        ..between
    };
    let leads = source.slice(head).trim().is_empty();
    Some(if end.line == to.line || leads && to.column > from.column {
        Behind::GoesOn
    } else {
        Behind::Next
    })
}

/// A transition without targets and actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Idle {
    transition: TransitionId,
    /// Whether the transition has an effect nevertheless: without it, another transition, a question or a policy would apply, or it is an
    /// option.
    hides: bool,
}

/// Finds every transition without targets and actions, in document order.
fn idle(chart: &Chart, facts: &Facts) -> Vec<Idle> {
    let transitions = chart.transitions.iter().enumerate();
    let empty = transitions
        .filter(|(_, transition)| transition.targets.is_empty() && transition.actions.is_empty());
    empty
        .map(|(i, _)| TransitionId::at(i))
        .map(|transition| Idle { transition, hides: matters(chart, facts, transition) })
        .collect()
}

/// Whether the chart would behave differently without the transition, which has no targets and no actions.
fn matters(chart: &Chart, facts: &Facts, id: TransitionId) -> bool {
    let transition = chart.transition(id);
    let by_itself = match &transition.trigger {
        // An option is still offered; a timeout cancels its call; an `else` replaces the failure.
        Trigger::Choice(_) | Trigger::StepTimeout(..) | Trigger::StepElse(_) | Trigger::When => {
            true
        }
        Trigger::StepError(step) | Trigger::StepDoubt(step) => {
            let row = &chart.steps[step.index()];
            match &row.kind {
                StepKind::Ask { otherwise, .. } => *otherwise != Otherwise::Stay,
                _ => row.failure.then != Failure::Skip,
            }
        }
        // Without a handler, the run ends at the limit.
        Trigger::Error(pattern) => pattern == "*" || pattern.starts_with("limit"),
        // Without the transition, the event would be forwarded to a child chart or put a question.
        Trigger::Event(events) => events.iter().any(|event| {
            facts.passed.contains(event)
                || is_asked(chart, transition.source, &AskOn::Event(vec![*event]))
        }),
        Trigger::AnyEvent | Trigger::AnyOccurrence => {
            !facts.passed.is_empty() || asks(chart, transition.source).next().is_some()
        }
        Trigger::Turn => is_asked(chart, transition.source, &AskOn::Turn),
        _ => false,
    };
    by_itself || others(chart, id).any(|other| share(transition, chart.transition(other)))
}

/// The other transitions of the same source and those of its ancestors, which have lower priority.
fn others(chart: &Chart, id: TransitionId) -> impl Iterator<Item = TransitionId> + '_ {
    let source = chart.transition(id).source;
    let above = chart.ancestors(source).filter(move |state| *state != source);
    let own = chart.state(source).transitions.iter().filter(move |other| **other != id);
    own.chain(above.flat_map(|state| &chart.state(state).transitions)).copied()
}

/// Whether both transitions may be enabled at the same time.
fn share(transition: &Transition, other: &Transition) -> bool {
    match (&transition.trigger, &other.trigger) {
        (Trigger::After(_) | Trigger::AfterTurns(_), _)
        | (_, Trigger::After(_) | Trigger::AfterTurns(_)) => false,
        (Trigger::AnyOccurrence, _) | (_, Trigger::AnyOccurrence) => true,
        (Trigger::AnyEvent, Trigger::Event(_) | Trigger::AnyEvent)
        | (Trigger::Event(_), Trigger::AnyEvent)
        | (Trigger::Error(_), Trigger::Error(_))
        | (Trigger::LimitWarn(_), Trigger::LimitWarn(_)) => true,
        _ => {
            let own = keys(transition);
            keys(other).iter().any(|key| *key != Key::When && own.contains(key))
        }
    }
}

/// The triggers of the questions that may be open while the state is active.
fn asks(chart: &Chart, state: StateId) -> impl Iterator<Item = &AskOn> {
    chart.steps.iter().filter(move |step| !exclusive(chart, step.state, state)).filter_map(|step| {
        match &step.kind {
            StepKind::Ask { on, .. } => Some(on),
            _ => None,
        }
    })
}

fn is_asked(chart: &Chart, state: StateId, on: &AskOn) -> bool {
    asks(chart, state).any(|asked| match (asked, on) {
        (AskOn::Turn, AskOn::Turn) => true,
        (AskOn::Event(all), AskOn::Event(some)) => some.iter().any(|event| all.contains(event)),
        (AskOn::Turn, AskOn::Event(_)) | (AskOn::Event(_), AskOn::Turn) => false,
    })
}
