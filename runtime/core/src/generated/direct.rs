//! Machines with direct code, generated for charts whose configurations are all known at compile time.
//!
//! The problem: searching tables for the effect of an event takes longer than the effect itself. The idea: the emitter lets the step
//! algorithm compute the effect of each occurrence in each configuration ([`crate::semantics::unroll`]), and writes it as code or data of
//! the chart. This module contains the rest, which is the same for all charts: inputs, macrosteps, turns, the end. For example:
//!
//! ```text
//! chart      state a { on go -> b }   state b { enter { n = n + 1 } }
//! emitted    for `go` in configuration [a]: [taken(0), exited(1), entered(2), Run(0)], then the configuration [b]
//! at run     `send` calls `on_event`, which performs these instructions, and then `macrostep::go_on`, as for any machine
//! ```
//!
//! Everything is generic over the sink, so that records cost nothing with the sink `()`.

#[cfg(feature = "alloc")]
mod saved;

use super::chart::{Chart, Part, Payload, PayloadOf, Place, Reason};
use super::{BadParam, Item, Name};
use crate::arena::{EventId, StateId, TransitionId};
use crate::machine::{Effect, ErrorKind, Fault, Instant, Loss, Receipt, Record, Sink, Status};
use crate::semantics::Phase;
use crate::semantics::microstep::{self, Microsteps};
use crate::store::Occurrence;
use crate::tables::Tables;

/// The code of one chart. The methods that run microsteps return whether a transition was taken.
pub trait Direct: Chart {
    /// Whether anything can follow a microstep: eventless transitions, raised events, completions and errors with transitions, final
    /// states.
    const GOES_ON: bool;
    /// Whether any configuration is a dead end.
    const DEAD_ENDS: bool;
    /// Whether any expression reads the name of the event.
    const READS_EVENT: bool;

    /// Called when an input begins. Refills the budget for the work of loops.
    #[inline(always)]
    fn refuel(&mut self) {}
    /// Called when an input begins. Until the next input, notes are kept only if `sink` takes them.
    #[inline(always)]
    fn heed<S: Sink + ?Sized>(&mut self, _sink: &S) {}
    /// The registers besides the configuration.
    fn registers(&self) -> &Registers;
    /// The registers besides the configuration, mutable.
    fn registers_mut(&mut self) -> &mut Registers;
    /// The active leaves, in document order.
    fn leaves(&self) -> &'static [StateId];
    /// Makes these leaves the active ones. Returns false if the chart has no such configuration.
    fn go_to(&mut self, leaves: &[StateId]) -> bool;
    /// Makes the data of an event readable for guards and actions; `None` for other occurrences.
    #[inline(always)]
    fn bind(&mut self, _payload: Option<PayloadOf<Self>>) {}
    /// Binds the data of the oldest raised event.
    fn dequeue(&mut self) {}
    /// Appends an occurrence to the internal queue. Returns false if the queue is full. A chart without further microsteps has no queue, as
    /// nothing would read it.
    #[inline(always)]
    fn push(&mut self, _occurrence: Occurrence) -> bool {
        true
    }
    /// Takes the oldest occurrence from the internal queue.
    #[inline(always)]
    fn pop(&mut self) -> Option<Occurrence> {
        None
    }
    /// Computes the first values of variables that read what was not known before. Called when the run starts.
    ///
    /// # Errors
    /// A default has no value.
    fn begin(&mut self) -> Result<(), Self::Failure> {
        Ok(())
    }
    /// Resets `per turn` variables to their defaults.
    fn begin_turn(&mut self) {}
    /// Enters the initial configuration.
    fn enter<S: Sink + ?Sized>(&mut self, sink: &mut S);
    /// Exits all states at the end of the run.
    fn leave<S: Sink + ?Sized>(&mut self, sink: &mut S);
    /// Runs the microstep of an event.
    fn on_event<S: Sink + ?Sized>(&mut self, event: NameOf<Self>, sink: &mut S) -> bool;
    /// Runs the microstep of an occurrence other than an event.
    fn on_other<S: Sink + ?Sized>(&mut self, occurrence: Occurrence, sink: &mut S) -> bool;
    /// Runs the eventless microstep. `faults` counts the guards that failed in this macrostep.
    fn on_nothing<S: Sink + ?Sized>(&mut self, faults: &mut u32, sink: &mut S) -> bool;
    /// Whether the present configuration is a dead end.
    fn is_dead_end(&self) -> bool {
        false
    }
    /// Whether an active leaf would handle an event now.
    fn would_handle(&mut self, event: NameOf<Self>) -> bool;
    /// Runs an action block, by its number in the chart's code.
    ///
    /// # Errors
    /// An expression in it failed.
    fn run(&mut self, _block: u32) -> Result<(), Fault> {
        Ok(())
    }
}

