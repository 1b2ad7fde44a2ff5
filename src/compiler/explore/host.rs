//! The host of an exploration: it tries every result of a function, performs actions, collects what happens, and stands for child charts.
//!
//! **The problem.** A guard may call functions of the host, whose results decide what happens next. All results have to be tried, but which
//! functions are called at all depends on the results before.
//!
//! **The idea.** `Anything` is a host that counts like an odometer. Each call in an input takes the next digit, which selects its result.
//! When the input has been handled, `Anything::next` raises the last digit that was used and drops those behind it, and the input is
//! repeated from the same point. A pure function returns the same result for the same arguments within one input.
//!
//! The rest of the module is what the search needs around this: `Log` collects what happens, `perform` performs an action, `can_fail` and
//! [`ChildSummary`] stand for the charts that `run` steps run, and [`HostAct`] and [`Answer`] are the actions.
//!
//! **Example.** The guard is `ready() and count() > 1`. `ready` is a `Bool`, so its results are `false`, `true` and a failure. `count` is
//! an `Int` that is compared with 1, so its results are 0, 1, 2 and a failure. The digits are, one attempt after the other:
//!
//! ```text
//! [0]              `ready` is false, so `count` is not called
//! [1, 0] … [1, 3]  `ready` is true, with each result of `count`
//! [2]              `ready` fails
//! ```

use super::relevant::{Relevant, Slot};
use super::values::{Hints, all_of, hinted, some, tried};
use super::watched::{Watched, handles, watched};
use super::{Happened, is_total};
use crate::analysis::facts::{Facts, conditions};
use chartc_core::arena::{ChoiceId, EventId, FunctionId, StateId, StepId, ToolId, VarId};
use chartc_core::expr::{Map, Value, ranged};
use chartc_core::host::{Host, Machine};
use chartc_core::interpreter::Interpreter;
use chartc_core::machine::{
    Effect, ErrorKind, Fallback, Input, LimitKind, Outcome, Record, Sink, StepKey,
};
use chartc_core::model::{
    Chart, Expr, Field, FunctionKind, Limits, StateKind, Status, Step, StepKind, Subject, Trigger,
    Type, VariableKind,
};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The result of a function: its value, or the reason why it fails.
pub(super) type FunctionResult = Result<Value, String>;

/// The effects that an input has called, in order. The machine's host and its log share them, so that the story of the input has the effects
/// in their places.
type Effects = Rc<RefCell<Vec<FunctionId>>>;

/// The maximum number of combinations of results that are tried for one input.
const MOST_RESULTS: usize = 256;

/// The maximum number of suggested values that are added for a function whose results cannot all be tried.
const HINTED: usize = 8;

/// The maximum number of calls in one input.
const CALLS: usize = 4096;

/// The maximum number of calls of pure functions with different arguments in one input. Each is compared with all earlier ones.
const DIFFERENT: usize = 256;

/// The host of an exploration: returns the results that `digits` selects.
#[derive(Default)]
pub(super) struct Anything {
    /// By name: the id of the function if it has an effect, and its possible results.
    rows: conditions::Map<String, (Option<FunctionId>, Vec<FunctionResult>)>,
    /// The effects that were called since the log last asked for them, which it shares.
    effects: Effects,
    /// By call of this input that needs a new result: the index of the result, and the number of results of its function.
    digits: Vec<(usize, usize)>,
    /// The number of digits used so far in this input.
    used: usize,
    /// The calls of pure functions in this input, with their results.
    seen: Vec<(String, Vec<Value>, FunctionResult)>,
    /// The results of all calls of this input, in order.
    pub(super) log: Vec<(String, FunctionResult)>,
    /// The number of combinations tried for this input.
    tried: usize,
    /// The work of this input's calls: one for each call, and one for each 16 comparisons with earlier ones.
    pub(super) work: usize,
    /// Whether this input made more calls than are followed, so that its effect is unknown.
    pub(super) full: bool,
    /// Whether combinations of results were left out for some input.
    pub(super) capped: bool,
}

