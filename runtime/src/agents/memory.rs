//! An engine in the memory of the process: for tests, for simulations, and as the reference for other engines.
//!
//! The problem: an engine keeps many agents, of which few have something to do at any moment. The idea: agents that wait cost no time.
//! A set names the agents that an event or an answer has changed, and an [`Agenda`] holds the deadlines. One round with the agents `ada`
//! and `bob`:
//!
//! ```text
//! fire("ada", reply)   the chart takes a step and asks a model; ada is ready
//! quiet()              visits ada: polls its call with a waker; the model has not answered
//! (model answers)      the waker makes ada ready again and wakes the task in quiet()
//! quiet()              visits ada: the answer is applied, no call is open, quiet() returns; bob was never visited
//! ```
//!
//! Each agent has a lock of its own. Whoever holds it may take the lock on the lists, but not the other way round.

mod ids;
mod snapshot;
#[cfg(test)]
mod tests;

pub use snapshot::SnapshotError;

use super::agenda::Agenda;
use super::{AgentState, Engine, EngineError, Event, Quiet, Reply};
use crate::clock::{Clock, Shared, Sleep};
use crate::error::RunError;
use crate::session::Session;
use crate::trace;
use chartc_core::host::Machine;
use chartc_core::machine::{Instant, Receipt};
use ids::Ids;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// The number of event ids that are remembered for each agent, unless [`Memory::with_seen`] sets another. The oldest are forgotten first.
pub const SEEN: usize = 10_000;

/// The number of rounds of visits at one moment before the caller's executor may run other tasks.
const ROUNDS: usize = 64;

/// Creates the session of an agent, with the clock of the engine.
type Make<'e, M, T> =
    Box<dyn Fn(&str, Arc<dyn Clock>) -> Result<Session<M, T>, RunError> + Send + Sync + 'e>;

/// An engine that keeps its agents in memory.
pub struct Memory<'e, M, T> {
    make: Make<'e, M, T>,
    clock: Arc<dyn Clock>,
    /// The clock of the sessions. Only the engine advances it, because only the engine sees when all sessions wait.
    shared: Arc<dyn Clock>,
    agents: Mutex<HashMap<Arc<str>, SharedSlot<M, T>>>,
    lists: Arc<Mutex<Lists>>,
    /// Held while agents are visited or time is advanced, so that only one caller at a time does this.
    at_work: Mutex<()>,
    seen: usize,
    /// Whether agents continue right after an event, see [`Memory::with_work_at_once`].
    at_once: bool,
}

/// The agents that can continue or will, and the tasks that wait for them.
#[derive(Default)]
struct Lists {
    /// The agents that an event or an answer has changed since their last visit.
    ready: BTreeSet<Arc<str>>,
    /// The deadlines of agents with calls under way, and of attempts that wait.
    waiting: Agenda<Arc<str>>,
    /// The deadlines of agents without calls under way. They fire only while time passes.
    resting: Agenda<Arc<str>>,
    /// The number of agents with calls under way.
    busy: usize,
    /// The number of agents that have not stopped.
    live: usize,
    tasks: Vec<Waker>,
}

type SharedSlot<M, T> = Arc<Mutex<Slot<M, T>>>;

