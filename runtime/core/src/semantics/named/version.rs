//! The differences between two versions of a chart that matter to a saved run.
//!
//! **The problem.** A chart is edited while runs of it wait in a store. Most edits do not touch a given run. Some make it impossible to
//! continue, and the author should learn which, and how to avoid it, before a run fails.
//!
//! **The idea.** `Named::compare` looks only at what the run holds: active states, steps under way, open walks, sent events. Anything there
//! that this version lacks is a [`Difference`], with which the run cannot continue; its text says what to do. Anything that merely changes
//! is a [`Change`]. Types of values are compared in `crate::saved`, which reports them in the same form.
//!
//! Deadlines need a matching, because they have no names. [`other`] groups transitions by state and kind. Within a group it first pairs
//! those with equal targets, so that a reordering exchanges nothing. Then it pairs old ones with unknown targets in order. An old one
//! without a partner is disarmed. A new one in an active state is armed, from the entry of its state.
//!
//! **Example.** A run waits in `open`, entered at 0 h, at 10 h on the clock:
//!
//! ```text
//! version 1   state open { after 48h -> lost }                         due at 48 h
//! version 2   state open { after 1h -> reminded   after 24h -> lost }
//! matched     `-> lost` with `-> lost`: still due at 48 h, as armed deadlines keep their time
//! added       `-> reminded`: Change::Armed; it counts from 0 h, so it is due at once
//! ```

use super::{Line, Named, Numbers, lines};
use crate::arena::{StateId, StepId};
use crate::semantics::named;
use crate::store::{WalkStage, bits};
use crate::tables::{StateRowKind, Tables};
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// A reason why a saved run cannot continue in this version of its chart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// An active state does not exist any more.
    State(String),
    /// A state that a history has recorded does not exist any more: the history, the state.
    Recorded(String, String),
    /// A step that is under way does not exist any more.
    Step(String),
    /// A step that is under way is of another kind: the step, the old kind, the new one.
    Kind(String, String, String),
    /// A step that is under way no longer belongs to an ancestor of its leaf: the step, the leaf.
    Moved(String, String),
    /// An active atomic state has children now.
    Nested(String),
    /// An active parallel state has a region that is not active: the state, the region.
    Region(String, String),
    /// An active parallel state is no longer parallel.
    Apart(String),
    /// An active state is final now, and was not.
    Final(String),
    /// Two steps have changed places in a turn that is under way. The first one came before the second.
    Order(String, String),
    /// A value has another type: the old type, the new one.
    Type(Place, String, String),
    /// A record does not have this field any more.
    NoField(Place),
    /// A record has a new field, which the values of the run lack.
    NewField(Place),
    /// A param is new and has no default.
    NoDefault(String),
    /// More sent and deferred events wait than this version can hold: their number, the capacity.
    Sends(usize, usize),
    /// The chart of a `run` step does not exist any more.
    Chart(String),
    /// A difference of a child chart: the name of that chart, the difference.
    Child(String, Box<Difference>),
}

/// A part of a chart that has a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A param, an input or a var.
    Variable(String),
    /// The answer of a step that is under way, or that was answered in this turn.
    Answer(String),
    /// A field of an event that was sent and is not delivered yet: the event, the field.
    Event(String, String),
    /// A field of a record: the record, the field.
    Record(String, String),
}

/// A change that a run undergoes when it continues in another version of its chart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The chart has another name: the old one, the new one.
    Chart(String, String),
    /// A state has another name: the old path, the new one.
    State(String, String),
    /// A step has another name: the old one, the new one.
    Step(String, String),
    /// A variable has another name: the old one, the new one.
    Variable(String, String),
    /// A variable is new and gets its default.
    Added(String),
    /// A variable does not exist any more, and its value is lost.
    Dropped(String),
    /// A transition with a deadline is new, in an active state or for a step that is under way: the state, the kind.
    Armed(String, Timed),
    /// A transition with an armed deadline does not exist any more: the state, the kind.
    Disarmed(String, Timed),
    /// The record of a history is dropped, because the history does not exist any more.
    Forgotten(String),
    /// A change in a child chart: the name of that chart, the change.
    Child(String, Box<Change>),
}

/// The kind of a transition with a deadline.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Timed {
    /// `after 5s`.
    After,
    /// `after 3 turns`.
    AfterTurns,
    /// `timeout 5s` of the step with this name.
    Timeout(String),
}