/// The names of a chart's events.
type NameOf<P> = <<P as Chart>::Event as Item>::Name;

/// The event with this id.
fn event_of<P: Direct>(id: EventId) -> Option<NameOf<P>> {
    NameOf::<P>::NAMES.get(id.index()).copied()
}

/// A machine with direct code. It behaves like one that runs under the step algorithm. Inputs come from its methods; effects and records go
/// to their `sink`.
pub struct Machine<P> {
    /// The guards, actions, data and microsteps of the chart.
    program: P,
}

impl<P: Direct> Machine<P> {
    /// A machine that has not started.
    ///
    /// # Errors
    /// A param out of its range, or a default that has no value.
    pub fn new(params: P::Params, host: P::Host) -> Result<Self, BadParam> {
        Ok(Self { program: P::new(P::first(params)?, P::Place::new(host)) })
    }

    fn has_started(&self) -> bool {
        self.phase() != Phase::New
    }

    /// Sets inputs; those that are absent keep their values.
    pub fn set_inputs(&mut self, inputs: P::Inputs) {
        P::set_inputs(self.program.data_mut(), inputs);
    }

    /// Params, inputs and variables.
    pub fn data(&self) -> &P::Data {
        self.program.data()
    }

    /// The host.
    pub fn host(&self) -> &P::Host {
        Place::host(self.program.host())
    }

    /// The host, to change.
    pub fn host_mut(&mut self) -> &mut P::Host {
        self.program.place().host_mut()
    }

    /// Whether the state is active.
    pub fn is_in(&self, state: P::State) -> bool {
        self.is_active(StateId(state.row()))
    }

