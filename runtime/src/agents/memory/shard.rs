//! A shard: a part of the agents, with its own lock.

use super::dues::Dues;
use super::names::Names;
use super::slot::Slot;
use super::wake::{Waiting, Wake, Woken};
use crate::session::Session;
use crate::trace;
use chartc_core::host::Machine;
use chartc_core::machine::Instant;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The number of shards of an engine, a power of two.
pub(super) const SHARDS: usize = 64;

/// The agents whose names hash to this shard, and those of them that their calls have woken.
pub(super) struct Shard<M, T> {
    agents: Mutex<Agents<M, T>>,
    woken: Arc<Woken>,
}

/// The content of a shard.
pub(super) struct Agents<M, T> {
    pub(super) slots: Vec<Slot<M, T>>,
    names: Names,
    /// The agents that have changed since their last visit.
    touched: Vec<u32>,
    /// The deadlines of agents without calls under way, then those of agents with calls under way.
    dues: [Dues; 2],
    /// The number of agents with calls under way.
    pub(super) busy: usize,
    /// The number of agents that have not stopped.
    pub(super) live: usize,
}

/// An agent that is to be visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Visit {
    /// The first bytes of the agent's name, which decide the order of most visits without reading the slot.
    pub(super) name: [u8; 16],
    pub(super) shard: u32,
    pub(super) place: u32,
}

impl<M: Machine, T: trace::Sink> Shard<M, T> {
    pub(super) fn new(waiting: &Arc<Waiting>) -> Self {
        let agents = Agents {
            slots: Vec::new(),
            names: Names::default(),
            touched: Vec::new(),
            dues: Default::default(),
            busy: 0,
            live: 0,
        };
        let woken = Arc::new(Woken::new(waiting.clone()));
        Self { agents: Mutex::new(agents), woken }
    }

    pub(super) fn agents(&self) -> MutexGuard<'_, Agents<M, T>> {
        self.agents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn into_agents(self) -> Agents<M, T> {
        self.agents.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves the agents that can continue now to the list of visits `to`. Deadlines of agents without calls count only if time `passes`.
    pub(super) fn take_ready(&self, shard: usize, now: Instant, passes: bool, to: &mut Vec<Visit>) {
        let mut agents = self.agents();
        let woken = self.woken.take();
        for place in &woken {
            if let Some(wake) = &agents.slots[*place as usize].wake {
                wake.unlist();
            }
        }
        let touched = std::mem::take(&mut agents.touched);
        let mut list = |slots: &mut [Slot<M, T>], place: u32| {
            let slot = &mut slots[place as usize];
            if !slot.is_listed {
                slot.is_listed = true;
                let mut name = [0; 16];
                let bytes = slot.name.bytes();
                let length = bytes.len().min(16);
                name[..length].copy_from_slice(&bytes[..length]);
                to.push(Visit { name, shard: shard as u32, place });
            }
        };
        for place in touched {
            agents.slots[place as usize].is_listed = false;
            list(&mut agents.slots, place);
        }
        for place in woken {
            list(&mut agents.slots, place);
        }
        // The deadlines of busy agents always count, because their calls may end by them.
        for busy in [true, false] {
            while (busy || passes)
                && let Some((at, place)) = agents.first_due(busy)
                && at <= now
            {
                agents.dues[usize::from(busy)].drop_first();
                agents.slots[place as usize].entered = Instant::MAX;
                list(&mut agents.slots, place);
            }
        }
    }

    /// The waker of an agent.
    pub(super) fn wake(&self, place: u32) -> Wake {
        Wake::new(self.woken.clone(), place)
    }

    /// Lets an agent continue.
    pub(super) fn visit(&self, place: u32, now: Instant, until: Option<Instant>) {
        let mut agents = self.agents();
        let slot = &mut agents.slots[place as usize];
        slot.is_listed = false;
        let was_live = slot.stopped.is_none();
        slot.work(now, until, || self.wake(place));
        agents.look_at(place, was_live);
    }
}

impl<M: Machine, T: trace::Sink> Agents<M, T> {
    /// The place of the agent with this name. `hash` is the hash of the name.
    pub(super) fn find(&self, hash: u32, name: &str) -> Option<u32> {
        self.names.find(hash, |place| self.slots[place as usize].name.bytes() == name.as_bytes())
    }

    /// Adds an agent that is not in the shard.
    pub(super) fn add(&mut self, hash: u32, name: &str, session: Session<M, T>) -> u32 {
        let place = self.slots.len() as u32;
        self.slots.push(Slot::new(name, session));
        self.names.add(hash, place);
        self.live += 1;
        place
    }

    /// Notes that an agent has changed, so that it is visited soon.
    pub(super) fn touch(&mut self, place: u32, was_live: bool) {
        self.look_at(place, was_live);
        let slot = &mut self.slots[place as usize];
        if !slot.is_listed && slot.stopped.is_none() && !slot.session.is_idle() {
            slot.is_listed = true;
            self.touched.push(place);
        }
    }

    /// Updates the counts and the deadlines for an agent.
    fn look_at(&mut self, place: u32, was_live: bool) {
        let slot = &mut self.slots[place as usize];
        let (was_busy, is_busy) = (slot.is_busy, slot.has_calls());
        self.busy = self.busy + usize::from(is_busy) - usize::from(was_busy);
        self.live -= usize::from(was_live && slot.stopped.is_some());
        slot.is_busy = is_busy;
        let Some(at) = slot.due() else {
            slot.entered = Instant::MAX;
            return;
        };
        // If a deadline was postponed, its entry is updated when the old time comes.
        if was_busy != is_busy || at < slot.entered {
            self.enter(place, at);
        }
    }

    fn enter(&mut self, place: u32, at: Instant) {
        let slot = &mut self.slots[place as usize];
        let is_busy = slot.is_busy;
        slot.entered = at;
        let slots = &self.slots;
        self.dues[usize::from(is_busy)].add(at, place, slots.len(), |at, place| {
            let slot = &slots[place as usize];
            slot.is_busy == is_busy && slot.entered == at
        });
    }

    /// The first deadline of the agents with calls under way, or of the others, and the place of its agent.
    pub(super) fn first_due(&mut self, is_busy: bool) -> Option<(Instant, u32)> {
        loop {
            let (at, place) = self.dues[usize::from(is_busy)].first()?;
            let slot = &mut self.slots[place as usize];
            let is_entered = slot.is_busy == is_busy && slot.entered == at;
            let due = slot.due();
            if is_entered && due == Some(at) {
                return Some((at, place));
            }
            self.dues[usize::from(is_busy)].drop_first();
            if is_entered {
                self.slots[place as usize].entered = Instant::MAX;
                if let Some(later) = due {
                    self.enter(place, later);
                }
            }
        }
    }

    /// The number of entries in the heaps of deadlines, including outdated ones.
    #[cfg(test)]
    pub(super) fn entries(&self) -> usize {
        self.dues.iter().map(Dues::len).sum()
    }
}