/// The result of comparing a saved run with a version of its chart.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Comparison {
    /// The reasons why the run cannot continue; empty if it can.
    pub differences: Vec<Difference>,
    /// The changes that the run undergoes if it continues.
    pub changes: Vec<Change>,
}

/// Displays the path of a state for messages; the root is "the chart itself".
struct State<'a>(&'a str);

impl core::fmt::Display for State<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        if self.0.is_empty() { f.write_str("the chart itself") } else { write!(f, "`{}`", self.0) }
    }
}

/// The last name of a dotted path.
fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

impl core::fmt::Display for Place {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Variable(name) => write!(f, "`{name}`"),
            Self::Answer(step) => write!(f, "the answer of `{step}`"),
            Self::Event(event, field) => write!(f, "`{field}` of the event `{event}`"),
            Self::Record(record, field) => write!(f, "`{record}.{field}`"),
        }
    }
}

impl core::fmt::Display for Difference {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::State(path) => write!(
                f,
                "the state `{path}`, which is active, is gone: keep it, or write `renamed_from {}` in the one that took its place",
                last(path)
            ),
            Self::Recorded(history, path) => write!(
                f,
                "the state `{path}`, which the history `{history}` remembers, is gone: keep it, or write `renamed_from {}` in the one that took its place",
                last(path)
            ),
            Self::Step(name) => write!(
                f,
                "the step `{name}`, which is under way, is gone: keep it, or write `renamed_from {name}` in the one that took its place"
            ),
            Self::Kind(name, was, is) => write!(
                f,
                "the step `{name}`, which is under way, was `{was}` and is `{is}`: give the new one another name, and keep `{name}` as it was"
            ),
            Self::Moved(name, leaf) => write!(
                f,
                "the step `{name}`, which is under way in `{leaf}`, belongs to another state: keep it there until no run waits for it"
            ),
            Self::Nested(path) => write!(
                f,
                "{} is active and has states of its own now: add them when no run is in it, or to another state",
                State(path)
            ),
            Self::Region(path, region) => write!(
                f,
                "`{region}` is a region of {}, which is active without it: add it when no run is in there",
                State(path)
            ),
            Self::Apart(path) => write!(
                f,
                "{} is active as a parallel, and is none any more: change it when no run is in it",
                State(path)
            ),
            Self::Final(path) => write!(
                f,
                "`{path}` is active and is a final state now: change it when no run is in it"
            ),
            Self::Order(first, second) => write!(
                f,
                "a turn is under way in which `{first}` comes before `{second}`, and they have changed places: let the turn end first"
            ),
            Self::Type(place, was, is) => write!(
                f,
                "{place} was of type {was} and is of type {is}: keep the type, or give the new one another name"
            ),
            Self::NoField(place) => {
                write!(f, "{place} is gone, and the run has values with it: keep the field")
            }
            Self::NewField(place) => write!(
                f,
                "{place} is new, and the run has values without it: make its type optional, with `?`"
            ),
            Self::Chart(name) => {
                write!(f, "the chart `{name}` is gone, which is being run: keep it")
            }
            Self::Child(chart, one) => write!(f, "in `{chart}`: {one}"),
            Self::NoDefault(name) => {
                write!(f, "the param `{name}` is new and has no default: give it one")
            }
            Self::Sends(waiting, room) => write!(
                f,
                "{waiting} sent or deferred events are waiting, and the chart has room for {room}: keep its `send … after` and `defer` lines until they have come"
            ),
        }
    }
}

impl core::fmt::Display for Timed {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::After => f.write_str("`after`"),
            Self::AfterTurns => f.write_str("`after … turns`"),
            Self::Timeout(step) => write!(f, "`timeout` of `{step}`"),
        }
    }
}

impl core::fmt::Display for Change {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Chart(old, new) => write!(f, "the chart `{old}` is `{new}` now"),
            Self::State(old, new) => write!(f, "the state `{old}` is `{new}` now"),
            Self::Step(old, new) => write!(f, "the step `{old}` is `{new}` now"),
            Self::Variable(old, new) => write!(f, "the variable `{old}` is `{new}` now"),
            Self::Added(name) => write!(f, "the variable `{name}` is new and has its default"),
            Self::Dropped(name) => write!(f, "the variable `{name}` is gone with its value"),
            Self::Armed(state, timed) => {
                write!(f, "a new line {timed} of {} counts from its beginning", State(state))
            }
            Self::Disarmed(state, timed) => {
                write!(f, "a line {timed} of {} is gone before it came due", State(state))
            }
            Self::Child(chart, one) => write!(f, "in `{chart}`: {one}"),
            Self::Forgotten(history) => {
                write!(f, "the history `{history}` is gone with what it remembered")
            }
        }
    }
}