impl Anything {
    pub(super) fn new(chart: &Chart, relevant: &Relevant<'_>) -> Self {
        let mut hints = None;
        let mut values = |slot| {
            let mut tried = tried(chart, relevant, slot);
            if !tried.exact {
                let hints = hints.get_or_insert_with(|| Hints::new(chart));
                let most = tried.values.len() + HINTED;
                hinted(chart, hints, slot, &mut tried.values);
                tried.values.truncate(most);
            }
            tried.values
        };
        let rows = chart.functions.iter().enumerate().map(|(i, function)| {
            let id = FunctionId::at(i);
            let effect = (function.kind == FunctionKind::Effect).then_some(id);
            let fails = Err("it is down".to_owned());
            let results = if effect.is_none() {
                let values = values(Slot::Function(id));
                values.into_iter().map(Ok).chain([fails]).collect()
            } else {
                vec![Ok(Value::None), fails]
            };
            (function.name.clone(), (effect, results))
        });
        Self { rows: rows.collect(), ..Self::default() }
    }

    /// Begins the next input, with the first result of each function.
    pub(super) fn begin(&mut self) {
        self.digits.clear();
        self.tried = 0;
        self.again();
    }

    /// Begins an input with the results that these digits select, to repeat an edge.
    pub(super) fn begin_with(&mut self, digits: &[usize]) {
        // Only `next` needs the number of results, and a repeated edge has no next one.
        self.digits = digits.iter().map(|digit| (*digit, usize::MAX)).collect();
        self.again();
    }

    fn again(&mut self) {
        self.used = 0;
        (self.work, self.full) = (0, false);
        self.seen.clear();
        self.log.clear();
    }

    /// Begins the same input again with the next combination of results. Returns `false` if all were tried.
    pub(super) fn next(&mut self) -> bool {
        // Digits that the last attempt did not reach belong to earlier combinations.
        self.digits.truncate(self.used);
        while let Some((digit, count)) = self.digits.last_mut() {
            *digit += 1;
            if digit < count {
                self.tried += 1;
                if self.tried >= MOST_RESULTS {
                    self.capped = true;
                    return false;
                }
                self.again();
                return true;
            }
            self.digits.pop();
        }
        false
    }

    /// The digits that this input used.
    pub(super) fn chosen(&self) -> Vec<usize> {
        self.digits[..self.used].iter().map(|(digit, _)| *digit).collect()
    }
}

impl Host for Anything {
    fn call(&mut self, function: &str, arguments: &[Value]) -> FunctionResult {
        self.work += 1 + self.seen.len() / 16;
        self.full |= self.log.len() >= CALLS || self.seen.len() >= DIFFERENT;
        if self.full {
            return Err("it is called too often".into());
        }
        let known =
            self.seen.iter().find(|(name, given, _)| name == function && given == arguments);
        let result = match known {
            Some((_, _, result)) => result.clone(),
            None => {
                let Some((effect, results)) = self.rows.get(function) else {
                    return Err("there is no such function".into());
                };
                let count = results.len();
                if self.used == self.digits.len() {
                    self.digits.push((0, count));
                }
                let (digit, _) = self.digits[self.used];
                self.used += 1;
                let result = results[digit.min(count - 1)].clone();
                match effect {
                    Some(effect) => self.effects.borrow_mut().push(*effect),
                    None => {
                        self.seen.push((function.to_owned(), arguments.to_vec(), result.clone()));
                    }
                }
                result
            }
        };
        self.log.push((function.to_owned(), result.clone()));
        result
    }
}

// Collects what happens while a machine handles one input.

/// The length up to which a story is searched linearly. Most inputs cause so few happenings that this is fastest.
const SHORT: usize = 16;

/// The sink of a machine that keeps what an exploration needs.
pub(super) struct Log<'c> {
    chart: &'c Chart,
    /// The things that the story has because `check` lines name them.
    watched: Vec<Watched<'c>>,
    /// The effects that were called and are not in the story yet.
    effects: Effects,
    /// The event from outside that is being handled, until all lines that handle it have been taken.
    event: Option<EventId>,
    /// Whether a line or a question has handled the event.
    handled: bool,
    /// The happenings in order, each once, except for those that `check` lines count.
    pub(super) story: Vec<Happened>,
    /// The same happenings as a set, once the story is long.
    told: BTreeSet<Happened>,
    /// Whether a `run` step was started.
    pub(super) runs: bool,
    /// The number of records and effects.
    pub(super) work: usize,
    /// Whether the engine stopped the input as a livelock.
    pub(super) cycles: bool,
    /// The number of model calls, of model calls that a limit forbade, and of ends of turns.
    pub(super) calls: u32,
    pub(super) forbidden: u32,
    pub(super) turns: u32,
}

