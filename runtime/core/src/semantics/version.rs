//! The differences between two versions of a chart that matter to a saved run.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

/// A reason why a saved run cannot continue in this version of its chart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// An active state does not exist any more.
    State(String),
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
    /// More sent events wait than this version can hold: their number, the capacity.
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
    /// The record of a history is dropped, because the history or a recorded state does not exist any more.
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
                "{waiting} sent events are waiting, and the chart has room for {room}: keep its `send … after` lines until they have come"
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
                write!(
                    f,
                    "what the history `{history}` remembered is gone: it leads to its default"
                )
            }
        }
    }
}
