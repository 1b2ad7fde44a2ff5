//! Functions by which direct code sends records to the sink.

use super::Direct;
use crate::arena::{StateId, TransitionId};
use crate::machine::{ErrorKind, Loss, Record, Sink};
use crate::store::Occurrence;

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
