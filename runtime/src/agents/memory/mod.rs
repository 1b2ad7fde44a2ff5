//! An engine in the memory of the process: for tests, for simulations, and as the reference for other engines.
//!
//! The problem: an engine keeps many agents, of which few have something to do at any moment. The idea: agents that wait cost no time,
//! because three lists name the ones that can continue: `touched` by an event, `woken` by a call, and `dues` by a deadline. One round
//! with the agents `ada` and `bob`:
//!
//! ```text
//! fire("ada", reply)   hash of the name → shard 12 → slot 0; the chart takes a step and asks a model; ada is touched
//! quiet()              visits ada: polls its call with a waker, the model has not answered; ada is busy
//! (model answers)      the waker puts ada on the woken list of shard 12 and wakes the task in quiet()
//! quiet()              visits ada again: the answer is applied, nothing is under way, quiet() returns; bob was never visited
//! ```
//!
//! Each shard has a lock of its own, so that threads rarely wait for each other.

mod bulk;
mod dues;
mod hash;
mod ids;
mod names;
mod shard;
mod slot;
mod snapshot;
mod wake;
mod work;

pub use snapshot::SnapshotError;

use super::{AgentState, Engine, EngineError, Event, Quiet, Reply, hand_over};
use crate::clock::{Clock, Shared};
use crate::error::RunError;
use crate::session::Session;
use crate::trace;
use chartc_core::host::Machine;
use chartc_core::machine::Receipt;
use hash::Key;
use ids::Id;
use shard::{Agents, SHARDS, Shard};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use wake::Waiting;

/// The number of event ids that are remembered for each agent, unless [`Memory::with_seen`] sets another. The oldest are forgotten first.
pub const SEEN: usize = 10_000;

/// Creates the session of an agent, with the clock of the engine.
type Make<'e, M, T> =
    Box<dyn Fn(&str, Arc<dyn Clock>) -> Result<Session<M, T>, RunError> + Send + Sync + 'e>;

/// An engine that keeps its agents in memory.
pub struct Memory<'e, M, T> {
    make: Make<'e, M, T>,
    clock: Arc<dyn Clock>,
    /// The clock of the sessions. Only the engine advances it, because only the engine sees when all sessions wait.
    shared: Arc<dyn Clock>,
    key: Key,
    shards: Box<[Shard<M, T>]>,
    waiting: Arc<Waiting>,
    /// Held while agents are visited or time is advanced, so that only one caller at a time does this.
    at_work: Mutex<()>,
    threads: usize,
    seen: usize,
    /// Whether agents continue right after an event, see [`Memory::with_work_at_once`].
    at_once: bool,
}

/// The location of an agent: its shard, and the hash of its name within the shard.
#[derive(Clone, Copy)]
struct Home {
    shard: usize,
    hash: u32,
}

impl<'e, M: Machine, T: trace::Sink> Memory<'e, M, T> {
    /// An engine without agents. `make` returns the session of a new agent by its name. The session must use the given clock.
    pub fn new(
        clock: Arc<dyn Clock>,
        make: impl Fn(&str, Arc<dyn Clock>) -> Result<Session<M, T>, RunError> + Send + Sync + 'e,
    ) -> Self {
        let waiting = Arc::<Waiting>::default();
        let shared = Arc::new(Shared(clock.clone()));
        let shards = (0..SHARDS).map(|_| Shard::new(&waiting)).collect();
        let (at_work, key) = (Mutex::default(), Key::random());
        Self {
            make: Box::new(make),
            clock,
            shared,
            key,
            shards,
            waiting,
            at_work,
            threads: 1,
            seen: SEEN,
            at_once: false,
        }
    }

    /// Sets the number of threads that visit agents; the default is 1. With one thread, agents are visited in the order of their names, so
    /// runs that share a budget or a world are reproducible. With several threads, each agent still runs as it would alone, but the
    /// order in which agents use what they share is not defined.
    #[must_use]
    pub fn with_threads(self, threads: usize) -> Self {
        Self { threads: threads.clamp(1, SHARDS), ..self }
    }