// Compares the registers of a saved run with a version of its chart: the parts that the version lacks, and the changes for the run.

impl Named {
    /// Compares the registers with a version of their chart that has not saved them.
    pub(crate) fn compare(&self, numbers: &Numbers<'_>) -> Comparison {
        let tables = numbers.tables;
        let mut found = Comparison::default();
        let active = self.compare_active(numbers, &mut found.differences);
        let open = self.compare_open(numbers, &mut found.differences);
        self.compare_walks(numbers, &mut found.differences);
        if self.sends.len() > tables.sends as usize {
            found.differences.push(Difference::Sends(self.sends.len(), tables.sends as usize));
        }
        self.add_renames(numbers, &mut found.changes);
        for (path, recorded) in &self.history {
            if numbers.state(path).is_err() {
                found.changes.push(Change::Forgotten(path.clone()));
                continue;
            }
            let gone = recorded.iter().filter(|path| numbers.state(path).is_err());
            let gone = gone.map(|state| Difference::Recorded(path.clone(), state.clone()));
            found.differences.extend(gone);
        }
        found.changes.extend(other(self, numbers, &active, &open).changes);
        found
    }

    /// Compares the active states. Returns the set of those that this version has.
    fn compare_active(&self, numbers: &Numbers<'_>, found: &mut Vec<Difference>) -> Vec<u64> {
        let tables = numbers.tables;
        let mut active = alloc::vec![0; bits::words(tables.states.len())];
        for path in &self.active {
            match numbers.state(path) {
                Ok(state) => bits::insert(&mut active, state.index()),
                Err(_) => found.push(Difference::State(path.clone())),
            }
        }
        let mut counts: BTreeMap<StateId, usize> = BTreeMap::new();
        for state in bits::iter(&active).filter(|state| *state != 0) {
            *counts.entry(tables.states[state].parent).or_default() += 1;
        }
        // A state whose active children all are unknown to this version needs no further difference: they have been reported.
        let had = self.active.iter().filter(|path| !path.is_empty());
        let had = had.map(|path| path.rsplit_once('.').map_or("", |(above, _)| above));
        let had: BTreeSet<StateId> = had.filter_map(|path| numbers.state(path).ok()).collect();
        let finals: BTreeSet<StateId> =
            self.finals.iter().filter_map(|path| numbers.state(path).ok()).collect();
        for state in bits::iter(&active).map(StateId::at) {
            let row = tables.state(state);
            let below = counts.get(&state).copied().unwrap_or(0);
            let path = || row.path.to_string();
            if below == 0 && had.contains(&state) {
                continue;
            }
            match row.kind {
                StateRowKind::Atomic | StateRowKind::History { .. } => {}
                StateRowKind::Compound(_) if below == 0 => found.push(Difference::Nested(path())),
                // Only a parallel state can have several active children, so it was one.
                StateRowKind::Compound(_) if below > 1 => found.push(Difference::Apart(path())),
                StateRowKind::Compound(_) => {}
                StateRowKind::Parallel if below == 0 => found.push(Difference::Nested(path())),
                StateRowKind::Parallel => {
                    for region in regions(tables, state) {
                        let known = &tables.state(region).path;
                        if !bits::has(&active, region.index()) {
                            found.push(Difference::Region(path(), known.to_string()));
                        }
                    }
                }
                StateRowKind::Final(_) if finals.contains(&state) => {}
                StateRowKind::Final(_) => found.push(Difference::Final(path())),
            }
        }
        active
    }

    /// Compares the steps that are under way. Returns those that this version has.
    fn compare_open(&self, numbers: &Numbers<'_>, found: &mut Vec<Difference>) -> BTreeSet<StepId> {
        let tables = numbers.tables;
        let pending = self.steps.values().filter_map(|counts| counts.pending.as_ref());
        let asked = self.questions.iter().map(|asked| &asked.key);
        let fans = self.fans.values().flat_map(|fan| &fan.open);
        // A step with several open elements is reported once.
        let (mut open, mut told) = (BTreeSet::new(), BTreeSet::new());
        for key in pending.chain(asked).chain(fans) {
            let Ok(step) = numbers.step(&key.step) else {
                if told.insert(&key.step) {
                    found.push(Difference::Step(key.step.clone()));
                }
                continue;
            };
            open.insert(step);
            let row = &tables.steps[step.index()];
            let Ok(leaf) = numbers.state(&key.leaf) else { continue };
            if !tables.contains(row.state, leaf) && told.insert(&key.step) {
                found.push(Difference::Moved(row.name.to_string(), key.leaf.clone()));
            }
        }
        for (name, was) in &self.kinds {
            let Ok(step) = numbers.step(name) else { continue };
            let is = named::kind_of(tables, step);
            if was != is {
                found.push(Difference::Kind(name.clone(), was.clone(), is.to_string()));
            }
        }
        open
    }

