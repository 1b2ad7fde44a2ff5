//! When each of many runs has to continue.

use chartc_core::machine::Instant;
use std::collections::{BTreeMap, BTreeSet};

/// The due times of runs. A run that waits for no time is not listed, however many of these there are.
#[derive(Debug, Clone)]
pub struct Agenda<K> {
    by_time: BTreeSet<(Instant, K)>,
    by_run: BTreeMap<K, Instant>,
}

impl<K> Default for Agenda<K> {
    fn default() -> Self {
        Self { by_time: BTreeSet::new(), by_run: BTreeMap::new() }
    }
}

impl<K: Ord + Clone> Agenda<K> {
    /// Sets the due time of a run; `None` takes the run off the list.
    pub fn set(&mut self, run: &K, at: Option<Instant>) {
        let before = self.by_run.get(run).copied();
        if before == at {
            return;
        }
        if let Some(before) = before {
            self.by_time.remove(&(before, run.clone()));
            self.by_run.remove(run);
        }
        if let Some(at) = at {
            self.by_time.insert((at, run.clone()));
            self.by_run.insert(run.clone(), at);
        }
    }

    /// The earliest due time.
    pub fn first(&self) -> Option<Instant> {
        self.by_time.first().map(|(at, _)| *at)
    }

    /// Takes the runs that are due at `now` off the list, and returns them in the order of time and then of their keys.
    pub fn take_due(&mut self, now: Instant) -> Vec<K> {
        let due: Vec<K> = self.due(now).cloned().collect();
        for run in &due {
            self.set(run, None);
        }
        due
    }

    /// The runs that are due at `now`, in the order of time and then of their keys.
    pub fn due(&self, now: Instant) -> impl Iterator<Item = &K> {
        self.by_time.iter().take_while(move |(at, _)| *at <= now).map(|(_, run)| run)
    }
}
