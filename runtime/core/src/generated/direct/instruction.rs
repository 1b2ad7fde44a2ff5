//! Microsteps as data: lists of instructions.

use super::{Direct, fault};
use crate::arena::{StateId, TransitionId};
use crate::machine::{Loss, Record, Sink, Status};
use crate::store::Occurrence;

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
