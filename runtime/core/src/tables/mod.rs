//! A chart as flat tables, on which the step algorithm runs, in the interpreter and in generated code.
//!
//! Rows refer to pools by [`Span`]; nothing here allocates, so generated code keeps its tables in `static`s.

mod ahead;
mod choice;
mod client;
mod each;
mod limits;
mod named;
mod read;
mod step;
mod summary;
mod typed;
mod walk;

pub use crate::form::ActionForm;
pub use crate::forward::Forward;
pub use ahead::{Dispatch, Reacts, Route};
pub use choice::{ChoiceRow, PermissionRow, ToolRow};
#[cfg(feature = "alloc")]
pub(crate) use client::millionths;
pub use client::{ClientRow, is_free};
pub use each::{EachRow, Lost};
#[cfg(feature = "alloc")]
pub use limits::bound_of_cost;
pub use limits::{ComputedLimitRow, LimitsRow, bound_of_count};
pub use named::CATCH_ALL;
pub use read::Rows;
pub use step::{FailureRow, StepRowKind};
pub use summary::{Own, Summary};
pub use typed::{RenameRow, RenamedRow, TypeRow, TypedRow};
pub use walk::WalkRow;

use crate::arena::{ChoiceId, EventId, StateId, StepId, ToolId};

/// The version for which generated code was written; it does not compile against another.
pub const ABI: u32 = 12;

/// The half-open range `start..start + len` of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// First index.
    pub start: u32,
    /// The number of indices.
    pub len: u32,
}

impl Span {
    /// The empty span.
    pub const EMPTY: Self = Self { start: 0, len: 0 };

    /// The part of `pool` in this range.
    #[inline]
    pub fn of<T>(self, pool: &[T]) -> &[T] {
        &pool[self.start as usize..(self.start + self.len) as usize]
    }
}

/// All tables of one chart. `'t` is `'static` for generated code.
#[derive(Debug, Clone, Copy)]
pub struct Tables<'t> {
    /// The chart's name.
    pub name: &'t str,
    /// Structural hash: equal for equivalent charts.
    pub hash: u64,
    /// Document order; row 0 is the root.
    pub states: &'t [StateRow<'t>],
    /// Grouped by source; within a source in the order in which they are tried.
    pub transitions: &'t [TransitionRow<'t>],
    /// Host events.
    pub events: &'t [EventRow<'t>],
    /// In walk order.
    pub steps: &'t [StepRow<'t>],
    /// The walks of a turn: first that of the chart, then one for each region, in document order. A chart without steps has only the first.
    pub walks: &'t [WalkRow],
    /// `may` transitions.
    pub choices: &'t [ChoiceRow<'t>],
    /// Declared tools.
    pub tools: &'t [ToolRow<'t>],
    /// The clients that steps may use.
    pub clients: &'t [ClientRow<'t>],
    /// `allow` lines; without any, every move is permitted.
    pub permissions: &'t [PermissionRow],
    /// The bounds that are computed from the params, in the order of their states.
    pub computed_limits: &'t [ComputedLimitRow],
    /// Whether an expression reads what calls took: their number, tokens or cost.
    pub reads_amounts: bool,
    /// The places that hold values between two inputs, with their types.
    pub types: &'t [TypeRow<'t>],
    /// Earlier names.
    pub renames: &'t [RenameRow<'t>],
    /// Pool of states.
    pub state_pool: &'t [StateId],
    /// Pool of events.
    pub event_pool: &'t [EventId],
    /// Pool of step ids, for `StateRow::steps`.
    pub step_pool: &'t [StepId],
    /// Pool of choices, for `StateRow::choices`.
    pub choice_pool: &'t [ChoiceId],
    /// Pool of tools of `may call` transitions, for `ChoiceRow::tools`.
    pub tool_pool: &'t [ToolId],
    /// Pool of field names and other words.
    pub name_pool: &'t [&'t str],
    /// The ids of sends that can be canceled.
    pub send_ids: &'t [&'t str],
    /// The capacity for waiting sent events.
    pub sends: u32,
    /// Pool of candidates, for `StateRow::index`.
    pub dispatch_pool: &'t [Dispatch],
    /// The maximum number of model steps in a walk; 0 for no limit.
    pub calls_per_turn: u32,
    /// The number of transitions that an instance remembers; `None` for all.
    pub history_kept: Option<u32>,
    /// The number of microsteps after which a macrostep is stopped as a livelock.
    pub microsteps: u32,
    /// What follows from the rows together.
    pub summary: Summary,
}

