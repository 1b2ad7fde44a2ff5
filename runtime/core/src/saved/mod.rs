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

#[cfg(feature = "serde")]
mod wire;

pub use crate::semantics::{Change, Comparison, Difference, Key, Place, Timed};

use crate::arena::{ChoiceId, EventId, StateId, StepId, ToolId};
use crate::caller::Caller;
use crate::calls::{Call, Calls, LastResult};
use crate::expr::Value;
use crate::machine::StepKey;
use crate::semantics::{self, Gone, Numbers, named_key, named_option};
use crate::tables::{RenamedRow, Tables, TypeRow, TypedRow};
use crate::value::Mismatch;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, vec};

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
    registers: semantics::Named,
    begun: bool,
    variables: BTreeMap<String, StoredValue>,
    answers: BTreeMap<String, StoredValue>,
    handled: Handled,
    /// The payloads of the sent events that are not delivered yet, in order of delivery.
    sent: Vec<Vec<StoredValue>>,
    /// The arguments with which final states were entered, by path.
    finals: BTreeMap<String, Vec<StoredValue>>,
    last_result: String,
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
    last_failed: bool,
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
    types: Option<Types>,
}

/// A value whose form as data is exact, see the module `wire`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StoredValue(pub(crate) Value);

impl Key {
    /// Converts a key to the names of its chart.
    pub fn of(tables: &Tables, key: &StepKey) -> Self {
        named_key(tables, key)
    }

    /// The path of the leaf and the name of the step.
    pub fn names(&self) -> (&str, &str) {
        (&self.leaf, &self.step)
    }

    /// Converts the key to the numbers of this chart; `None` if the chart has no such step or leaf.
    pub fn number(&self, tables: &Tables) -> Option<StepKey> {
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
    /// The last result of a step or tool.
    pub last_result: LastResult,
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
    pub fn of(tables: &Tables, registers: &semantics::Snapshot, data: &ProgramData) -> Self {
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
            handled: handled(tables, &data.current),
            sent: data.sent.iter().map(|values| keep(values)).collect(),
            finals: data.finals.iter().map(|(id, values)| (path(*id), keep(values))).collect(),
            last_result: data.last_result.text.clone(),
            last_failed: data.last_result.failed,
            calls: open.collect(),
            called: ended.collect(),
            gathered: (data.gathered.iter())
                .map(|(id, elements, answers)| {
                    let answers = answers.iter().map(|one| one.clone().map(StoredValue)).collect();
                    (step(*id), (keep(elements), answers))
                })
                .collect(),
            children: Vec::new(),
            types: Some(Types::of(
                tables,
                data,
                &registers.open_steps(),
                &registers.sends().map(|sent| sent.event).collect(),
            )),
        }
    }

    /// Adds the machine of a `run` step that is under way.
    pub fn with_child(&mut self, tables: &Tables, key: StepKey, child: Self) {
        self.children.push((named_key(tables, &key), child));
    }

    /// The name of its chart.
    pub fn chart(&self) -> &str {
        &self.chart
    }

