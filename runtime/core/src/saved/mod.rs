//! A machine as data, by the chart's names.
//!
//! The problem: a saved run has to continue in another program, where the ids differ: as a generated instead of an interpreted machine, or
//! in a later version of the chart. The idea: names replace numbers. States go by their path, steps and variables by their name, keys by
//! step, leaf, event, attempt and element; types are saved as written. A version of the chart reads it if it has all that the run needs.
//!
//! ```text
//! in memory   configuration {0, 2}, deadlines [_, 5000]        state 2 is `open`, with `after 5s -> closed`
//! saved       active ["", "open"], deadlines [{state: "open", kind: "after", nth: 0, due: 5000, to: ["closed"]}]
//! restored    configuration {0, 3}, deadlines [5000]           in a version where `open` is state 3 and has the only deadline
//! ```
//!
//! With the feature `serde` it is data. Values are JSON; those without a JSON form (durations, NaN, infinity) become a map with one key
//! that begins with `$`.

// A new variant must be handled here knowingly.
#![warn(clippy::wildcard_enum_match_arm)]

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

/// The version of the layout of [`Saved`].
pub const FORMAT: u32 = 1;

/// A machine between two inputs, with its children.
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
    /// The payloads of the sent events that are not delivered yet, in order of delivery.
    sent: Vec<Vec<StoredValue>>,
    /// The arguments with which final states were entered, by path.
    finals: BTreeMap<String, Vec<StoredValue>>,
    last_result: String,
    /// The tool calls of models that are under way.
    calls: Vec<Called>,
    /// The ended tool calls that streaks count, with the number of successive repetitions.
    called: Vec<(String, Vec<StoredValue>, u32)>,
    /// The lists of steps with an `each` that are under way, and the answers of their elements so far.
    gathered: BTreeMap<String, (Vec<StoredValue>, Vec<Option<StoredValue>>)>,
    /// The machines of the `run` steps that are under way.
    children: Vec<(Key, Saved)>,
    /// The declared types of the saved values; absent in old files.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    types: Option<types::Types>,
}

/// A value whose form as data is exact, see the module `wire`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StoredValue(pub(crate) Value);

impl Key {
    /// Converts a key to the names of its chart.
    pub fn of(tables: &Tables<'_>, key: &StepKey) -> Self {
        named_key(tables, key)
    }

    /// The path of the leaf and the name of the step.
    pub fn names(&self) -> (&str, &str) {
        (&self.leaf, &self.step)
    }

    /// Converts the key to the numbers of this chart; `None` if the chart has no such step or leaf.
    pub fn number(&self, tables: &Tables<'_>) -> Option<StepKey> {
        Numbers::of(tables).key(self).ok()
    }
}

/// The payload that guards and actions read when the machine was saved.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Handled {
    Nothing,
    Event(String, Vec<StoredValue>),
    Answer(String, Vec<StoredValue>),
    Reason(String, Vec<StoredValue>),
    /// The state that declares the option, the option, and its arguments.
    Choice(String, String, Vec<StoredValue>),
}

/// A tool call of a model. Exactly one of `leaf` and `step` is set.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Called {
    /// The leaf whose question the call belongs to.
    leaf: Option<String>,
    step: Option<String>,
    tool: String,
    arguments: Vec<StoredValue>,
}

/// The payload that guards and actions read: the current event or answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Current {
    /// No payload is bound.
    #[default]
    Nothing,
    /// The data of a host event.
    Event(EventId, Vec<Value>),
    /// The answer of a step.
    Answer(StepId, Vec<Value>),
    /// The reason why a step failed.
    Reason(StepId, Vec<Value>),
    /// The arguments of a chosen option.
    Choice(ChoiceId, Vec<Value>),
}

/// The data of a program. The registers are saved beside it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ProgramData {
    /// Whether `Start` was handled.
    pub begun: bool,
    /// The params, inputs and variables that have a value.
    pub variables: Vec<(String, Value)>,
    /// The answers of steps in this turn.
    pub answers: Vec<(StepId, Value)>,
    /// The payload that guards and actions read.
    pub current: Current,
    /// The payloads of the sent events, in order of delivery.
    pub sent: Vec<Vec<Value>>,
    /// The arguments with which final states were entered.
    pub finals: Vec<(StateId, Vec<Value>)>,
    /// The text of the last result of a step or tool.
    pub last_result: String,
    /// The tool calls of models.
    pub calls: Calls,
    /// The steps with an `each` that are under way.
    pub gathered: Vec<Gathered>,
}

/// A step with an `each` that is under way: the step, its elements, and their answers so far.
pub type Gathered = (StepId, Vec<Value>, Vec<Option<Value>>);

/// The reason why a saved machine cannot continue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfit {
    /// It was written in this other version of the format.
    Format(u32),
    /// It belongs to the chart with this name.
    OtherChart(String),
    /// The chart does not have a part that the run needs.
    Gone(String),
    /// The chart is another version, in which the run cannot continue, for these reasons.
    Differs(Vec<Difference>),
    /// Its registers are impossible in this chart.
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
    /// Saves a machine without its children.
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

    /// Adds the machine of a `run` step that is under way.
    pub fn with_child(&mut self, tables: &Tables<'_>, key: StepKey, child: Self) {
        self.children.push((named_key(tables, &key), child));
    }

    /// The name of its chart.
    pub fn chart(&self) -> &str {
        &self.chart
    }

    /// Whether exactly this version of the chart has saved it.
    pub fn is_of(&self, tables: &Tables<'_>) -> bool {
        self.hash == format!("{:016x}", tables.hash)
    }

    /// The structural hash of its chart, in hexadecimal digits.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// The params and variables, by the names that they had when they were saved.
    pub fn variables(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.variables.iter().map(|(name, StoredValue(value))| (name.as_str(), value))
    }

    /// The value of a param or variable that is called `name` in this version of the chart.
    pub fn variable(&self, tables: &Tables<'_>, name: &str) -> Option<&Value> {
        let old = tables.renames.iter();
        let old = old.filter(|row| row.what == RenamedRow::Variable(name)).map(|row| row.old);
        let mut names = [name].into_iter().chain(old);
        names.find_map(|name| self.variables.get(name)).map(|value| &value.0)
    }

    /// The machines of `run` steps.
    ///
    /// # Errors
    /// This chart has no such step.
    pub fn children(&self, tables: &Tables<'_>) -> Result<Vec<(StepKey, &Self)>, Unfit> {
        let numbers = Numbers::of(tables);
        let children = self.children.iter();
        children.map(|(key, child)| Ok((numbers.key(key)?, child))).collect()
    }

    /// The registers and the program's data, with the numbers of this chart.
    ///
    /// # Errors
    /// It has another format, belongs to another chart, or names a part that this chart does not have.
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
            // A tool that does not exist any more has no streak.
            if let Ok(tool) = numbers.tool(tool) {
                ended.push((Call { tool, arguments: given(arguments) }, *times));
            }
        }
        // Nothing is handled between two inputs, so a payload that cannot be named any more is not missed.
        let current = self.current(&numbers).unwrap_or_default();
        let mut gathered = Vec::new();
        for (name, (elements, answers)) in &self.gathered {
            let answers = answers.iter().map(|one| one.as_ref().map(|kept| kept.0.clone()));
            gathered.push((numbers.step(name)?, given(elements), answers.collect()));
        }
        // Nothing reads the answers of steps and states that do not exist any more.
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
