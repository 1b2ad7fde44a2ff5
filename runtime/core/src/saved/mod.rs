//! A machine as data, by the chart's names: interpreted and generated machines write the same, and read what the other has written. A later
//! version of the chart reads it too, if it has all that the run needs.
//!
//! | part | by |
//! |---|---|
//! | active states, histories, counters, deadlines | path of the state |
//! | open steps and questions, walks, lists of `each` | name of the step, path of the leaf, number of the event, attempt, element |
//! | params, inputs, variables | name |
//! | answers, the current event, sent events, tool calls | name |
//! | machines of `run` steps | the step that runs them |
//! | types of the values | as written |
//!
//! With the feature `serde` it is data. Values are JSON; those without a JSON form (durations, NaN, infinity) become a map with one key that
//! begins with `$`.

mod compare;
mod types;
#[cfg(feature = "serde")]
mod wire;

use crate::arena::{ChoiceId, EventId, StateId, StepId, ToolId};
use crate::caller::Caller;
use crate::calls::{Call, Calls};
use crate::expr::Value;
use crate::machine::StepKey;
use crate::semantics::{self, Gone, Named, Numbers, named_key, named_option};
pub use crate::semantics::{Change, Comparison, Difference, Key, Place, Timed};
use crate::tables::{RenamedRow, Tables};
use crate::value::Mismatch;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Version of the layout of [`Saved`].
pub const FORMAT: u32 = 1;

/// A machine between two inputs.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Saved {
    format: u32,
    chart: String,
    /// The structural hash of the chart, in hexadecimal digits.
    hash: String,
    registers: Named,
    begun: bool,
    variables: BTreeMap<String, StoredValue>,
    answers: BTreeMap<String, StoredValue>,
    handled: Handled,
    /// The data of events that were sent and are not delivered yet, in their order.
    sent: Vec<Vec<StoredValue>>,
    /// What final states were given, by path.
    finals: BTreeMap<String, Vec<StoredValue>>,
    last_result: String,
    /// Tool calls of the model under way.
    calls: Vec<Called>,
    /// Tool calls that streaks count, with the number of repetitions.
    called: Vec<(String, Vec<StoredValue>, u32)>,
    /// Lists of steps with an `each` under way, and the answers so far.
    gathered: BTreeMap<String, (Vec<StoredValue>, Vec<Option<StoredValue>>)>,
    /// Machines of the `run` steps under way.
    children: Vec<(Key, Saved)>,
    /// The types of the values.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    types: Option<types::Types>,
}

/// A value with an exact form as data.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StoredValue(pub(crate) Value);

impl Key {
    /// A key by the names of its chart.
    pub fn of(tables: &Tables<'_>, key: &StepKey) -> Self {
        named_key(tables, key)
    }

    /// The names of the leaf and of the step.
    pub fn names(&self) -> (&str, &str) {
        (&self.leaf, &self.step)
    }

    /// The key with the numbers of this chart; `None` if the chart has no such step or leaf.
    pub fn number(&self, tables: &Tables<'_>) -> Option<StepKey> {
        Numbers::of(tables).key(self).ok()
    }
}

/// What guards and actions read as the current event or answer.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Handled {
    Nothing,
    Event(String, Vec<StoredValue>),
    Answer(String, Vec<StoredValue>),
    Reason(String, Vec<StoredValue>),
    /// The state that declares the option, and its name.
    Choice(String, String, Vec<StoredValue>),
}

/// A tool call of the model.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Called {
    /// The leaf whose question it answers; empty for a step.
    leaf: Option<String>,
    step: Option<String>,
    tool: String,
    arguments: Vec<StoredValue>,
}

/// The current event or answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Current {
    /// None.
    #[default]
    Nothing,
    /// An event.
    Event(EventId, Vec<Value>),
    /// The answer of a step.
    Answer(StepId, Vec<Value>),
    /// Why a step failed.
    Reason(StepId, Vec<Value>),
    /// The arguments of an option.
    Choice(ChoiceId, Vec<Value>),
}

/// The data of a program, besides the registers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProgramData {
    /// Whether `Start` was handled.
    pub begun: bool,
    /// Params, inputs and variables that have a value.
    pub variables: Vec<(String, Value)>,
    /// Answers of this turn.
    pub answers: Vec<(StepId, Value)>,
    /// What guards and actions read.
    pub current: Current,
    /// The data of sent events, in the order in which they are due.
    pub sent: Vec<Vec<Value>>,
    /// What final states were given.
    pub finals: Vec<(StateId, Vec<Value>)>,
    /// The last result of a step or tool.
    pub last_result: String,
    /// Tool calls of the model.
    pub calls: Calls,
    /// Steps with an `each` under way: their elements, and the answers so far.
    pub gathered: Vec<Gathered>,
}

