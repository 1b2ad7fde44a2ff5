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
    pub(crate) fn pop(&mut self, may: impl Fn(&str) -> bool) -> Option<(String, Planned)> {
        let next = self.turns.iter().position(|run| may(run))?;
        let run = self.turns.remove(next)?;
        let calls = self.by_run.get_mut(&run)?;
        let planned = calls.pop_front()?;
        if calls.is_empty() {
            self.by_run.remove(&run);
        } else {
            self.turns.push_back(run.clone());
        }
        Some((run, planned))
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