    /// Lets each agent continue right after it has taken an event: before [`Engine::fire`] returns, it applies answers that are available
    /// at once. Agents then use shared resources in the order of their events. Without this setting, an agent continues when
    /// [`Quiet::quiet`] or [`Memory::advance`] visits it; with many agents, more calls are then under way together, which takes much more
    /// memory and time.
    #[must_use]
    pub fn with_work_at_once(self) -> Self {
        Self { at_once: true, ..self }
    }

    /// Sets how many event ids are remembered for each agent. The default and the maximum are [`SEEN`]; use 0 if no event is ever sent
    /// twice.
    #[must_use]
    pub fn with_seen(self, ids: usize) -> Self {
        Self { seen: ids.min(SEEN), ..self }
    }

    /// Ends the engine and returns its sessions by agent.
    pub fn into_sessions(self) -> BTreeMap<String, Session<M, T>> {
        let slots = self.shards.into_iter().flat_map(|shard| shard.into_agents().slots);
        slots.map(|slot| (slot.name.text().to_owned(), slot.session)).collect()
    }

    /// The number of agents.
    pub fn count(&self) -> usize {
        self.shards.iter().map(|shard| shard.agents().slots.len()).sum()
    }

    fn home(&self, agent: &str) -> Home {
        let hash = self.key.place(agent.as_bytes());
        Home { shard: (hash >> 32) as usize % SHARDS, hash: hash as u32 }
    }

    /// Passes an event to an agent of a shard, which is locked by the caller. The first event creates the agent.
    fn take(
        &self,
        agents: &mut Agents<M, T>,
        home: Home,
        agent: &str,
        event: &Event,
    ) -> Result<Reply, EngineError> {
        let does_not_fit = |why| EngineError::Event { agent: agent.to_owned(), why };
        let stopped = |why: &str| EngineError::Stopped { agent: agent.into(), why: why.into() };
        let place = match agents.find(home.hash, agent) {
            Some(place) => place,
            None => {
                let session = (self.make)(agent, self.shared.clone()).map_err(does_not_fit)?;
                agents.add(home.hash, agent, session)
            }
        };
        let slot = &mut agents.slots[place as usize];
        let id = Id::of(self.key, &event.id);
        // Before the check of `stopped`: an event that was taken in keeps its reply even if the agent has failed since.
        if let Some(reply) = slot.ids.reply(id) {
            return Ok(reply);
        }
        if let Some(why) = &slot.stopped {
            return Err(stopped(why));
        }
        let at = self.clock.now();
        let taken = match hand_over(&mut slot.session, event) {
            Ok(receipt) => {
                let reply = Reply { receipt, at, is_repeated: false };
                // An event that was not taken in may come again under the same id.
                if receipt != Receipt::Busy {
                    slot.ids.remember(id, reply, self.seen);
                }
                if self.at_once && !slot.session.is_idle() {
                    slot.work(at, None, || self.shards[home.shard].wake(place));
                }
                Ok(reply)
            }
            Err(why) if why.is_about_input() => Err(does_not_fit(why)),
            Err(why) => {
                let why = why.to_string();
                let error = stopped(&why);
                slot.stopped = Some(why.into());
                Err(error)
            }
        };
        agents.touch(place, true);
        taken
    }
}

impl<M: Machine + Send, T: trace::Sink + Send> Engine for Memory<'_, M, T> {
    async fn fire(&self, agent: &str, event: Event) -> Result<Reply, EngineError> {
        let home = self.home(agent);
        let taken = self.take(&mut self.shards[home.shard].agents(), home, agent, &event);
        // A task in `quiet` looks for work again, as this event may have given an agent some.
        self.waiting.wake();
        taken
    }

    async fn read(&self, agent: &str) -> Result<Option<AgentState>, EngineError> {
        let home = self.home(agent);
        let agents = self.shards[home.shard].agents();
        let Some(place) = agents.find(home.hash, agent) else { return Ok(None) };
        let session = &agents.slots[place as usize].session;
        Ok(Some(AgentState {
            configuration: session.configuration(),
            variables: session.machine().variables().into_iter().collect(),
            status: session.status(),
            turns: session.turns(),
            calls: session.calls(),
            open: session.open().len(),
        }))
    }
}

impl<M: Machine + Send, T: trace::Sink + Send> Quiet for Memory<'_, M, T> {
    async fn quiet(&self) {
        self.work(None).await;
    }
}

#[cfg(test)]
mod tests;
