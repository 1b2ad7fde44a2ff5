//! A chart as flat tables of rows, over which the step algorithm runs.
//!
//! **The problem.** One step algorithm serves the interpreter and generated code. Generated code must not allocate and keeps its chart in
//! `static`s, so the tables cannot contain vectors or boxes.
//!
//! **The idea.** A row has a fixed size. It refers to one other row by id, and to several by a [`Span`] of a pool. [`Tables`] borrows all
//! rows and pools: from a `Plan` in the interpreter, from `static`s in generated code. A row holds no expressions. It says only whether
//! there is a guard or a block, and the machine's `Program` evaluates it by the id of the row. Some columns are derived from others:
//! `here`, `on_path`, `index`, `route`, `walk`, `place` and [`Summary`]. They make the cost of an event independent of the size of the
//! chart. Generated code depends on the layout of the rows, so each change to them needs a new [`ABI`].
//!
//! **Example.** In `chart C { initial p  parallel p { state a {}  state b {} } }`, the subtree of `p` is the range of ids 1..4:
//!
//! ```text
//! states       0 `C`: initial Span 0..1, end 4     1 `p`: end 4     2 `p.a`: end 3     3 `p.b`: end 4
//! state_pool   [1]                                 (the span is the initial state of `C`)
//! ```

pub use crate::failure::{FailureKind, FailureKinds, Lost};
pub use crate::form::ActionForm;
pub use crate::forward::Forward;

use crate::arena::{ChoiceId, ClientId, EventId, StateId, StepId, ToolId, TransitionId};
use crate::machine::LimitKind;
use crate::structure::{self, Shape, Tree};
use core::fmt;
use core::ops::Deref;

/// The version of the tables. Generated code does not compile against a runtime with another version.
pub const ABI: u32 = 15;

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

    /// The indices.
    #[inline(always)]
    pub fn range(self) -> core::ops::Range<usize> {
        self.start as usize..(self.start + self.len) as usize
    }

    /// The part of `pool` in this range.
    #[inline]
    pub fn of<T>(self, pool: &[T]) -> &[T] {
        &pool[self.range()]
    }
}

/// A text of a row: a `static` one in generated code, an owned one in a plan.
#[derive(Clone)]
pub enum Text {
    /// A text of the program.
    Static(&'static str),
    /// A text of a chart that was read.
    #[cfg(feature = "alloc")]
    Owned(alloc::boxed::Box<str>),
}

impl Deref for Text {
    type Target = str;

    #[inline(always)]
    fn deref(&self) -> &str {
        match self {
            Self::Static(text) => text,
            #[cfg(feature = "alloc")]
            Self::Owned(text) => text,
        }
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Text {}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        **self == *other
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

#[cfg(feature = "alloc")]
impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::Owned(text.into())
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        **self == **other
    }
}

#[cfg(feature = "alloc")]
impl PartialEq<alloc::string::String> for Text {
    fn eq(&self, other: &alloc::string::String) -> bool {
        **self == **other
    }
}

#[cfg(feature = "alloc")]
impl From<&Text> for alloc::borrow::Cow<'static, str> {
    fn from(text: &Text) -> Self {
        match text {
            Text::Static(text) => Self::Borrowed(text),
            Text::Owned(text) => Self::Owned((**text).into()),
        }
    }
}

#[cfg(feature = "alloc")]
impl From<&Text> for alloc::string::String {
    fn from(text: &Text) -> Self {
        Self::from(&**text)
    }
}

impl core::borrow::Borrow<str> for Text {
    fn borrow(&self) -> &str {
        self
    }
}

/// Rows: `static` ones in generated code, owned ones in a plan.
#[derive(Clone)]
pub enum List<T: 'static> {
    /// Rows of the program.
    Static(&'static [T]),
    /// Rows of a chart that was read.
    #[cfg(feature = "alloc")]
    Owned(alloc::vec::Vec<T>),
}

impl<T> Deref for List<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        match self {
            Self::Static(rows) => rows,
            #[cfg(feature = "alloc")]
            Self::Owned(rows) => rows,
        }
    }
}

