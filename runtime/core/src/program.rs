//! What a chart does at its leaves: guards, actions, code. The step algorithm asks; one implementation answers for the
//! interpreter and one is generated for each chart. Both run under the same [`crate::semantics::Stepper`].

use crate::arena::{ChoiceId, EventId, StateId, StepId, ToolId, TransitionId};
pub use crate::caller::Caller;
use crate::machine::{Fault, Instant, Receiver};
pub use crate::outbox::Outbox;
use crate::store::{Observed, Store};
use crate::tables::{StateRowKind, Tables};

/// An action block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Block {
    /// An `enter` of a state; its number among them, from 0.
    Entry(StateId, u32),
    /// An `exit` of a state, likewise.
    Exit(StateId, u32),
    /// The actions of a compound's `initial`, or of a history's default.
    Default(StateId),
    /// The actions of a line.
    Transition(TransitionId),
}

/// The payload of what is being handled now; guards and actions read it until the next one is bound.
#[derive(Debug, Clone, PartialEq)]
pub enum Bound<P> {
    /// No payload: start, turn, deadlines, completion, errors of the machine.
    Nothing,
    /// Of a host event.
    Event(EventId, P),
    /// Answer of a step: `done` lines see it, `into` keeps it.
    Answer(StepId, P),
    /// Reason of a failed step, for its `error` lines.
    Reason(StepId, P),
    /// Arguments of the chosen option.
    Choice(ChoiceId, P),
    /// Arguments of the tool that the model calls: kept until the call ends.
    Call(Caller, ToolId, P),
    /// What that tool returned, for the `into` of the line that permitted it.
    Returned(Caller, Option<ChoiceId>, P),
    /// Why it failed.
    CallFailed(Caller, P),
}

/// Guards, actions and data of one chart. A `Fault` in a guard counts as false and raises `error.execution`; in a block it
/// ends that block only: the next one of the same state still runs.
pub trait Program {
    /// Where the machine's registers live: fixed arrays or vectors.
    type Store: Store;
    /// Data of events, options and answers.
    type Payload;

    /// An input begins, or the host asks for a text: what loops may repeat is counted afresh.
    #[inline(always)]
    fn refuel(&mut self) {}

    /// Makes `bound` the payload that guards and actions see. An `Answer` is also kept as the step's answer of this turn and
    /// in the step's `into` variable.
    fn bind(&mut self, bound: Bound<Self::Payload>);

    /// An option other than a tool call was taken: streaks of tool calls are broken.
    fn another_option(&mut self) {}

    /// The call was given up, because the state was left.
    fn forget_call(&mut self, _caller: Caller) {}

    /// Binds the payload of the oldest event that a block raised and that was not dequeued yet.
    fn dequeue(&mut self);

    /// Binds the payload of a sent event, kept in this slot.
    fn deliver(&mut self, _event: EventId, _slot: usize) {
        self.bind(Bound::Nothing);
    }

    /// A sent event, whose payload is kept in this slot, leaves for another chart.
    fn post(&mut self, _event: EventId, _slot: usize, _to: Receiver) {}

