//! A shard: a part of the agents, with its own lock.
//!
//! **The problem.** An engine keeps many agents, of which few have something to do. Threads that fire events must not wait for each other,
//! and a round must not look at agents that wait.
//!
//! **The idea.** The hash of a name selects one of [`SHARDS`] shards. An agent gets a slot there, whose place never changes. An open hash
//! table finds the place of a name ([`Names`]). Three lists name the agents to visit: `touched` by an event, `woken` by a call, and `dues`
//! by a deadline. A flag in the slot (`is_listed`) keeps an agent from being listed twice.
//!
//! Deadlines change far more often than they fire. So the heap is not updated when one is postponed: the slot remembers its entry
//! (`entered`), and `first_due` checks an entry when it comes up.
//!
//! **Example.** One agent, and the heap of its shard:
//!
//! ```text
//! due at 50            entry 50; `entered` is 50
//! postponed to 80      nothing changes: `look_at` adds only entries that are earlier
//! time 50              `first_due` finds that 50 is outdated and replaces it by 80; nothing fires
//! brought forward, 60  entry 60 is added and `entered` is 60; entry 80 is dropped when it comes up
//! ```
//!
//! The end of the file writes and reads snapshots of a whole engine, one line for each agent.

use super::ids::{Ids, Key};
use super::{Dues, Memory, SEEN, Waiting, Wake, Woken};
use crate::clock::Clock;
use crate::error::RunError;
use crate::session::{Saved, Session};
use crate::trace;
use chartc_core::host::Machine;
use chartc_core::machine::Instant;
use serde::{Deserialize, Serialize};
use std::future::Future;
use std::io::{BufRead, Write};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

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

// The slot of an agent in its shard.

/// An agent with its bookkeeping.
pub(super) struct Slot<M, T> {
    pub(super) name: Name,
    pub(super) session: Session<M, T>,
    pub(super) ids: Ids,
    /// Why the agent cannot continue, if it has stopped.
    pub(super) stopped: Option<Box<str>>,
    /// The waker of its calls.
    pub(super) wake: Option<Arc<Wake>>,
    /// The earliest deadline of this agent in the heaps of its shard; [`Instant::MAX`] if there is none.
    pub(super) entered: Instant,
    /// Whether the agent is on the list of agents to visit.
    pub(super) is_listed: bool,
    /// Whether the shard counts the agent among those with calls under way.
    pub(super) is_busy: bool,
}

impl<M: Machine, T: trace::Sink> Slot<M, T> {
    pub(super) fn new(name: &str, session: Session<M, T>) -> Self {
        Self {
            name: Name::new(name),
            session,
            ids: Ids::default(),
            stopped: None,
            wake: None,
            entered: Instant::MAX,
            is_listed: false,
            is_busy: false,
        }
    }

    /// The next deadline, unless the agent has stopped.
    pub(super) fn due(&self) -> Option<Instant> {
        self.session.next_change().filter(|_| self.stopped.is_none())
    }

    /// Whether the agent has calls under way and has not stopped.
    pub(super) fn has_calls(&self) -> bool {
        self.stopped.is_none() && self.session.open_calls() > 0
    }

    /// Works until the agent waits for a call or a later time. If its run fails, the agent stops. The deadlines of an agent without calls
    /// fire only if `until` gives a time up to which time passes.
    pub(super) fn work(
        &mut self,
        now: Instant,
        until: Option<Instant>,
        wake: impl FnOnce() -> Wake,
    ) {
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
            let wake = self.wake.get_or_insert_with(|| Arc::new(wake()));
            let waker = Waker::from(wake.clone());
            self.poll(past, &waker);
        }
        if !self.has_calls() {
            self.wake = None;
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

// The names of agents, and a hash table from names to places.

/// The maximum length in bytes of a name that is stored inline.
const SHORT: usize = 22;

/// The name of an agent. A short name is stored inline, so that a lookup reads no other memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Name {
    Short(u8, [u8; SHORT]),
    Long(Box<str>),
}

impl Name {
    pub(super) fn new(name: &str) -> Self {
        let mut bytes = [0; SHORT];
        match bytes.get_mut(..name.len()) {
            Some(short) => {
                short.copy_from_slice(name.as_bytes());
                Self::Short(name.len() as u8, bytes)
            }
            None => Self::Long(name.into()),
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Short(length, bytes) => &bytes[..usize::from(*length)],
            Self::Long(name) => name.as_bytes(),
        }
    }