impl<'t, T> IntoIterator for &'t List<T> {
    type Item = &'t T;
    type IntoIter = core::slice::Iter<'t, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: fmt::Debug> fmt::Debug for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(feature = "alloc")]
impl<T> From<alloc::vec::Vec<T>> for List<T> {
    fn from(rows: alloc::vec::Vec<T>) -> Self {
        Self::Owned(rows)
    }
}

/// All tables of a chart.
#[derive(Debug, Clone)]
pub struct Tables {
    /// The name of the chart.
    pub name: Text,
    /// The structural hash, which is equal for equivalent charts.
    pub hash: u64,
    /// The states in document order. Row 0 is the root, which is the chart itself.
    pub states: List<StateRow>,
    /// The transitions, grouped by source. Within a source they are in the order in which they are tried.
    pub transitions: List<TransitionRow>,
    /// The declared host events.
    pub events: List<EventRow>,
    /// The steps in document order, in which walks visit them.
    pub steps: List<StepRow>,
    /// The walks of a turn: first that of the chart, then one for each region, in document order. A chart without steps has only the first.
    pub walks: List<WalkRow>,
    /// The options of `may` transitions.
    pub choices: List<ChoiceRow>,
    /// The declared tools.
    pub tools: List<ToolRow>,
    /// The clients that steps may use.
    pub clients: List<ClientRow>,
    /// The `allow` lines. Without any, every move is permitted.
    pub permissions: List<PermissionRow>,
    /// The `tool` lines of steps.
    pub tool_lines: List<ToolLineRow>,
    /// The limits that are computed from the params, in the order of their states.
    pub computed_limits: List<ComputedLimitRow>,
    /// Whether an expression reads what calls took: their number, tokens or cost. If not, the amounts are not counted.
    pub reads_amounts: bool,
    /// The types of values that a run keeps between two inputs, for comparison with another version of the chart.
    pub types: List<TypeRow>,
    /// The earlier names of states, steps and variables.
    pub renames: List<RenameRow>,
    /// The pool of states: initial states, targets, scopes, entry sets.
    pub state_pool: List<StateId>,
    /// The pool of events, for triggers, questions and `defer` lines.
    pub event_pool: List<EventId>,
    /// The pool of steps, for `StateRow::steps`.
    pub step_pool: List<StepId>,
    /// The pool of choices, for `StateRow::choices`.
    pub choice_pool: List<ChoiceId>,
    /// The pool of tools, for `ChoiceRow::tools`, `StepRow::tools` and `ToolLineRow::tools`.
    pub tool_pool: List<ToolId>,
    /// The pool of names of fields and arguments, and of other texts.
    pub name_pool: List<Text>,
    /// The ids with which events are sent, so that they can be canceled.
    pub send_ids: List<Text>,
    /// The maximum number of sent and deferred events that wait.
    pub sends: u32,
    /// The pool of candidates by event, for `StateRow::index`.
    pub dispatch_pool: List<Dispatch>,
    /// The maximum number of model steps in one walk; 0 for no limit.
    pub calls_per_turn: u32,
    /// The number of transitions in an instance's history; `None` for all.
    pub history_kept: Option<u32>,
    /// The number of turns after which `error.stuck.timeout` is raised in a state that neither time nor turns end; `None` for never.
    pub turns_in_state: Option<u32>,
    /// The number of microsteps after which a macrostep is stopped as a livelock; 0 for the default.
    pub microsteps: u32,
    /// Properties of all rows together.
    pub summary: Summary,
}

impl Tables {
    /// The tables of a chart without anything but the bounds that every chart has by default.
    pub const PLAIN: Self =
        Self { calls_per_turn: 1, history_kept: Some(100), microsteps: 1000, ..Self::EMPTY };
}

/// The row of a state.
#[derive(Debug, Clone)]
pub struct StateRow {
    /// The dotted path; empty for the root.
    pub path: Text,
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
    /// The events that the state defers, in `event_pool`.
    pub defers: Span,
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

impl StateRow {
    /// An atomic state without transitions, steps or actions.
    pub const PLAIN: Self = Self {
        path: Text::Static(""),
        kind: StateRowKind::Atomic,
        parent: StateId(0),
        end: StateId(0),
        transitions: Span::EMPTY,
        steps: Span::EMPTY,
        choices: Span::EMPTY,
        entry: 0,
        exit: 0,
        default_actions: false,
        defers: Span::EMPTY,
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
pub struct TransitionRow {
    /// The source state.
    pub source: StateId,
    /// The trigger.
    pub trigger: TriggerRow,
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

impl TransitionRow {
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
pub enum TriggerRow {
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
    /// An error whose name matches a dotted pattern below `error`, which is this entry of `name_pool`.
    Error(u32),
    /// A warning whose name matches a dotted pattern below `limit.warn`, which is this entry of `name_pool`.
    LimitWarn(u32),
}

/// The row of a host event.
#[derive(Debug, Clone)]
pub struct EventRow {
    /// The name, which may be dotted.
    pub name: Text,
    /// The names of its fields, in `name_pool`.
    pub fields: Span,
}

/// The row of a step.
#[derive(Debug, Clone)]
pub struct StepRow {
    /// The name in the chart.
    pub name: Text,
    /// The state that the step belongs to.
    pub state: StateId,
    /// The kind of the step.
    pub kind: StepRowKind,
    /// The moment at which it starts.
    pub starts: StartsRow,
    /// Whether it has an `if`.
    pub guard: bool,
    /// The number of attempts after the first.
    pub retries: u32,
    /// The kinds of failures after which another attempt is made.
    pub retries_on: FailureKinds,
    /// The first and the longest wait before another attempt, in milliseconds; `None` for those of the host.
    pub wait: Option<[u64; 2]>,
    /// The treatment of a failure after the last attempt.
    pub failure: FailureRow,
    /// Whether it has an `ends turn` condition.
    pub ends_turn: bool,
    /// The name of the client; empty for the host's default.
    pub client: Text,
    /// The tools that the model may call before it answers, in `tool_pool`.
    pub tools: Span,
    /// The maximum number of tool calls in one run of the step.
    pub tool_calls: u32,
    /// The `tool` lines of the step, a range of `Tables::tool_lines`.
    pub tool_lines: Span,
    /// The step whose tool call this one approves. The walk does not start such a step.
    pub approves: Option<StepId>,
    /// The list that the step runs for, if it has an `each`.
    pub each: Option<EachRow>,
    /// Whether a call may be made again if it is unknown whether it took effect: the step says `doubt retry`, or its tool is `idempotent`.
    pub retries_doubt: bool,
    /// Whether a text that was cut off at the maximum length counts as an answer.
    pub accepts_cut: bool,
    /// Whether only the name of an option or JSON that fits the schema counts as an answer.
    pub is_exact: bool,
    /// Whether assignments run when it asks.
    pub asking: bool,
}

impl StepRow {
    /// Whether the walk of a turn starts the step, rather than an event, the entry of its state, or a tool call of a model.
    pub const fn is_walked(&self) -> bool {
        matches!(self.starts, StartsRow::InTurn) && self.approves.is_none()
    }

    /// Whether events start the step.
    pub const fn is_on_event(&self) -> bool {
        matches!(self.starts, StartsRow::OnEvent(_))
    }

    /// A `code` step of the root.
    pub const PLAIN: Self = Self {
        name: Text::Static(""),
        state: StateId(0),
        kind: StepRowKind::Code,
        starts: StartsRow::InTurn,
        guard: false,
        retries: 0,
        retries_on: FailureKinds::ALL,
        wait: None,
        failure: FailureRow::Fail,
        ends_turn: false,
        client: Text::Static(""),
        tools: Span::EMPTY,
        tool_calls: 0,
        tool_lines: Span::EMPTY,
        approves: None,
        each: None,
        retries_doubt: false,
        accepts_cut: false,
        is_exact: false,
        asking: false,
    };
}

impl TriggerRow {
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

// Precomputed columns, which make the cost of an event independent of the size of the chart. [`crate::plan`] derives them from the other
// columns.

/// The kinds of occurrences that a state reacts to, and other features that few states have: a bit set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reacts(pub u16);

impl Reacts {
    /// No kind.
    pub const NOTHING: Self = Self(0);
    /// Host events.
    pub const EVENT: Self = Self(1);
    /// Eventless transitions.
    pub const WHEN: Self = Self(1 << 1);
    /// The built-in event `turn`.
    pub const TURN: Self = Self(1 << 2);
    /// The completion of a state.
    pub const DONE: Self = Self(1 << 3);
    /// Deadlines, including timeouts of steps.
    pub const DEADLINE: Self = Self(1 << 4);
    /// The choice of an option, and the result of a tool.
    pub const CHOICE: Self = Self(1 << 5);
    /// The outcome of a step.
    pub const STEP: Self = Self(1 << 6);
    /// `error.*`.
    pub const ERROR: Self = Self(1 << 7);
    /// `limit.warn.*`.
    pub const WARN: Self = Self(1 << 8);
    /// Something outside the machine can trigger it: it has a step, or a transition that the host, its data or the clock can trigger.
    pub const ALIVE: Self = Self(1 << 9);
    /// A step that host events start.
    pub const START: Self = Self(1 << 10);
    /// A limit on the time in the state.
    pub const TIME: Self = Self(1 << 11);
    /// A `defer` line.
    pub const DEFER: Self = Self(1 << 12);

    /// The occurrences that can trigger an `on **` transition.
    pub const VISIBLE: Self = Self::EVENT
        .with(Self::TURN)
        .with(Self::DONE)
        .with(Self::STEP)
        .with(Self::ERROR)
        .with(Self::WARN);

    /// The union of two sets.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether two sets have a kind in common.
    #[inline]
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// An event, and one of the transitions that it makes candidates. Sorted by event, so that a state's transitions for an event are found by
/// binary search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dispatch {
    /// The event, or [`Dispatch::ANY`].
    pub event: EventId,
    /// A transition of the state.
    pub line: TransitionId,
}

impl Dispatch {
    /// Stands for every event. Sorted behind all declared events.
    pub const ANY: EventId = EventId(u32::MAX);
}

/// The exit and entry sets of a transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// Both sets are empty, because the transition has no target.
    Stay,
    /// Both sets are the same whenever the transition is taken.
    Known {
        /// The state whose active descendants are exited.
        domain: StateId,
        /// The entry set in document order, in `state_pool`.
        entry: Span,
    },
    /// The sets depend on what histories have recorded, or are too long to be stored.
    Computed,
}

// Rows of the options that a model may choose, and of the tools and moves that a chart permits.

/// The option of a `may` transition, or the tools of a `may call` transition.
#[derive(Debug, Clone)]
pub struct ChoiceRow {
    /// The name by which the model chooses it.
    pub name: Text,
    /// The `may` transition itself.
    pub transition: TransitionId,
    /// The names of its arguments, in `name_pool`. An option with arguments is never taken without a question.
    pub fields: Span,
    /// The tools of a `may call` transition, in `tool_pool`, ascending; `None` for an option.
    pub tools: Option<Span>,
}

/// The row of a declared tool.
#[derive(Debug, Clone)]
pub struct ToolRow {
    /// The name, which may be dotted.
    pub name: Text,
    /// The names of its arguments, in `name_pool`.
    pub fields: Span,
    /// Whether a call is made again if it is unknown whether it took effect.
    pub idempotent: bool,
}

/// The row of a `tool` line of an `llm` step.
#[derive(Debug, Clone, Copy)]
pub struct ToolLineRow {
    /// The tools, in `tool_pool`.
    pub tools: Span,
    /// Whether it has a condition.
    pub guard: bool,
    /// Whether assignments run when one of the tools is called.
    pub calling: bool,
    /// The step that asks a person before the call.
    pub asks: Option<StepId>,
}

/// The row of an `allow` line.
#[derive(Debug, Clone, Copy)]
pub struct PermissionRow {
    /// The state that must be active; `None` for `*`.
    pub from: Option<StateId>,
    /// The state that may be entered.
    pub to: StateId,
    /// Whether it has a guard.
    pub guard: bool,
}

// Rows of clients.

/// A `client`. `max_tokens` and `timeout` are 0 if the chart does not set them.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientRow {
    /// The name by which steps refer to it.
    pub name: Text,
    /// The model, as `provider:model`.
    pub model: Text,
    /// The sampling temperature; `None` if the chart does not set it.
    pub temperature: Option<f64>,
    /// The maximum length of an answer, in tokens.
    pub max_tokens: u64,
    /// The maximum duration of one call, in milliseconds.
    pub timeout: u64,
    /// Options that are passed to the client's server, as a JSON object; empty without options.
    pub options: Text,
    /// The price of a million input tokens, in millionths of the unit of prices.
    pub input_price: Option<u64>,
    /// The price of a million output tokens, in millionths of the unit of prices.
    pub output_price: Option<u64>,
    /// The JSON form in which the model writes actions.
    pub actions: ActionForm,
    /// The client to use when this one fails.
    pub fallback: Option<ClientId>,
}

impl ClientRow {
    /// A client without settings.
    pub const PLAIN: Self = Self {
        name: Text::Static(""),
        model: Text::Static(""),
        temperature: None,
        max_tokens: 0,
        timeout: 0,
        options: Text::Static(""),
        input_price: None,
        output_price: None,
        actions: ActionForm::Any,
        fallback: None,
    };
}

/// The providers whose models run on machines of their users.
const LOCAL: [&str; 4] = ["ollama", "lmstudio", "llamacpp", "vllm"];

/// Whether a model, written `provider:model`, runs on a machine of its user. Its calls cost nothing unless its client states a price.
pub fn is_free(model: &str) -> bool {
    model.split_once(':').is_some_and(|(provider, _)| LOCAL.contains(&provider))
}

/// An amount of money in millionths, rounded up, so that accounted costs are never too low.
#[cfg(feature = "alloc")]
pub(crate) fn millionths(amount: f64) -> u64 {
    let exact = amount * 1e6;
    // The cast saturates, and turns NaN into 0.
    let whole = exact as u64;
    if (whole as f64) < exact { whole.saturating_add(1) } else { whole }
}

// Rows of steps that run for each element of a list.

/// The `each` of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EachRow {
    /// The number of the step among the steps with an `each`, from 0.
    pub slot: u32,
    /// The maximum number of elements that are under way together.
    pub at_a_time: u32,
    /// The maximum number of elements; a longer list fails the step.
    pub most: u32,
    /// The number of elements that end the step when they have succeeded; `None` for all.
    pub enough: Option<u32>,
    /// The effect of an element that fails.
    pub lost: Lost,
}

impl EachRow {
    /// The number of elements that must succeed for a list of this size.
    pub fn needed(&self, size: u32) -> u32 {
        self.enough.unwrap_or(size).min(size)
    }
}

// Rows of limits.

/// Limits on what is spent while a state is active. `None` is no limit; a limit of 0 permits nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LimitsRow {
    /// The maximum number of model calls.
    pub calls: Option<u32>,
    /// The soft limit on `calls`.
    pub calls_warn: Option<u32>,
    /// The maximum number of turns.
    pub turns: Option<u32>,
    /// The soft limit on `turns`.
    pub turns_warn: Option<u32>,
    /// The maximum time since the entry of the state, in milliseconds.
    pub time: Option<u64>,
    /// The soft limit on `time`.
    pub time_warn: Option<u64>,
    /// The maximum number of input and output tokens, which the host counts.
    pub tokens: Option<u64>,
    /// The soft limit on `tokens`.
    pub tokens_warn: Option<u64>,
    /// The maximum cost, in millionths of the unit of prices, which the host counts.
    pub cost: Option<u64>,
    /// The soft limit on `cost`.
    pub cost_warn: Option<u64>,
}

impl LimitsRow {
    /// No limits.
    pub const PLAIN: Self = Self {
        calls: None,
        calls_warn: None,
        turns: None,
        turns_warn: None,
        time: None,
        time_warn: None,
        tokens: None,
        tokens_warn: None,
        cost: None,
        cost_warn: None,
    };
}

/// Converts a computed number to a limit; `None` if it is negative.
pub fn bound_of_count(count: i64) -> Option<u64> {
    u64::try_from(count).ok()
}

/// Converts a computed cost to a limit in millionths; `None` if it is negative or NaN.
#[cfg(feature = "alloc")]
pub fn bound_of_cost(amount: f64) -> Option<u64> {
    (amount >= 0.0).then(|| millionths(amount))
}

/// A limit that the program computes from the params.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComputedLimitRow {
    /// The state that has the limit.
    pub state: StateId,
    /// The quantity that is bounded.
    pub kind: LimitKind,
    /// Whether the limit is soft.
    pub is_soft: bool,
}

impl Tables {
    /// The limits of a state. `computed` returns the value of a row of [`Tables::computed_limits`], by its index.
    pub fn limits(&self, state: StateId, computed: impl Fn(usize) -> u64) -> LimitsRow {
        let mut row = self.states[state.index()].limits;
        for (nth, limit) in self.computed_limits.iter().enumerate() {
            if limit.state == state {
                row.set(*limit, computed(nth));
            }
        }
        row
    }
}

impl LimitsRow {
    /// Sets one limit. Turns and time are checked after they have passed, so a limit of 0 on them means 1; a soft limit is at least 1.
    fn set(&mut self, limit: ComputedLimitRow, bound: u64) {
        let is_counted_at_end = matches!(limit.kind, LimitKind::Turns | LimitKind::Time);
        let bound = if limit.is_soft || is_counted_at_end { bound.max(1) } else { bound };
        // No run reaches a count beyond 32 bits.
        let count = Some(u32::try_from(bound).unwrap_or(u32::MAX));
        match (limit.kind, limit.is_soft) {
            (LimitKind::Calls, false) => self.calls = count,
            (LimitKind::Calls, true) => self.calls_warn = count,
            (LimitKind::Turns, false) => self.turns = count,
            (LimitKind::Turns, true) => self.turns_warn = count,
            (LimitKind::Time, false) => self.time = Some(bound),
            (LimitKind::Time, true) => self.time_warn = Some(bound),
            (LimitKind::Tokens, false) => self.tokens = Some(bound),
            (LimitKind::Tokens, true) => self.tokens_warn = Some(bound),
            (LimitKind::Cost, false) => self.cost = Some(bound),
            (LimitKind::Cost, true) => self.cost_warn = Some(bound),
        }
    }
}

// Looks up events by the name that a host uses.

/// The name of an event that stands for all undeclared ones. A chart that declares it accepts any event of the host.
pub const CATCH_ALL: &str = "*";

impl Tables {
    /// The outcome for a model that has called a tool, if the chart lets no model call tools: the call is forbidden, whatever its arguments.
    #[cfg(feature = "alloc")]
    pub(crate) fn refused_call<P>(&self, tool: ToolId) -> Option<crate::machine::Outcome<P>> {
        let is_any = self.choices.iter().any(|choice| choice.tools.is_some())
            || self.steps.iter().any(|step| step.tools.len > 0);
        let is_known = tool.index() < self.tools.len();
        (!is_any && is_known).then_some(crate::machine::Outcome::Forbidden(tool))
    }

