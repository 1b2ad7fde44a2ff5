//! Steps as data: what is done one after the other.

use super::{Direct, fault};
use crate::arena::{StateId, TransitionId};
use crate::machine::{Loss, Record, Sink, Status};
use crate::store::Occurrence;

/// One thing that a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instruction {
    /// It tells the sink.
    Tell(Record),
    /// It runs a block, by its number in the chart's code ([`Direct::run`]).
    Run(u32),
    /// It puts something on the internal queue.
    Queue(Occurrence),
    /// It ends the run.
    End(Status),
}

/// What generated code writes.
impl Instruction {
    /// A line is taken.
    pub const fn taken(line: u32) -> Self {
        Self::Tell(Record::Taken(TransitionId(line)))
    }

    /// A line does not hold in this configuration.
    pub const fn elsewhere(line: u32) -> Self {
        Self::Tell(Record::Lost(TransitionId(line), Loss::Scope))
    }

    /// A line gives way to one of another region.
    pub const fn preempted(line: u32) -> Self {
        Self::Tell(Record::Lost(TransitionId(line), Loss::Preempted))
    }

    /// A state was left.
    pub const fn exited(state: u32) -> Self {
        Self::Tell(Record::Exited(StateId(state)))
    }

    /// A state was entered.
    pub const fn entered(state: u32) -> Self {
        Self::Tell(Record::Entered(StateId(state)))
    }
}

/// Does everything in order.
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
            // A full queue is a livelock in the making, which the bound on microsteps reports.
            Instruction::Queue(occurrence) => {
                let _ = program.push(occurrence);
            }
            Instruction::End(status) => program.registers_mut().end(status),
        }
    }
}

/// Tells the sink what there is to tell, of a step whose blocks are known to have been run.
#[inline]
pub fn tell<S: Sink + ?Sized>(instructions: &[Instruction], sink: &mut S) {
    for instruction in instructions {
        if let Instruction::Tell(record) = *instruction {
            sink.record(record);
        }
    }
}