    pub(super) fn text(&self) -> &str {
        match self {
            // The bytes come from a `str`, so they are valid UTF-8.
            Self::Short(..) => str::from_utf8(self.bytes()).unwrap_or_default(),
            Self::Long(name) => name,
        }
    }
}

/// A hash table from names to places. Names are never removed.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Pairs of hash and place. The length is a power of two, and at least a quarter of the table is empty.
    table: Vec<Option<(u32, u32)>>,
    count: usize,
}

impl Names {
    /// The place of a name with this hash for which `is_it` is true.
    pub(super) fn find(&self, hash: u32, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let mut at = self.first(hash)?;
        while let Some((other, place)) = self.table[at] {
            if other == hash && is_it(place) {
                return Some(place);
            }
            at = (at + 1) & (self.table.len() - 1);
        }
        None
    }

    /// Adds a name that is not in the table.
    pub(super) fn add(&mut self, hash: u32, place: u32) {
        if self.count >= self.table.len() / 4 * 3 {
            let larger = (2 * self.table.len()).max(8);
            let old = std::mem::replace(&mut self.table, vec![None; larger]);
            old.into_iter().flatten().for_each(|(hash, place)| self.put(hash, place));
        }
        self.put(hash, place);
        self.count += 1;
    }

    fn put(&mut self, hash: u32, place: u32) {
        let Some(mut at) = self.first(hash) else { return };
        while self.table[at].is_some() {
            at = (at + 1) & (self.table.len() - 1);
        }
        self.table[at] = Some((hash, place));
    }

    fn first(&self, hash: u32) -> Option<usize> {
        Some(hash as usize & self.table.len().checked_sub(1)?)
    }
}

// Snapshots: all agents of an engine as lines of JSON, a header and then one line per agent in the order of their names.

/// The version of the format.
const VERSION: u32 = 1;

/// The first line of a snapshot.
#[derive(Serialize, Deserialize)]
struct Head {
    engine: u32,
    now: Instant,
    agents: usize,
    /// The key of the hashes of long ids. Without it, the restored engine would not recognise them.
    key: (u64, u64),
}

#[derive(Serialize)]
struct Written<'a> {
    agent: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ids: Vec<[u64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<&'a str>,
    run: Saved,
}

#[derive(Deserialize)]
struct Read {
    agent: String,
    #[serde(default)]
    ids: Vec<[u64; 3]>,
    stopped: Option<Box<str>>,
    run: Saved,
}

/// The reason why a snapshot could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// An agent's machine is of a kind that cannot be saved.
    #[error("agent `{0}` cannot be saved: its machine has no snapshots")]
    NotSaved(String),
    /// The input is not a snapshot of an engine, has another version, or is damaged.
    #[error("line {line} of the snapshot: {why}")]
    Line {
        /// The number of the line, from 1.
        line: usize,
        /// The reason.
        why: String,
    },
    /// An agent cannot continue from its saved state.
    #[error("agent `{agent}` cannot be restored: {why}")]
    Agent {
        /// The name of the agent.
        agent: String,
        /// The reason.
        why: RunError,
    },
    /// The snapshot cannot be written or read.
    #[error("the snapshot: {0}")]
    Io(#[from] std::io::Error),
}