    /// Whether the chart accepts any event of the host, declared or not.
    pub fn is_open(&self) -> bool {
        self.exactly(CATCH_ALL).is_some()
    }

    /// The event for a name that the host uses. Without [`CATCH_ALL`], only a declared event of this name; with it, any other name means
    /// the event of its longest declared dotted prefix, or else [`CATCH_ALL`] itself.
    #[inline]
    pub fn event_named(&self, name: &str) -> Option<EventId> {
        if let Some(found) = self.exactly(name) {
            return Some(found);
        }
        let any = self.exactly(CATCH_ALL)?;
        // From the last dot on, so the longest prefix comes first.
        let mut prefixes = name.rmatch_indices('.').map(|(at, _)| &name[..at]);
        Some(prefixes.find_map(|prefix| self.exactly(prefix)).unwrap_or(any))
    }

    #[inline]
    fn exactly(&self, name: &str) -> Option<EventId> {
        self.events.iter().position(|event| event.name == *name).map(EventId::at)
    }
}

// Queries over the tables as a whole.

impl Tables {
    /// Tables without rows, as a base for others.
    pub const EMPTY: Self = Self {
        name: Text::Static(""),
        hash: 0,
        states: List::Static(&[]),
        transitions: List::Static(&[]),
        events: List::Static(&[]),
        steps: List::Static(&[]),
        choices: List::Static(&[]),
        tools: List::Static(&[]),
        clients: List::Static(&[]),
        permissions: List::Static(&[]),
        tool_lines: List::Static(&[]),
        computed_limits: List::Static(&[]),
        reads_amounts: false,
        types: List::Static(&[]),
        renames: List::Static(&[]),
        walks: List::Static(&[WalkRow::PLAIN]),
        state_pool: List::Static(&[]),
        event_pool: List::Static(&[]),
        step_pool: List::Static(&[]),
        choice_pool: List::Static(&[]),
        tool_pool: List::Static(&[]),
        name_pool: List::Static(&[]),
        send_ids: List::Static(&[]),
        sends: 0,
        dispatch_pool: List::Static(&[]),
        calls_per_turn: 0,
        history_kept: None,
        turns_in_state: None,
        microsteps: 0,
        summary: Summary::PLAIN,
    };