/// An agent with its bookkeeping.
struct Slot<M, T> {
    name: Arc<str>,
    session: Session<M, T>,
    ids: Ids,
    /// Why the agent cannot continue, if it has stopped.
    stopped: Option<Box<str>>,
    is_busy: bool,
    is_live: bool,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'e, M: Machine, T: trace::Sink> Memory<'e, M, T> {
    /// An engine without agents. `make` returns the session of a new agent by its name. The session must use the given clock.
    /// Sessions that are made by [`Session::another`] share what they have in common, which saves about 250 bytes each.
    pub fn new(
        clock: Arc<dyn Clock>,
        make: impl Fn(&str, Arc<dyn Clock>) -> Result<Session<M, T>, RunError> + Send + Sync + 'e,
    ) -> Self {
        Self {
            make: Box::new(make),
            shared: Arc::new(Shared(clock.clone())),
            clock,
            agents: Mutex::default(),
            lists: Arc::default(),
            at_work: Mutex::default(),
            seen: SEEN,
            at_once: false,
        }
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
        let agents = self.agents.into_inner().unwrap_or_else(PoisonError::into_inner);
        // Nobody else holds a slot longer than a visit.
        let slots = agents.into_values().filter_map(Arc::into_inner);
        let slots = slots.map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner));
        slots.map(|slot| (slot.name.to_string(), slot.session)).collect()
    }

    /// The number of agents.
    pub fn count(&self) -> usize {
        locked(&self.agents).len()
    }

    /// Calls `look` with the session of each agent, in any order.
    pub fn each_session(&self, mut look: impl FnMut(&str, &Session<M, T>)) {
        let slots: Vec<_> = locked(&self.agents).values().cloned().collect();
        for slot in slots {
            let slot = locked(&slot);
            look(&slot.name, &slot.session);
        }
    }

    fn slot(&self, agent: &str) -> Option<SharedSlot<M, T>> {
        locked(&self.agents).get(agent).cloned()
    }

    /// The slot of an agent, which is made if there is none.
    fn slot_or_new(&self, agent: &str) -> Result<SharedSlot<M, T>, RunError> {
        if let Some(slot) = self.slot(agent) {
            return Ok(slot);
        }
        let session = (self.make)(agent, self.shared.clone())?;
        Ok(self.add(Slot::new(agent, session, Ids::default())))
    }

    /// Adds an agent. If another caller has just added one of this name, that one stays.
    fn add(&self, slot: Slot<M, T>) -> SharedSlot<M, T> {
        let mut agents = locked(&self.agents);
        if let Some(slot) = agents.get(&slot.name) {
            return slot.clone();
        }
        locked(&self.lists).live += 1;
        let name = slot.name.clone();
        let slot = Arc::new(Mutex::new(slot));
        agents.insert(name, slot.clone());
        slot
    }
}

impl<M: Machine, T: trace::Sink> Slot<M, T> {
    fn new(name: &str, session: Session<M, T>, ids: Ids) -> Self {
        let name = name.into();
        Self { name, session, ids, stopped: None, is_busy: false, is_live: true }
    }

    /// Whether the agent has calls under way and has not stopped.
    fn has_calls(&self) -> bool {
        self.stopped.is_none() && self.session.open_calls() > 0
    }

    /// Updates the lists after the agent has changed. Its slot is locked, so that changes are noted in their order.
    fn note(&mut self, lists: &mut Lists, is_ready: bool) {
        if is_ready {
            lists.ready.insert(self.name.clone());
        }
        let is_busy = self.has_calls();
        lists.busy = lists.busy + usize::from(is_busy) - usize::from(self.is_busy);
        lists.live -= usize::from(self.is_live && self.stopped.is_some());
        (self.is_busy, self.is_live) = (is_busy, self.stopped.is_none());
        let due = self.session.next_change().filter(|_| self.is_live);
        lists.waiting.set(&self.name, due.filter(|_| is_busy));
        lists.resting.set(&self.name, due.filter(|_| !is_busy));
    }

    /// Works until the agent waits for a call or a later time. If its run fails, the agent stops. The deadlines of an agent without calls
    /// fire only if `until` gives a time up to which time passes.
    fn work(&mut self, now: Instant, until: Option<Instant>, lists: &Arc<Mutex<Lists>>) {
        if self.stopped.is_some() {
            return;
        }
        if until.is_some() && !self.has_calls() {
            // Works only up to now, so that there is nothing to wait for.
            self.poll(Some(now), Waker::noop());
        }
        // Deadlines at exactly this time are included.
        let past = until.map(|at| at.saturating_add(1));
        if until.is_none() || self.has_calls() {
            self.poll(past, Waker::noop());
        }
        if self.has_calls() {
            // The answer is not there at once, so the call needs a waker.
            let wake = Wake { agent: self.name.clone(), lists: lists.clone() };
            self.poll(past, &Waker::from(Arc::new(wake)));
        }
    }

    fn poll(&mut self, until: Option<Instant>, waker: &Waker) {
        // The session keeps its calls under way, so dropping the future loses nothing.
        let polled = pin!(self.session.work(until)).poll(&mut Context::from_waker(waker));
        if let Poll::Ready(Err(why)) = polled {
            self.stopped = Some(why.to_string().into());
        }
    }
}

