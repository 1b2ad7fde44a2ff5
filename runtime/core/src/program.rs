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
    /// The assignments that run when a step asks.
    Asking(StepId),
    /// The assignments of a `tool` line, which run when the model calls one of its tools; the number is its row.
    Calling(u32),
}

/// The payload that guards and actions read, until the next one is bound.
#[derive(Debug, Clone, PartialEq)]
pub enum Bound<P> {
    /// No payload: start, turn, deadlines, completion, errors of the machine.
    Nothing,
    /// The data of a host event.
    Event(EventId, P),
    /// The answer of a step: `done` transitions read it, `into` stores it.
    Answer(StepId, P),
    /// The reason of a failed step, for its `error` transitions.
    Reason(StepId, P),
    /// The arguments of the option that was chosen.
    Choice(ChoiceId, P),
    /// The arguments of a tool that the model calls; they are stored until the call ends. `tool` lines read them.
    Call(Caller, ToolId, P),
    /// The result of a tool that the model called, for the `into` of the transition that permitted the call.
    Returned(Caller, Option<ChoiceId>, P),
    /// The reason why a tool that the model called failed.
    CallFailed(Caller, P),
    /// A person refused the tool call of the model.
    Refused(Caller),
}

/// The guards, actions and data of one chart. A `Fault` in a guard counts as false and raises `error.execution`. A `Fault` in a block ends
/// only that block: the next block of the same state still runs.
pub trait Program {
    /// The storage of the machine's registers: fixed arrays or vectors.
    type Store: Store;
    /// The data of events, options and answers.
    type Payload;
    /// The access to the chart's tables: a reference, if the tables live as long as the machine, otherwise a copy.
    type Tables: Clone + Deref<Target = Tables>;

    /// Called when an input begins, or when the host requests a text. Refills the budget of evaluations; in generated code, of loops.
    #[inline(always)]
    fn refuel(&mut self) {}

    /// Called when an input begins. Until the next input, the program keeps notes only if `sink` takes them.
    #[inline(always)]
    fn heed(&mut self, _sink: &dyn Sink) {}

    /// Makes `bound` the current payload of guards and actions. An `Answer` is also stored as the step's answer of this turn and in the
    /// step's `into` variable.
    fn bind(&mut self, bound: Bound<Self::Payload>);

    /// Called when an input has been handled. The payload may be dropped: none is read before the next one is bound.
    #[inline(always)]
    fn rest(&mut self) {}

    /// Called when an option other than a tool call was taken. Ends the streaks of tool calls.
    fn another_option(&mut self) {}

    /// The number of times that the model's last tool call was made in succession, with the same arguments.
    fn repeated(&self) -> u32 {
        0
    }

    /// Called when a call is canceled because its state was exited. The call does not count for streaks.
    fn forget_call(&mut self, _caller: Caller) {}

    /// Binds the payload of the oldest raised event. Payloads are dequeued in the order in which their events were raised.
    fn dequeue(&mut self);

    /// Binds the payload of a sent event, which is stored in this slot.
    fn deliver(&mut self, _event: EventId, _slot: usize) {
        self.bind(Bound::Nothing);
    }

    /// Stores the bound payload of an event in this slot. Nothing is bound afterwards.
    fn put_back(&mut self, _slot: usize) {
        self.bind(Bound::Nothing);
    }

    /// Takes the payload of an event for another chart out of this slot, and keeps both until the host takes them.
    fn post(&mut self, _event: EventId, _slot: usize, _to: Receiver) {}