impl<'c> Log<'c> {
    pub(super) fn new(chart: &'c Chart) -> Self {
        Self { watched: watched(chart), ..Self::blind(chart) }
    }

    /// A log that does not look for what `check` lines name.
    pub(super) fn blind(chart: &'c Chart) -> Self {
        Self {
            chart,
            watched: Vec::new(),
            effects: Effects::default(),
            event: None,
            handled: false,
            story: Vec::new(),
            told: BTreeSet::new(),
            runs: false,
            work: 0,
            cycles: false,
            calls: 0,
            forbidden: 0,
            turns: 0,
        }
    }

    pub(super) fn clear(&mut self) {
        self.story.clear();
        self.told.clear();
        (self.runs, self.work, self.cycles) = (false, 0, false);
        (self.calls, self.forbidden, self.turns) = (0, 0, 0);
        (self.event, self.handled) = (None, false);
        self.effects.borrow_mut().clear();
        self.watched.iter_mut().for_each(|row| row.told = 0);
    }

    /// Adds something that `check` lines name, at most as often as they count it.
    fn meet(&mut self, is_it: impl Fn(&Subject) -> bool) {
        for nth in 0..self.watched.len() {
            let row = &mut self.watched[nth];
            if row.told < row.most && is_it(row.subject) {
                row.told += 1;
                self.story.push(Happened::Met(nth));
            }
        }
    }

    /// Adds the effects that were called since the last record.
    fn meet_effects(&mut self) {
        let effects = self.effects.clone();
        for effect in effects.borrow_mut().drain(..) {
            self.meet(|subject| *subject == Subject::Effect(effect));
        }
    }

    /// Adds what the record tells of things that `check` lines name.
    fn meet_record(&mut self, record: &Record) {
        let chart = self.chart;
        if self.handled && !matches!(record, Record::Taken(_) | Record::Lost(..)) {
            (self.event, self.handled) = (None, false);
        }
        match *record {
            Record::Event(event) | Record::Delivered(event) => {
                (self.event, self.handled) = (Some(event), false);
            }
            Record::Refused(_) => self.event = None,
            Record::Taken(transition) => {
                let trigger = &chart.transition(transition).trigger;
                let event = match trigger {
                    Trigger::Event(events) if events.len() == 1 => events.first().copied(),
                    _ => self.event.filter(|event| handles(trigger, *event)),
                };
                self.handled |= event.is_some();
                self.meet(|subject| event.is_some_and(|e| *subject == Subject::Event(e)));
            }
            Record::Fallback(_, Fallback::NoOption) => self.meet_question(),
            Record::Unasked(choice) | Record::Chosen(choice) => {
                self.meet_question();
                let name = &chart.choices[choice.index()].name;
                self.meet(|subject| matches!(subject, Subject::Option(of) if of == name));
            }
            Record::Called(.., tool) => self.meet(|subject| *subject == Subject::Tool(tool)),
            Record::Started(key) => {
                let step = &chart.steps[key.step.index()];
                match step.kind {
                    StepKind::Ask { .. } => self.meet_question(),
                    // With `each`, the elements are calls, and the step as a whole is none.
                    StepKind::Call(tool, _) if step.each.is_none() || key.element.is_some() => {
                        self.meet(|subject| *subject == Subject::Tool(tool));
                    }
                    _ => {}
                }
            }
            Record::Done(step) => self.meet(|subject| *subject == Subject::Step(step)),
            Record::Entered(state) => self.meet(|subject| *subject == Subject::State(state)),
            _ => {}
        }
    }

    /// Adds the event that is being handled, if a question is its effect.
    fn meet_question(&mut self) {
        if let Some(event) = self.event.filter(|_| !self.handled) {
            self.handled = true;
            self.meet(|subject| *subject == Subject::Event(event));
        }
    }

    /// Adds a happening to the story if it is new. A livelock repeats the same ones thousands of times.
    fn tell(&mut self, happened: Happened) {
        if self.story.len() < SHORT {
            if !self.story.contains(&happened) {
                self.story.push(happened);
            }
            return;
        }
        if self.told.is_empty() {
            self.told.extend(self.story.iter().copied());
        }
        if self.told.insert(happened) {
            self.story.push(happened);
        }
    }
}

