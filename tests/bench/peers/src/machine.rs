//! What all implementations have in common.

/// Where a machine ended: the number of its leaf (of three regions: `16 p + 4 q + r`) and its counters, in the chart's order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) leaf: usize,
    pub(crate) counters: Vec<i64>,
}

/// One implementation of one machine, in its initial state when it is made.
pub(crate) trait Machine {
    /// An event, of the implementation's own type.
    type Event: Clone;

    fn new() -> Self;

    /// Event number `code` of the chart, in document order.
    fn event(code: u8) -> Self::Event;

    fn handle(&mut self, event: &Self::Event);

    fn end(&self) -> End;
}

/// All of a stream. Not inlined, so that each implementation has its own loop and nothing else in it.
#[inline(never)]
pub(crate) fn drive<M: Machine>(machine: &mut M, events: &[M::Event]) {
    for event in events {
        machine.handle(event);
    }
}