    /// Resets the `per turn` variables to their defaults, and drops the answers of the last turn.
    fn begin_turn(&mut self, view: &View<'_>);

    /// Runs a block that needs nothing of the machine but its configuration. Returns false if the block needs more or has run only in part;
    /// then [`Program::run`] does the rest.
    #[inline]
    fn run_alone(&mut self, _block: Block, _configuration: &[u64]) -> bool {
        false
    }

    /// Evaluates the guard of a transition if it needs nothing of the machine but its configuration; `None` if it needs more.
    #[inline]
    fn guard_alone(&self, _line: TransitionId, _configuration: &[u64]) -> Option<bool> {
        None
    }

    /// Evaluates the guard of a transition. Called only if its row has one.
    fn guard(&mut self, line: TransitionId, view: &View<'_>) -> Result<bool, Fault>;

    /// The alternatives of a transition's guard that hold, as computed by [`held`]. Called only if the row has alternatives and the sink
    /// wants them. Has no effects and adds no notes.
    fn held(&mut self, _line: TransitionId, _view: &View<'_>) -> u64 {
        0
    }

    /// Evaluates the `if` of a step. Called only if its row has one.
    fn step_guard(&mut self, step: StepId, view: &View<'_>) -> Result<bool, Fault>;

    /// Evaluates the `if` of the `nth` `allow` line. Called only if its row has one.
    fn permission_guard(&mut self, nth: usize, view: &View<'_>) -> Result<bool, Fault>;

    /// Evaluates the condition of the `nth` `tool` line. Called only if its row has one.
    fn tool_guard(&mut self, _nth: usize, _view: &View<'_>) -> Result<bool, Fault> {
        Ok(true)
    }

    /// Evaluates the `ends turn` condition after a step. Called only if its row has one.
    fn ends_turn(&mut self, step: StepId, view: &View<'_>) -> Result<bool, Fault>;

    /// The duration of an `after` or `timeout` trigger in milliseconds, or in turns for `AfterTurns`.
    fn deadline(&mut self, line: TransitionId, view: &View<'_>) -> Result<u64, Fault>;

    /// Evaluates and stores the arguments for a transition's final target. Called before the exit, if its row has arguments.
    fn arguments(&mut self, line: TransitionId, view: &View<'_>) -> Result<(), Fault>;

    /// Runs a block, which puts its events into `outbox`. The program stores the payload of a raised event for [`Program::dequeue`], and
    /// that of a sent event for [`Program::deliver`], in the slot that the outbox returns.
    fn run(&mut self, block: Block, view: &View<'_>, outbox: &mut Outbox<'_>) -> Result<(), Fault>;

    /// The value of the `nth` row of `Tables::computed_limits`: a number, milliseconds, or millionths of money.
    fn limit(&self, _nth: usize) -> u64 {
        0
    }

    /// Evaluates and stores the list of a step with an `each`. Returns the number of elements. Called only if its row has one.
    ///
    /// # Errors
    /// The list cannot be evaluated or has more than `most` elements. The error has the reason for the step's failure, if it is known.
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

    /// The answer of a step with an `each`: the answers of its elements, in the order of the list. An element without an answer becomes
    /// `none` if `with_none` is set, and is left out otherwise.
    fn gathered(&mut self, _step: StepId, _with_none: bool) -> Option<Self::Payload> {
        None
    }

    /// Drops the list and the answers of a step with an `each`.
    fn forget_elements(&mut self, _step: StepId) {}

    /// Runs a `code` step.
    fn code(&mut self, step: StepId, view: &View<'_>) -> Result<(), Fault>;
}

/// Evaluates `count` alternatives of a guard, and returns those that hold as bits from the lowest, at most 64. An alternative that fails
/// does not hold. Returns 0 if one fails before the first that holds, because the guard has failed then.
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

/// The observables: the part of the machine that guards and actions may read.
pub struct View<'v> {
    /// The tables of the chart.
    pub tables: &'v Tables,
    /// The registers, read-only.
    pub cells: Observed<'v>,
    /// The number of turns ended.
    pub turns: u32,
    /// The time of the input that is being handled.
    pub now: Instant,
    /// The time at which `Start` was handled.
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

    /// The dotted path of the leaf.
    pub fn state(&self) -> &str {
        &self.tables.states[self.leaf.index()].path
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

    /// The tokens of the calls that the host has charged, of the run or (`here`) since the leaf was entered.
    pub fn tokens(&self, here: bool) -> i64 {
        i64::try_from(self.amounts(here).tokens).unwrap_or(i64::MAX)
    }

    /// The cost of the calls that the host has charged, in the unit of prices, of the run or (`here`) since the leaf was entered.
    pub fn cost(&self, here: bool) -> f64 {
        self.amounts(here).cost as f64 / 1e6
    }

    fn amounts(&self, here: bool) -> Amounts {
        let place = if here { self.leaf.index() } else { 0 };
        self.cells.amounts.get(place).copied().unwrap_or_default()
    }

    /// The number of milliseconds since the start.
    pub fn elapsed(&self) -> u64 {
        self.now.saturating_sub(self.started_at)
    }

    /// The number of milliseconds since the leaf was entered.
    pub fn elapsed_here(&self) -> u64 {
        self.now.saturating_sub(
            self.cells.entered[self.tables.states[self.leaf.index()].place as usize],
        )
    }

    /// The name of the current host event; the empty text if there is none.
    pub fn event_name(&self) -> &str {
        self.event.map_or("", |e| &*self.tables.events[e.index()].name)
    }

    /// The innermost active state on the leaf's path that declares advice.
    pub fn adviser(&self) -> Option<StateId> {
        let mut state = self.leaf;
        loop {
            let row = &self.tables.states[state.index()];
            if row.advice && self.is_in(state) {
                return Some(state);
            }
            // The root is its own parent.
            if row.parent == state {
                return None;
            }
            state = row.parent;
        }
    }

    /// `STUCK` while an active state declares advice, else `HEALTHY`.
    pub fn health(&self) -> &'static str {
        let stuck = self.tables.states.iter().enumerate().any(|(i, row)| {
            row.advice
                && !matches!(row.kind, StateRowKind::History { .. })
                && crate::store::bits::has(self.cells.configuration, i)
        });
        if stuck { "STUCK" } else { "HEALTHY" }
    }
}
