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

mod ids;
mod shard;
#[cfg(test)]
mod tests;

pub use shard::SnapshotError;

use super::{AgentState, Engine, EngineError, Event, Quiet, Reply, hand_over};
use crate::clock::{Clock, Shared, Sleep};
use crate::error::RunError;
use crate::session::Session;
use crate::trace;
use chartc_core::host::Machine;
use chartc_core::machine::{Instant, Receipt};
use ids::{Id, Key};
use shard::{Agents, SHARDS, Shard, Visit};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::future::poll_fn;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::task::{Poll, Waker};

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
        Ok(Some(AgentState::of(&agents.slots[place as usize].session)))
    }
}

impl<M: Machine + Send, T: trace::Sink + Send> Quiet for Memory<'_, M, T> {
    async fn quiet(&self) {
        self.work(None).await;
    }
}

// Firing many events in one call.

/// An event with the home of its agent and the place for the reply.
type Fired<'a, N> = (Home, &'a (N, Event), &'a mut Result<Reply, EngineError>);

impl<M: Machine + Send, T: trace::Sink + Send> Memory<'_, M, T> {
    /// Fires many events and returns the replies in the order of the events. The events of each agent are handled in their order. With one
    /// thread, all events are handled in their order; with several, each thread handles those of its own agents.
    pub fn fire_many<N: AsRef<str> + Sync>(
        &self,
        events: &[(N, Event)],
    ) -> Vec<Result<Reply, EngineError>> {
        // With few events, starting threads costs more than it saves.
        let taken = if self.threads == 1 || events.len() < WORTH_A_THREAD {
            let taken = events.iter().map(|(agent, event)| {
                let agent = agent.as_ref();
                let home = self.home(agent);
                self.take(&mut self.shards[home.shard].agents(), home, agent, event)
            });
            taken.collect()
        } else {
            self.fire_apart(events)
        };
        self.waiting.wake();
        taken
    }

    fn fire_apart<N: AsRef<str> + Sync>(
        &self,
        events: &[(N, Event)],
    ) -> Vec<Result<Reply, EngineError>> {
        let mut replies = Vec::new();
        // Placeholders: every one of them is overwritten below.
        replies.resize_with(events.len(), || {
            Err(EngineError::Away { agent: String::new(), why: String::new() })
        });
        let size = events.len().div_ceil(self.threads);
        let count = events.len().div_ceil(size);
        let (to, from): (Vec<_>, Vec<_>) = (0..count).map(|_| mpsc::channel()).unzip();
        let parts = events.chunks(size).zip(replies.chunks_mut(size)).zip(from).enumerate();
        let parts: Vec<_> = parts.map(|(nth, part)| (nth, part, to.clone())).collect();
        // A receiver ends once all senders are dropped.
        drop(to);
        on_threads(parts.into_iter(), |(nth, ((events, replies), from), to)| {
            // Each thread first sorts its part of the events by shard, and sends them to the threads that own the shards.
            let room = 2 * events.len() / SHARDS;
            let mut shards: Vec<Vec<Fired<'_, N>>> =
                (0..SHARDS).map(|_| Vec::with_capacity(room)).collect();
            for (event, reply) in events.iter().zip(replies) {
                let home = self.home(event.0.as_ref());
                shards[home.shard].push((home, event, reply));
            }
            let own = |nth: usize| nth * SHARDS / count..(nth + 1) * SHARDS / count;
            for (other, to) in to.into_iter().enumerate().rev() {
                // Sending fails only if the other thread has panicked.
                let _ = to.send((nth, shards.split_off(own(other).start)));
            }
            // Then it fires the events for its own shards, in their original order.
            let mut sent: Vec<(usize, Vec<Vec<Fired<'_, N>>>)> = from.into_iter().collect();
            sent.sort_unstable_by_key(|(nth, _)| *nth);
            for (place, shard) in self.shards[own(nth)].iter().enumerate() {
                let mut agents = shard.agents();
                for (_, shards) in &mut sent {
                    for (home, (agent, event), reply) in shards[place].drain(..) {
                        *reply = self.take(&mut agents, home, agent.as_ref(), event);
                    }
                }
            }
        });
        replies
    }
}

