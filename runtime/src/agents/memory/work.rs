//! Visits the agents that can continue, and advances time when all of them wait.

use super::Memory;
use super::bulk::on_threads;
use super::shard::{SHARDS, Visit};
use crate::clock::Sleep;
use crate::trace;
use chartc_core::host::Machine;
use chartc_core::machine::Instant;
use std::future::poll_fn;
use std::sync::PoisonError;
use std::task::Poll;

/// The minimum number of visits or events for several threads: with fewer, starting threads costs more than it saves.
pub(super) const WORTH_A_THREAD: usize = 256;

/// The number of rounds of visits at one moment before the caller's executor may run other tasks.
const ROUNDS: usize = 64;

impl<M: Machine + Send, T: trace::Sink + Send> Memory<'_, M, T> {
    /// Advances time for all agents: deadlines fire and answers arrive, each when it is due.
    pub async fn advance(&self, milliseconds: u64) {
        let until = self.clock.now().saturating_add(milliseconds);
        self.work(Some(until)).await;
    }

    /// Visits agents until no call is under way or, with `until`, until that time is reached.
    pub(super) async fn work(&self, until: Option<Instant>) {
        // Kept across polls while time passes, because dropping a sleep cancels it.
        let mut sleep: Option<Sleep> = None;
        poll_fn(|cx| {
            let _alone = self.at_work.lock().unwrap_or_else(PoisonError::into_inner);
            let mut rounds = 0;
            loop {
                let now = self.clock.now();
                let is_time = until.is_some_and(|at| at <= now);
                if self.visits(now, until) {
                    rounds += 1;
                    if rounds < ROUNDS {
                        continue;
                    }
                    if is_time {
                        return Poll::Ready(());
                    }
                    // The agents wake each other without end, or wait for a task that only the executor can run.
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                let (is_there, earliest) = self.looks_ahead(until);
                if is_there || is_time {
                    return Poll::Ready(());
                }
                sleep = earliest.map(|at| self.clock.sleep_until(at));
                let is_awake =
                    sleep.as_mut().is_some_and(|sleep| sleep.as_mut().poll(cx).is_ready());
                if is_awake || self.clock.jump() {
                    rounds = 0;
                    continue;
                }
                self.waiting.add(cx.waker());
                // Changes before the waker was added have woken nobody, so the agents are visited once more.
                if !self.visits(now, until) {
                    return Poll::Pending;
                }
            }
        })
        .await;
    }

    /// Returns whether there is nothing left to wait for, and the time of the next deadline.
    fn looks_ahead(&self, until: Option<Instant>) -> (bool, Option<Instant>) {
        let (mut left, mut earliest) = (0, until);
        for shard in &self.shards {
            let mut agents = shard.agents();
            left += if until.is_some() { agents.live } else { agents.busy };
            for busy in [true, false] {
                if busy || until.is_some() {
                    let due = agents.first_due(busy).map(|(at, _)| at);
                    earliest = due.into_iter().chain(earliest).min();
                }
            }
        }
        (left == 0, earliest)
    }

    /// Visits the agents that can continue now. Returns whether there were any.
    fn visits(&self, now: Instant, until: Option<Instant>) -> bool {
        let mut ready = Vec::new();
        for (shard, agents) in self.shards.iter().enumerate() {
            agents.take_ready(shard, now, until.is_some(), &mut ready);
        }
        let one = |visit: Visit| {
            self.shards[visit.shard as usize].visit(visit.place, now, until);
        };
        if self.threads == 1 || ready.len() < WORTH_A_THREAD {
            self.sort(&mut ready);
            ready.iter().copied().for_each(one);
            return !ready.is_empty();
        }
        let mut parts = vec![Vec::new(); self.threads];
        for visit in ready {
            parts[visit.shard as usize * self.threads / SHARDS].push(visit);
        }
        on_threads(parts.into_iter(), |mut part| {
            self.sort(&mut part);
            part.into_iter().for_each(one);
        });
        true
    }

    /// Sorts visits by the full names of their agents.
    fn sort(&self, visits: &mut [Visit]) {
        visits.sort_unstable();
        for same in visits.chunk_by_mut(|a, b| a.name == b.name) {
            if same.len() > 1 {
                same.sort_by_cached_key(|visit| {
                    let agents = self.shards[visit.shard as usize].agents();
                    agents.slots[visit.place as usize].name.text().to_owned()
                });
            }
        }
    }
}
