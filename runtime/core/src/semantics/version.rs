//! The differences between two versions of a chart, for a run that one of them has saved.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

/// Why a run cannot continue in this version of its chart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// An active state is gone.
    State(String),
    /// A step under way is gone.
    Step(String),
    /// A step under way has another kind: the old one, the new one.
    Kind(String, String, String),
    /// A step under way no longer belongs to its leaf.
    Moved(String, String),
    /// An active atomic state has children now.
    Nested(String),
    /// An active parallel state has a region that is not active.
    Region(String, String),
    /// An active parallel state is no longer parallel.
    Apart(String),
    /// An active state is final now.
    Final(String),
    /// Two steps have changed places in a turn that is under way: the first one was before the second.
    Order(String, String),
    /// Something has another type: the old one, the new one.
    Type(Place, String, String),
    /// A record no longer has this field.
    NoField(Place),
    /// A record has a new field, which the values of the run lack.
    NewField(Place),
    /// A param is new and has no default.
    NoDefault(String),
    /// More events wait to be sent than this version can hold.
    Sends(usize, usize),
    /// The chart of a `run` step is gone.
    Chart(String),
    /// In a chart that the run's chart runs.
    Child(String, Box<Difference>),
}

/// Something that has a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A param, an input or a var.
    Variable(String),
    /// The answer of a step that is under way, or was answered in this turn.
    Answer(String),
    /// A field of an event that is sent and not delivered yet.
    Event(String, String),
    /// A field of a record.
    Record(String, String),
}

/// A change for a run that continues in another version of its chart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A state has a new name: the old path, the new path.
    State(String, String),
    /// A step has a new name.
    Step(String, String),
    /// A variable has a new name.
    Variable(String, String),
    /// A variable is new, and gets its default.
    Added(String),
    /// A variable is gone, and with it its value.
    Dropped(String),
    /// A line with a deadline is new in an active state, or for a step under way.
    Armed(String, Timed),
    /// A line with a deadline that was not yet due is gone.
    Disarmed(String, Timed),
    /// The record of a history is dropped, because a state in it is gone.
    Forgotten(String),
    /// In a chart that the run's chart runs.
    Child(String, Box<Change>),
}

/// A kind of line with a deadline.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Timed {
    /// `after 5s`.
    After,
    /// `after 3 turns`.
    AfterTurns,
    /// `timeout 5s` of a step.
    Timeout(String),
}

/// The comparison of a saved run with a version of its chart.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Comparison {
    /// The reasons why the run cannot continue; empty if it can.
    pub differences: Vec<Difference>,
    /// The changes for the run.
    pub changes: Vec<Change>,
}

/// The name of a state in messages.
struct State<'a>(&'a str);

impl core::fmt::Display for State<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        if self.0.is_empty() { f.write_str("the chart itself") } else { write!(f, "`{}`", self.0) }
    }
}

/// The last name of a path.
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