impl Sink for Log<'_> {
    fn effect(&mut self, _: Effect) {
        self.work += 1;
    }

    fn record(&mut self, record: Record) {
        self.work += 1;
        if !self.watched.is_empty() {
            self.meet_effects();
            self.meet_record(&record);
        }
        match record {
            Record::Entered(state) => self.tell(Happened::Entered(state)),
            Record::Taken(transition) => self.tell(Happened::Taken(transition)),
            Record::Called(key, _, _) => self.tell(Happened::Called(key.leaf)),
            Record::Started(key) => match self.chart.steps[key.step.index()].kind {
                StepKind::Call(..) => self.tell(Happened::Called(key.leaf)),
                StepKind::Run(_) => self.runs = true,
                StepKind::Llm | StepKind::Ask { .. } => self.calls += 1,
                StepKind::Code(_) | StepKind::Human(_) => {}
            },
            Record::Error(ErrorKind::Limit(LimitKind::Calls)) => self.forbidden += 1,
            Record::Error(ErrorKind::Livelock) => {
                self.cycles = true;
                self.tell(Happened::Livelock);
            }
            Record::TurnEnded(_) => self.turns += 1,
            _ => {}
        }
    }
}

// Performs one action of the host on a machine.

/// A machine whose host functions return what the exploration selects.
pub(super) type Machined = Interpreter<Anything>;

/// Sets the inputs of an action and performs it. Returns whether the machine accepts it.
pub(super) fn perform(
    chart: &Chart,
    machine: &mut Machined,
    act: &HostAct,
    log: &mut Log<'_>,
) -> bool {
    machine.with_host(|host| host.effects = log.effects.clone());
    for (id, value) in inputs(chart, act) {
        // Setting an input looks up its name and copies its value, and most inputs do not change.
        let is_new = match (value, &machine.facts().variables[id.index()]) {
            (Value::Bool(to), Some(Value::Bool(from))) => to != from,
            (Value::Int(to), Some(Value::Int(from))) => to != from,
            (Value::Text(to), Some(Value::Text(from))) => to != from,
            _ => true,
        };
        if !is_new {
            continue;
        }
        let _ = machine.set_input(&chart.variables[id.index()].name, value.clone());
    }
    let mut now = machine.standing().now;
    if let HostAct::Wait(milliseconds) = act {
        now = now.saturating_add(*milliseconds);
    }
    let is_accepted = machine.handle(input(act), now, log).is_ok();
    log.meet_effects();
    is_accepted
}

// Decides whether the chart that a `run` step starts can fail.

/// Whether a run of the chart may end otherwise than `ok` or `partial`: with another status, at a limit, or in a state where nothing can
/// happen any more. A chart with steps is assumed to. Linear in the size of the chart, up to logarithms.
pub(crate) fn can_fail(chart: &Chart) -> bool {
    let is_limited = chart.states.iter().any(|state| state.limits != Limits::default());
    let mut defaults = chart.variables.iter().filter_map(|row| row.default.as_ref());
    if !chart.steps.is_empty() || is_limited || !defaults.all(|e| is_total(chart, e, 0)) {
        return true;
    }
    let facts = Facts::new(chart);
    let fails = |state: StateId| {
        let row = chart.state(state);
        let is_bad = matches!(row.kind, StateKind::Final { status, .. }
            if !matches!(status, Status::Ok | Status::Partial));
        is_bad && row.parent == Some(StateId::at(0)) && facts.reach.can_enter(state)
    };
    let goes_on = |leaf: StateId| {
        let mut transitions =
            chart.ancestors(leaf).flat_map(|state| &chart.state(state).transitions);
        transitions.any(|transition| can_occur(chart, &chart.transition(*transition).trigger))
    };
    chart.state_ids().any(fails) || !facts.reach.leaves(chart).all(goes_on)
}

/// Whether the trigger can occur at any time, so that a run in the transition's source is not stuck.
fn can_occur(chart: &Chart, trigger: &Trigger) -> bool {
    match trigger {
        Trigger::Event(_) | Trigger::AnyEvent | Trigger::Turn => true,
        Trigger::After(bound) => is_total(chart, bound, 0),
        _ => false,
    }
}

