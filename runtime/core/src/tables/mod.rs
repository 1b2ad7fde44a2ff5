//! A chart as flat tables of rows, over which the step algorithm runs. Generated code must not allocate and keeps them in `static`s, so a
//! row refers to several others by a [`Span`] of a pool. The chart `C { parallel p { state a {} state b {} } }`, for example:
//! ```text
//! states       0 `C`: initial Span 0..1, end 4     1 `p`: end 4     2 `p.a`: end 3     3 `p.b`: end 4
//! state_pool   [1]                                 (the span is the initial state of `C`; the subtree of `p` is 1..4)
//! ```

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

/// The version of the tables. Generated code does not compile against a runtime with another version.
pub const ABI: u32 = 12;

/// The half-open range `start..start + len` of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// The first index of the range.
    pub start: u32,
    /// The number of indices in the range.
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

/// All tables of a chart. `'t` is `'static` in generated code.
#[derive(Debug, Clone, Copy)]
pub struct Tables<'t> {
    /// The name of the chart.
    pub name: &'t str,
    /// The structural hash, which is equal for equivalent charts.
    pub hash: u64,
    /// The states in document order. Row 0 is the root, which is the chart itself.
    pub states: &'t [StateRow<'t>],
    /// The transitions, grouped by source. Within a source they are in the order in which they are tried.
    pub transitions: &'t [TransitionRow<'t>],
    /// The declared host events.
    pub events: &'t [EventRow<'t>],
    /// The steps in document order, in which walks visit them.
    pub steps: &'t [StepRow<'t>],
    /// The walks of a turn: first that of the chart, then one for each region, in document order. A chart without steps has only the first.
    pub walks: &'t [WalkRow],
    /// The options of `may` transitions.
    pub choices: &'t [ChoiceRow<'t>],
    /// The declared tools.
    pub tools: &'t [ToolRow<'t>],
    /// The clients that steps may use.
    pub clients: &'t [ClientRow<'t>],
    /// The `allow` lines. Without any, every move is permitted.
    pub permissions: &'t [PermissionRow],
    /// The limits that are computed from the params, in the order of their states.
    pub computed_limits: &'t [ComputedLimitRow],
    /// Whether an expression reads what calls took: their number, tokens or cost. If not, the amounts are not counted.
    pub reads_amounts: bool,
    /// The types of values that a run keeps between two inputs, for comparison with another version of the chart.
    pub types: &'t [TypeRow<'t>],
    /// The earlier names of states, steps and variables.
    pub renames: &'t [RenameRow<'t>],
    /// The pool of states: initial states, targets, scopes, entry sets.
    pub state_pool: &'t [StateId],
    /// The pool of events, for triggers and questions.
    pub event_pool: &'t [EventId],
    /// The pool of steps, for `StateRow::steps`.
    pub step_pool: &'t [StepId],
    /// The pool of choices, for `StateRow::choices`.
    pub choice_pool: &'t [ChoiceId],
    /// The pool of tools, for `ChoiceRow::tools` and `StepRow::tools`.
    pub tool_pool: &'t [ToolId],
    /// The pool of names of fields and arguments, and of other texts.
    pub name_pool: &'t [&'t str],
    /// The ids with which events are sent, so that they can be canceled.
    pub send_ids: &'t [&'t str],
    /// The maximum number of sent events that wait.
    pub sends: u32,
    /// The pool of candidates by event, for `StateRow::index`.
    pub dispatch_pool: &'t [Dispatch],
    /// The maximum number of model steps in one walk; 0 for no limit.
    pub calls_per_turn: u32,
    /// The number of transitions in an instance's history; `None` for all.
    pub history_kept: Option<u32>,
    /// The number of microsteps after which a macrostep is stopped as a livelock; 0 for the default.
    pub microsteps: u32,
    /// Properties of all rows together.
    pub summary: Summary,
}

/// The row of a state.
#[derive(Debug, Clone, Copy)]
pub struct StateRow<'t> {
    /// The dotted path; empty for the root.
    pub path: &'t str,
    /// The kind of the state.
    pub kind: StateRowKind,
    /// The parent; for the root, the root itself.
    pub parent: StateId,
    /// The first state behind the subtree.
    pub end: StateId,
    /// The transitions with this source, a range of `Tables::transitions`.
    pub transitions: Span,
    /// The steps of the state itself, in `step_pool`.
    pub steps: Span,
    /// The options of the state itself, in `choice_pool`.
    pub choices: Span,
    /// The number of `enter` blocks.
    pub entry: u32,
    /// The number of `exit` blocks.
    pub exit: u32,
    /// Whether the `initial` of a compound, or the default of a history, has actions.
    pub default_actions: bool,
    /// Whether the state declares `advice`.
    pub advice: bool,
    /// The limits that are charged while the state is active.
    pub limits: LimitsRow,
    /// The history states among the children, in `state_pool`.
    pub histories: Span,
    /// The kinds of occurrences that the state itself reacts to.
    pub here: Reacts,
    /// The kinds of occurrences that the state or an ancestor reacts to.
    pub on_path: Reacts,
    /// The state's transitions by event, in `dispatch_pool`, if it has many; otherwise empty.
    pub index: Span,
    /// The walk of the innermost region that contains the state, an index of `Tables::walks`.
    pub walk: u32,
    /// The index of the state's time of entry in a store. States that can be active together have different places.
    pub place: u32,
}

