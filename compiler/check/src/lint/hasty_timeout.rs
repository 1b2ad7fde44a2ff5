//! Timeouts and deadlines that are too short for a model or a person to answer.

use crate::facts::Facts;
use crate::facts::deadline::range;
use crate::lint::{Context, Lint, words};
use crate::notation::duration;
use chartc_core::arena::{ClientId, StepId, TransitionId};
use chartc_core::model::{Chart, Step, StepKind, TransitionKind, Trigger};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::HASTY_TIMEOUT;

pub(super) static LINT: Lint = Lint { rule: &HASTY_TIMEOUT, needs_whole: false, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for Hasty { spot, whom, most } in hasty(chart, facts) {
        let (span, then) = match spot {
            TimeoutPlace::Client(id) => (
                map.client_timeouts[id.index()].unwrap_or(map.clients[id.index()]),
                format!("every call of `{}` fails", chart.clients[id.index()].name),
            ),
            TimeoutPlace::Step(transition, step) => {
                let step = words::step(chart, step);
                (map.transition(transition).trigger, format!("{step} always times out"))
            }
            TimeoutPlace::Deadline(transition, step) => {
                let state = words::state(chart, chart.transition(transition).source);
                let step = words::step(chart, step);
                (
                    map.transition(transition).trigger,
                    format!("{state} is left before {step} is done"),
                )
            }
        };
        let who = match whom {
            Whom::Model => "no model answers",
            Whom::Person => "nobody answers",
        };
        let message = format!("{who} within {}: {then}", duration(most));
        let help = match (whom, most) {
            // Most often the unit is wrong.
            (_, 5..1_000) => format!("allow more time; `{most}s` if seconds are meant"),
            (Whom::Model, _) => "allow more time: a model needs seconds".to_owned(),
            (Whom::Person, _) => "allow more time: a person needs to read the question".to_owned(),
        };
        diagnostics.push(HASTY_TIMEOUT.at(span, message).help(help));
    }
}

/// The least time in which a model answers, in milliseconds.
const MODEL: u64 = 1_000;
/// The least time in which a person reads and answers a question, in milliseconds.
const PERSON: u64 = 5_000;

/// The one who answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whom {
    Model,
    Person,
}

/// A time that is too short for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Hasty {
    spot: TimeoutPlace,
    /// The one who has too little time to answer.
    whom: Whom,
    /// The greatest possible value of the time, in milliseconds.
    most: u64,
}

/// The place where a time is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TimeoutPlace {
    /// The `timeout` of a client.
    Client(ClientId),
    /// The `timeout` of a step.
    Step(TransitionId, StepId),
    /// A deadline that leaves the state of a step.
    Deadline(TransitionId, StepId),
}

/// Finds every time that is too short: those of clients first, then those of transitions in document order. Times of tools are ignored,
/// because a tool may answer at once.
fn hasty(chart: &Chart, facts: &Facts) -> Vec<Hasty> {
    let mut found = Vec::new();
    for (i, client) in chart.clients.iter().enumerate() {
        if let Some(most) = client.timeout.filter(|ms| *ms < MODEL) {
            found.push(Hasty {
                spot: TimeoutPlace::Client(ClientId::at(i)),
                whom: Whom::Model,
                most,
            });
        }
    }
    let mut by_state = None;
    for (i, transition) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        let (bound, asked) = match &transition.trigger {
            Trigger::StepTimeout(step, bound) => {
                let row = &chart.steps[step.index()];
                (bound, whom(row).map(|(whom, least)| (TimeoutPlace::Step(id, *step), whom, least)))
            }
            Trigger::After(bound) if transition.kind == TransitionKind::External => {
                let asked = by_state.get_or_insert_with(|| slowest(chart, facts))
                    [transition.source.index()];
                (
                    bound,
                    asked
                        .map(|(step, whom, least)| (TimeoutPlace::Deadline(id, step), whom, least)),
                )
            }
            _ => continue,
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

/// The one who answers a step, and the least time for an answer, in milliseconds; `None` if neither a model nor a person answers it.
fn whom(step: &Step) -> Option<(Whom, u64)> {
    match step.kind {
        StepKind::Llm | StepKind::Ask { .. } => Some((Whom::Model, MODEL)),
        StepKind::Human(_) => Some((Whom::Person, PERSON)),
        StepKind::Code(_) | StepKind::Call(..) | StepKind::Run(_) => None,
    }
}

/// The slowest step that is canceled when a state is exited, by state.
fn slowest(chart: &Chart, facts: &Facts) -> Vec<Option<(StepId, Whom, u64)>> {
    let mut found: Vec<Option<(StepId, Whom, u64)>> = vec![None; chart.states.len()];
    for (i, step) in chart.steps.iter().enumerate() {
        let Some((whom, least)) = whom(step) else { continue };
        if facts.scopes.steps[i].within.is_empty() {
            continue;
        }
        for state in chart.ancestors(step.state) {
            let known = &mut found[state.index()];
            // The ancestors know a step that is at least as slow.
            if known.is_some_and(|(.., slower)| slower >= least) {
                break;
            }
            *known = Some((StepId::at(i), whom, least));
        }
    }
    found
}
