//! The registers that a store may leave out. They read as their initial values, are allocated on the first write, and are released when
//! nothing is under way.

use super::Stepper;
use crate::arena::{StateId, StepId};
use crate::program::Program;
use crate::store::{CellsMut, Counts, Part, Question, Store, Underway, Walk};

impl<P: Program> Stepper<P> {
    /// The counts of a state, writable.
    pub(super) fn counts_mut(&mut self, state: StateId) -> &mut Counts {
        self.store.need(Part::Counts, &self.tables);
        &mut self.store.cells_mut().counts[state.index()]
    }

    /// The part of a step's register that matters while the step is under way.
    #[inline]
    pub(super) fn underway(&self, step: StepId) -> Underway {
        self.store.cells().underway(step.index())
    }

    /// Like [`Stepper::underway`], writable.
    pub(super) fn underway_mut(&mut self, step: StepId) -> &mut Underway {
        self.store.need(Part::Steps, &self.tables);
        &mut self.store.cells_mut().steps[step.index()]
    }

    /// The walk with this number in `Tables::walks`.
    #[inline]
    pub(super) fn nth_walk(&self, nth: usize) -> Walk {
        self.store.cells().walk(nth)
    }

    /// Like [`Stepper::nth_walk`], writable.
    pub(super) fn nth_walk_mut(&mut self, nth: usize) -> &mut Walk {
        self.store.need(Part::Walks, &self.tables);
        &mut self.store.cells_mut().walks[nth]
    }

    /// Write access to the registers, with the sets of a microstep allocated.
    #[inline]
    pub(super) fn with_sets(&mut self) -> CellsMut<'_> {
        self.store.need(Part::Sets, &self.tables);
        self.store.cells_mut()
    }

    /// The open questions in the order of their leaves.
    #[inline]
    pub(super) fn questions(&self) -> &[Question] {
        if self.open == 0 { &[] } else { &self.store.cells().questions[..self.open as usize] }
    }

    /// The open question of a leaf.
    #[inline]
    pub(super) fn question(&self, leaf: StateId) -> Option<Question> {
        self.questions().iter().find(|question| question.key.leaf == leaf).copied()
    }

    /// Opens a question, or replaces the open one of its leaf.
    pub(super) fn put_question(&mut self, question: Question) {
        self.store.need(Part::Questions, &self.tables);
        let open = self.open as usize;
        let leaf = question.key.leaf;
        let places = self.store.cells_mut().questions;
        let at = places[..open].partition_point(|other| other.key.leaf < leaf);
        if at == open || places[at].key.leaf != leaf {
            places[at..=open].rotate_right(1);
            self.open += 1;
        }
        places[at] = question;
    }

    /// Closes the question of a leaf, and returns it.
    pub(super) fn take_question(&mut self, leaf: StateId) -> Option<Question> {
        let open = self.open as usize;
        let at = self.questions().iter().position(|question| question.key.leaf == leaf)?;
        let places = &mut self.store.cells_mut().questions[at..open];
        let question = places[0];
        places.rotate_left(1);
        self.open -= 1;
        // A deferred event may put the question again.
        self.moved = true;
        Some(question)
    }

    /// Releases the memory for what is under way, if nothing is. Called between two inputs.
    #[inline(always)]
    pub(super) fn calm(&mut self) {
        if self.store.is_busy() {
            self.give_up_room();
        }
    }

    fn give_up_room(&mut self) {
        let cells = self.store.cells();
        // Charts with computed routes need the sets often, so they keep the memory.
        let rests = !self.tables.summary.computed
            && !self.scalars.walking
            && self.open == 0
            && self.armed == 0
            && self.scalars.sends == 0
            && cells.steps.iter().all(|step| *step == Underway::NEW)
            && cells.fans.iter().all(|fan| fan.size == 0);
        if rests {
            // The queue is empty. Its head goes back to 0, because a released ring has fewer places.
            self.scalars.queue_head = 0;
            self.store.calm();
        }
    }
}
