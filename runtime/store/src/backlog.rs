//! Calls that wait to be made, in a fair order: the runs take turns, so that a run with many calls does not hold up the others.

use chartc_runtime::stepped::Planned;
use std::collections::{BTreeMap, VecDeque};

/// The calls that wait, by run.
#[derive(Default)]
pub(crate) struct Backlog {
    by_run: BTreeMap<String, VecDeque<Planned>>,
    /// The runs with calls, in the order of their turns.
    turns: VecDeque<String>,
}

impl Backlog {
    /// Adds a call behind the other calls of its run.
    pub(crate) fn push(&mut self, run: &str, planned: Planned) {
        if !self.by_run.contains_key(run) {
            self.turns.push_back(run.to_owned());
        }
        self.by_run.entry(run.to_owned()).or_default().push_back(planned);
    }

    /// Removes the next call of the run whose turn it is, among the runs for which `may` holds.
    pub(crate) fn pop(
        &mut self,
        may: impl Fn(&str, &Planned) -> bool,
    ) -> Option<(String, Planned)> {
        for _ in 0..self.turns.len() {
            let run = self.turns.pop_front()?;
            let calls = self.by_run.get_mut(&run);
            let next = calls.and_then(|calls| {
                let is_next = calls.front().is_some_and(|planned| may(&run, planned));
                is_next.then(|| (calls.pop_front(), calls.is_empty()))
            });
            match next {
                Some((planned, is_last)) => {
                    if is_last {
                        self.by_run.remove(&run);
                    } else {
                        self.turns.push_back(run.clone());
                    }
                    return planned.map(|planned| (run, planned));
                }
                None => self.turns.push_back(run),
            }
        }
        None
    }

    /// Removes the calls of a run whose ids are among these.
    pub(crate) fn drop_calls(&mut self, run: &str, ids: &[String]) {
        let Some(calls) = self.by_run.get_mut(run) else { return };
        calls.retain(|planned| !ids.contains(&planned.id.to_string()));
        if calls.is_empty() {
            self.remove(run);
        }
    }

    /// Removes all calls of a run.
    pub(crate) fn remove(&mut self, run: &str) {
        if self.by_run.remove(run).is_some() {
            self.turns.retain(|other| other != run);
        }
    }

    /// Whether calls of a run wait.
    pub(crate) fn has(&self, run: &str) -> bool {
        self.by_run.contains_key(run)
    }

    /// Whether no calls wait.
    pub(crate) fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }
}
