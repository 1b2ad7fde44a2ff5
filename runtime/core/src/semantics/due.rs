//! A heap of the armed deadlines of time. The earliest is on top; of equal ones, the first in document order.

use super::Stepper;
use crate::arena::TransitionId;
use crate::machine::Instant;
use crate::program::Program;
use crate::store::{Part, Store};
use crate::tables::TriggerRow;

impl<P: Program> Stepper<'_, P> {
    /// The transition that is due first, with its time; `None` if no deadline is armed.
    #[inline]
    pub(super) fn first_due(&self) -> Option<(Instant, TransitionId)> {
        if self.armed == 0 { None } else { Some(self.due_at(0)) }
    }

    /// Sets the deadline of a transition, in milliseconds or in turns; `u64::MAX` disarms it.
    pub(super) fn set_deadline(&mut self, line: TransitionId, at: u64) {
        let trigger = &self.tables.transitions[line.index()].trigger;
        let is_time = !matches!(trigger, TriggerRow::AfterTurns(_));
        let Some(slot) = trigger.deadline() else { return };
        let deadline = self.store.deadline_mut(slot);
        let was_armed = *deadline != u64::MAX;
        *deadline = at;
        let is_armed = at != u64::MAX;
        // Deadlines in turns are few and checked only at the end of a turn, so they are not in the heap.
        if !is_time || !was_armed && !is_armed {
            return;
        }
        self.store.need(Part::Due, &self.tables);
        let mut place = self.store.cells_mut().places[slot as usize] as usize;
        if !was_armed {
            place = self.armed as usize;
            self.armed += 1;
            self.place_due(place, line);
        } else if !is_armed {
            self.armed -= 1;
            let end = self.armed as usize;
            let last = self.store.cells().due[end];
            if place == end {
                return;
            }
            self.place_due(place, last);
        }
        // The entry may have moved either way; at most one of the two does anything.
        self.rise(place);
        self.sink(place);
    }

    /// Disarms all deadlines.
    pub(super) fn disarm_all(&mut self) {
        self.store.cells_mut().deadlines.fill(u64::MAX);
        self.armed = 0;
    }

    /// Rebuilds the heap for deadlines that were set as a whole.
    #[cfg(feature = "alloc")]
    pub(super) fn order_deadlines(&mut self) {
        self.armed = 0;
        for index in 0..self.tables.transitions.len() {
            let line = TransitionId::at(index);
            let Some(slot) = self.tables.transitions[index].trigger.deadline() else { continue };
            let at =
                // Disarmed first, so that `set_deadline` inserts it into the heap.
                core::mem::replace(&mut self.store.cells_mut().deadlines[slot as usize], u64::MAX);
            self.set_deadline(line, at);
        }
    }

    fn due_at(&self, place: usize) -> (Instant, TransitionId) {
        let cells = self.store.cells();
        let line = cells.due[place];
        let slot = self.tables.transitions[line.index()].trigger.deadline();
        (slot.map_or(u64::MAX, |slot| cells.deadlines[slot as usize]), line)
    }

    fn place_due(&mut self, place: usize, line: TransitionId) {
        let slot = self.tables.transitions[line.index()].trigger.deadline();
        let cells = self.store.cells_mut();
        cells.due[place] = line;
        if let Some(slot) = slot {
            cells.places[slot as usize] = place as u32;
        }
    }

    fn swap_due(&mut self, a: usize, b: usize) {
        let due = self.store.cells().due;
        let (first, second) = (due[a], due[b]);
        self.place_due(a, second);
        self.place_due(b, first);
    }

    /// Moves an entry up while it is due earlier than its parent.
    fn rise(&mut self, mut place: usize) {
        while place > 0 {
            let above = (place - 1) / 2;
            if self.due_at(above) <= self.due_at(place) {
                return;
            }
            self.swap_due(above, place);
            place = above;
        }
    }

    /// Moves an entry down while it is due later than a child.
    fn sink(&mut self, mut place: usize) {
        loop {
            let below = (2 * place + 1..2 * place + 3).filter(|below| *below < self.armed as usize);
            let Some(first) = below.min_by_key(|below| self.due_at(*below)) else { return };
            if self.due_at(place) <= self.due_at(first) {
                return;
            }
            self.swap_due(place, first);
            place = first;
        }
    }
}
