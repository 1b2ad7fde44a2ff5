//! A chart as flat tables: what the step algorithm runs on, for the interpreter and for generated code alike.
//!
//! Rows refer to pools by [`Span`]; nothing here allocates, so generated code keeps its tables in `static`s.

mod ahead;
mod choice;
mod client;
mod limits;
mod named;
mod read;

pub use crate::form::ActionForm;
pub use crate::forward::Forward;
pub use ahead::{Dispatch, Reacts, Route};
pub use choice::{ChoiceRow, PermissionRow, ToolRow};
pub use client::ClientRow;
#[cfg(feature = "alloc")]
pub(crate) use client::millionths;
pub use limits::LimitsRow;
pub use named::CATCH_ALL;
pub use read::Rows;

use crate::arena::{ChoiceId, EventId, StateId, StepId, ToolId, TransitionId};

/// Generated code states the version it was written for and does not compile against another.
pub const ABI: u32 = 6;

/// The half-open range `start..start + len` of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// First index.
    pub start: u32,
    /// How many.
    pub len: u32,
}

impl Span {
    /// Nothing.
    pub const EMPTY: Self = Self { start: 0, len: 0 };

    /// The part of `pool` that it names.
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
    /// Structural hash: equal for charts that mean the same.
    pub hash: u64,
    /// Document order; row 0 is the root.
    pub states: &'t [StateRow<'t>],
    /// Grouped by source; within a source in the order tried.
    pub transitions: &'t [TransitionRow<'t>],
    /// Host events.
    pub events: &'t [EventRow<'t>],
    /// In walk order.
    pub steps: &'t [StepRow<'t>],
    /// `may` lines.
    pub choices: &'t [ChoiceRow<'t>],
    /// Declared tools.
    pub tools: &'t [ToolRow<'t>],
    /// Models that steps may be put to.
    pub clients: &'t [ClientRow<'t>],
    /// `allow` lines; empty is permissive.
    pub permissions: &'t [PermissionRow],
    /// Pool of states.
    pub state_pool: &'t [StateId],
    /// Pool of events.
    pub event_pool: &'t [EventId],
    /// Pool of step ids, for `StateRow::steps`.
    pub step_pool: &'t [StepId],
    /// Pool of choices: those of a state, for `StateRow::choices`.
    pub choice_pool: &'t [ChoiceId],
    /// Pool of tools: those of a `may call` line, for `ChoiceRow::tools`.
    pub tool_pool: &'t [ToolId],
    /// Pool of field names.
    pub name_pool: &'t [&'t str],
    /// What sends are called that can be taken back.
    pub send_ids: &'t [&'t str],
    /// How many sent events can wait.
    pub sends: u32,
    /// Pool of candidates, for `StateRow::index`.
    pub dispatch_pool: &'t [Dispatch],
    /// Cap of model steps in a walk; 0 is no cap.
    pub calls_per_turn: u32,
    /// Transitions that an instance remembers; `None` is all of them.
    pub history_kept: Option<u32>,
    /// Microsteps in a macrostep before it is stopped as a livelock.
    pub microsteps: u32,
}

/// One state.
#[derive(Debug, Clone, Copy)]
pub struct StateRow<'t> {
    /// Dotted path; empty for the root.
    pub path: &'t str,
    /// What kind of vertex it is.
    pub kind: StateRowKind,
    /// The root's is itself.
    pub parent: StateId,
    /// One past the last state of the subtree.
    pub end: StateId,
    /// Own lines, a range of `Tables::transitions`.
    pub transitions: Span,
    /// Own steps, in `step_pool`.
    pub steps: Span,
    /// Own `may` lines, in `choice_pool`.
    pub choices: Span,
    /// How many `enter` blocks it has.
    pub entry: u32,
    /// How many `exit` blocks it has.
    pub exit: u32,
    /// Has actions for its `initial`, or for a history's default.
    pub default_actions: bool,
    /// Declares `advice`.
    pub advice: bool,
    /// Bounds charged while inside.
    pub limits: LimitsRow,
    /// In `state_pool`: the history states among its children.
    pub histories: Span,
    /// What its own lines and steps react to.
    pub here: Reacts,
    /// What it and the states above it react to.
    pub on_path: Reacts,
    /// In `dispatch_pool`, sorted: its own lines by event, for a state that has many; empty for others.
    pub index: Span,
}