    /// The active states in document order; after the end those of the last configuration.
    pub fn configuration(&self) -> impl Iterator<Item = P::State> + '_ {
        P::State::NAMES.iter().copied().filter(|state| self.is_in(*state))
    }

    /// What the final state was given.
    pub fn ending(&self) -> Option<&P::Ending> {
        self.program.ending(&|state| self.is_in(state))
    }

    /// The events that some active state would handle now.
    pub fn enabled_events(&mut self) -> impl Iterator<Item = NameOf<P>> + use<P> {
        let mut enabled = NameOf::<P>::NONE;
        let mut places = enabled.as_mut().iter_mut();
        self.each_enabled(&mut |id| {
            if let (Some(place), name) = (places.next(), event_of::<P>(id)) {
                *place = name;
            }
        });
        enabled.into_iter().flatten()
    }

    /// Reasons of faults and what `log` said, taken away.
    #[cfg(feature = "alloc")]
    pub fn take_notes(&mut self) -> super::Vec<crate::host::Note> {
        self.program.notes().map_or_else(super::Vec::new, super::Notes::take)
    }

    fn phase(&self) -> Phase {
        self.program.registers().phase
    }

    fn is_over(&self) -> bool {
        self.phase() != Phase::Running
    }

    /// Enters the initial configuration. Once, first.
    pub fn start<S: Sink + ?Sized>(&mut self, _now: Instant, sink: &mut S) -> Receipt {
        if let Err(why) = self.begin() {
            why.noted(&mut self.program, Part::Start);
            return Receipt::Closed;
        }
        self.enter(sink)
    }

    fn begin(&mut self) -> Result<(), P::Failure> {
        if self.has_started() { Ok(()) } else { self.program.begin() }
    }

    fn enter<S: Sink + ?Sized>(&mut self, sink: &mut S) -> Receipt {
        if self.has_started() {
            return Receipt::Closed;
        }
        self.program.refuel();
        self.program.heed(sink);
        self.program.registers_mut().phase = Phase::Running;
        self.program.bind(None);
        self.program.enter(sink);
        microstep::go_on(self, 0, sink);
        self.look_for_dead_end(sink);
        Receipt::Handled
    }

    /// Sends an event.
    #[inline]
    pub fn send<S: Sink + ?Sized>(
        &mut self,
        event: P::Event,
        _now: Instant,
        sink: &mut S,
    ) -> Receipt {
        if !event.is_in_range() {
            return Receipt::Refused;
        }
        self.take(event.named(), Payload::Event(event), sink)
    }

    /// Handles a host event.
    #[inline]
    fn take<S: Sink + ?Sized>(
        &mut self,
        event: NameOf<P>,
        payload: PayloadOf<P>,
        sink: &mut S,
    ) -> Receipt {
        if self.is_over() {
            return Receipt::Closed;
        }
        self.program.refuel();
        self.program.heed(sink);
        let id = EventId(event.row());
        if P::READS_EVENT {
            self.program.registers_mut().event = Current::of(Some(id));
        }
        sink.record(Record::Event(id));
        self.program.bind(Some(payload));
        let taken = self.program.on_event(event, sink);
        // The constants let the compiler remove what this chart does not need.
        if P::GOES_ON {
            microstep::go_on(self, 1, sink);
        }
        if !taken {
            sink.record(Record::Refused(id));
        }
        if P::READS_EVENT {
            self.program.registers_mut().event = Current::NONE;
        }
        if P::DEAD_ENDS {
            self.look_for_dead_end(sink);
        }
        if taken { Receipt::Handled } else { Receipt::Unhandled }
    }

    /// Takes the eventless transitions that are enabled, and all that follows from them.
    pub fn tick<S: Sink + ?Sized>(&mut self, _now: Instant, sink: &mut S) -> Receipt {
        if self.is_over() {
            return Receipt::Closed;
        }
        self.program.refuel();
        self.program.heed(sink);
        microstep::go_on(self, 0, sink);
        self.look_for_dead_end(sink);
        Receipt::Handled
    }

    /// Ends the run with the status `canceled`.
    pub fn stop<S: Sink + ?Sized>(&mut self, _now: Instant, sink: &mut S) -> Receipt {
        if self.is_over() {
            return Receipt::Closed;
        }
        self.program.refuel();
        self.program.heed(sink);
        Microsteps::finish(self, Status::Canceled, sink);
        Receipt::Handled
    }

    /// Runs a turn, which has no steps here.
    pub fn turn<S: Sink + ?Sized>(&mut self, _now: Instant, sink: &mut S) -> Receipt {
        if self.is_over() {
            return Receipt::Closed;
        }
        self.program.refuel();
        self.program.heed(sink);
        sink.record(Record::Turn(self.program.registers().turns + 1));
        self.program.begin_turn();
        self.program.bind(None);
        self.program.registers_mut().walking = true;
        self.program.on_other(Occurrence::Turn, sink);
        microstep::go_on(self, 1, sink);
        if !self.is_over() {
            let registers = self.program.registers_mut();
            registers.walking = false;
            registers.turns += 1;
            sink.record(Record::TurnEnded(registers.turns));
            self.program.bind(None);
            microstep::go_on(self, 0, sink);
        }
        self.look_for_dead_end(sink);
        Receipt::Handled
    }

    fn look_for_dead_end<S: Sink + ?Sized>(&mut self, sink: &mut S) {
        if !P::DEAD_ENDS
            || self.is_over()
            || self.program.registers().dead
            || !self.program.is_dead_end()
        {
            return;
        }
        self.program.registers_mut().dead = true;
        sink.record(Record::Error(ErrorKind::StuckDead));
        self.error(ErrorKind::StuckDead, sink);
        microstep::go_on(self, 1, sink);
    }

    fn is_active(&self, state: StateId) -> bool {
        self.phase() != Phase::New
            && self.program.leaves().iter().any(|leaf| P::TABLES.contains(state, *leaf))
    }

    /// The status with which the run ended; `None` while it has not.
    pub fn ended(&self) -> Option<Status> {
        match self.phase() {
            Phase::Ended(status) => Some(status),
            Phase::New | Phase::Running | Phase::Ending(_) => None,
        }
    }

    /// Calls `each` with every host event that an active leaf would handle now, in ascending order.
    fn each_enabled(&mut self, each: &mut dyn FnMut(EventId)) {
        self.program.refuel();
        self.program.bind(None);
        for id in (0..P::TABLES.events.len()).map(EventId::at) {
            if !self.is_over() && event_of::<P>(id).is_some_and(|e| self.program.would_handle(e)) {
                each(id);
            }
        }
    }

    /// The next deadline: always `None`, because a chart with deadlines has no direct code.
    pub const fn next_deadline(&self) -> Option<Instant> {
        None
    }

    /// Whether a turn is being walked.
    pub fn is_walking(&self) -> bool {
        self.program.registers().walking
    }
}

