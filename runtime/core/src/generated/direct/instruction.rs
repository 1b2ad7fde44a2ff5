//! Steps as data: a list of instructions.

use super::{Direct, fault};
use crate::arena::{StateId, TransitionId};
use crate::machine::{Loss, Record, Sink, Status};
use crate::store::Occurrence;

/// One effect of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instruction {
    /// Reports to the sink.
    Tell(Record),
    /// Runs a block, by its number in the chart's code ([`Direct::run`]).
    Run(u32),
    /// Puts an occurrence into the internal queue.
    Queue(Occurrence),
    /// Ends the run.
    End(Status),
}

/// Constructors for generated code.
impl Instruction {
    /// A transition is taken.
    pub const fn taken(line: u32) -> Self {
        Self::Tell(Record::Taken(TransitionId(line)))
    }

    /// A transition does not apply in this configuration.
    pub const fn elsewhere(line: u32) -> Self {
        Self::Tell(Record::Lost(TransitionId(line), Loss::Scope))
    }

    /// A transition is preempted by one of another region.
    pub const fn preempted(line: u32) -> Self {
        Self::Tell(Record::Lost(TransitionId(line), Loss::Preempted))
    }

    /// A state was exited.
    pub const fn exited(state: u32) -> Self {
        Self::Tell(Record::Exited(StateId(state)))
    }

    /// A state was entered.
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
            // A full queue leads to a livelock, which the bound on microsteps reports.
            Instruction::Queue(occurrence) => {
                let _ = program.push(occurrence);
            }
            Instruction::End(status) => program.registers_mut().end(status),
        }
    }
}

/// Reports a step to the sink whose blocks have already run.
#[inline]
pub fn tell<S: Sink + ?Sized>(instructions: &[Instruction], sink: &mut S) {
    for instruction in instructions {
        if let Instruction::Tell(record) = *instruction {
            sink.record(record);
        }
    }
}