impl StateRow<'_> {
    /// Atomic, with nothing of its own.
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
    };
}

/// What kind of vertex a state is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateRowKind {
    /// Without children.
    Atomic,
    /// One child active; the initial descendants, in `state_pool`.
    Compound(Span),
    /// All children active.
    Parallel,
    /// The end of its parent.
    Final(crate::machine::Status),
    /// Pseudo-state.
    History {
        /// All descendants instead of the child.
        deep: bool,
        /// Entered when nothing is recorded, in `state_pool`.
        default: Span,
        /// Its number among the chart's history states, from 0.
        slot: u32,
    },
}

/// One transition.
#[derive(Debug, Clone, Copy)]
pub struct TransitionRow<'t> {
    /// Whose line it is.
    pub source: StateId,
    /// What makes it a candidate.
    pub trigger: TriggerRow<'t>,
    /// In `state_pool`: it holds only in one of these; empty is everywhere.
    pub any_of: Span,
    /// In `state_pool`: it holds in none of these.
    pub none_of: Span,
    /// Has a guard.
    pub guard: bool,
    /// In `state_pool`.
    pub targets: Span,
    /// The source is not exited: targets are descendants of a compound source.
    pub internal: bool,
    /// Has actions.
    pub actions: bool,
    /// Has arguments for a final target, to be read before the exit.
    pub arguments: bool,
    /// What it leaves and enters.
    pub route: Route,
}

impl TransitionRow<'_> {
    /// An eventless line of the root that holds everywhere and does nothing.
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
        route: Route::Stay,
    };
}

/// What makes a transition a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TriggerRow<'t> {
    /// One of these host events, in `event_pool`.
    Event(Span),
    /// Any host event.
    AnyEvent,
    /// Any occurrence that a line can be `on`.
    AnyOccurrence,
    /// The built-in event.
    Turn,
    /// Eventless.
    When,
    /// Completion of a state.
    StateDone(StateId),
    /// Deadline in milliseconds from entry of the source; the slot among the chart's deadlines.
    After(u32),
    /// Deadline in whole turns from entry of the source.
    AfterTurns(u32),
    /// A `may` line.
    Choice(ChoiceId),
    /// Outcome of a step.
    StepDone(StepId),
    /// Outcome of a step.
    StepError(StepId),
    /// Outcome of a step; the deadline slot counts from its start.
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
    /// The state whose step it is.
    pub state: StateId,
    /// What it does.
    pub kind: StepRowKind,
    /// Has an `if`.
    pub guard: bool,
    /// Further attempts after the first.
    pub retries: u32,
    /// After the last.
    pub failure: FailureRow,
    /// Has an `ends turn`.
    pub ends_turn: bool,
    /// Name of the client; empty is the host's default.
    pub client: &'t str,
    /// In `tool_pool`: what the model may call before it answers.
    pub tools: Span,
    /// Calls of them that one run of the step may make.
    pub tool_calls: u32,
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
    };
}

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepRowKind {
    /// A model call.
    Llm,
    /// Runs at once inside the machine.
    Code,
    /// A question.
    Ask {
        /// Events that put it, in `event_pool`; `None` is the turn's walk.
        on: Option<Span>,
        /// Asked even with a single option.
        always: bool,
        /// The `else T` line; `None` is `stay`.
        otherwise: Option<TransitionId>,
    },
    /// A tool call.
    Call,
    /// A person; does not block the walk.
    Human,
    /// A child chart; does not block the walk.
    Run {
        /// Started at the end of the macrostep in which the step's state was entered, not in the walk.
        on_entry: bool,
        /// Which events of this chart it is passed.
        forward: Forward,
    },
}

/// What a step that has used up its attempts does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureRow {
    /// The walk ends with the turn's error.
    Fail,
    /// The walk goes on.
    Skip,
    /// Takes this line.
    Take(TransitionId),
}

impl TriggerRow<'_> {
    /// The deadline slot, for the three triggers that have one.
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

    /// The step that a `timeout` line belongs to.
    pub const fn timed_step(&self) -> Option<StepId> {
        if let Self::StepTimeout(step, _) = self { Some(*step) } else { None }
    }

    /// Whether something outside the machine (the host, its data, the clock) can trigger it.
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
