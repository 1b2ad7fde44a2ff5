//! The variables that the walk has set at a point. Changes are kept as a trail, so that following a branch costs only as much as the
//! branch changes.

use std::collections::BTreeMap;

/// Whether a code variable has been set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::front::agent) enum Status {
    /// Set on some paths.
    Maybe,
    /// Set on all paths.
    Set,
}

/// The variables set so far; an absent one is not set.
#[derive(Debug, Default)]
pub(in crate::front::agent) struct Walked {
    status: BTreeMap<String, Status>,
    /// Each change, with the status before it.
    trail: Vec<(String, Option<Status>)>,
}

impl Walked {
    pub(super) fn get(&self, name: &str) -> Option<Status> {
        self.status.get(name).copied()
    }

    pub(super) fn set(&mut self, name: &str, status: Status) {
        let before = self.status.insert(name.to_owned(), status);
        self.trail.push((name.to_owned(), before));
    }

    /// Goes back to the start of a turn, when nothing is set.
    pub(in crate::front::agent) fn clear(&mut self) {
        *self = Self::default();
    }

    /// A position to which [`Self::back`] can return.
    pub(in crate::front::agent) fn mark(&self) -> usize {
        self.trail.len()
    }

    /// Downgrades everything that was set since `mark` to [`Status::Maybe`].
    pub(in crate::front::agent) fn weaken(&mut self, mark: usize) {
        for (name, before) in self.since(mark) {
            if before != Some(Status::Set) {
                self.set(&name, Status::Maybe);
            }
        }
    }

    /// For each name changed since `mark`: its status at `mark`.
    fn since(&self, mark: usize) -> BTreeMap<String, Option<Status>> {
        // In reverse, so that the first change of a name wins.
        self.trail[mark..].iter().rev().cloned().collect()
    }

    /// Goes back to `mark`. Returns the names changed since then, with the status that they had.
    pub(super) fn back(&mut self, mark: usize) -> BTreeMap<String, Status> {
        let mut after = BTreeMap::new();
        for (name, before) in self.trail.drain(mark..).rev() {
            let now = match before {
                Some(before) => self.status.insert(name.clone(), before),
                None => self.status.remove(&name),
            };
            after.entry(name).or_insert(now.unwrap_or(Status::Maybe));
        }
        after
    }

    /// Joins two paths from `mark`: the one just walked, and the one with the changes `other`.
    pub(super) fn join(&mut self, mark: usize, other: &BTreeMap<String, Status>) {
        let before = self.since(mark);
        for name in before.keys().chain(other.keys()) {
            let here = self.get(name);
            let there = match (other.get(name), before.get(name)) {
                (Some(status), _) => Some(*status),
                (None, Some(before)) => *before,
                (None, None) => here,
            };
            let both = here == Some(Status::Set) && there == Some(Status::Set);
            self.set(name, if both { Status::Set } else { Status::Maybe });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches() {
        let mut walked = Walked::default();
        walked.set("before", Status::Set);
        let mark = walked.mark();
        for name in ["before", "both", "then"] {
            walked.set(name, Status::Set);
        }
        let then = walked.back(mark);
        assert_eq!((walked.get("both"), walked.get("before")), (None, Some(Status::Set)));
        walked.set("both", Status::Set);
        walked.set("else", Status::Set);
        walked.join(mark, &then);
        let all = ["before", "both", "then", "else", "never"].map(|name| walked.get(name));
        let (set, maybe) = (Some(Status::Set), Some(Status::Maybe));
        assert_eq!(all, [set, set, maybe, maybe, None]);
    }

    #[test]
    fn a_conditional_step() {
        let mut walked = Walked::default();
        walked.set("before", Status::Set);
        let mark = walked.mark();
        for name in ["before", "new", "new"] {
            walked.set(name, Status::Set);
        }
        walked.weaken(mark);
        assert_eq!(walked.get("before"), Some(Status::Set));
        assert_eq!(walked.get("new"), Some(Status::Maybe));
    }
}
