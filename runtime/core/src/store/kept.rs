//! Copies of registers that reuse their memory, so that an exploration that returns to the same point again and again does not allocate.

use super::dynamic::{Busy, Counted, Dynamic};

// Written by hand, because a derived `Clone` has no `clone_from` that reuses the memory of the fields.
impl Clone for Counted {
    fn clone(&self) -> Self {
        let Self { counts, walks, amounts } = self;
        Self { counts: counts.clone(), walks: walks.clone(), amounts: amounts.clone() }
    }

    fn clone_from(&mut self, from: &Self) {
        let Self { counts, walks, amounts } = from;
        self.counts.clone_from(counts);
        self.walks.clone_from(walks);
        self.amounts.clone_from(amounts);
    }
}

impl Clone for Busy {
    fn clone(&self) -> Self {
        let Self { questions, steps, fans, due, places, sets } = self;
        Self {
            questions: questions.clone(),
            steps: steps.clone(),
            fans: fans.clone(),
            due: due.clone(),
            places: places.clone(),
            sets: sets.clone(),
        }
    }

    fn clone_from(&mut self, from: &Self) {
        let Self { questions, steps, fans, due, places, sets } = from;
        self.questions.clone_from(questions);
        self.steps.clone_from(steps);
        self.fans.clone_from(fans);
        self.due.clone_from(due);
        self.places.clone_from(places);
        self.sets.clone_from(sets);
    }
}

impl Clone for Dynamic {
    fn clone(&self) -> Self {
        let Self { words, leaves, queue, sizes, counted, busy, sends } = self;
        Self {
            words: words.clone(),
            leaves: leaves.clone(),
            queue: queue.clone(),
            sizes: *sizes,
            counted: counted.clone(),
            busy: busy.clone(),
            sends: sends.clone(),
        }
    }

    fn clone_from(&mut self, from: &Self) {
        let Self { words, leaves, queue, sizes, counted, busy, sends } = from;
        self.words.clone_from(words);
        self.leaves.clone_from(leaves);
        self.queue.clone_from(queue);
        self.sizes = *sizes;
        self.counted.clone_from(counted);
        self.busy.clone_from(busy);
        self.sends.clone_from(sends);
    }
}