    /// Compares the order of steps in the walks that are not over.
    fn compare_walks(&self, numbers: &Numbers<'_>, found: &mut Vec<Difference>) {
        for walk in self.walks.values().filter(|walk| walk.stage == WalkStage::Open) {
            let order = walk.order.iter().filter_map(|name| {
                let step = numbers.step(name).ok()?;
                Some((step, name))
            });
            let mut last: Option<(StepId, &String)> = None;
            for (step, name) in order {
                if let Some((before, first)) = last
                    && step < before
                {
                    found.push(Difference::Order(first.clone(), name.clone()));
                    break;
                }
                last = Some((step, name));
            }
        }
    }

    /// Adds the new names of active states and of steps to the changes.
    fn add_renames(&self, numbers: &Numbers<'_>, found: &mut Vec<Change>) {
        for path in &self.active {
            if let Ok(state) = numbers.state(path)
                && numbers.tables.state(state).path != **path
            {
                let now = numbers.tables.state(state).path.to_string();
                found.push(Change::State(path.clone(), now));
            }
        }
        for name in self.steps.keys() {
            if let Ok(step) = numbers.step(name)
                && numbers.tables.steps[step.index()].name != **name
            {
                let now = numbers.tables.steps[step.index()].name.to_string();
                found.push(Change::Step(name.clone(), now));
            }
        }
    }
}

/// The regions of a parallel state.
fn regions(tables: &Tables, state: StateId) -> impl Iterator<Item = StateId> + '_ {
    let below = state.index() + 1..tables.state(state).end.index();
    below.map(StateId::at).filter(move |child| {
        let row = tables.state(*child);
        row.parent == state && !matches!(row.kind, StateRowKind::History { .. })
    })
}

// Deadlines of a saved run in another version of its chart. Armed deadlines keep their due time. The deadlines of new transitions count
// from the entry of their state or the start of their step.

/// The kind of a transition with a deadline. Only transitions of the same state and kind are matched between versions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum TimerKind {
    After,
    AfterTurns,
    Timeout(StepId),
}

/// A transition of the version that saved the run.
struct Old {
    /// The time or turn at which it is due; `None` if it has fired.
    due: Option<u64>,
    /// Its targets; `None` if they were not saved, or if one of them does not exist any more.
    to: Option<Vec<StateId>>,
}

/// The deadlines in this version.
pub(in crate::semantics) struct Deadlines {
    pub(in crate::semantics) due: Vec<u64>,
    /// The slots of new transitions, which must be armed.
    pub(in crate::semantics) added: Vec<u32>,
    pub(in crate::semantics) changes: Vec<Change>,
}

/// The deadlines in the version that saved them, by slot.
pub(in crate::semantics) fn same(named: &Named, tables: &Tables) -> Vec<u64> {
    let armed: BTreeMap<_, u64> = (named.deadlines.iter())
        .map(|one| ((one.state.as_str(), one.kind.as_str(), one.nth), one.due))
        .collect();
    let mut due = alloc::vec![u64::MAX; tables.deadlines()];
    for line in lines(tables) {
        if let Some(at) = armed.get(&(line.state, line.kind.as_str(), line.nth)) {
            due[line.slot as usize] = *at;
        }
    }
    due
}

