//! The macrostep: microsteps until no transition is enabled and the queue is empty. The step algorithm and direct code share this loop.

use crate::machine::{ErrorKind, Record, Sink, Status};

/// The parts of a macrostep. `S` is the sink.
pub(crate) trait Microsteps<S: ?Sized> {
    /// The number of microsteps after which a macrostep is a livelock.
    fn bound(&self) -> u32;

    /// The status of a run whose last microstep has entered a final child of the root.
    fn ending(&self) -> Option<Status>;

    /// Ends the run.
    fn finish(&mut self, status: Status, sink: &mut S);

    /// The eventless microstep. Returns whether a transition was taken. `faults` counts guards that failed in this macrostep.
    fn eventless(&mut self, faults: &mut u32, sink: &mut S) -> bool;

    /// The microstep of the oldest occurrence in the internal queue; false if the queue is empty.
    fn queued(&mut self, sink: &mut S) -> bool;

    /// Starts the steps that start in a stable configuration. Returns whether there were any.
    fn start_entered(&mut self, _sink: &mut S) -> bool {
        false
    }

    /// Empties the internal queue.
    fn give_up_queue(&mut self);

    /// The microstep of an error that the loop itself raises.
    fn error(&mut self, kind: ErrorKind, sink: &mut S);
}

/// The rest of a macrostep, after `steps` microsteps.
pub(crate) fn go_on<M, S>(machine: &mut M, mut steps: u32, sink: &mut S)
where
    M: Microsteps<S>,
    S: Sink + ?Sized,
{
    // A guard that fails after every microstep is reported once.
    let mut faults = 0;
    let mut livelock = false;
    loop {
        if let Some(status) = machine.ending() {
            return machine.finish(status, sink);
        }
        if steps >= machine.bound() {
            machine.give_up_queue();
            if livelock {
                return;
            }
            // The error's own transitions get one microstep. Then the macrostep stops, even if transitions are still enabled.
            livelock = true;
            sink.record(Record::Error(ErrorKind::Livelock));
            machine.error(ErrorKind::Livelock, sink);
        } else if machine.eventless(&mut faults, sink) || machine.queued(sink) {
            steps += 1;
        } else if !machine.start_entered(sink) {
            return;
        }
    }
}