    /// The number of history states.
    pub fn histories(&self) -> usize {
        self.states.iter().filter(|s| matches!(s.kind, StateRowKind::History { .. })).count()
    }

    /// The number of deadline slots.
    pub fn deadlines(&self) -> usize {
        self.transitions.iter().filter(|t| t.trigger.deadline().is_some()).count()
    }

    /// The number of steps with an `each`.
    pub fn fans(&self) -> usize {
        self.steps.iter().filter(|step| step.each.is_some()).count()
    }

    /// The row of a state.
    pub fn state(&self, id: StateId) -> &StateRow {
        &self.states[id.index()]
    }

    /// The states as a tree.
    #[inline]
    pub fn tree(&self) -> Rows<'_> {
        Rows { states: &self.states, pool: &self.state_pool }
    }

    /// Whether `inner` is `outer` or its descendant.
    pub fn contains(&self, outer: StateId, inner: StateId) -> bool {
        structure::contains(&self.tree(), outer, inner)
    }
}

/// The rows of states as a tree.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'t> {
    /// The states in document order.
    pub states: &'t [StateRow],
    /// The pool of states to which the rows refer.
    pub pool: &'t [StateId],
}

impl Tree for Rows<'_> {
    #[inline]
    fn shape(&self, state: StateId) -> Shape<'_> {
        match self.states[state.index()].kind {
            StateRowKind::Atomic | StateRowKind::Final(_) => Shape::Basic,
            StateRowKind::Compound(initial) => Shape::Compound(initial.of(self.pool)),
            StateRowKind::Parallel => Shape::Parallel,
            StateRowKind::History { default, .. } => Shape::History(default.of(self.pool)),
        }
    }

    #[inline]
    fn parent(&self, state: StateId) -> Option<StateId> {
        let parent = self.states[state.index()].parent;
        (parent != state).then_some(parent)
    }

    #[inline]
    fn end(&self, state: StateId) -> StateId {
        self.states[state.index()].end
    }
}

