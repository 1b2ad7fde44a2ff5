//! A run as data, by number, from which [`Interpreter::restore`] continues it exactly.
//!
//! A snapshot belongs to one version of a chart, whose hash it contains, and needs no conversion. For other versions, and for generated
//! machines, the module `named` converts it to and from [`crate::saved::Saved`], where names replace numbers. For example:
//!
//! ```text
//! run        in the state `open`; `total` is 3; the `llm` step 0 is under way with the key k
//! snapshot   { format: 3, chart: "Shop", hash, machine: { bits of the configuration, steps: [pending k] }, variables: { total: 3 } }
//! restore    checks format and hash, fits 3 to the type of `total`, and sets the registers; an answer for k is then accepted
//! ```

mod called;
mod gathered;
mod named;

use super::data::{Data, More};
use super::lazily::Lazily;
use super::{Interpreter, check};
use crate::arena::{ChoiceId, EventId, StateId, StepId, ToolId};
use crate::expr::{Value, fit};
use crate::host::{Host, Mismatch};
use crate::machine::StepKey;
use crate::model::{Chart, VariableKind};
use crate::plan::Plan;
use crate::program::Bound;
use crate::saved::StoredValue;
use crate::semantics;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The version of the layout of [`Snapshot`].
const FORMAT: u32 = 3;

/// The complete state of a run between two inputs, when the configuration is stable: configuration, histories, variables, answers, queues,
/// deadlines, open steps and questions with their keys, walks, counts. With the feature `serde` it is data. Values are JSON; those without
/// a JSON form (durations, NaN, infinity) become a map with one key that begins with `$`.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Snapshot {
    format: u32,
    chart: String,
    hash: u64,
    machine: semantics::Snapshot,
    begun: bool,
    variables: BTreeMap<String, StoredValue>,
    answers: BTreeMap<StepId, StoredValue>,
    handled: Handled,
    raised: Vec<(EventId, Vec<StoredValue>)>,
    /// The payloads of the waiting sent events, in order of delivery.
    sent: Vec<Vec<StoredValue>>,
    finals: BTreeMap<StateId, Vec<StoredValue>>,
    last_result: String,
    /// The tool calls of questions that are under way: leaf, tool, arguments.
    calls: Vec<(StateId, ToolId, Vec<StoredValue>)>,
    /// The tool calls of `llm` steps that are under way: step, tool, arguments.
    #[cfg_attr(feature = "serde", serde(default))]
    step_calls: Vec<(StepId, ToolId, Vec<StoredValue>)>,
    /// The ended tool calls that streaks count: tool, arguments, number of successive repetitions.
    called: Vec<(ToolId, Vec<StoredValue>, u32)>,
    /// The steps with an `each` that are under way: their elements, and the answers so far.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    gathered: Vec<gathered::Saved>,
    /// The machines of the `run` steps that are under way.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    children: Vec<(StepKey, Snapshot)>,
}

/// The part of [`Bound`] that outlives an input, with values that can be serialized.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Handled {
    Nothing,
    Event(EventId, Vec<StoredValue>),
    Answer(StepId, Vec<StoredValue>),
    Reason(StepId, Vec<StoredValue>),
    Choice(ChoiceId, Vec<StoredValue>),
}

/// The reason why a run cannot continue from a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestoreError {
    /// It was made by another version of this crate, with this version of the format.
    Format(u32),
    /// It belongs to the chart with this name, which is another chart or another version of this one.
    OtherChart(String),
    /// Its registers are impossible in this chart.
    Machine(semantics::RestoreError),
    /// A value in it does not fit its declared type.
    Data(String),
}

impl core::fmt::Display for RestoreError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Format(number) => {
                write!(f, "the snapshot has format version {number}, not {FORMAT}")
            }
            Self::OtherChart(name) => {
                write!(f, "the snapshot is of another chart, or of another version of it: `{name}`")
            }
            Self::Machine(error) => error.fmt(f),
            Self::Data(why) => write!(f, "the snapshot's data does not fit the chart: {why}"),
        }
    }
}

impl core::error::Error for RestoreError {}

impl Snapshot {
    /// The name of the snapshot's chart.
    pub fn chart(&self) -> &str {
        &self.chart
    }

    /// The structural hash of the snapshot's chart.
    pub fn hash(&self) -> u64 {
        self.hash
    }
}

