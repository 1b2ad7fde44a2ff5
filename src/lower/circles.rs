//! What comes back to itself.

/// By number: whether what leads from it leads back to it. Linear in what there is and what leads where.
pub(super) fn on(next: &[Vec<usize>]) -> Vec<bool> {
    const NEW: usize = usize::MAX;
    let mut found = vec![false; next.len()];
    // In the order first seen; `low` is the earliest on the stack that one leads back to.
    let (mut order, mut low) = (vec![NEW; next.len()], vec![NEW; next.len()]);
    let (mut stack, mut waits) = (Vec::new(), vec![false; next.len()]);
    let mut seen = 0;
    for start in 0..next.len() {
        let mut open = if order[start] == NEW { vec![(start, 0)] } else { Vec::new() };
        while let Some((at, done)) = open.last_mut() {
            let at = *at;
            if *done == 0 && order[at] == NEW {
                (order[at], low[at]) = (seen, seen);
                seen += 1;
                stack.push(at);
                waits[at] = true;
            }
            if let Some(to) = next[at].get(*done).copied() {
                *done += 1;
                found[at] |= to == at;
                if order[to] == NEW {
                    open.push((to, 0));
                } else if waits[to] {
                    low[at] = low[at].min(order[to]);
                }
                continue;
            }
            open.pop();
            if let Some((from, _)) = open.last() {
                low[*from] = low[*from].min(low[at]);
            }
            if low[at] == order[at] {
                let first = stack.iter().rposition(|one| *one == at).unwrap_or(0);
                let round = stack.split_off(first);
                for one in &round {
                    waits[*one] = false;
                    found[*one] |= round.len() > 1;
                }
            }
        }
    }
    found
}
