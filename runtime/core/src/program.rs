//! The chart-specific part of a machine: guards, actions, code. The step algorithm calls it; the interpreter implements it once, and the
//! emitter generates an implementation for each chart. Both run under the same [`crate::semantics::Stepper`].

use crate::arena::{ChoiceId, EventId, StateId, StepId, ToolId, TransitionId};
pub use crate::caller::Caller;
use crate::machine::{Element, Fault, Instant, Receiver, Sink};
pub use crate::outbox::Outbox;
use crate::store::{Amounts, Observed, Store};
use crate::tables::{StateRowKind, Tables};
use core::ops::Deref;

/// An action block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Block {
    /// An `enter` block of a state, with its number from 0.
    Entry(StateId, u32),
    /// An `exit` block of a state, with its number from 0.
    Exit(StateId, u32),
    /// The actions of a compound's `initial`, or of a history's default.
    Default(StateId),
    /// The actions of a transition.
    Transition(TransitionId),
}

/// The current payload, which guards and actions read until the next one is bound.
#[derive(Debug, Clone, PartialEq)]
pub enum Bound<P> {
    /// No payload: start, turn, deadlines, completion, errors of the machine.
    Nothing,
    /// Of a host event.
    Event(EventId, P),
    /// The answer of a step: `done` transitions read it, `into` stores it.
    Answer(StepId, P),
    /// The reason of a failed step, for its `error` transitions.
    Reason(StepId, P),
    /// Arguments of the chosen option.
    Choice(ChoiceId, P),
    /// The arguments of the tool that the model calls, stored until the call ends.
    Call(Caller, ToolId, P),
    /// The result of that tool, for the `into` of the transition that permitted it.
    Returned(Caller, Option<ChoiceId>, P),
    /// The reason why the tool failed.
    CallFailed(Caller, P),
}

/// Guards, actions and data of one chart. A `Fault` in a guard counts as false and raises `error.execution`. In a block it ends that block
/// only: the next block of the same state still runs.
pub trait Program {
    /// The storage of the machine's registers: fixed arrays or vectors.
    type Store: Store;
    /// Data of events, options and answers.
    type Payload;
    /// How a machine holds its tables: by reference, if they last as long as it does.
    type Tables<'t>: Copy + Deref<Target = Tables<'t>>;

    /// Called when an input begins, or when the host requests a text: resets the counts of repetitions.
    #[inline(always)]
    fn refuel(&mut self) {}

    /// Called when an input begins. Until the next input, notes are kept if `sink` takes them.
    #[inline(always)]
    fn heed(&mut self, _sink: &dyn Sink) {}

    /// Makes `bound` the current payload of guards and actions. An `Answer` is also stored as the step's answer of this turn and in the
    /// step's `into` variable.
    fn bind(&mut self, bound: Bound<Self::Payload>);

    /// Called when an input has been handled: no payload is read before the next one is bound.
    #[inline(always)]
    fn rest(&mut self) {}

    /// Called when an option other than a tool call was taken: ends the streaks of tool calls.
    fn another_option(&mut self) {}

    /// How often the model's last tool call was made in succession, with the same arguments.
    fn repeated(&self) -> u32 {
        0
    }

    /// Called when a call is canceled because its state was exited.
    fn forget_call(&mut self, _caller: Caller) {}

    /// Binds the payload of the oldest raised event in the queue.
    fn dequeue(&mut self);

    /// Binds the payload of a sent event, stored in this slot.
    fn deliver(&mut self, _event: EventId, _slot: usize) {
        self.bind(Bound::Nothing);
    }

    /// Sends an event, whose payload is stored in this slot, to another chart.
    fn post(&mut self, _event: EventId, _slot: usize, _to: Receiver) {}

