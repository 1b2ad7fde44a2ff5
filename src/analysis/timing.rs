//! Times in which nobody answers.

use super::Facts;
use super::deadline::range;
use chartc_core::arena::{ClientId, StepId, TransitionId};
use chartc_core::model::{Chart, Step, StepKind, TransitionKind, Trigger};

/// No model answers within this; milliseconds.
const MODEL: u64 = 1_000;
/// Nobody reads a question and answers it within this; milliseconds.
const PERSON: u64 = 5_000;

/// Who is to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whom {
    /// A model.
    Model,
    /// A person.
    Person,
}

/// A time that is too short for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hasty {
    /// Where it stands.
    pub spot: Spot,
    /// Whose answer it does not leave time for.
    pub whom: Whom,
    /// The time at most, in milliseconds.
    pub most: u64,
}

/// Where a time stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spot {
    /// The `timeout` of a client.
    Client(ClientId),
    /// The `timeout` of a step.
    Step(TransitionId, StepId),
    /// A deadline that leaves the state of a step.
    Deadline(TransitionId, StepId),
}

/// Every such time: clients first, then lines in their order. Tools may be as fast as they like.
pub fn hasty(chart: &Chart, facts: &Facts) -> Vec<Hasty> {
    let mut found = Vec::new();
    for (i, client) in chart.clients.iter().enumerate() {
        if let Some(most) = client.timeout.filter(|ms| *ms < MODEL) {
            found.push(Hasty { spot: Spot::Client(ClientId::at(i)), whom: Whom::Model, most });
        }
    }
    let mut by_state = None;
    for (i, line) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        let (bound, asked) = match &line.trigger {
            Trigger::StepTimeout(step, bound) => {
                let row = &chart.steps[step.index()];
                (bound, whom(row).map(|(whom, least)| (Spot::Step(id, *step), whom, least)))
            }
            Trigger::After(bound) if line.kind == TransitionKind::External => {
                let asked =
                    by_state.get_or_insert_with(|| slowest(chart, facts))[line.source.index()];
                (bound, asked.map(|(step, whom, least)| (Spot::Deadline(id, step), whom, least)))
            }
            Trigger::After(_)
            | Trigger::AfterTurns(_)
            | Trigger::Event(_)
            | Trigger::AnyEvent
            | Trigger::AnyOccurrence
            | Trigger::Turn
            | Trigger::When
            | Trigger::StateDone(_)
            | Trigger::Choice(_)
            | Trigger::StepDone(_)
            | Trigger::StepError(_)
            | Trigger::StepDoubt(_)
            | Trigger::StepElse(_)
            | Trigger::Error(_)
            | Trigger::LimitWarn(_) => continue,
        };
        if let Some((spot, whom, least)) = asked
            && let Some((_, most)) = range(chart, bound)
            && most < least
        {
            found.push(Hasty { spot, whom, most });
        }
    }
    found
}

/// Whom a step asks, and how long that takes at least.
fn whom(step: &Step) -> Option<(Whom, u64)> {
    match step.kind {
        StepKind::Llm | StepKind::Ask { .. } => Some((Whom::Model, MODEL)),
        StepKind::Human(_) => Some((Whom::Person, PERSON)),
        StepKind::Code(_) | StepKind::Call(..) | StepKind::Run(_) => None,
    }
}

/// By state: the slowest step that leaving it gives up.
fn slowest(chart: &Chart, facts: &Facts) -> Vec<Option<(StepId, Whom, u64)>> {
    let mut found: Vec<Option<(StepId, Whom, u64)>> = vec![None; chart.states.len()];
    for (i, step) in chart.steps.iter().enumerate() {
        let Some((whom, least)) = whom(step) else { continue };
        if facts.places.steps[i].within.is_empty() {
            continue;
        }
        for state in chart.ancestors(step.state) {
            let known = &mut found[state.index()];
            if known.is_some_and(|(.., slower)| slower >= least) {
                break;
            }
            *known = Some((StepId::at(i), whom, least));
        }
    }
    found
}