/// The deadlines in another version. `active` are the active states, and `open` the steps under way, that this version has.
pub(in crate::semantics) fn other(
    named: &Named,
    numbers: &Numbers<'_>,
    active: &[u64],
    open: &BTreeSet<StepId>,
) -> Deadlines {
    let tables = numbers.tables;
    let new = lines_by_kind(tables);
    let (mut old, mut lost) = old_by_kind(named, numbers, &new);
    let mut found = Deadlines {
        due: alloc::vec![u64::MAX; tables.deadlines()],
        added: Vec::new(),
        changes: Vec::new(),
    };
    for ((source, kind), lines) in new {
        let mut old = old.remove(&(source, kind)).unwrap_or_default();
        let mut rest = Vec::new();
        // Transitions with equal targets are matched first, so that a reordering does not exchange their deadlines.
        for line in lines {
            match old.iter().position(|one| one.to.as_deref() == Some(line.targets)) {
                Some(at) => set(&mut found.due, line.slot, old.remove(at).due),
                None => rest.push(line),
            }
        }
        // Transitions whose old targets are unknown are matched by their order.
        let mut unknown =
            old.extract_if(.., |one| one.to.is_none()).collect::<Vec<_>>().into_iter();
        for line in rest {
            let is_live = match kind {
                TimerKind::After | TimerKind::AfterTurns => bits::has(active, source.index()),
                TimerKind::Timeout(step) => open.contains(&step),
            };
            if let Some(one) = unknown.next() {
                set(&mut found.due, line.slot, one.due);
            } else if is_live {
                found.added.push(line.slot);
                found.changes.push(Change::Armed(path(tables, source), timed(tables, kind)));
            }
        }
        // The transitions without a match are gone, which matters only for armed deadlines.
        let gone = old.iter().chain(unknown.as_slice()).filter(|one| one.due.is_some());
        lost.extend(gone.map(|_| (source, kind)));
    }
    let lost = lost.into_iter();
    let lost = lost.map(|(state, kind)| Change::Disarmed(path(tables, state), timed(tables, kind)));
    found.changes.extend(lost);
    found
}

/// Transitions by their state and kind.
type ByKind<T> = BTreeMap<(StateId, TimerKind), Vec<T>>;

fn lines_by_kind(tables: &Tables) -> ByKind<Line<'_>> {
    let mut new = ByKind::new();
    for line in lines(tables) {
        let kind = match (line.step, line.kind.as_str()) {
            (Some(step), _) => TimerKind::Timeout(step),
            (None, AFTER_TURNS) => TimerKind::AfterTurns,
            (None, _) => TimerKind::After,
        };
        new.entry((line.source, kind)).or_default().push(line);
    }
    new
}

/// The transitions of the version that saved the run, and the states and kinds of armed ones that have none in `new`.
fn old_by_kind(
    named: &Named,
    numbers: &Numbers<'_>,
    new: &ByKind<Line<'_>>,
) -> (ByKind<Old>, Vec<(StateId, TimerKind)>) {
    let mut old: ByKind<Old> = ByKind::new();
    let mut lost = Vec::new();
    let armed = named.deadlines.iter();
    let armed = armed.map(|one| (&one.state, &one.kind, Some(one.due), one.to.as_ref()));
    let passed = named.passed.iter().map(|one| (&one.state, &one.kind, None, Some(&one.to)));
    for (state, kind, due, to) in armed.chain(passed) {
        let Ok(source) = numbers.state(state) else { continue };
        let Some(kind) = kind_of(kind, numbers) else {
            // A step that is under way and does not exist any more is reported elsewhere.
            continue;
        };
        let to = to.and_then(|to| to.iter().map(|path| numbers.state(path).ok()).collect());
        if new.contains_key(&(source, kind)) {
            old.entry((source, kind)).or_default().push(Old { due, to });
        } else if due.is_some() {
            lost.push((source, kind));
        }
    }
    (old, lost)
}

fn set(due: &mut [u64], slot: u32, at: Option<u64>) {
    if let (Some(at), Some(place)) = (at, due.get_mut(slot as usize)) {
        *place = at;
    }
}

const AFTER: &str = "after";
const AFTER_TURNS: &str = "after turns";

fn kind_of(kind: &str, numbers: &Numbers<'_>) -> Option<TimerKind> {
    match kind {
        AFTER => Some(TimerKind::After),
        AFTER_TURNS => Some(TimerKind::AfterTurns),
        timeout => {
            let step = timeout.strip_prefix("timeout ")?;
            numbers.step(step).ok().map(TimerKind::Timeout)
        }
    }
}

fn timed(tables: &Tables, kind: TimerKind) -> Timed {
    match kind {
        TimerKind::After => Timed::After,
        TimerKind::AfterTurns => Timed::AfterTurns,
        TimerKind::Timeout(step) => Timed::Timeout(tables.steps[step.index()].name.to_string()),
    }
}

fn path(tables: &Tables, state: StateId) -> String {
    tables.state(state).path.to_string()
}
