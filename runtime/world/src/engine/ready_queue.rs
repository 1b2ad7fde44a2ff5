//! The agents that can continue, and the signal to stop the run.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// The indices of the agents that can continue.
#[derive(Default)]
pub(super) struct ReadyQueue {
    all: Mutex<BTreeSet<usize>>,
    pub(super) notify: Notify,
    is_stopped: AtomicBool,
}

impl ReadyQueue {
    pub(super) fn put(&self, index: usize) {
        self.all().insert(index);
        self.notify.notify_one();
    }

    pub(super) fn take(&self) -> BTreeSet<usize> {
        std::mem::take(&mut self.all())
    }

    pub(super) fn all(&self) -> MutexGuard<'_, BTreeSet<usize>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::SeqCst)
    }
}

/// Stops a run: turns under way are finished, and no others begin.
#[derive(Clone)]
pub struct Stopper(Arc<ReadyQueue>);

impl Stopper {
    pub(super) fn of(woken: Arc<ReadyQueue>) -> Self {
        Self(woken)
    }

    /// Stops the run. Further calls have no effect.
    pub fn stop(&self) {
        self.0.is_stopped.store(true, Ordering::SeqCst);
        self.0.notify.notify_one();
    }
}