    /// Whether exactly this version of the chart has saved it.
    pub fn is_of(&self, tables: &Tables) -> bool {
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
    pub fn variable(&self, tables: &Tables, name: &str) -> Option<&Value> {
        let old = tables.renames.iter();
        let old = old.filter(|row| matches!(&row.what, RenamedRow::Variable(now) if *now == *name));
        let old = old.map(|row| &*row.old);
        let mut names = [name].into_iter().chain(old);
        names.find_map(|name| self.variables.get(name)).map(|value| &value.0)
    }

    /// The machines of `run` steps.
    ///
    /// # Errors
    /// This chart has no such step.
    pub fn children(&self, tables: &Tables) -> Result<Vec<(StepKey, &Self)>, Unfit> {
        let numbers = Numbers::of(tables);
        let children = self.children.iter();
        children.map(|(key, child)| Ok((numbers.key(key)?, child))).collect()
    }

    /// The registers and the program's data, with the numbers of this chart.
    ///
    /// # Errors
    /// It has another format, belongs to another chart, or names a part that this chart does not have.
    pub fn parts(&self, tables: &Tables) -> Result<(semantics::Snapshot, ProgramData), Unfit> {
        if self.format != FORMAT {
            return Err(Unfit::Format(self.format));
        }
        if !tables.is_named(&self.chart) {
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
            last_result: LastResult { text: self.last_result.clone(), failed: self.last_failed },
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

/// What the machine has handled last.
fn handled(tables: &Tables, current: &Current) -> Handled {
    let step = |id: &StepId| tables.steps[id.index()].name.to_string();
    match current {
        Current::Nothing => Handled::Nothing,
        Current::Event(id, values) => {
            Handled::Event(tables.events[id.index()].name.to_string(), keep(values))
        }
        Current::Answer(id, values) => Handled::Answer(step(id), keep(values)),
        Current::Reason(id, values) => Handled::Reason(step(id), keep(values)),
        Current::Choice(id, values) => {
            let (state, name) = named_option(tables, *id);
            Handled::Choice(state, name, keep(values))
        }
    }
}

// Compares a saved machine with another version of its chart.

impl Saved {
    /// Compares the machine and its children with versions of their charts. Whether the values fit
    /// their types is checked when the run continues.
    pub fn compare_all(&self, charts: &[&Tables]) -> Comparison {
        let Some(own) = charts.iter().find(|tables| tables.is_named(&self.chart)) else {
            let differences = vec![Difference::Chart(self.chart.clone())];
            return Comparison { differences, ..Comparison::default() };
        };
        let mut found = self.compare(own);
        if *own.name != *self.chart {
            let now = own.name.to_string();
            found.changes.insert(0, Change::Chart(self.chart.clone(), now));
        }
        for (_, child) in &self.children {
            let Comparison { differences, changes } = child.compare_all(charts);
            let differences = differences.into_iter().map(|one| child.differs(one));
            found.differences.extend(differences);
            let chart = || child.chart.clone();
            let changes = changes.into_iter().map(|one| Change::Child(chart(), Box::new(one)));
            found.changes.extend(changes);
        }
        found
    }

    /// Wraps a difference of a child chart, so that it names that chart.
    pub(crate) fn differs(&self, one: Difference) -> Difference {
        if matches!(one, Difference::Chart(_)) {
            return one;
        }
        Difference::Child(self.chart.clone(), Box::new(one))
    }

    /// Compares the machine with a version of its chart, without its children. The result is empty for the version that saved it.
    pub fn compare(&self, tables: &Tables) -> Comparison {
        if self.is_of(tables) {
            return Comparison::default();
        }
        let numbers = Numbers::of(tables);
        let mut found = self.registers.compare(&numbers);
        if let Some(types) = &self.types {
            types.compare(&numbers, &mut found.differences);
        }
        let rows = tables.types.iter().filter_map(|row| match &row.of {
            TypedRow::Param(name) | TypedRow::Variable(name) => Some(&**name),
            TypedRow::Answer(_) | TypedRow::Event(..) | TypedRow::Record(..) => None,
        });
        let declared: BTreeSet<&str> = rows.collect();
        let mut had = BTreeSet::new();
        for name in self.variables.keys() {
            let now = numbers.variable(name);
            had.insert(now);
            if !declared.contains(now) {
                found.changes.push(Change::Dropped(name.clone()));
            } else if now != name {
                found.changes.push(Change::Variable(name.clone(), now.to_string()));
            }
        }
        if self.begun {
            let added = declared.iter().filter(|name| !had.contains(*name));
            found.changes.extend(added.map(|name| Change::Added((*name).to_string())));
        }
        found
    }
}

// The types of a saved machine's values, for a comparison with another version of its chart.

type Named = BTreeMap<String, String>;

/// The types of values, as written in the chart.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Types {
    variables: Named,
    /// The types of the answers of steps that are under way, or were answered in this turn.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "BTreeMap::is_empty"))]
    answers: Named,
    /// The types of the fields of events that are sent and not delivered yet.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "BTreeMap::is_empty"))]
    events: BTreeMap<String, Named>,
    /// The types of the fields of the records that the other types contain.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "BTreeMap::is_empty"))]
    records: BTreeMap<String, Named>,
}

fn text(tables: &Tables, row: &TypeRow) -> String {
    row.ty.of(&tables.name_pool).concat()
}

/// The fields of each record.
fn records(tables: &Tables) -> BTreeMap<&str, Vec<(&str, &TypeRow)>> {
    let mut records: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for row in &tables.types {
        if let TypedRow::Record(name, field) = &row.of {
            records.entry(&**name).or_default().push((&**field, row));
        }
    }
    records
}

/// The records that the types of `rows` contain, directly or within other records.
fn held<'t>(
    tables: &'t Tables,
    rows: &[&'t TypeRow],
) -> BTreeMap<&'t str, Vec<(&'t str, &'t TypeRow)>> {
    let mut records = records(tables);
    let mut held = BTreeMap::new();
    let mut next: Vec<&TypeRow> = rows.to_vec();
    while let Some(row) = next.pop() {
        for part in row.ty.of(&tables.name_pool) {
            if let Some(fields) = records.remove(&**part) {
                next.extend(fields.iter().map(|(_, row)| *row));
                held.insert(&**part, fields);
            }
        }
    }
    held
}

impl Types {
    /// The types of a machine's values. `open` are the steps under way, and `sent` the events not delivered yet.
    fn of(
        tables: &Tables,
        data: &ProgramData,
        open: &BTreeSet<StepId>,
        sent: &BTreeSet<EventId>,
    ) -> Self {
        let mut types = Self::default();
        let mut rows = Vec::new();
        let valued: BTreeSet<&str> = data.variables.iter().map(|(name, _)| name.as_str()).collect();
        let answered = data.answers.iter().map(|(id, _)| *id);
        let answered: BTreeSet<StepId> = answered.chain(open.iter().copied()).collect();
        for row in &tables.types {
            match &row.of {
                TypedRow::Param(name) | TypedRow::Variable(name) if valued.contains(&**name) => {
                    types.variables.insert(name.to_string(), text(tables, row));
                }
                TypedRow::Answer(step) if answered.contains(step) => {
                    let name = tables.steps[step.index()].name.to_string();
                    types.answers.insert(name, text(tables, row));
                }
                TypedRow::Event(event, field) if sent.contains(event) => {
                    let fields = types.events.entry(tables.events[event.index()].name.to_string());
                    fields.or_default().insert(field.to_string(), text(tables, row));
                }
                TypedRow::Param(_)
                | TypedRow::Variable(_)
                | TypedRow::Answer(_)
                | TypedRow::Event(..)
                | TypedRow::Record(..) => continue,
            }
            rows.push(row);
        }
        for (name, fields) in held(tables, &rows) {
            let fields = fields.iter().map(|(field, row)| (field.to_string(), text(tables, row)));
            types.records.insert(name.to_string(), fields.collect());
        }
        types
    }

    /// Adds the differences between these types and those of another version of the chart.
    fn compare(&self, numbers: &Numbers<'_>, found: &mut Vec<Difference>) {
        let tables = numbers.tables();
        // By the names that the variables have in this version.
        let variables = self.variables.iter();
        let variables: BTreeMap<&str, (&String, &String)> =
            variables.map(|(name, ty)| (numbers.variable(name), (name, ty))).collect();
        let answers = self.answers.iter();
        let answers: BTreeMap<StepId, (&String, &String)> =
            answers.filter_map(|(name, ty)| Some((numbers.step(name).ok()?, (name, ty)))).collect();
        let mut rows = Vec::new();
        for row in &tables.types {
            let (place, was) = match &row.of {
                TypedRow::Param(name) | TypedRow::Variable(name) => match variables.get(&**name) {
                    Some((_, was)) => (Place::Variable(name.to_string()), *was),
                    None => {
                        if matches!(row.of, TypedRow::Param(_)) {
                            found.push(Difference::NoDefault(name.to_string()));
                        }
                        continue;
                    }
                },
                TypedRow::Answer(step) => match answers.get(step) {
                    Some((name, was)) => (Place::Answer((*name).clone()), *was),
                    None => continue,
                },
                TypedRow::Event(event, field) => {
                    let event = &*tables.events[event.index()].name;
                    let Some(fields) = self.events.get(event) else { continue };
                    let place = Place::Event(event.to_string(), field.to_string());
                    let Some(was) = fields.get(&**field) else {
                        found.push(Difference::NewField(place));
                        continue;
                    };
                    (place, was)
                }
                TypedRow::Record(..) => continue,
            };
            compare(place, was, &text(tables, row), found);
            rows.push(row);
        }
        for (name, fields) in held(tables, &rows) {
            let Some(before) = self.records.get(name) else { continue };
            let place = |field: &str| Place::Record(name.to_string(), field.to_string());
            for (field, row) in &fields {
                let is = text(tables, row);
                match before.get(*field) {
                    Some(was) => compare(place(field), was, &is, found),
                    // A value without the field reads as `none`, which an optional type allows.
                    None if is.ends_with('?') => {}
                    None => found.push(Difference::NewField(place(field))),
                }
            }
            let gone = before.keys().filter(|old| fields.iter().all(|(field, _)| field != old));
            found.extend(gone.map(|field| Difference::NoField(place(field))));
        }
    }
}

/// Adds a difference unless the types are equal, or the new one is the old one made optional.
fn compare(place: Place, was: &str, is: &str, found: &mut Vec<Difference>) {
    if is.strip_suffix('?').unwrap_or(is) != was && is != was {
        found.push(Difference::Type(place, was.to_string(), is.to_string()));
    }
}