// Rows of the kinds of steps, and of their failure policies.

/// The kind of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepRowKind {
    /// A model call: `llm`.
    Llm,
    /// Code that runs at once, inside the machine.
    Code,
    /// A question to a model, answered by one of the enabled options.
    Ask {
        /// Whether a model is asked even if there is a single option.
        always: bool,
        /// The transition of `else -> T`; `None` for `else stay`.
        otherwise: Option<TransitionId>,
    },
    /// A tool call by the chart itself.
    Call,
    /// A question to a person; the walk does not wait for it.
    Human,
    /// A child chart; the walk does not wait for it.
    Run {
        /// The events of this chart that are forwarded to the child chart.
        forward: Forward,
    },
}

/// The moment at which a step starts, while its state is active.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartsRow {
    /// In the walk of a turn.
    InTurn,
    /// When the macrostep ends in which its state was entered.
    OnEntry,
    /// When one of these events, in `event_pool`, comes and no transition is taken for it.
    OnEvent(Span),
}

/// The treatment of a step that has failed in its last attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureRow {
    /// The walk ends with the error of the turn.
    Fail,
    /// The walk continues.
    Skip,
    /// This transition is taken.
    Take(TransitionId),
}

// Properties of all rows together, computed once for all machines of a chart.

/// Properties of all rows of a chart together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// The maximum number of leaves that are active together.
    pub leaves: u32,
    /// The maximum number of states that are active together. Every `StateRow::place` is less than this.
    pub together: u32,
    /// The union of the kinds of occurrences that the states react to.
    pub reacts: Reacts,
    /// Whether any state has limits.
    pub limits: bool,
    /// Whether any `initial` or default of a history has actions.
    pub default_actions: bool,
    /// Whether the chart has an `ask`.
    pub asks: bool,
    /// Whether any step starts on entry.
    pub entry_runs: bool,
    /// Whether the chart has histories.
    pub histories: bool,
    /// Whether the entry set of any transition is computed when it is taken.
    pub computed: bool,
}