/// One state.
#[derive(Debug, Clone, Copy)]
pub struct StateRow<'t> {
    /// Dotted path; empty for the root.
    pub path: &'t str,
    /// The kind of vertex.
    pub kind: StateRowKind,
    /// The parent; the root's is itself.
    pub parent: StateId,
    /// One past the last state of the subtree.
    pub end: StateId,
    /// Its own transitions, a range of `Tables::transitions`.
    pub transitions: Span,
    /// Own steps, in `step_pool`.
    pub steps: Span,
    /// Its own `may` transitions, in `choice_pool`.
    pub choices: Span,
    /// The number of its `enter` blocks.
    pub entry: u32,
    /// The number of its `exit` blocks.
    pub exit: u32,
    /// Whether its `initial`, or its default as a history, has actions.
    pub default_actions: bool,
    /// Declares `advice`.
    pub advice: bool,
    /// Limits charged while it is active.
    pub limits: LimitsRow,
    /// In `state_pool`: the history states among its children.
    pub histories: Span,
    /// What its own transitions and steps react to.
    pub here: Reacts,
    /// What it and its ancestors react to.
    pub on_path: Reacts,
    /// In `dispatch_pool`: its own transitions sorted by event, if it has many; otherwise empty.
    pub index: Span,
    /// In `Tables::walks`: the walk of the innermost region that contains it.
    pub walk: u32,
    /// The place of the state. States that can be active together have different places.
    pub place: u32,
}

impl StateRow<'_> {
    /// An atomic state without anything of its own.
    pub const PLAIN: Self = Self {
        path: "",
        kind: StateRowKind::Atomic,
        parent: StateId(0),
        end: StateId(0),
        transitions: Span::EMPTY,
        steps: Span::EMPTY,
        choices: Span::EMPTY,
        entry: 0,
        exit: 0,
        default_actions: false,
        advice: false,
        limits: LimitsRow::PLAIN,
        histories: Span::EMPTY,
        here: Reacts::NOTHING,
        on_path: Reacts::NOTHING,
        index: Span::EMPTY,
        walk: 0,
        place: 0,
    };
}

/// The kind of a vertex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateRowKind {
    /// Without children.
    Atomic,
    /// Exactly one child is active; the initial descendants, in `state_pool`.
    Compound(Span),
    /// All children are active.
    Parallel,
    /// The end of its parent.
    Final(crate::machine::Status),
    /// Pseudostate.
    History {
        /// Whether it records all descendants instead of the child.
        deep: bool,
        /// The states entered when nothing is recorded, in `state_pool`.
        default: Span,
        /// Its number among the chart's history states, from 0.
        slot: u32,
    },
}

/// One transition.
#[derive(Debug, Clone, Copy)]
pub struct TransitionRow<'t> {
    /// The source.
    pub source: StateId,
    /// What it waits for.
    pub trigger: TriggerRow<'t>,
    /// In `state_pool`: it applies only in one of these states; in all if empty.
    pub any_of: Span,
    /// In `state_pool`: it applies in none of these states.
    pub none_of: Span,
    /// Whether it has a guard.
    pub guard: bool,
    /// In `state_pool`.
    pub targets: Span,
    /// Whether it is internal: the source, a compound, is not exited, and the targets are its descendants.
    pub internal: bool,
    /// Whether it has actions.
    pub actions: bool,
    /// Whether it has arguments for a final target, which are evaluated before the exit.
    pub arguments: bool,
    /// In `name_pool`: the texts of its guard's alternatives, if it has any.
    pub alternatives: Span,
    /// Its exit and entry sets.
    pub route: Route,
}

impl TransitionRow<'_> {
    /// An eventless transition of the root that applies everywhere and does nothing.
    pub const PLAIN: Self = Self {
        source: StateId(0),
        trigger: TriggerRow::When,
        any_of: Span::EMPTY,
        none_of: Span::EMPTY,
        guard: false,
        targets: Span::EMPTY,
        internal: false,
        actions: false,
        arguments: false,
        alternatives: Span::EMPTY,
        route: Route::Stay,
    };
}