/// A step with an `each` under way: its elements, and the answers so far.
pub type Gathered = (StepId, Vec<Value>, Vec<Option<Value>>);

/// Why a machine cannot go on from what was saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfit {
    /// Another version of chartc has written it.
    Format(u32),
    /// It is of another chart.
    OtherChart(String),
    /// The chart has no longer what the run needs.
    Gone(String),
    /// The chart is another version, in which the run cannot go on.
    Differs(Vec<Difference>),
    /// Its registers are impossible in the chart.
    Registers(semantics::RestoreError),
    /// A value does not fit its declared type.
    Data(String),
}

impl From<Gone> for Unfit {
    fn from(Gone(what): Gone) -> Self {
        Self::Gone(what)
    }
}

impl From<Mismatch> for Unfit {
    fn from(Mismatch(why): Mismatch) -> Self {
        Self::Data(why)
    }
}

impl From<semantics::RestoreError> for Unfit {
    fn from(why: semantics::RestoreError) -> Self {
        Self::Registers(why)
    }
}

impl core::fmt::Display for Unfit {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Format(number) => write!(f, "it has format version {number}, not {FORMAT}"),
            Self::OtherChart(name) => write!(f, "it is of another chart: `{name}`"),
            Self::Gone(what) => write!(f, "the chart has no longer {what}"),
            Self::Differs(all) => {
                for (nth, one) in all.iter().enumerate() {
                    write!(f, "{}{one}", if nth == 0 { "" } else { "; " })?;
                }
                Ok(())
            }
            Self::Registers(why) => why.fmt(f),
            Self::Data(why) => write!(f, "its data does not fit the chart: {why}"),
        }
    }
}

impl core::error::Error for Unfit {}

fn keep(values: &[Value]) -> Vec<StoredValue> {
    values.iter().cloned().map(StoredValue).collect()
}

fn given(values: &[StoredValue]) -> Vec<Value> {
    values.iter().map(|kept| kept.0.clone()).collect()
}

impl Saved {
    /// A machine without its children.
    pub fn of(tables: &Tables<'_>, registers: &semantics::Snapshot, data: &ProgramData) -> Self {
        let step = |id: StepId| tables.steps[id.index()].name.to_string();
        let tool = |id: ToolId| tables.tools[id.index()].name.to_string();
        let path = |id: StateId| tables.state(id).path.to_string();
        let open = data.calls.opened().map(|(caller, call)| {
            let (leaf, of) = match caller {
                Caller::Question(leaf) => (Some(path(leaf)), None),
                Caller::Step(id) => (None, Some(step(id))),
            };
            Called { leaf, step: of, tool: tool(call.tool), arguments: keep(&call.arguments) }
        });
        let ended = data.calls.ended();
        let ended = ended.map(|(call, times)| (tool(call.tool), keep(&call.arguments), times));
        Self {
            format: FORMAT,
            chart: tables.name.to_string(),
            hash: format!("{:016x}", tables.hash),
            registers: registers.named(tables),
            begun: data.begun,
            variables: data
                .variables
                .iter()
                .map(|(n, v)| (n.clone(), StoredValue(v.clone())))
                .collect(),
            answers: data
                .answers
                .iter()
                .map(|(id, v)| (step(*id), StoredValue(v.clone())))
                .collect(),
            handled: match &data.current {
                Current::Nothing => Handled::Nothing,
                Current::Event(id, values) => {
                    Handled::Event(tables.events[id.index()].name.to_string(), keep(values))
                }
                Current::Answer(id, values) => Handled::Answer(step(*id), keep(values)),
                Current::Reason(id, values) => Handled::Reason(step(*id), keep(values)),
                Current::Choice(id, values) => {
                    let (state, name) = named_option(tables, *id);
                    Handled::Choice(state, name, keep(values))
                }
            },
            sent: data.sent.iter().map(|values| keep(values)).collect(),
            finals: data.finals.iter().map(|(id, values)| (path(*id), keep(values))).collect(),
            last_result: data.last_result.clone(),
            calls: open.collect(),
            called: ended.collect(),
            gathered: (data.gathered.iter())
                .map(|(id, elements, answers)| {
                    let answers = answers.iter().map(|one| one.clone().map(StoredValue)).collect();
                    (step(*id), (keep(elements), answers))
                })
                .collect(),
            children: Vec::new(),
            types: Some(types::Types::of(
                tables,
                data,
                &registers.open_steps(),
                &registers.sends().map(|sent| sent.event).collect(),
            )),
        }
    }