    /// Resets `per turn` variables to their defaults, and the answers of the last turn.
    fn begin_turn(&mut self, view: &View<'_>);

    /// Runs a block that needs only the configuration of the machine. Returns false if the block needs more or has run only in part; then
    /// [`Program::run`] does the rest.
    #[inline]
    fn run_alone(&mut self, _block: Block, _configuration: &[u64]) -> bool {
        false
    }

    /// The guard of a transition, if it needs only the configuration; `None` if it needs more.
    #[inline]
    fn guard_alone(&self, _line: TransitionId, _configuration: &[u64]) -> Option<bool> {
        None
    }

    /// The guard of a transition. Called only if its row has one.
    fn guard(&mut self, line: TransitionId, view: &View<'_>) -> Result<bool, Fault>;

    /// The alternatives of a transition's guard that hold, by [`held`]. Called only for a row that has alternatives and a sink that asks.
    /// Changes nothing, and leaves no notes.
    fn held(&mut self, _line: TransitionId, _view: &View<'_>) -> u64 {
        0
    }

    /// The `if` of a step. Called only if its row has one.
    fn step_guard(&mut self, step: StepId, view: &View<'_>) -> Result<bool, Fault>;

    /// The `if` of the `nth` `allow` line. Called only if its row has one.
    fn permission_guard(&mut self, nth: usize, view: &View<'_>) -> Result<bool, Fault>;

    /// Whether `ends turn` holds after the step. Called only if its row has one.
    fn ends_turn(&mut self, step: StepId, view: &View<'_>) -> Result<bool, Fault>;

    /// The duration of an `after` or `timeout` trigger in milliseconds, or in turns for `AfterTurns`.
    fn deadline(&mut self, line: TransitionId, view: &View<'_>) -> Result<u64, Fault>;

    /// Evaluates and stores the arguments for a transition's final target. Called before the exit, if its row has arguments.
    fn arguments(&mut self, line: TransitionId, view: &View<'_>) -> Result<(), Fault>;

    /// Runs a block. It puts events into `outbox`. The program stores the payload of a raised event for `dequeue`, and that of a sent event
    /// for `deliver`, in the slot that the outbox returns.
    fn run(&mut self, block: Block, view: &View<'_>, outbox: &mut Outbox<'_>) -> Result<(), Fault>;

    /// The value of the bound at this place of `Tables::computed_limits`: a number, milliseconds, or millionths of money.
    fn limit(&self, _nth: usize) -> u64 {
        0
    }

    /// Evaluates and stores the list of a step with an `each`, and returns its size. Called only if its row has one.
    ///
    /// # Errors
    /// The list cannot be evaluated or has more than `most` elements; with the reason of the step's failure, if it can be said.
    fn elements(
        &mut self,
        _step: StepId,
        _most: u32,
        _view: &View<'_>,
    ) -> Result<u32, Option<Self::Payload>> {
        Err(None)
    }

    /// Stores the answer of an element.
    fn element_done(&mut self, _step: StepId, _element: Element, _answer: Self::Payload) {}

    /// The answer of a step with an `each`: those of its elements, in their order. What has no answer is left out or `none`.
    fn gathered(&mut self, _step: StepId, _with_none: bool) -> Option<Self::Payload> {
        None
    }

    /// Forgets the list and the answers of a step with an `each`.
    fn forget_elements(&mut self, _step: StepId) {}

    /// Runs a `code` step.
    fn code(&mut self, step: StepId, view: &View<'_>) -> Result<(), Fault>;
}

/// Which of `count` alternatives hold, as bits from the lowest; one that fails does not. None if one fails before the first that holds:
/// then the guard has failed.
pub fn held<E>(count: u32, mut holds: impl FnMut(u32) -> Result<bool, E>) -> u64 {
    let mut held = 0;
    for nth in 0..count.min(u64::BITS) {
        match holds(nth) {
            Ok(true) => held |= 1 << nth,
            Ok(false) => {}
            Err(_) if held == 0 => return 0,
            Err(_) => {}
        }
    }
    held
}

/// The part of the machine that guards and actions may read: the observables.
pub struct View<'v> {
    /// The chart.
    pub tables: &'v Tables<'v>,
    /// The registers, read-only.
    pub cells: Observed<'v>,
    /// The number of turns ended.
    pub turns: u32,
    /// The time of this input.
    pub now: Instant,
    /// The time of `Start`.
    pub started_at: Instant,
    /// The active leaf from which the transition is tried; the root before the start.
    pub leaf: StateId,
    /// The current host event.
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

    /// The number of whole turns in the leaf.
    pub fn turns_here(&self) -> u32 {
        self.cells.counts(self.leaf).turns_here
    }

    /// The number of turns of the whole run in which `state` was active.
    pub fn turns_in(&self, state: StateId) -> u32 {
        self.cells.counts(state).turns_in
    }

    /// The number of tool errors, forbidden calls and unusable answers since the leaf was entered.
    pub fn fails_here(&self) -> u32 {
        self.cells.counts(self.leaf).fails_here
    }

    /// The number of model calls of the run.
    pub fn calls(&self) -> u32 {
        self.cells.counts(StateId(0)).calls
    }

    /// The number of model calls since the leaf was entered.
    pub fn calls_here(&self) -> u32 {
        self.amounts(true).calls
    }

    /// Tokens of paid calls, of the run or since the leaf was entered.
    pub fn tokens(&self, here: bool) -> i64 {
        i64::try_from(self.amounts(here).tokens).unwrap_or(i64::MAX)
    }

    /// Money for paid calls in the unit of prices, of the run or since the leaf was entered.
    pub fn cost(&self, here: bool) -> f64 {
        self.amounts(here).cost as f64 / 1e6
    }

    fn amounts(&self, here: bool) -> Amounts {
        let place = if here { self.leaf.index() } else { 0 };
        self.cells.amounts.get(place).copied().unwrap_or_default()
    }

    /// Milliseconds since the start.
    pub fn elapsed(&self) -> u64 {
        self.now.saturating_sub(self.started_at)
    }

    /// Milliseconds since the leaf was entered.
    pub fn elapsed_here(&self) -> u64 {
        self.now.saturating_sub(
            self.cells.entered[self.tables.states[self.leaf.index()].place as usize],
        )
    }

    /// The name of the current host event, or the empty string.
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