impl StateRow<'_> {
    /// An atomic state without transitions, steps or actions.
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

/// The kind of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateRowKind {
    /// A state without children.
    Atomic,
    /// A state with exactly one active child. The span has its initial states, in `state_pool`.
    Compound(Span),
    /// A state whose children are all active.
    Parallel,
    /// A final state, which ends its parent.
    Final(crate::machine::Status),
    /// A pseudostate, which is never active.
    History {
        /// Whether it records the active leaves instead of the active child.
        deep: bool,
        /// The states to enter if nothing is recorded, in `state_pool`.
        default: Span,
        /// The number of the history among the chart's histories, from 0.
        slot: u32,
    },
}

/// The row of a transition.
#[derive(Debug, Clone, Copy)]
pub struct TransitionRow<'t> {
    /// The source state.
    pub source: StateId,
    /// The trigger.
    pub trigger: TriggerRow<'t>,
    /// The states of which one must be active, in `state_pool`; any configuration suffices if empty.
    pub any_of: Span,
    /// The states of which none may be active, in `state_pool`.
    pub none_of: Span,
    /// Whether it has a guard.
    pub guard: bool,
    /// The target states, in `state_pool`.
    pub targets: Span,
    /// Whether the transition is internal: its source, a compound, is not exited, and its targets are descendants of the source.
    pub internal: bool,
    /// Whether it has actions.
    pub actions: bool,
    /// Whether there are arguments for a final target. They are evaluated before the exit.
    pub arguments: bool,
    /// The texts of the guard's alternatives, in `name_pool`, if there are any.
    pub alternatives: Span,
    /// The exit and entry sets.
    pub route: Route,
}

impl TransitionRow<'_> {
    /// An eventless transition of the root that has no target and no actions.
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

/// The trigger of a transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TriggerRow<'t> {
    /// One of these host events, in `event_pool`.
    Event(Span),
    /// Any host event.
    AnyEvent,
    /// Any occurrence that can trigger `on` transitions.
    AnyOccurrence,
    /// The built-in event `turn`.
    Turn,
    /// No event: an eventless transition.
    When,
    /// The completion of a state.
    StateDone(StateId),
    /// A deadline in milliseconds since the entry of the source; the number is its slot.
    After(u32),
    /// A deadline in whole turns since the entry of the source; the number is its slot.
    AfterTurns(u32),
    /// The choice of an option.
    Choice(ChoiceId),
    /// The success of a step.
    StepDone(StepId),
    /// The failure of a step.
    StepError(StepId),
    /// A deadline in milliseconds since the start of a step; the number is its slot.
    StepTimeout(StepId, u32),
    /// The interruption of a step's call, of which it is unknown whether it took effect.
    StepDoubt(StepId),
    /// The `else` of an `ask`, or the `then` of a retry policy.
    StepElse(StepId),
    /// An error whose name matches this dotted pattern below `error`.
    Error(&'t str),
    /// A warning whose name matches this dotted pattern below `limit.warn`.
    LimitWarn(&'t str),
}

/// The row of a host event.
#[derive(Debug, Clone, Copy)]
pub struct EventRow<'t> {
    /// The name, which may be dotted.
    pub name: &'t str,
    /// The names of its fields, in `name_pool`.
    pub fields: Span,
}

/// The row of a step.
#[derive(Debug, Clone, Copy)]
pub struct StepRow<'t> {
    /// The name in the chart.
    pub name: &'t str,
    /// The state that the step belongs to.
    pub state: StateId,
    /// The kind of the step.
    pub kind: StepRowKind,
    /// Whether it has an `if`.
    pub guard: bool,
    /// The number of attempts after the first.
    pub retries: u32,
    /// The treatment of a failure after the last attempt.
    pub failure: FailureRow,
    /// Whether it has an `ends turn` condition.
    pub ends_turn: bool,
    /// The name of the client; empty for the host's default.
    pub client: &'t str,
    /// The tools that the model may call before it answers, in `tool_pool`.
    pub tools: Span,
    /// The maximum number of tool calls in one run of the step.
    pub tool_calls: u32,
    /// The list that the step runs for, if it has an `each`.
    pub each: Option<EachRow>,
    /// Whether a call is made again if it is unknown whether it took effect.
    pub retries_doubt: bool,
    /// Whether a text that was cut off at the maximum length counts as an answer.
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
    /// The slot of the deadline, for the three triggers that have one.
    pub const fn deadline(&self) -> Option<u32> {
        match self {
            Self::After(slot) | Self::AfterTurns(slot) | Self::StepTimeout(_, slot) => Some(*slot),
            _ => None,
        }
    }

    /// The step of a `timeout` trigger.
    pub const fn timed_step(&self) -> Option<StepId> {
        if let Self::StepTimeout(step, _) = self { Some(*step) } else { None }
    }

    /// Whether something outside the machine (the host, its data, the clock) can trigger the transition.
    pub const fn is_alive(&self) -> bool {
        matches!(
            self,
            Self::Event(_)
                | Self::AnyEvent
                | Self::AnyOccurrence
                | Self::Turn
                | Self::When
                | Self::After(_)
                | Self::AfterTurns(_)
        )
    }
}