/// What a transition waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TriggerRow<'t> {
    /// One of these host events, in `event_pool`.
    Event(Span),
    /// Any host event.
    AnyEvent,
    /// Any occurrence that can trigger `on` transitions.
    AnyOccurrence,
    /// The built-in event.
    Turn,
    /// Eventless.
    When,
    /// Completion of a state.
    StateDone(StateId),
    /// Deadline in milliseconds from the entry of the source, with its slot among the chart's deadlines.
    After(u32),
    /// Deadline in whole turns from the entry of the source, with its slot.
    AfterTurns(u32),
    /// A choice of an option.
    Choice(ChoiceId),
    /// Outcome of a step.
    StepDone(StepId),
    /// Outcome of a step.
    StepError(StepId),
    /// Outcome of a step; the deadline of this slot counts from the step's start.
    StepTimeout(StepId, u32),
    /// Outcome of a step.
    StepDoubt(StepId),
    /// `else` of an ask, `then` of a retry policy.
    StepElse(StepId),
    /// A dotted pattern below `error`.
    Error(&'t str),
    /// A dotted pattern below `limit.warn`.
    LimitWarn(&'t str),
}

/// One host event.
#[derive(Debug, Clone, Copy)]
pub struct EventRow<'t> {
    /// May be dotted.
    pub name: &'t str,
    /// Payload field names, in `name_pool`.
    pub fields: Span,
}

/// One step.
#[derive(Debug, Clone, Copy)]
pub struct StepRow<'t> {
    /// As written.
    pub name: &'t str,
    /// The state to which it belongs.
    pub state: StateId,
    /// What it does.
    pub kind: StepRowKind,
    /// Whether it has an `if`.
    pub guard: bool,
    /// Further attempts after the first.
    pub retries: u32,
    /// What follows the last attempt.
    pub failure: FailureRow,
    /// Whether it has an `ends turn`.
    pub ends_turn: bool,
    /// Name of the client; empty is the host's default.
    pub client: &'t str,
    /// In `tool_pool`: the tools that the model may call before it answers.
    pub tools: Span,
    /// The maximum number of tool calls in one run of the step.
    pub tool_calls: u32,
    /// For each element of a list.
    pub each: Option<EachRow>,
    /// Whether a call in doubt is made again.
    pub retries_doubt: bool,
    /// Whether a text that was cut off is an answer.
    pub accepts_cut: bool,
}

impl StepRow<'_> {
    /// A `code` step of the root.
    pub const PLAIN: Self = Self {
        name: "",
        state: StateId(0),
        kind: StepRowKind::Code,
        guard: false,
        retries: 0,
        failure: FailureRow::Fail,
        ends_turn: false,
        client: "",
        tools: Span::EMPTY,
        tool_calls: 0,
        each: None,
        retries_doubt: false,
        accepts_cut: false,
    };
}

impl TriggerRow<'_> {
    /// The deadline slot of the three triggers that have one.
    pub const fn deadline(&self) -> Option<u32> {
        match self {
            Self::After(slot) | Self::AfterTurns(slot) | Self::StepTimeout(_, slot) => Some(*slot),
            Self::Event(_)
            | Self::AnyEvent
            | Self::AnyOccurrence
            | Self::Turn
            | Self::When
            | Self::StateDone(_)
            | Self::Choice(_)
            | Self::StepDone(_)
            | Self::StepError(_)
            | Self::StepDoubt(_)
            | Self::StepElse(_)
            | Self::Error(_)
            | Self::LimitWarn(_) => None,
        }
    }

    /// The step of a `timeout` trigger.
    pub const fn timed_step(&self) -> Option<StepId> {
        if let Self::StepTimeout(step, _) = self { Some(*step) } else { None }
    }

    /// Whether something outside the machine (the host, its data, the clock) can trigger the transition.
    pub const fn is_alive(&self) -> bool {
        match self {
            Self::Event(_)
            | Self::AnyEvent
            | Self::AnyOccurrence
            | Self::Turn
            | Self::When
            | Self::After(_)
            | Self::AfterTurns(_) => true,
            Self::StateDone(_)
            | Self::Choice(_)
            | Self::StepDone(_)
            | Self::StepError(_)
            | Self::StepTimeout(..)
            | Self::StepDoubt(_)
            | Self::StepElse(_)
            | Self::Error(_)
            | Self::LimitWarn(_) => false,
        }
    }
}