impl Summary {
    /// The summary of a chart with one state that does nothing.
    pub const PLAIN: Self = Self {
        leaves: 1,
        together: 1,
        reacts: Reacts::NOTHING,
        limits: false,
        default_actions: false,
        asks: false,
        entry_runs: false,
        histories: false,
        computed: false,
    };
}

// Rows of types and of earlier names, for runs that another version of the chart has saved.

/// The declared type of a part of the chart that holds values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeRow {
    /// The part that has the type.
    pub of: TypedRow,
    /// The type as written, in parts, in `name_pool`. The name of a record is one part.
    pub ty: Span,
}

/// A part of a chart that has a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypedRow {
    /// A param without a default, whose value a run must have.
    Param(Text),
    /// Any other variable, by name.
    Variable(Text),
    /// The answer of a step.
    Answer(StepId),
    /// A field of an event: the event, the field.
    Event(EventId, Text),
    /// A field of a record: the record, the field.
    Record(Text, Text),
}

/// The earlier name of a part of the chart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenameRow {
    /// The part that was renamed.
    pub what: RenamedRow,
    /// The earlier name. For a state, without the names of its ancestors.
    pub old: Text,
}

/// A part of a chart that was renamed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RenamedRow {
    /// A state.
    State(StateId),
    /// A step.
    Step(StepId),
    /// A variable, by its new name.
    Variable(Text),
    /// The chart itself.
    Chart,
}