impl<M: Machine + Send, T: trace::Sink + Send> Engine for Memory<'_, M, T> {
    /// The first event creates the agent.
    async fn fire(&self, agent: &str, event: Event) -> Result<Reply, EngineError> {
        let does_not_fit = |why| EngineError::Event { agent: agent.to_owned(), why };
        let stopped = |why: &str| EngineError::Stopped { agent: agent.into(), why: why.into() };
        let slot = self.slot_or_new(agent).map_err(does_not_fit)?;
        let mut slot = locked(&slot);
        // Before the check of `stopped`: an event that was taken in keeps its reply even if the agent has failed since.
        if let Some(reply) = slot.ids.reply(&event.id) {
            return Ok(reply);
        }
        if let Some(why) = &slot.stopped {
            return Err(stopped(why));
        }
        let (at, content) = (self.clock.now(), event.content());
        let taken = match slot.session.hand_over(&event.name, Cow::Owned(event.data)) {
            Ok(receipt) => {
                let reply = Reply::new(content, receipt, at);
                // An event that was not taken in may come again under the same id.
                if receipt != Receipt::Busy {
                    slot.ids.remember(&event.id, reply, self.seen);
                }
                if self.at_once && !slot.session.is_idle() {
                    slot.work(at, None, &self.lists);
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
        let is_ready = slot.stopped.is_none() && !slot.session.is_idle();
        slot.note(&mut locked(&self.lists), is_ready);
        // A task in `quiet` looks for work again, as this event may have given an agent some.
        wake_tasks(&self.lists);
        taken
    }

    async fn read(&self, agent: &str) -> Result<Option<AgentState>, EngineError> {
        Ok(self.slot(agent).map(|slot| AgentState::of(&locked(&slot).session)))
    }
}

impl<M: Machine + Send, T: trace::Sink + Send> Quiet for Memory<'_, M, T> {
    async fn quiet(&self) {
        self.work(None).await;
    }
}

// Visits the agents that can continue, and advances time when all of them wait.

impl<M: Machine + Send, T: trace::Sink + Send> Memory<'_, M, T> {
    /// Advances time for all agents: deadlines fire and answers arrive, each when it is due.
    pub async fn advance(&self, milliseconds: u64) {
        let until = self.clock.now().saturating_add(milliseconds);
        self.work(Some(until)).await;
    }

    /// Visits agents until no call is under way or, with `until`, until that time is reached.
    async fn work(&self, until: Option<Instant>) {
        // Kept across polls while time passes, because dropping a sleep cancels it.
        let mut sleep: Option<Sleep> = None;
        poll_fn(|cx| {
            let _alone = locked(&self.at_work);
            let mut rounds = 0;
            loop {
                let now = self.clock.now();
                let is_time = until.is_some_and(|at| at <= now);
                if self.visit(now, until) {
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
                let (left, earliest) = self.outlook(until);
                if left == 0 || is_time {
                    return Poll::Ready(());
                }
                sleep = earliest.map(|at| self.clock.sleep_until(at));
                let is_awake =
                    sleep.as_mut().is_some_and(|sleep| sleep.as_mut().poll(cx).is_ready());
                if is_awake || self.clock.jump() {
                    rounds = 0;
                    continue;
                }
                let mut lists = locked(&self.lists);
                if lists.ready.is_empty() {
                    if !lists.tasks.iter().any(|other| other.will_wake(cx.waker())) {
                        lists.tasks.push(cx.waker().clone());
                    }
                    return Poll::Pending;
                }
            }
        })
        .await;
    }

    /// The number of agents for which there is something to wait, and the time of the next deadline.
    fn outlook(&self, until: Option<Instant>) -> (usize, Option<Instant>) {
        let lists = locked(&self.lists);
        let resting = until.and_then(|_| lists.resting.first());
        let earliest = until.into_iter().chain(lists.waiting.first()).chain(resting).min();
        (if until.is_some() { lists.live } else { lists.busy }, earliest)
    }

    /// Visits the agents that can continue now, in the order of their names, so that runs which share a budget or a world are
    /// reproducible. Returns whether there were any.
    fn visit(&self, now: Instant, until: Option<Instant>) -> bool {
        let names = {
            let mut lists = locked(&self.lists);
            let mut names = std::mem::take(&mut lists.ready);
            // The deadlines of agents with calls always count, because their calls may end by them.
            names.extend(lists.waiting.due(now).cloned());
            if until.is_some() {
                names.extend(lists.resting.due(now).cloned());
            }
            names
        };
        for slot in names.iter().filter_map(|name| self.slot(name)) {
            let mut slot = locked(&slot);
            slot.work(now, until, &self.lists);
            slot.note(&mut locked(&self.lists), false);
        }
        !names.is_empty()
    }
}

fn wake_tasks(lists: &Mutex<Lists>) {
    let tasks = std::mem::take(&mut locked(lists).tasks);
    tasks.into_iter().for_each(Waker::wake);
}

/// The waker of an agent with calls under way.
struct Wake {
    agent: Arc<str>,
    lists: Arc<Mutex<Lists>>,
}

impl std::task::Wake for Wake {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        locked(&self.lists).ready.insert(self.agent.clone());
        wake_tasks(&self.lists);
    }
}