/// Processes each part on a thread of its own, the first on the present thread, and returns the results in order.
fn on_threads<P: Send, R: Send>(
    parts: impl Iterator<Item = P>,
    work: impl Fn(P) -> R + Sync,
) -> Vec<R> {
    // Calls may need the tokio runtime of the caller.
    let tokio = tokio::runtime::Handle::try_current().ok();
    let (work, tokio) = (&work, &tokio);
    let mut parts = parts;
    std::thread::scope(|scope| {
        let own = parts.next();
        let threads: Vec<_> = parts
            .map(|part| {
                scope.spawn(move || {
                    let _entered = tokio.as_ref().map(tokio::runtime::Handle::enter);
                    work(part)
                })
            })
            .collect();
        let own = own.map(work);
        let others = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        own.into_iter().chain(others).collect()
    })
}

// Visits the agents that can continue, and advances time when all of them wait.

/// The minimum number of visits or events for several threads: with fewer, starting threads costs more than it saves.
const WORTH_A_THREAD: usize = 256;

/// The number of rounds of visits at one moment before the caller's executor may run other tasks.
const ROUNDS: usize = 64;

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

// Wakers for agents whose calls can continue, and for tasks that wait for agents.

/// The tasks that wait for the agents of an engine.
#[derive(Debug, Default)]
struct Waiting {
    wakers: Mutex<Vec<Waker>>,
    /// Whether any task waits.
    is_anybody: AtomicBool,
}

impl Waiting {
    /// Adds a waker. The caller must look for work once more afterwards.
    fn add(&self, waker: &Waker) {
        let mut wakers = self.wakers.lock().unwrap_or_else(PoisonError::into_inner);
        if !wakers.iter().any(|other| other.will_wake(waker)) {
            wakers.push(waker.clone());
        }
        self.is_anybody.store(true, SeqCst);
    }

    fn wake(&self) {
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
struct Woken {
    places: Mutex<Vec<u32>>,
    waiting: Arc<Waiting>,
}

impl Woken {
    fn new(waiting: Arc<Waiting>) -> Self {
        Self { places: Mutex::default(), waiting }
    }

    /// The agents that were woken since the last call.
    fn take(&self) -> Vec<u32> {
        std::mem::take(&mut *self.places.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The waker of an agent with calls under way: it puts the agent on the list of its shard.
#[derive(Debug)]
struct Wake {
    woken: Arc<Woken>,
    place: u32,
    is_listed: AtomicBool,
}

impl Wake {
    fn new(woken: Arc<Woken>, place: u32) -> Self {
        Self { woken, place, is_listed: AtomicBool::new(false) }
    }

    /// Notes that the agent was taken from the list.
    fn unlist(&self) {
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

// The deadlines of agents, in order of time.

/// A heap of deadlines with the places of their agents, the earliest first. An outdated entry is recognized when it is removed.
#[derive(Debug, Default)]
struct Dues(BinaryHeap<Reverse<(Instant, u32)>>);

impl Dues {
    /// Adds a deadline. If there are far more entries than agents, removes the outdated entries, for which `holds` is false.
    fn add(
        &mut self,
        at: Instant,
        place: u32,
        agents: usize,
        holds: impl Fn(Instant, u32) -> bool,
    ) {
        if self.0.len() > 2 * agents + 64 {
            let mut kept = std::mem::take(&mut self.0).into_vec();
            kept.retain(|Reverse((at, place))| holds(*at, *place));
            kept.sort_unstable();
            kept.dedup();
            self.0 = kept.into();
        }
        self.0.push(Reverse((at, place)));
    }

    /// The earliest entry.
    fn first(&self) -> Option<(Instant, u32)> {
        self.0.peek().map(|Reverse(first)| *first)
    }

    /// Removes the earliest entry.
    fn drop_first(&mut self) {
        self.0.pop();
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.0.len()
    }
}
