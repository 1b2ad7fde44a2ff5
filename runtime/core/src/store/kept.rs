//! Copies of registers in vectors, which reuse their memory: returning often to a point does not allocate each time.

use super::Dynamic;
use super::queue::Many;

impl Clone for Dynamic {
    fn clone(&self) -> Self {
        let Self {
            bits,
            history,
            states,
            questions,
            steps,
            walks,
            fans,
            amounts,
            deadlines,
            sends,
            ..
        } = self;
        let Self { due, places, leaves, selected, queue, .. } = self;
        Self {
            bits: bits.clone(),
            history: history.clone(),
            states: states.clone(),
            questions: questions.clone(),
            steps: steps.clone(),
            walks: walks.clone(),
            fans: fans.clone(),
            amounts: amounts.clone(),
            deadlines: deadlines.clone(),
            sends: sends.clone(),
            due: due.clone(),
            places: places.clone(),
            leaves: leaves.clone(),
            selected: selected.clone(),
            queue: queue.clone(),
        }
    }

    fn clone_from(&mut self, from: &Self) {
        let Self {
            bits,
            history,
            states,
            questions,
            steps,
            walks,
            fans,
            amounts,
            deadlines,
            sends,
            ..
        } = from;
        let Self { due, places, leaves, selected, queue, .. } = from;
        for (to, bits) in self.bits.iter_mut().zip(bits) {
            to.clone_from(bits);
        }
        self.history.clone_from(history);
        self.states.clone_from(states);
        self.questions.clone_from(questions);
        self.steps.clone_from(steps);
        self.walks.clone_from(walks);
        self.fans.clone_from(fans);
        self.amounts.clone_from(amounts);
        self.deadlines.clone_from(deadlines);
        self.sends.clone_from(sends);
        self.due.clone_from(due);
        self.places.clone_from(places);
        self.leaves.clone_from(leaves);
        self.selected.clone_from(selected);
        self.queue.clone_from(queue);
    }
}

impl Clone for Many {
    fn clone(&self) -> Self {
        Self { places: self.places.clone(), bound: self.bound }
    }

    fn clone_from(&mut self, from: &Self) {
        self.places.clone_from(&from.places);
        self.bound = from.bound;
    }
}