fn keep(values: &[Value]) -> Vec<StoredValue> {
    values.iter().cloned().map(StoredValue).collect()
}

fn give_back(values: &[StoredValue]) -> Vec<Value> {
    values.iter().map(|kept| kept.0.clone()).collect()
}

impl<'p, H: Host> Interpreter<'p, H> {
    /// The state of the run, but without the notes that were not taken.
    pub fn snapshot(&self) -> Snapshot {
        let chart = self.plan.chart();
        let data = &self.engine.program.data;
        let variables = chart.variables.iter().zip(&data.variables);
        let answers = data.more.answers.iter().enumerate();
        Snapshot {
            format: FORMAT,
            chart: chart.name.clone(),
            hash: self.engine.tables().hash,
            machine: self.engine.snapshot(),
            begun: data.begun,
            variables: variables
                .filter_map(|(variable, value)| {
                    Some((variable.name.clone(), StoredValue(value.clone()?)))
                })
                .collect(),
            answers: answers
                .filter_map(|(i, answer)| Some((StepId::at(i), StoredValue(answer.clone()?))))
                .collect(),
            handled: match data.bound {
                // The calls themselves are in `calls` and `called`.
                Bound::Nothing | Bound::Call(..) | Bound::Returned(..) | Bound::CallFailed(..) => {
                    Handled::Nothing
                }
                Bound::Event(id, ()) => Handled::Event(id, keep(data.payloads())),
                Bound::Answer(id, ()) => Handled::Answer(id, keep(data.payloads())),
                Bound::Reason(id, ()) => Handled::Reason(id, keep(data.payloads())),
                Bound::Choice(id, ()) => Handled::Choice(id, keep(data.payloads())),
            },
            raised: data.raised.iter().map(|(event, fields)| (*event, keep(fields))).collect(),
            sent: (self.engine.sends().iter())
                .map(|sent| {
                    data.more.sent.get(sent.slot as usize).map_or(Vec::new(), |all| keep(all))
                })
                .collect(),
            finals: data.more.finals.iter().map(|(state, values)| (*state, keep(values))).collect(),
            last_result: data.more.last_result.clone(),
            calls: called::of_questions(&data.more.calls),
            step_calls: called::of_steps(&data.more.calls),
            called: (data.more.calls)
                .ended()
                .map(|(call, times)| (call.tool, keep(&call.arguments), times))
                .collect(),
            gathered: gathered::kept(data),
            children: self.children.iter().map(|(key, child)| (*key, child.snapshot())).collect(),
        }
    }

    /// A machine that continues from the point at which the snapshot was taken.
    ///
    /// # Errors
    /// The snapshot has another format, belongs to another chart, or has impossible registers or data that does not fit.
    pub fn restore(plan: &'p Plan<'p>, host: H, snapshot: &Snapshot) -> Result<Self, RestoreError> {
        Self::restore_with_charts(plan, &[], host, snapshot)
    }

    /// Like [`Interpreter::restore`], for a chart that runs others. Their machines continue, too.
    ///
    /// # Errors
    /// As for [`Interpreter::restore`], for each of the machines.
    pub fn restore_with_charts(
        plan: &'p Plan<'p>,
        charts: &'p [Plan<'p>],
        host: H,
        snapshot: &Snapshot,
    ) -> Result<Self, RestoreError> {
        Self::restore_member(plan, charts, Some(host), snapshot)
    }

    fn restore_member(
        plan: &'p Plan<'p>,
        charts: &'p [Plan<'p>],
        host: Option<H>,
        snapshot: &Snapshot,
    ) -> Result<Self, RestoreError> {
        if snapshot.format != FORMAT {
            return Err(RestoreError::Format(snapshot.format));
        }
        let chart = plan.chart();
        if snapshot.chart != chart.name || snapshot.hash != plan.tables().hash {
            return Err(RestoreError::OtherChart(snapshot.chart.clone()));
        }
        let data = data(plan, snapshot, true)?;
        let mut restored = Self::with_data(plan, host, data).with_charts(charts);
        restored.engine.restore(&snapshot.machine).map_err(RestoreError::Machine)?;
        let limits =
            restored.engine.with_view(StateId(0), |program, view| program.set_limits(view));
        limits.map_err(|Mismatch(why)| RestoreError::Data(why))?;
        // The registers are restored by now, so `runs` knows the open steps.
        for (key, child) in &snapshot.children {
            let named = |plan: &&Plan<'_>| plan.chart().name == child.chart;
            let Some(plan) = charts.iter().find(named) else {
                return Err(RestoreError::OtherChart(child.chart.clone()));
            };
            if !restored.runs(*key, &child.chart) {
                return Err(RestoreError::Data(format!("no step runs `{}`", child.chart)));
            }
            let child = Self::restore_member(plan, charts, None, child)?;
            restored.children.push((*key, child));
        }
        Ok(restored)
    }
}

