//! Which steps can stand inside of their state: the order of steps in the text is the order of a turn's walk.

/// For each step whether it stands inside of its state. `homes` are the states' numbers, in text order; a step without one
/// stands at chart level, which it can do anywhere between two states. As many as possible stand inside.
pub(super) fn inside(homes: &[Option<usize>], states: usize) -> Vec<bool> {
    // Longest chain in which the states do not go down, and steps of one state follow each other directly.
    let mut lengths = vec![0usize; homes.len()];
    let mut previous = vec![None; homes.len()];
    let mut best = PrefixMax::new(states);
    for (i, home) in homes.iter().enumerate() {
        let Some(state) = *home else { continue };
        let (mut length, mut from) = best.below(state);
        if i > 0 && homes[i - 1] == Some(state) && lengths[i - 1] > length {
            (length, from) = (lengths[i - 1], Some(i - 1));
        }
        lengths[i] = length + 1;
        previous[i] = from;
        best.raise(state, length + 1, i);
    }
    let mut inside = vec![false; homes.len()];
    let last = (0..homes.len())
        .filter(|i| lengths[*i] > 0)
        .max_by_key(|i| (lengths[*i], std::cmp::Reverse(*i)));
    let mut at = last;
    while let Some(i) = at {
        inside[i] = true;
        at = previous[i];
    }
    inside
}

/// The greatest length, and its step, among the states below one: logarithmic both ways.
struct PrefixMax {
    tree: Vec<(usize, Option<usize>)>,
}

impl PrefixMax {
    fn new(states: usize) -> Self {
        Self { tree: vec![(0, None); states + 1] }
    }

    fn below(&self, state: usize) -> (usize, Option<usize>) {
        let mut best = (0, None);
        let mut at = state;
        while at > 0 {
            if self.tree[at].0 > best.0 {
                best = self.tree[at];
            }
            at &= at - 1;
        }
        best
    }

    fn raise(&mut self, state: usize, length: usize, step: usize) {
        let mut at = state + 1;
        while at < self.tree.len() {
            if length > self.tree[at].0 {
                self.tree[at] = (length, Some(step));
            }
            at += at & at.wrapping_neg();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::inside;

    #[test]
    fn order_of_states_is_kept() {
        let all = [Some(0), None, Some(1), Some(1), Some(2)];
        assert_eq!(inside(&all, 3), [true, false, true, true, true]);
        // A step of the last state that comes early stays outside.
        assert_eq!(inside(&[Some(0), Some(2), Some(1), Some(2)], 3), [true, false, true, true]);
        // Another step between two of one state: only one of them can be inside.
        assert_eq!(inside(&[Some(0), None, Some(0), Some(1)], 2), [true, false, false, true]);
        assert_eq!(inside(&[Some(1), Some(0)], 2), [true, false]);
        assert_eq!(inside(&[], 0), [false; 0]);
    }

    #[test]
    fn many_steps() {
        let homes: Vec<_> = (0..100_000).map(|i| Some(i % 50_000)).collect();
        assert_eq!(inside(&homes, 50_000).iter().filter(|i| **i).count(), 50_000);
    }
}