impl<P: Direct, S: Sink + ?Sized> Microsteps<S> for Machine<P> {
    fn bound(&self) -> u32 {
        P::TABLES.microsteps
    }

    fn ending(&self) -> Option<Status> {
        match self.phase() {
            Phase::Ending(status) => Some(status),
            Phase::New | Phase::Running | Phase::Ended(_) => None,
        }
    }

    fn finish(&mut self, status: Status, sink: &mut S) {
        self.program.leave(sink);
        Microsteps::<S>::give_up_queue(self);
        let registers = self.program.registers_mut();
        if registers.walking {
            registers.walking = false;
            registers.turns += 1;
        }
        registers.phase = Phase::Ended(status);
        sink.record(Record::Ended(status));
        sink.effect(Effect::Ended(status));
    }

    fn eventless(&mut self, faults: &mut u32, sink: &mut S) -> bool {
        self.program.on_nothing(faults, sink)
    }

    fn queued(&mut self, sink: &mut S) -> bool {
        let Some(next) = self.program.pop() else { return false };
        if let Occurrence::Event(id) = next {
            self.program.dequeue();
            if let Some(event) = event_of::<P>(id) {
                self.program.on_event(event, sink);
            }
        } else {
            self.program.bind(None);
            self.program.on_other(next, sink);
        }
        true
    }

    fn give_up_queue(&mut self) {
        while let Some(next) = self.program.pop() {
            if let Occurrence::Event(_) = next {
                self.program.dequeue();
            }
        }
    }

    fn error(&mut self, kind: ErrorKind, sink: &mut S) {
        self.program.bind(None);
        self.program.on_other(Occurrence::Error(kind), sink);
    }
}

// Microsteps as data: lists of instructions.

/// One effect of a microstep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instruction {
    /// Send a record to the sink.
    Tell(Record),
    /// Run an action block, by its number in the chart's code ([`Direct::run`]).
    Run(u32),
    /// Append an occurrence to the internal queue.
    Queue(Occurrence),
    /// End the run with this status, when the microstep is over.
    End(Status),
}

/// Constructors for generated code.
impl Instruction {
    /// Records that a transition was taken.
    pub const fn taken(line: u32) -> Self {
        Self::Tell(Record::Taken(TransitionId(line)))
    }

    /// Records that a transition does not apply in this configuration.
    pub const fn elsewhere(line: u32) -> Self {
        Self::Tell(Record::Lost(TransitionId(line), Loss::Scope))
    }

    /// Records that a transition was preempted by one of another region.
    pub const fn preempted(line: u32) -> Self {
        Self::Tell(Record::Lost(TransitionId(line), Loss::Preempted))
    }

    /// Records that a state was exited.
    pub const fn exited(state: u32) -> Self {
        Self::Tell(Record::Exited(StateId(state)))
    }

    /// Records that a state was entered.
    pub const fn entered(state: u32) -> Self {
        Self::Tell(Record::Entered(StateId(state)))
    }
}

