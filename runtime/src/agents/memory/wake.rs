//! Wakers for agents whose calls can continue, and for tasks that wait for agents.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Waker;

/// The tasks that wait for the agents of an engine.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    wakers: Mutex<Vec<Waker>>,
    /// Whether any task waits.
    is_anybody: AtomicBool,
}

impl Waiting {
    /// Adds a waker. The caller must look for work once more afterwards.
    pub(super) fn add(&self, waker: &Waker) {
        let mut wakers = self.wakers.lock().unwrap_or_else(PoisonError::into_inner);
        if !wakers.iter().any(|other| other.will_wake(waker)) {
            wakers.push(waker.clone());
        }
        self.is_anybody.store(true, SeqCst);
    }

    pub(super) fn wake(&self) {
        // Reads the flag first, so that threads that fire events do not write to shared memory.
        if self.is_anybody.load(SeqCst) && self.is_anybody.swap(false, SeqCst) {
            let mut wakers = self.wakers.lock().unwrap_or_else(PoisonError::into_inner);
            let woken = std::mem::take(&mut *wakers);
            drop(wakers);
            woken.into_iter().for_each(Waker::wake);
        }
    }
}

/// The places of the agents of a shard that were woken.
#[derive(Debug)]
pub(super) struct Woken {
    places: Mutex<Vec<u32>>,
    waiting: Arc<Waiting>,
}

impl Woken {
    pub(super) fn new(waiting: Arc<Waiting>) -> Self {
        Self { places: Mutex::default(), waiting }
    }

    /// The agents that were woken since the last call.
    pub(super) fn take(&self) -> Vec<u32> {
        std::mem::take(&mut *self.places.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The waker of an agent with calls under way: it puts the agent on the list of its shard.
#[derive(Debug)]
pub(super) struct Wake {
    woken: Arc<Woken>,
    place: u32,
    is_listed: AtomicBool,
}

impl Wake {
    pub(super) fn new(woken: Arc<Woken>, place: u32) -> Self {
        Self { woken, place, is_listed: AtomicBool::new(false) }
    }

    /// Notes that the agent was taken from the list.
    pub(super) fn unlist(&self) {
        self.is_listed.store(false, SeqCst);
    }
}

impl std::task::Wake for Wake {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.is_listed.swap(true, SeqCst) {
            let mut places = self.woken.places.lock().unwrap_or_else(PoisonError::into_inner);
            places.push(self.place);
            drop(places);
            self.woken.waiting.wake();
        }
    }
}