/// Whether the arguments of a `run` step always fit the params of its chart, and the answer always fits the step.
pub fn fits(chart: &Chart, step: &Step, child: &Chart) -> bool {
    let StepKind::Run(run) = &step.kind else { return false };
    let is_bounded = |row: &chartc_core::model::Variable| {
        matches!(row.kind, VariableKind::Param { range: Some(_) })
    };
    let is_sure = |given: &Expr| given.ty != Type::Json && is_total(chart, given, 0);
    step.returns == Type::Json
        && !child.variables.iter().any(is_bounded)
        && run.arguments.iter().all(|(_, given)| is_sure(given))
}

// Summaries of the charts of `run` steps: the ways in which each may end. An exploration of the parent uses them instead of the charts.

/// The maximum number of combinations of values that are tried for one final state. If there are more, only some are tried.
const MOST_ENDINGS: usize = 32;

/// The possible ends of a child chart.
#[derive(Debug, Clone)]
pub struct ChildSummary {
    /// The answers that are tried.
    pub answers: Vec<Value>,
    /// Whether any other possible answer has the same effect as one of these.
    pub is_whole: bool,
    /// Whether the child may fail.
    pub fails: bool,
}

/// The summaries by `run` step. `children` are the charts that are known; an unknown chart may give any answer, and may fail.
pub(super) fn child_summaries(
    chart: &Chart,
    children: &[&Chart],
) -> BTreeMap<StepId, ChildSummary> {
    let mut found = BTreeMap::new();
    let mut failing: BTreeMap<&str, bool> = BTreeMap::new();
    let mut read = None;
    for (i, step) in chart.steps.iter().enumerate() {
        let StepKind::Run(run) = &step.kind else { continue };
        let id = StepId::at(i);
        let mut known = children.iter().copied().chain([chart]);
        let Some(child) = known.find(|child| child.name == run.chart) else {
            let nothing = ChildSummary { answers: vec![Value::None], is_whole: false, fails: true };
            found.insert(id, nothing);
            continue;
        };
        let (relevant, hints) =
            read.get_or_insert_with(|| (Relevant::new(chart), Hints::new(chart)));
        let is_read = relevant.slots.contains(&Slot::Answer(id));
        let (answers, is_whole) = answers(child, is_read.then_some((&*hints, Slot::Answer(id))));
        let fails = !fits(chart, step, child)
            || *failing.entry(&child.name).or_insert_with(|| can_fail(child));
        found.insert(id, ChildSummary { answers, is_whole, fails });
    }
    found
}

/// The possible answers of a chart, for each final state with values of its params; and whether these stand for all. `read` is `Some` if
/// the parent's moves depend on the answer.
fn answers(child: &Chart, read: Option<(&Hints, Slot)>) -> (Vec<Value>, bool) {
    let (mut found, mut is_whole) = (Vec::new(), true);
    for state in child.states.iter().filter(|state| state.parent == Some(StateId(0))) {
        let StateKind::Final { params, status: Status::Ok | Status::Partial } = &state.kind else {
            continue;
        };
        let values = |field: &Field| {
            let mut values = some(child, field);
            match read {
                None => values.truncate(1),
                Some((hints, slot)) if all_of(child, field, 0).is_none() => {
                    is_whole = false;
                    for value in hints.field(child, slot, &field.name, &field.ty) {
                        let is_in = ranged(value.clone(), field.range.as_ref()).is_ok();
                        if is_in && values.len() < MOST_ENDINGS && !values.contains(&value) {
                            values.push(value);
                        }
                    }
                }
                Some(_) => {}
            }
            values
        };
        let columns: Vec<Vec<Value>> = params.iter().map(values).collect();
        let count = columns.iter().try_fold(1_usize, |n, values| n.checked_mul(values.len()));
        is_whole &= count.is_some_and(|count| count <= MOST_ENDINGS);
        for row in rows(&columns) {
            let names = params.iter().map(|field| field.name.clone());
            let answer = Value::Map(names.zip(row).collect::<Map>());
            if !found.contains(&answer) {
                found.push(answer);
            }
        }
    }
    (found, is_whole)
}

