//! Lines that do nothing when they are taken, and keep nothing else from being done.

use super::Facts;
use super::cover::{Key, keys};
use super::place::exclusive;
use chartc_core::arena::{StateId, TransitionId};
use chartc_core::model::{AskOn, Chart, Failure, Otherwise, StepKind, Transition, Trigger};

/// A line without targets and actions that can be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Idle {
    /// The line.
    pub line: TransitionId,
    /// Whether taking it changes a run all the same: another line, a question or a policy would act without it, or the line is an option.
    pub hides: bool,
}

/// Every line without targets and actions, ascending.
pub fn idle(chart: &Chart, facts: &Facts) -> Vec<Idle> {
    let lines = chart.transitions.iter().enumerate();
    let empty = lines.filter(|(_, line)| line.targets.is_empty() && line.actions.is_empty());
    empty
        .map(|(i, _)| TransitionId::at(i))
        .map(|line| Idle { line, hides: matters(chart, facts, line) })
        .collect()
}

fn matters(chart: &Chart, facts: &Facts, id: TransitionId) -> bool {
    let line = chart.transition(id);
    let by_itself = match &line.trigger {
        // An option that moves nothing is still one; a call is given up; what fails takes another course.
        Trigger::Choice(_) | Trigger::StepTimeout(..) | Trigger::StepElse(_) | Trigger::When => {
            true
        }
        Trigger::StepError(step) | Trigger::StepDoubt(step) => {
            let row = &chart.steps[step.index()];
            match &row.kind {
                StepKind::Ask { otherwise, .. } => *otherwise != Otherwise::Stay,
                StepKind::Llm
                | StepKind::Code(_)
                | StepKind::Call(..)
                | StepKind::Human(_)
                | StepKind::Run(..) => row.failure.then != Failure::Skip,
            }
        }
        // Without it the run ends at the limit.
        Trigger::Error(pattern) => pattern == "*" || pattern.starts_with("limit"),
        Trigger::Event(events) => events.iter().any(|event| {
            facts.passed.contains(event)
                || is_asked(chart, line.source, &AskOn::Event(vec![*event]))
        }),
        Trigger::AnyEvent | Trigger::AnyOccurrence => {
            !facts.passed.is_empty() || asks(chart, line.source).next().is_some()
        }
        Trigger::Turn => is_asked(chart, line.source, &AskOn::Turn),
        Trigger::After(_)
        | Trigger::AfterTurns(_)
        | Trigger::StateDone(_)
        | Trigger::StepDone(_)
        | Trigger::LimitWarn(_) => false,
    };
    by_itself || others(chart, id).any(|other| share(line, chart.transition(other)))
}

/// The other lines of the line's state and those of the states above: what it is tried among, and what it is tried before.
fn others(chart: &Chart, id: TransitionId) -> impl Iterator<Item = TransitionId> + '_ {
    let source = chart.transition(id).source;
    let above = chart.ancestors(source).filter(move |state| *state != source);
    let own = chart.state(source).transitions.iter().filter(move |other| **other != id);
    own.chain(above.flat_map(|state| &chart.state(state).transitions)).copied()
}

/// Whether both lines can be candidates at one moment.
fn share(line: &Transition, other: &Transition) -> bool {
    match (&line.trigger, &other.trigger) {
        (Trigger::After(_) | Trigger::AfterTurns(_), _)
        | (_, Trigger::After(_) | Trigger::AfterTurns(_)) => false,
        (Trigger::AnyOccurrence, _) | (_, Trigger::AnyOccurrence) => true,
        (Trigger::AnyEvent, Trigger::Event(_) | Trigger::AnyEvent)
        | (Trigger::Event(_), Trigger::AnyEvent)
        | (Trigger::Error(_), Trigger::Error(_))
        | (Trigger::LimitWarn(_), Trigger::LimitWarn(_)) => true,
        _ => {
            let own = keys(line);
            keys(other).iter().any(|key| *key != Key::When && own.contains(key))
        }
    }
}

/// The events of questions that may be open together with a state.
fn asks(chart: &Chart, state: StateId) -> impl Iterator<Item = &AskOn> {
    chart.steps.iter().filter(move |step| !exclusive(chart, step.state, state)).filter_map(|step| {
        match &step.kind {
            StepKind::Ask { on, .. } => Some(on),
            StepKind::Llm
            | StepKind::Code(_)
            | StepKind::Call(..)
            | StepKind::Human(_)
            | StepKind::Run(..) => None,
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
