//! The registers that a store may leave out. Missing registers read as their initial values. They are allocated on the first write, and
//! released when nothing is under way.

use super::Stepper;
use crate::arena::{StateId, StepId};
use crate::program::Program;
use crate::store::{CellsMut, Counts, Part, Question, Store, Underway, Walk};

impl<P: Program> Stepper<'_, P> {
    /// The counts of a state, mutable.
    pub(super) fn counts_mut(&mut self, state: StateId) -> &mut Counts {
        self.store.need(Part::Counts, &self.tables);
        &mut self.store.cells_mut().counts[state.index()]
    }

    /// The part of a step's register that matters while the step is under way.
    #[inline]
    pub(super) fn underway(&self, step: StepId) -> Underway {
        self.store.cells().underway(step.index())
    }

    /// The same, mutable.
    pub(super) fn underway_mut(&mut self, step: StepId) -> &mut Underway {
        self.store.need(Part::Steps, &self.tables);
        &mut self.store.cells_mut().steps[step.index()]
    }

    /// A walk, by its number.
    #[inline]
    pub(super) fn nth_walk(&self, nth: usize) -> Walk {
        self.store.cells().walk(nth)
    }

    /// A walk by its number, mutable.
    pub(super) fn nth_walk_mut(&mut self, nth: usize) -> &mut Walk {
        self.store.need(Part::Walks, &self.tables);
        &mut self.store.cells_mut().walks[nth]
    }

    /// The registers with the sets of a microstep.
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

    /// Opens a question, or replaces the one of its leaf.
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

    /// Closes the question of a leaf.
    pub(super) fn take_question(&mut self, leaf: StateId) -> Option<Question> {
        let open = self.open as usize;
        let at = self.questions().iter().position(|question| question.key.leaf == leaf)?;
        let places = &mut self.store.cells_mut().questions[at..open];
        let question = places[0];
        places.rotate_left(1);
        self.open -= 1;
        Some(question)
    }

    /// Called between two inputs: releases the memory for what is under way if nothing is.
    #[inline(always)]
    pub(super) fn calm(&mut self) {
        if self.store.is_busy() {
            self.give_up_room();
        }
    }

    fn give_up_room(&mut self) {
        let cells = self.store.cells();
        // Charts with computed routes need the sets often, so they keep them.
        let rests = !self.tables.summary.computed
            && !self.scalars.walking
            && self.open == 0
            && self.armed == 0
            && self.scalars.sends == 0
            && cells.steps.iter().all(|step| *step == Underway::NEW)
            && cells.fans.iter().all(|fan| fan.size == 0);
        if rests {
            // The queue is empty, so its head can go back to the first place.
            self.scalars.queue_head = 0;
            self.store.calm();
        }
    }
}