/// Executes the instructions in order.
pub fn perform<P: Direct, S: Sink + ?Sized>(
    program: &mut P,
    instructions: &[Instruction],
    sink: &mut S,
) {
    for instruction in instructions {
        match *instruction {
            Instruction::Tell(record) => {
                if let Record::Entered(_) = record {
                    program.registers_mut().revive();
                }
                sink.record(record);
            }
            Instruction::Run(block) => {
                if program.run(block).is_err() {
                    fault(program, sink);
                }
            }
            // The occurrence is lost if the queue is full. Then the macrostep ends as a livelock, which is reported.
            Instruction::Queue(occurrence) => {
                let _ = program.push(occurrence);
            }
            Instruction::End(status) => program.registers_mut().end(status),
        }
    }
}

/// Sends the records of a microstep to the sink. Its blocks have run already.
#[inline]
pub fn tell<S: Sink + ?Sized>(instructions: &[Instruction], sink: &mut S) {
    for instruction in instructions {
        if let Instruction::Tell(record) = *instruction {
            sink.record(record);
        }
    }
}

// The registers of a machine with direct code, besides its configuration.

/// The registers of a machine with direct code, besides its configuration.
#[derive(Debug, Clone, Default)]
pub struct Registers {
    phase: Phase,
    turns: u32,
    walking: bool,
    dead: bool,
    event: Current,
}

/// The current host event in four bytes: its id, or [`Current::NONE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Current(u32);

impl Default for Current {
    fn default() -> Self {
        Self::NONE
    }
}

impl Current {
    /// No event. No chart has as many events as would make this an id.
    const NONE: Self = Self(u32::MAX);

    const fn of(event: Option<EventId>) -> Self {
        match event {
            Some(id) => Self(id.0),
            None => Self::NONE,
        }
    }

    fn get(self) -> Option<EventId> {
        (self != Self::NONE).then_some(EventId(self.0))
    }
}

impl Registers {
    /// The registers before the start.
    pub const fn new() -> Self {
        Self { phase: Phase::New, turns: 0, walking: false, dead: false, event: Current::NONE }
    }

    /// The number of turns that have ended.
    pub const fn turns(&self) -> u32 {
        self.turns
    }

    /// The name of the current host event; the empty text if there is none.
    pub fn event_name(&self, tables: &'static Tables) -> &'static str {
        self.event.get().map_or("", |event| &tables.events[event.index()].name)
    }

    /// Notes that a final child of the root was entered, so that the run ends.
    pub const fn end(&mut self, status: Status) {
        self.phase = Phase::Ending(status);
    }

    /// Notes that a state was entered, so that a new dead end is reported.
    pub const fn revive(&mut self) {
        self.dead = false;
    }
}

// Functions by which direct code sends records to the sink.

/// Raises `error.execution`, because a guard or block failed.
#[cold]
#[inline(never)]
pub fn fault<P: Direct, S: Sink + ?Sized>(program: &mut P, sink: &mut S) {
    sink.record(Record::Error(ErrorKind::Execution));
    let _ = program.push(Occurrence::Error(ErrorKind::Execution));
}

/// Records that a transition was taken.
#[inline]
pub fn taken<S: Sink + ?Sized>(sink: &mut S, line: u32) {
    sink.record(Record::Taken(TransitionId(line)));
}

/// Records that the guard of a transition was false.
#[inline]
pub fn refuted<S: Sink + ?Sized>(sink: &mut S, line: u32) {
    sink.record(Record::Lost(TransitionId(line), Loss::Guard));
}

/// Records that the guard of a transition failed.
#[cold]
#[inline(never)]
pub fn faulted<S: Sink + ?Sized>(sink: &mut S, line: u32) {
    sink.record(Record::Lost(TransitionId(line), Loss::Fault));
}

/// Records that a transition does not apply in this configuration.
#[inline]
pub fn elsewhere<S: Sink + ?Sized>(sink: &mut S, line: u32) {
    sink.record(Record::Lost(TransitionId(line), Loss::Scope));
}

/// Records that a state was exited.
#[inline]
pub fn exited<S: Sink + ?Sized>(sink: &mut S, state: u32) {
    sink.record(Record::Exited(StateId(state)));
}

/// Records that a state was entered.
#[inline]
pub fn entered<S: Sink + ?Sized>(sink: &mut S, state: u32) {
    sink.record(Record::Entered(StateId(state)));
}
