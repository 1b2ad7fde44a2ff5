//! Agents in the memory of the process: for tests, for simulations, and as the measure of other engines.

use super::{AgentState, Engine, EngineError, Event, Quiet, Reply, hand_over};
use crate::clock::{Clock, Shared, Sleep};
use crate::error::RunError;
use crate::session::Session;
use crate::trace;
use chartc_core::host::Machine;
use chartc_core::machine::{Instant, Receipt};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Event ids of an agent that are remembered; older ones are forgotten first.
pub const SEEN: usize = 10_000;

/// Makes the session of an agent, with the clock of the engine.
type Make<'e, M, T> =
    Box<dyn Fn(&str, Arc<dyn Clock>) -> Result<Session<M, T>, RunError> + Send + Sync + 'e>;

/// The engine without a store.
pub struct Memory<'e, M, T> {
    make: Make<'e, M, T>,
    clock: Arc<dyn Clock>,
    agents: Mutex<BTreeMap<String, Slot<M, T>>>,
    /// Who waits for the agents' calls.
    waiting: Mutex<Vec<Waker>>,
}

struct Slot<M, T> {
    session: Session<M, T>,
    seen: BTreeMap<String, Reply>,
    /// The ids of `seen`, oldest first.
    order: VecDeque<String>,
    stopped: Option<String>,
}

impl<'e, M: Machine, T: trace::Sink> Memory<'e, M, T> {
    /// Without agents. `make` gives the session of a new one by its name; it has to take the clock that it is given.
    pub fn new(
        clock: Arc<dyn Clock>,
        make: impl Fn(&str, Arc<dyn Clock>) -> Result<Session<M, T>, RunError> + Send + Sync + 'e,
    ) -> Self {
        let (agents, waiting) = (Mutex::default(), Mutex::default());
        Self { make: Box::new(make), clock, agents, waiting }
    }

    /// Lets time pass for all agents: deadlines fire and answers arrive, each when it is due.
    pub async fn advance(&self, milliseconds: u64) {
        let until = self.clock.now().saturating_add(milliseconds);
        self.work(Some(until)).await;
    }

    /// Ends the engine and gives its sessions, by agent.
    pub fn into_sessions(self) -> BTreeMap<String, Session<M, T>> {
        let agents = self.agents.into_inner().unwrap_or_else(PoisonError::into_inner);
        agents.into_iter().map(|(name, slot)| (name, slot.session)).collect()
    }

    fn agents(&self) -> MutexGuard<'_, BTreeMap<String, Slot<M, T>>> {
        self.agents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Polls every agent until all have got there: each call is asked in turn, and time passes when all wait for it.
    async fn work(&self, until: Option<Instant>) {
        // Held while time passes: a sleep that is dropped is not waited for.
        let mut sleep: Option<Sleep> = None;
        poll_fn(|cx| {
            loop {
                let (mut all, mut earliest) = (true, None);
                for slot in self.agents().values_mut() {
                    if !slot.is_there(self.clock.now(), until, cx) {
                        all = false;
                        let due =
                            slot.session.next_change().into_iter().chain(until).chain(earliest);
                        earliest = due.min();
                    }
                }
                if all {
                    return Poll::Ready(());
                }
                sleep = earliest.map(|at| self.clock.sleep_until(at));
                if sleep.as_mut().is_some_and(|sleep| sleep.as_mut().poll(cx).is_ready()) {
                    continue;
                }
                if !self.clock.jump() {
                    let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
                    waiting.push(cx.waker().clone());
                    return Poll::Pending;
                }
            }
        })
        .await;
    }
}

impl<M: Machine, T: trace::Sink> Slot<M, T> {
    /// Whether the agent has nothing to wait for any more, until the time. A run that breaks off has not.
    fn is_there(&mut self, now: Instant, until: Option<Instant>, cx: &mut Context<'_>) -> bool {
        if self.stopped.is_some() {
            return true;
        }
        // What is under way is kept by the session: a future of it that is dropped has lost nothing.
        // What comes at the time itself belongs to it.
        let past = until.map(|at| at.saturating_add(1));
        match pin!(self.session.work(past)).poll(cx) {
            Poll::Pending => until.is_some_and(|at| at <= now),
            Poll::Ready(Ok(())) => true,
            Poll::Ready(Err(why)) => {
                self.stopped = Some(why.to_string());
                true
            }
        }
    }

    fn remember(&mut self, id: String, reply: Reply) {
        if self.order.len() == SEEN
            && let Some(oldest) = self.order.pop_front()
        {
            self.seen.remove(&oldest);
        }
        self.order.push_back(id.clone());
        self.seen.insert(id, reply);
    }
}

impl<M: Machine + Send, T: trace::Sink + Send> Engine for Memory<'_, M, T> {
    async fn fire(&self, agent: &str, event: Event) -> Result<Reply, EngineError> {
        let mut agents = self.agents();
        let slot = match agents.entry(agent.to_owned()) {
            Entry::Occupied(slot) => slot.into_mut(),
            Entry::Vacant(place) => {
                // Only the engine, which sees all of them wait, moves time on.
                let session = (self.make)(agent, Arc::new(Shared(self.clock.clone())));
                let session =
                    session.map_err(|why| EngineError::Event { agent: agent.to_owned(), why })?;
                let (seen, order) = (BTreeMap::new(), VecDeque::new());
                place.insert(Slot { session, seen, order, stopped: None })
            }
        };
        if let Some(reply) = slot.seen.get(&event.id) {
            return Ok(Reply { is_repeated: true, ..*reply });
        }
        let at = self.clock.now();
        let stopped = |why: String| EngineError::Stopped { agent: agent.to_owned(), why };
        if let Some(why) = &slot.stopped {
            return Err(stopped(why.clone()));
        }
        let receipt = match hand_over(&mut slot.session, &event) {
            Ok(receipt) => receipt,
            Err(why) if why.is_about_input() => {
                return Err(EngineError::Event { agent: agent.to_owned(), why });
            }
            Err(why) => {
                slot.stopped = Some(why.to_string());
                return Err(stopped(why.to_string()));
            }
        };
        let reply = Reply { receipt, at, is_repeated: false };
        if receipt != Receipt::Busy {
            slot.remember(event.id, reply);
        }
        drop(agents);
        let waiting =
            std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        waiting.into_iter().for_each(Waker::wake);
        Ok(reply)
    }

    async fn read(&self, agent: &str) -> Result<Option<AgentState>, EngineError> {
        let agents = self.agents();
        let Some(Slot { session, .. }) = agents.get(agent) else { return Ok(None) };
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