impl Tables {
    /// Whether the chart has this name, or had it in an earlier version.
    pub fn is_named(&self, name: &str) -> bool {
        let is_earlier = |row: &RenameRow| row.what == RenamedRow::Chart && *row.old == *name;
        *self.name == *name || self.renames.iter().any(is_earlier)
    }
}

// Rows of the walks of a turn.

/// A walk of a turn: over the steps of the chart, or over those of a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WalkRow {
    /// The root or the region, which is a child of a parallel state.
    pub state: StateId,
    /// The index of the walk that forks this one; the first walk's is its own.
    pub outer: u32,
    /// The steps of the state and of its descendants, a range of `Tables::steps`.
    pub steps: Span,
}

impl WalkRow {
    /// The walk of a chart without steps.
    pub const PLAIN: Self = Self { state: StateId(0), outer: 0, steps: Span::EMPTY };
}

impl Tables {
    /// Whether an `ask` may be open in several leaves at once, because its state contains regions.
    pub fn is_asked_in_regions(&self, step: StepId) -> bool {
        let row = &self.steps[step.index()];
        let own = self.states[row.state.index()].walk as usize;
        let inside = |walk: &WalkRow| self.contains(row.state, walk.state);
        matches!(row.kind, StepRowKind::Ask { .. }) && self.walks.iter().skip(own + 1).any(inside)
    }
}