    /// `per turn` variables take their defaults again, answers of the last turn are forgotten.
    fn begin_turn(&mut self, view: &View<'_>);

    /// Runs a block that needs nothing of the machine but its configuration; false if that cannot be told or has gone only so far:
    /// then [`Program::run`] does the rest.
    #[inline]
    fn run_alone(&mut self, _block: Block, _configuration: &[u64]) -> bool {
        false
    }

    /// The guard of a line that needs nothing else; `None` if that cannot be told.
    #[inline]
    fn guard_alone(&self, _line: TransitionId, _configuration: &[u64]) -> Option<bool> {
        None
    }

    /// The guard of a line. Asked only if its row says it has one.
    fn guard(&mut self, line: TransitionId, view: &View<'_>) -> Result<bool, Fault>;

    /// The `if` of a step. Asked only if its row says it has one.
    fn step_guard(&mut self, step: StepId, view: &View<'_>) -> Result<bool, Fault>;

    /// The `if` of the `nth` `allow` line. Asked only if its row says it has one.
    fn permission_guard(&mut self, nth: usize, view: &View<'_>) -> Result<bool, Fault>;

    /// Whether `ends turn` holds after the step. Asked only if its row says it has one.
    fn ends_turn(&mut self, step: StepId, view: &View<'_>) -> Result<bool, Fault>;

    /// The bound of an `after` or `timeout` line: milliseconds, or turns for `AfterTurns`.
    fn deadline(&mut self, line: TransitionId, view: &View<'_>) -> Result<u64, Fault>;

    /// Evaluates and keeps the arguments of a line's final target. Asked before the exit, if its row says there are any.
    fn arguments(&mut self, line: TransitionId, view: &View<'_>) -> Result<(), Fault>;

    /// Runs a block. It puts events in `outbox`; the payload of a raised one the program keeps for `dequeue`, that of a sent one
    /// for `deliver`, in the slot that it is told.
    fn run(&mut self, block: Block, view: &View<'_>, outbox: &mut Outbox<'_>) -> Result<(), Fault>;

    /// Runs a `code` step.
    fn code(&mut self, step: StepId, view: &View<'_>) -> Result<(), Fault>;
}

/// What guards and actions may read of the machine: the observables.
pub struct View<'v> {
    /// The chart.
    pub tables: &'v Tables<'v>,
    /// The registers, read-only.
    pub cells: Observed<'v>,
    /// Turns ended.
    pub turns: u32,
    /// The time of this input.
    pub now: Instant,
    /// The time of `Start`.
    pub started_at: Instant,
    /// The active leaf under the line; the root before the start.
    pub leaf: StateId,
    /// The host event being handled.
    pub event: Option<EventId>,
}

impl View<'_> {
    /// Whether `state` is active.
    #[inline]
    pub fn is_in(&self, state: StateId) -> bool {
        crate::store::bits::has(self.cells.configuration, state.index())
    }

    /// Dotted path of the leaf.
    pub fn state(&self) -> &str {
        self.tables.states[self.leaf.index()].path
    }

    /// Whole turns in the leaf.
    pub fn turns_here(&self) -> u32 {
        self.cells.states[self.leaf.index()].turns_here
    }

    /// Turns of the whole run in which `state` was active.
    pub fn turns_in(&self, state: StateId) -> u32 {
        self.cells.states[state.index()].turns_in
    }

    /// Tool errors, forbidden calls and rejected answers since the leaf was entered.
    pub fn fails_here(&self) -> u32 {
        self.cells.states[self.leaf.index()].fails_here
    }

    /// Milliseconds since the start.
    pub fn elapsed(&self) -> u64 {
        self.now.saturating_sub(self.started_at)
    }

    /// Milliseconds since the leaf was entered.
    pub fn elapsed_here(&self) -> u64 {
        self.now.saturating_sub(self.cells.states[self.leaf.index()].entered_at)
    }

    /// Name of the host event being handled, else empty.
    pub fn event_name(&self) -> &str {
        self.event.map_or("", |e| self.tables.events[e.index()].name)
    }

    /// The innermost active state on the leaf's path that declares advice.
    pub fn adviser(&self) -> Option<StateId> {
        let mut state = self.leaf;
        loop {
            let row = &self.tables.states[state.index()];
            if row.advice && self.is_in(state) {
                return Some(state);
            }
            if row.parent == state {
                return None;
            }
            state = row.parent;
        }
    }

    /// `STUCK` while any active state declares advice, else `HEALTHY`.
    pub fn health(&self) -> &'static str {
        let stuck = self.tables.states.iter().enumerate().any(|(i, row)| {
            row.advice
                && !matches!(row.kind, StateRowKind::History { .. })
                && crate::store::bits::has(self.cells.configuration, i)
        });
        if stuck { "STUCK" } else { "HEALTHY" }
    }
}
