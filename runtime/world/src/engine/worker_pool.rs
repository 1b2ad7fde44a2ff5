//! The threads on which agents think.

use super::slot::{Loop, Slot};
use chartc_core::host::Machine;
use chartc_core::machine::Instant;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Scope, available_parallelism};
use tokio::runtime::Handle;

pub(super) type Share<M> = Vec<(usize, Box<Slot<M>>)>;

/// The threads. With a single one, agents run on the engine's own thread.
pub struct WorkerPool<M> {
    hands: Vec<Sender<(Instant, Share<M>)>>,
    done: Option<Receiver<Share<M>>>,
}

/// The number of threads for a number that a user gives; 0 means one for each processor.
pub fn workers(wanted: usize) -> usize {
    match wanted {
        0 => available_parallelism().map_or(1, usize::from),
        some => some.min(256),
    }
}

impl<M: Machine + Send> WorkerPool<M> {
    /// Only the engine's own thread.
    pub fn alone() -> Self {
        Self { hands: Vec::new(), done: None }
    }

    /// This number of threads, which end with the scope. Calls of models need the runtime of `handle`.
    pub fn within<'scope>(scope: &'scope Scope<'scope, '_>, count: usize, handle: &Handle) -> Self
    where
        M: 'scope,
    {
        if count <= 1 {
            return Self::alone();
        }
        let (finished, done) = channel();
        let hand = |_| {
            let (give, take) = channel::<(Instant, Share<M>)>();
            let (finished, handle) = (finished.clone(), handle.clone());
            scope.spawn(move || {
                let _within = handle.enter();
                while let Ok((now, mut share)) = take.recv() {
                    go(&mut share, now);
                    if finished.send(share).is_err() {
                        break;
                    }
                }
            });
            give
        };
        let hands = (0..count).map(hand).collect();
        Self { hands, done: Some(done) }
    }

    /// Lets agents continue, and returns them in the order of their numbers.
    pub(super) fn go(&self, mut all: Share<M>, now: Instant) -> Share<M> {
        let Some(done) = self.done.as_ref().filter(|_| all.len() > 1) else {
            go(&mut all, now);
            return all;
        };
        let each = all.len().div_ceil(self.hands.len());
        let mut out = Vec::with_capacity(all.len());
        let mut given = 0;
        for hand in &self.hands {
            let rest = all.split_off(each.min(all.len()));
            let share = std::mem::replace(&mut all, rest);
            if share.is_empty() {
                break;
            }
            // A thread ends only with this pool, because `go` catches the panics of agents.
            match hand.send((now, share)) {
                Ok(()) => given += 1,
                Err(back) => {
                    let (_, mut share) = back.0;
                    go(&mut share, now);
                    out.append(&mut share);
                }
            }
        }
        for _ in 0..given {
            if let Ok(mut share) = done.recv() {
                out.append(&mut share);
            }
        }
        out.sort_unstable_by_key(|(index, _)| *index);
        out
    }
}

/// Lets agents continue. If the code of one panics, that agent is broken, and the others continue.
fn go<M: Machine>(share: &mut Share<M>, now: Instant) {
    for (_, slot) in share {
        if catch_unwind(AssertUnwindSafe(|| slot.go(now))).is_err() {
            slot.mode = Loop::Broken("its code has panicked".into());
        }
    }
}
