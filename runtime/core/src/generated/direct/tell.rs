//! Reports of direct code to the sink.

use super::Direct;
use crate::arena::{StateId, TransitionId};
use crate::machine::{ErrorKind, Loss, Record, Sink};
use crate::store::Occurrence;

/// A guard or block has failed.
#[cold]
#[inline(never)]
pub fn fault<P: Direct, S: Sink + ?Sized>(program: &mut P, sink: &mut S) {
    sink.record(Record::Error(ErrorKind::Execution));
    let _ = program.push(Occurrence::Error(ErrorKind::Execution));
}

/// A transition is taken.
#[inline]
pub fn taken<S: Sink + ?Sized>(sink: &mut S, line: u32) {
    sink.record(Record::Taken(TransitionId(line)));
}

/// The guard of a transition is false.
#[inline]
pub fn refuted<S: Sink + ?Sized>(sink: &mut S, line: u32) {
    sink.record(Record::Lost(TransitionId(line), Loss::Guard));
}

/// The guard of a transition has failed.
#[cold]
#[inline(never)]
pub fn faulted<S: Sink + ?Sized>(sink: &mut S, line: u32) {
    sink.record(Record::Lost(TransitionId(line), Loss::Fault));
}

/// A transition does not apply in this leaf.
#[inline]
pub fn elsewhere<S: Sink + ?Sized>(sink: &mut S, line: u32) {
    sink.record(Record::Lost(TransitionId(line), Loss::Scope));
}

/// A state was exited.
#[inline]
pub fn exited<S: Sink + ?Sized>(sink: &mut S, state: u32) {
    sink.record(Record::Exited(StateId(state)));
}

/// A state was entered.
#[inline]
pub fn entered<S: Sink + ?Sized>(sink: &mut S, state: u32) {
    sink.record(Record::Entered(StateId(state)));
}
