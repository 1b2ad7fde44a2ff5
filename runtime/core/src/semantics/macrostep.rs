//! The macrostep: microsteps until no transition is enabled and the internal queue is empty. The stepper and direct code share this loop.

use crate::machine::{ErrorKind, Record, Sink, Status};

/// The parts of a macrostep that the stepper and direct code implement. `S` is the sink.
pub(crate) trait Microsteps<S: ?Sized> {
    /// The number of microsteps after which a macrostep is stopped as a livelock.
    fn bound(&self) -> u32;

    /// The status of the run, if its last microstep has entered a final child of the root.
    fn ending(&self) -> Option<Status>;

    /// Ends the run with this status.
    fn finish(&mut self, status: Status, sink: &mut S);

    /// Takes the eventless transitions that are enabled. Returns whether there were any. `faults` counts the guards that failed in this
    /// macrostep.
    fn eventless(&mut self, faults: &mut u32, sink: &mut S) -> bool;

    /// Takes the transitions of the oldest occurrence in the internal queue. Returns false if the queue is empty.
    fn queued(&mut self, sink: &mut S) -> bool;

    /// Starts the steps of states that were entered in this macrostep. Returns whether there were any.
    fn start_entered(&mut self, _sink: &mut S) -> bool {
        false
    }

    /// Empties the internal queue.
    fn give_up_queue(&mut self);

    /// Runs the microstep of an error that the loop itself raises.
    fn error(&mut self, kind: ErrorKind, sink: &mut S);
}

/// Runs the rest of a macrostep, of which `steps` microsteps have been taken.
pub(crate) fn go_on<M, S>(machine: &mut M, mut steps: u32, sink: &mut S)
where
    M: Microsteps<S>,
    S: Sink + ?Sized,
{
    // Counted for the whole macrostep: a `when` guard that fails after every microstep raises one error.
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
            // The error's own transitions get one microstep. Then the macrostep stops, even if further transitions are enabled.
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
