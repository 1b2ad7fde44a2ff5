//! Simulates a chart: plays a file of events in virtual time, with the answers in the file and without any model.

use crate::clock::VirtualClock;
use crate::data::{Entry, Sent};
use crate::error::RunError;
use crate::session::{At, Session, basic_states};
use crate::trace;
use chartc_core::expr::{Map, Value};
use chartc_core::host::{Machine, Mismatch};
use chartc_core::machine::{DOUBT, Outcome, Receipt, Status};
use chartc_core::tables::StepRowKind;
use serde::Serialize;
use std::sync::Arc;

/// The result of a simulation. Index 0 of the lists is the state after the start, index `n` the state after entry `n`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Simulation {
    /// The active leaves, by their own names, in document order. After the end of the run, those at its end.
    pub configurations: Vec<Vec<String>>,
    /// The same leaves as dotted paths.
    pub paths: Vec<Vec<String>>,
    /// What became of each entry: `handled`, `unhandled`, `busy`, `refused` or `closed`.
    pub receipts: Vec<&'static str>,
    /// The status with which the run has ended; `None` if it has not.
    pub status: Option<&'static str>,
}

/// The reason why a simulation cannot continue.
#[derive(Debug, thiserror::Error)]
pub enum SimulateError {
    /// An entry does not fit the chart or its present state.
    #[error("entry {nth}: {why}")]
    Entry {
        /// The number of the entry, from 1.
        nth: usize,
        /// The reason.
        why: String,
    },
    /// Any other error.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// Plays the entries. Steps and questions stay open until an entry answers them. Deadlines that come due during `after_ms` fire before
/// the entry.
///
/// # Errors
/// The first entry that does not fit, or another error of the run.
pub async fn simulate<M: Machine, T: trace::Sink>(
    machine: M,
    given: &Map,
    entries: &[Entry],
    sink: T,
) -> Result<Simulation, SimulateError> {
    let mut session = Session::manual(machine, Arc::new(VirtualClock::new()), sink);
    for (name, value) in given.iter() {
        session.input(name, value.clone())?;
    }
    session.start().await?;
    let mut seen = Simulation {
        configurations: Vec::new(),
        paths: Vec::new(),
        receipts: Vec::new(),
        status: None,
    };
    look(&mut seen, &session, Receipt::Handled);
    for (index, entry) in entries.iter().enumerate() {
        let receipt = play(&mut session, entry).await.map_err(|error| match error {
            Stop::Entry(why) => SimulateError::Entry { nth: index + 1, why },
            Stop::Run(error) => SimulateError::Run(error),
        })?;
        look(&mut seen, &session, receipt);
    }
    seen.status = session.status().map(Status::word);
    Ok(seen)
}

enum Stop {
    Entry(String),
    Run(RunError),
}

impl From<RunError> for Stop {
    fn from(error: RunError) -> Self {
        if error.is_about_input() { Self::Entry(error.to_string()) } else { Self::Run(error) }
    }
}

impl From<Mismatch> for Stop {
    fn from(Mismatch(why): Mismatch) -> Self {
        Self::Entry(why)
    }
}

fn look<M: Machine, T: trace::Sink>(
    seen: &mut Simulation,
    session: &Session<M, T>,
    receipt: Receipt,
) {
    let (paths, names) = basic_states(session.machine()).into_iter().unzip();
    seen.configurations.push(names);
    seen.paths.push(paths);
    seen.receipts.push(match receipt {
        Receipt::Handled => "handled",
        Receipt::Unhandled => "unhandled",
        Receipt::Busy => "busy",
        Receipt::Closed => "closed",
        Receipt::Refused => "refused",
    });
}

async fn play<M: Machine, T: trace::Sink>(
    session: &mut Session<M, T>,
    entry: &Entry,
) -> Result<Receipt, Stop> {
    // Also without any time, so that the deadlines of this moment fire before the entry.
    session.advance(entry.after_ms.unwrap_or(0)).await?;
    for (name, value) in entry.inputs.iter() {
        session.input(name, value.clone())?;
    }
    match &entry.what {
        Sent::Nothing => Ok(Receipt::Handled),
        Sent::Event(name, data) => Ok(session.post(name, data.clone()).await?),
        Sent::Turn => match session.begin_turn().await? {
            Receipt::Busy => {
                let open = session.open();
                let names: Vec<String> = open.iter().map(|at| step_name(session, at)).collect();
                Err(Stop::Entry(format!(
                    "the last turn still waits for an answer to {}",
                    names.join(", ")
                )))
            }
            receipt @ (Receipt::Handled
            | Receipt::Unhandled
            | Receipt::Closed
            | Receipt::Refused) => Ok(receipt),
        },
        Sent::Answer { value, data, step } => {
            let at = open(session, step.as_deref())?;
            let outcome = outcome(session, &at, value, data.as_ref())?;
            Ok(session.answer(&at, outcome)??)
        }
        Sent::Fail { why, kind, step } => {
            let at = open(session, step.as_deref())?;
            let outcome = session.failure(&at, *kind, why.clone(), false);
            Ok(session.answer(&at, outcome)??)
        }
        Sent::Unusable { step } => {
            let at = open(session, step.as_deref())?;
            Ok(session.answer(&at, Outcome::Unusable)??)
        }
        Sent::Doubt { step } => {
            let at = open(session, step.as_deref())?;
            let why = Value::Text(DOUBT.to_owned());
            Ok(session.answer(&at, Outcome::Doubt(vec![why]))??)
        }
    }
}

fn step_name<M: Machine, T: trace::Sink>(session: &Session<M, T>, at: &At) -> String {
    format!("`{}`", session.step_path(at))
}

/// Finds the open step of this name; without a name, the only one that is open.
fn open<M: Machine, T: trace::Sink>(
    session: &Session<M, T>,
    step: Option<&str>,
) -> Result<At, Stop> {
    let open = session.open();
    let names: Vec<String> = open.iter().map(|at| step_name(session, at)).collect();
    match step {
        Some(step) => {
            let place = names.iter().position(|n| n.trim_matches('`') == step);
            place.map(|i| open[i].clone()).ok_or_else(|| {
                Stop::Entry(format!("step `{step}` is not open; {}", opened(&names)))
            })
        }
        None => match open.as_slice() {
            [at] => Ok(at.clone()),
            [] => Err(Stop::Entry("no step and no question is open".into())),
            [_, _, ..] => Err(Stop::Entry(format!("say which with `step`; {}", opened(&names)))),
        },
    }
}

fn opened(names: &[String]) -> String {
    if names.is_empty() { "none is".into() } else { format!("open: {}", names.join(", ")) }
}

/// Whether a value has the form `{"tool": "a.b", "arguments": {…}}`, by which the model of an `llm` step calls a tool.
fn is_call(value: &Value) -> bool {
    let Value::Map(map) = value else { return false };
    map.get("tool").is_some() && map.iter().all(|(key, _)| key == "tool" || key == "arguments")
}

fn outcome<M: Machine, T: trace::Sink>(
    session: &mut Session<M, T>,
    (member, key): &At,
    value: &Value,
    data: Option<&Value>,
) -> Result<Outcome<Vec<Value>>, Stop> {
    let offers = session.family.with_member(member, |machine| {
        let kind = machine.tables().steps[key.step.index()].kind;
        // A step whose tool is being called waits for the tool's result, not for a choice.
        let is_called = machine.call(*key).is_ok();
        let may_choose = match kind {
            StepRowKind::Ask { .. } => !is_called,
            StepRowKind::Llm => !is_called && is_call(value),
            _ => false,
        };
        may_choose.then(|| machine.options(*key)).filter(|options| {
            // The step has no tools, so an object of this form is its answer.
            matches!(kind, StepRowKind::Ask { .. }) || !options.is_empty()
        })
    });
    let Some(Some(offers)) = offers else {
        return Ok(Outcome::Done(vec![data.unwrap_or(value).clone()]));
    };
    let (value, data) = match value {
        Value::Map(map) if is_call(value) => {
            (map.get("tool").unwrap_or(value), map.get("arguments"))
        }
        _ => (value, data),
    };
    let name = match value {
        Value::Text(name) => name.clone(),
        Value::Bool(b) => b.to_string(),
        // `null` is how a file says that the model has chosen nothing.
        Value::None => return Ok(Outcome::Unusable),
        _ => {
            return Err(Stop::Entry("the answer to a question is the name of an option".into()));
        }
    };
    let Some(offer) = offers.iter().find(|o| o.name == name) else {
        let names: Vec<String> = offers.iter().map(|o| format!("`{}`", o.name)).collect();
        return Err(Stop::Entry(format!(
            "`{name}` is not offered now; offered: {}",
            names.join(", ")
        )));
    };
    let none = Map::new();
    let data = match data {
        Some(Value::Map(map)) => map,
        None | Some(Value::None) => &none,
        Some(_) => return Err(Stop::Entry("`data` of an option is an object".into())),
    };
    if let Some((stranger, _)) =
        data.iter().find(|(k, _)| !offer.arguments.iter().any(|(n, _)| n == k))
    {
        return Err(Stop::Entry(format!("`{name}` has no argument `{stranger}`")));
    }
    let values = offer.arguments.iter().map(|(n, _)| data.get(n).cloned().unwrap_or_default());
    let values = values.collect();
    Ok(match offer.tool {
        Some(tool) => Outcome::Call(tool, values),
        None => Outcome::Choice(offer.choice, values),
    })
}