impl<'e, M: Machine, T: trace::Sink> Memory<'e, M, T> {
    /// Writes all agents, with the ids of the events that they have taken. Events that are fired meanwhile wait. Calls under way are
    /// saved as open; [`Session::restore`] describes how they continue.
    ///
    /// # Errors
    /// See [`SnapshotError`].
    pub fn save(&self, to: &mut impl Write) -> Result<(), SnapshotError> {
        // All locks are held together, so that the snapshot shows a single moment.
        let shards: Vec<_> = self.shards.iter().map(|shard| shard.agents()).collect();
        let slots = shards.iter().flat_map(|agents| &agents.slots);
        let mut slots: Vec<_> = slots.collect();
        slots.sort_unstable_by(|a, b| a.name.bytes().cmp(b.name.bytes()));
        let (now, key) = (self.clock.now(), (self.key.0, self.key.1));
        let head = Head { engine: VERSION, now, agents: slots.len(), key };
        let written = |error: serde_json::Error| SnapshotError::Io(error.into());
        serde_json::to_writer(&mut *to, &head).map_err(written)?;
        to.write_all(b"\n")?;
        for slot in slots {
            let run = slot.session.save_all();
            let run = run.ok_or_else(|| SnapshotError::NotSaved(slot.name.text().to_owned()))?;
            let (agent, stopped) = (slot.name.text(), slot.stopped.as_deref());
            let line = Written { agent, ids: slot.ids.save(), stopped, run };
            serde_json::to_writer(&mut *to, &line).map_err(written)?;
            to.write_all(b"\n")?;
        }
        Ok(())
    }

    /// An engine with the agents that [`Memory::save`] wrote. `clock` gets the time of the snapshot, at which the new clock must start.
    /// `make` is as in [`Memory::new`]; its sessions continue from their saved states.
    ///
    /// # Errors
    /// See [`SnapshotError`].
    pub fn restore(
        from: impl BufRead,
        clock: impl FnOnce(Instant) -> Arc<dyn Clock>,
        make: impl Fn(&str, Arc<dyn Clock>) -> Result<Session<M, T>, RunError> + Send + Sync + 'e,
    ) -> Result<Self, SnapshotError> {
        let wrong = |line: usize, why: &dyn ToString| {
            let why = why.to_string();
            SnapshotError::Line { line: line + 1, why }
        };
        let mut lines = from.lines().enumerate();
        let (_, first) = lines.next().ok_or_else(|| wrong(0, &"it is missing"))?;
        let head: Head = serde_json::from_str(&first?).map_err(|why| wrong(0, &why))?;
        if head.engine != VERSION {
            let why = format!("it has format version {}, not {VERSION}", head.engine);
            return Err(wrong(0, &why));
        }
        let mut engine = Self::new(clock(head.now), make);
        engine.key = Key(head.key.0, head.key.1);
        let mut last = 0;
        for (nth, line) in lines {
            let Read { agent, ids, stopped, run } =
                serde_json::from_str(&line?).map_err(|why| wrong(nth, &why))?;
            let home = engine.home(&agent);
            let does_not_fit = |why| SnapshotError::Agent { agent: agent.clone(), why };
            let mut session = (engine.make)(&agent, engine.shared.clone()).map_err(does_not_fit)?;
            session.restore(&run).map_err(does_not_fit)?;
            let mut agents = engine.shards[home.shard].agents();
            if agents.find(home.hash, &agent).is_some() {
                return Err(wrong(nth, &format!("agent `{agent}` is there already")));
            }
            let place = agents.add(home.hash, &agent, session);
            let slot = &mut agents.slots[place as usize];
            (slot.ids, slot.stopped) = (Ids::load(&ids, SEEN), stopped);
            agents.touch(place, true);
            last = nth;
        }
        if last != head.agents {
            return Err(wrong(last + 1, &format!("{last} agents of {} are there", head.agents)));
        }
        Ok(engine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_any_length_come_back() {
        for length in 0..60 {
            let name = "ü".repeat(length / 2) + &"x".repeat(length % 2);
            assert_eq!(Name::new(&name).text(), name);
            assert_eq!(Name::new(&name).bytes(), name.as_bytes());
        }
        assert_eq!(size_of::<Name>(), 24);
    }

    #[test]
    fn what_has_the_same_hash_is_told_apart() {
        let mut names = Names::default();
        assert_eq!(names.find(7, |_| true), None);
        for place in 0..1000 {
            names.add(place % 10, place);
        }
        for place in 0..1000 {
            assert_eq!(names.find(place % 10, |other| other == place), Some(place));
        }
        assert_eq!(names.find(3, |other| other == 1000), None);
    }
}