/// All combinations, if there are at most [`MOST_ENDINGS`]. Otherwise each value with the first ones of the other columns, and all nth
/// values together.
fn rows(columns: &[Vec<Value>]) -> Vec<Vec<Value>> {
    let count = columns.iter().try_fold(1_usize, |n, values| n.checked_mul(values.len()));
    if count.is_some_and(|count| count <= MOST_ENDINGS) {
        let mut rows = vec![Vec::new()];
        for values in columns {
            let longer = |row: &Vec<Value>| {
                let row = row.clone();
                values.iter().map(move |v| row.iter().cloned().chain([v.clone()]).collect())
            };
            rows = rows.iter().flat_map(longer).collect();
        }
        return rows;
    }
    let first: Vec<Value> = columns.iter().map(|values| values[0].clone()).collect();
    let mut rows = vec![first.clone()];
    for (nth, values) in columns.iter().enumerate() {
        for value in values.iter().skip(1) {
            let mut row = first.clone();
            row[nth] = value.clone();
            rows.push(row);
        }
    }
    let longest = columns.iter().map(Vec::len).max().unwrap_or_default();
    for nth in 1..longest {
        rows.push(columns.iter().map(|values| values[nth % values.len()].clone()).collect());
    }
    rows
}

/// The values of fields, in the order of the fields.
pub type FieldValues = Rc<[Value]>;

/// The values of params and inputs.
pub type Named = Rc<[(VarId, Value)]>;

/// An answer to an open step.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The step, or the tool that a question called, is done and returns this value.
    Done(Value),
    /// The model chooses this option, with arguments.
    Option(ChoiceId, FieldValues),
    /// The model calls this tool, with arguments.
    Call(ToolId, FieldValues),
    /// The answer is not usable.
    Unusable,
    /// The step or tool has failed.
    Failed,
    /// The step has failed in a way after which it makes no further attempt.
    Final,
    /// It is unknown whether the call took effect.
    Doubt,
}

/// One action of a host.
#[derive(Debug, Clone, PartialEq)]
pub enum HostAct {
    /// It starts the machine with these params and inputs.
    Start(Named),
    /// It sets these inputs and sends an event.
    Event(Named, EventId, FieldValues),
    /// It sets these inputs and takes a turn.
    Turn(Named),
    /// It waits this many milliseconds, until something is due.
    Wait(u64),
    /// It answers an open step or question.
    Answer(StepKey, Answer),
}

/// The machine's input for an action of the host.
fn input(act: &HostAct) -> Input<Vec<Value>> {
    match act {
        HostAct::Start(_) => Input::Start,
        HostAct::Event(_, event, payload) => Input::Event(*event, payload.to_vec()),
        HostAct::Turn(_) => Input::Turn,
        HostAct::Wait(_) => Input::Tick,
        HostAct::Answer(key, answer) => Input::Answer(
            *key,
            match answer {
                Answer::Done(value) => Outcome::Done(vec![value.clone()]),
                Answer::Option(choice, values) => Outcome::Choice(*choice, values.to_vec()),
                Answer::Call(tool, values) => Outcome::Call(*tool, values.to_vec()),
                Answer::Unusable => Outcome::Unusable,
                Answer::Failed => Outcome::Failed(vec![Value::Text("failed".into())]),
                Answer::Final => Outcome::Final(vec![Value::Text("failed".into())]),
                Answer::Doubt => Outcome::Doubt(vec![Value::Text("in doubt".into())]),
            },
        ),
    }
}

/// The params among the values that a run begins with, by name.
pub(super) fn params(chart: &Chart, start: &[(VarId, Value)]) -> Vec<(String, Value)> {
    let rows = start.iter().map(|(id, value)| (&chart.variables[id.index()], value));
    rows.filter(|(row, _)| matches!(row.kind, VariableKind::Param { .. }))
        .map(|(row, value)| (row.name.clone(), value.clone()))
        .collect()
}

/// The inputs that the host sets with an action.
pub(super) fn inputs<'d>(
    chart: &Chart,
    act: &'d HostAct,
) -> impl Iterator<Item = &'d (VarId, Value)> {
    let rows = match act {
        HostAct::Start(rows) | HostAct::Event(rows, ..) | HostAct::Turn(rows) => &rows[..],
        HostAct::Wait(_) | HostAct::Answer(..) => &[],
    };
    rows.iter().filter(|(id, _)| matches!(chart.variables[id.index()].kind, VariableKind::Input))
}
