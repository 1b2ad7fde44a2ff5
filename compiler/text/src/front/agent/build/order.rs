//! The steps that can be placed inside their state, given that steps run in the order of the text.
//!
//! For example, an agent has the states `a`, `b`, `c`, and steps with the homes b, a, b, c, in this order. The last three are placed
//! inside their states. The first has to run before the step in `a`, so it stands at chart level, before the state `a`.

/// For each step, whether it is placed inside its state; as many as possible are. `homes` are the numbers of the states, in text order.
/// A step without a home is placed at chart level, between any two states.
pub(super) fn inside(homes: &[Option<usize>], states: usize) -> Vec<bool> {
    // Finds the longest chain in which the numbers of the states never fall and steps of one state are adjacent. (A step at chart level
    // cannot run between two steps of one state.)
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

/// The maximum length of a chain that ends in a state below a given one, with its last step. A Fenwick tree: queries and updates take
/// logarithmic time.
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
        // An early step of the last state stays outside.
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