    /// Adds the machine that a `run` step has begun.
    pub fn with_child(&mut self, tables: &Tables<'_>, key: StepKey, child: Self) {
        self.children.push((named_key(tables, &key), child));
    }

    /// The name of its chart.
    pub fn chart(&self) -> &str {
        &self.chart
    }

    /// Whether it was written by this very chart, not by another version of it.
    pub fn is_of(&self, tables: &Tables<'_>) -> bool {
        self.hash == format!("{:016x}", tables.hash)
    }

    /// The structural hash of its chart, in hexadecimal digits.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Params and variables, by the names that they had.
    pub fn variables(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.variables.iter().map(|(name, StoredValue(value))| (name.as_str(), value))
    }

    /// The value of a param or variable that a version of the chart calls so.
    pub fn variable(&self, tables: &Tables<'_>, name: &str) -> Option<&Value> {
        let old = tables.renames.iter();
        let old = old.filter(|row| row.what == RenamedRow::Variable(name)).map(|row| row.old);
        let mut names = [name].into_iter().chain(old);
        names.find_map(|name| self.variables.get(name)).map(|value| &value.0)
    }

    /// The machines of `run` steps.
    ///
    /// # Errors
    /// The chart has no such step.
    pub fn children(&self, tables: &Tables<'_>) -> Result<Vec<(StepKey, &Self)>, Unfit> {
        let numbers = Numbers::of(tables);
        let children = self.children.iter();
        children.map(|(key, child)| Ok((numbers.key(key)?, child))).collect()
    }

    /// Registers and data with the numbers of this chart.
    ///
    /// # Errors
    /// It is of another chart or format, or names what the chart does not have.
    pub fn parts(&self, tables: &Tables<'_>) -> Result<(semantics::Snapshot, ProgramData), Unfit> {
        if self.format != FORMAT {
            return Err(Unfit::Format(self.format));
        }
        if self.chart != tables.name {
            return Err(Unfit::OtherChart(self.chart.clone()));
        }
        let numbers = Numbers::of(tables);
        let registers = self.registers.numbered(&numbers, self.is_of(tables))?;
        if self.sent.len() != self.registers.sent().count() {
            return Err(Unfit::Data("a sent event has no data".into()));
        }
        let mut open = Vec::new();
        for Called { leaf, step, tool, arguments } in &self.calls {
            let caller = match (leaf, step) {
                (Some(leaf), _) => Caller::Question(numbers.state(leaf)?),
                (None, Some(step)) => Caller::Step(numbers.step(step)?),
                (None, None) => return Err(Unfit::Data("a tool call of nobody".into())),
            };
            open.push((caller, Call { tool: numbers.tool(tool)?, arguments: given(arguments) }));
        }
        let mut ended = Vec::new();
        for (tool, arguments, times) in &self.called {
            // A tool that is gone has no streak.
            if let Ok(tool) = numbers.tool(tool) {
                ended.push((Call { tool, arguments: given(arguments) }, *times));
            }
        }
        // Nothing is handled between two inputs: what is gone is not missed.
        let current = self.current(&numbers).unwrap_or_default();
        let mut gathered = Vec::new();
        for (name, (elements, answers)) in &self.gathered {
            let answers = answers.iter().map(|one| one.as_ref().map(|kept| kept.0.clone()));
            gathered.push((numbers.step(name)?, given(elements), answers.collect()));
        }
        // What a step or a state that is gone has said, nothing reads.
        let answers = self.answers.iter();
        let answers = answers.filter_map(|(n, v)| Some((numbers.step(n).ok()?, v.0.clone())));
        let finals = self.finals.iter();
        let finals = finals.filter_map(|(path, v)| Some((numbers.state(path).ok()?, given(v))));
        let data = ProgramData {
            begun: self.begun,
            variables: (self.variables.iter())
                .map(|(name, value)| (numbers.variable(name).to_string(), value.0.clone()))
                .collect(),
            answers: answers.collect(),
            current,
            sent: self.sent.iter().map(|values| given(values)).collect(),
            finals: finals.collect(),
            last_result: self.last_result.clone(),
            calls: Calls::of(open, ended),
            gathered,
        };
        Ok((registers, data))
    }

    fn current(&self, numbers: &Numbers<'_>) -> Result<Current, Gone> {
        Ok(match &self.handled {
            Handled::Nothing => Current::Nothing,
            Handled::Event(name, values) => Current::Event(numbers.event(name)?, given(values)),
            Handled::Answer(name, values) => Current::Answer(numbers.step(name)?, given(values)),
            Handled::Reason(name, values) => Current::Reason(numbers.step(name)?, given(values)),
            Handled::Choice(state, name, values) => {
                Current::Choice(numbers.choice(state, name)?, given(values))
            }
        })
    }
}