/// The data of a snapshot, converted to the declared types. If `is_exact`, a variable that must have a value has to be in the snapshot.
fn data(plan: &Plan<'_>, snapshot: &Snapshot, is_exact: bool) -> Result<Data, RestoreError> {
    let chart = plan.chart();
    let mut data = Data::new(chart);
    for (slot, variable) in data.variables.iter_mut().zip(&chart.variables) {
        let Some(StoredValue(value)) = snapshot.variables.get(&variable.name) else {
            // Params have values from the creation of a machine on, other variables from its start on.
            let needed = matches!(variable.kind, VariableKind::Param { .. }) || snapshot.begun;
            if is_exact && needed && variable.default.is_some() {
                return Err(RestoreError::Data(format!("no value for `{}`", variable.name)));
            }
            continue;
        };
        let value = fit(value.clone(), &variable.ty, &chart.types);
        let value = value.map_err(|why| RestoreError::Data(format!("`{}`: {why}", variable.name)));
        *slot = Some(value?);
    }
    check::ranges(chart, &data.variables).map_err(|Mismatch(why)| RestoreError::Data(why))?;
    let mut answers = More::default();
    for (step, StoredValue(answer)) in &snapshot.answers {
        let Some(row) = chart.steps.get(step.index()) else {
            return Err(RestoreError::Data(format!("no step has the number {}", step.0)));
        };
        let answer = fit(answer.clone(), &row.returns, &chart.types);
        let answer = answer.map_err(|why| RestoreError::Data(format!("`{}`: {why}", row.name)))?;
        answers.keep_answer(*step, chart.steps.len(), answer);
    }
    data.bind(match &snapshot.handled {
        Handled::Nothing => Bound::Nothing,
        Handled::Event(id, fields) => Bound::Event(*id, give_back(fields)),
        Handled::Answer(id, fields) => Bound::Answer(*id, give_back(fields)),
        Handled::Reason(id, fields) => Bound::Reason(*id, give_back(fields)),
        Handled::Choice(id, fields) => Bound::Choice(*id, give_back(fields)),
    });
    data.raised = snapshot.raised.iter().map(|(id, fields)| (*id, give_back(fields))).collect();
    data.begun = snapshot.begun;
    let finals = snapshot.finals.iter().map(|(id, values)| (*id, give_back(values))).collect();
    let (calls, fans) = (called::restored(plan, snapshot)?, gathered::restored(plan, snapshot)?);
    data.more = Lazily::of(More {
        finals,
        last_result: snapshot.last_result.clone(),
        calls,
        fans,
        sent: sent(chart, snapshot)?,
        ..answers
    });
    Ok(data)
}

/// The payloads of the sent events by slot, which is their order in a restored machine.
fn sent(chart: &Chart, snapshot: &Snapshot) -> Result<Vec<Vec<Value>>, RestoreError> {
    let events: Vec<EventId> = snapshot.machine.sends().map(|sent| sent.event).collect();
    if events.len() != snapshot.sent.len() {
        return Err(RestoreError::Data("a sent event has no data".into()));
    }
    let payload = |(event, fields): (EventId, &Vec<StoredValue>)| {
        let Some(row) = chart.events.get(event.index()) else {
            return Err(RestoreError::Data(format!("no event has the number {}", event.0)));
        };
        if row.fields.len() != fields.len() {
            return Err(RestoreError::Data(format!("`{}` has other data", row.name)));
        }
        let fitted = fields.iter().zip(&row.fields).map(|(StoredValue(value), field)| {
            fit(value.clone(), &field.ty, &chart.types)
                .map_err(|why| RestoreError::Data(format!("`{}`: {why}", row.name)))
        });
        fitted.collect()
    };
    events.into_iter().zip(&snapshot.sent).map(payload).collect()
}
