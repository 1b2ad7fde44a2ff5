//! The work on one connection. Its state ends with the connection; the server keeps everything that was not acknowledged.
//!
//! **The problem.** The events of an agent must be applied in the order of the stream, although an engine may be away, an agent may be busy
//! in a turn, and another process may take over the stream. One slow agent must not hold up the others, and the memory must have a bound.
//!
//! **The idea.** One task does everything: it sends heartbeats, reads pages of entries, delivers events, and acknowledges them. A stream
//! passes through three stages before new entries are read (see [`Stage`]): claim what other consumers left pending, read that together
//! with this consumer's own pending entries, then read new ones. So the order of a stream survives the change of its owner. Within a
//! stream, [`KeyQueues`] has a queue for each agent with at most one delivery under way. A turn for a busy agent is deferred, and events
//! overtake it. A stream is released only when no delivery of it is under way; a lease number keeps results of an earlier ownership from
//! counting.
//!
//! **Example.** A process takes over stream 2, in which another one left entry 5 pending, and entry 6 is new:
//!
//! ```text
//! beat      stream 2 is taken: a new Shard with lease 1, in Stage::Claims
//! read      claims entry 5; then Stage::Pending reads 5, and delivers it
//!           nothing further is pending: Stage::New reads 6, which waits behind 5 if it is for the same agent
//! land      the engine has taken 5 (or knows its id already): it is acknowledged in `settle`, and 6 is delivered
//! ```

use super::link::{DELETED, Entry, EntryId, Heartbeat, Line, Link, Raw};
use super::{Counts, Notice, Options};
use chartc_core::machine::Receipt;
use chartc_runtime::agents::{Engine, EngineError};
use futures_util::stream::{FuturesUnordered, StreamExt};
use redis::RedisError;
use std::collections::{BTreeMap, VecDeque};
use std::future::pending;
use std::pin::Pin;
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until};

/// The maximum number of entries that one command reads.
const PAGE: usize = 256;

/// The maximum number of entries of a stream that wait behind deferred turns. Beyond it, nothing new is read, to bound the memory.
const PARKED: usize = 4_096;

/// The time that deliveries under way may take when the intake is to stop.
const LAST: Duration = Duration::from_secs(10);

/// The interval at which the engine forgets old ids. The first time is never right after the start, when other processes may still hold old
/// entries.
const SWEEP: Duration = Duration::from_hours(1);

/// The reason why a connection has to end.
pub(super) enum Broken {
    Redis(RedisError),
    /// A later process has taken the same name.
    Taken,
}

impl From<RedisError> for Broken {
    fn from(error: RedisError) -> Self {
        Self::Redis(error)
    }
}

type Task<'e, T> = Pin<Box<dyn Future<Output = T> + Send + 'e>>;

/// The state of the work on one connection.
pub(super) struct Session<'e, E> {
    pub(super) link: Link,
    pub(super) options: &'e Options,
    pub(super) engine: &'e E,
    pub(super) counts: &'e mut Counts,
    pub(super) shards: BTreeMap<usize, Shard>,
    pub(super) flights: FuturesUnordered<Task<'e, (InFlight, DeliveryOutcome)>>,
    /// The deferred turns, each as a timer that yields the stream, the lease and the agent.
    pub(super) retries: FuturesUnordered<Task<'e, (usize, u64, String)>>,
    /// The current pause of each deferred turn, by stream and agent.
    pub(super) waits: BTreeMap<(usize, String), Duration>,
    pub(super) leases: u64,
    pub(super) is_away: bool,
    pub(super) is_stopping: bool,
}

/// Waits for new entries in streams that have been read to the end.
#[derive(Default)]
struct Watch {
    /// Resolves when one of the streams has new entries.
    news: Option<Task<'static, Result<Line, RedisError>>>,
    of: Vec<usize>,
    /// The connection of the last wait, for the next one.
    line: Option<Line>,
}

impl<'e, E: Engine + Sync> Session<'e, E> {
    pub(super) fn new(
        link: Link,
        options: &'e Options,
        engine: &'e E,
        counts: &'e mut Counts,
    ) -> Self {
        Self {
            link,
            options,
            engine,
            counts,
            shards: BTreeMap::new(),
            flights: FuturesUnordered::new(),
            retries: FuturesUnordered::new(),
            waits: BTreeMap::new(),
            leases: 0,
            is_away: false,
            is_stopping: false,
        }
    }

    /// Sends the first heartbeat of this connection.
    pub(super) async fn begin(&mut self, is_first: bool) -> Result<(), Broken> {
        match self.link.beat(is_first).await? {
            Some(_) => Ok(()),
            None => Err(Broken::Taken),
        }
    }

    /// Works until `stop` resolves and the deliveries under way have ended.
    pub(super) async fn work(
        &mut self,
        mut stop: Pin<&mut impl Future<Output = ()>>,
        tell: &mut impl FnMut(Notice),
    ) -> Result<(), Broken> {
        let every = self.options.idle / 3;
        let mut next_beat = Instant::now();
        let mut next_sweep = next_beat + SWEEP.min(self.options.horizon / 4);
        let mut sweep: Option<Task<'e, _>> = None;
        let mut watch = Watch::default();
        let mut until = None;
        loop {
            if Instant::now() >= next_beat {
                next_beat = Instant::now() + every;
                self.beat(tell).await?;
            }
            self.settle(tell).await?;
            if self.is_stopping && (self.flights.is_empty() || until <= Some(Instant::now())) {
                let held: Vec<usize> = self.shards.keys().copied().collect();
                self.link.leave(&held, true).await?;
                return Ok(());
            }
            let has_read = self.read(tell).await?;
            if has_read {
                // Deliveries share this thread and would starve if pages kept coming.
                tokio::task::yield_now().await;
            } else if !self.is_stopping {
                self.watch(&mut watch, every);
            }
            let is_swept = sweep.is_none();
            // Futures are polled in the order of the arms (`biased`): stopping first, then outcomes, which free room for reading.
            tokio::select! {
                biased;
                () = &mut stop, if !self.is_stopping => {
                    self.is_stopping = true;
                    until = Some(Instant::now() + LAST);
                    self.retries.clear();
                }
                Some((flight, outcome)) = self.flights.next() => self.land(flight, outcome, tell),
                Some((shard, lease, agent)) = self.retries.next() => self.retry(shard, lease, &agent),
                came = ended(&mut watch.news) => {
                    watch.line = Some(came?);
                    watch.news = None;
                    self.mark_unread(&watch.of);
                }
                () = ended(&mut sweep) => sweep = None,
                () = sleep_until(next_beat) => {}
                () = sleep_until(next_sweep), if is_swept => {
                    next_sweep = Instant::now() + SWEEP.min(self.options.horizon / 4);
                    if self.shards.values().all(Shard::is_fresh) {
                        sweep = Some(self.sweep());
                    }
                }
                () = std::future::ready(()), if has_read => {}
            }
            self.land_ready(tell);
        }
    }

    /// Watches the streams that have been read to the end. One with unread entries would report them at once, again and
    /// again.
    fn watch(&self, watch: &mut Watch, every: Duration) {
        let quiet = self.shards.iter().filter(|(_, shard)| !shard.has_more);
        let behind: Vec<_> = quiet.map(|(nth, shard)| (*nth, shard.last)).collect();
        let of: Vec<usize> = behind.iter().map(|(nth, _)| *nth).collect();
        if !of.is_empty() && (watch.news.is_none() || watch.of != of) {
            watch.news = Some(Box::pin(self.link.news(watch.line.take(), behind, every)));
            watch.of = of;
        }
    }

    fn mark_unread(&mut self, streams: &[usize]) {
        for nth in streams {
            if let Some(shard) = self.shards.get_mut(nth) {
                shard.has_more = true;
            }
        }
    }

    /// Collects all outcomes that are ready, so that one command can acknowledge them.
    fn land_ready(&mut self, tell: &mut impl FnMut(Notice)) {
        while let Some(Some((flight, outcome))) =
            futures_util::FutureExt::now_or_never(self.flights.next())
        {
            self.land(flight, outcome, tell);
        }
    }

    /// Makes the engine forget ids that are older than the horizon.
    fn sweep(&self) -> Task<'e, ()> {
        let (engine, age) = (self.engine, self.options.horizon);
        let prefix = format!("redis:{}:", self.options.stream);
        let age = u64::try_from(age.as_millis()).unwrap_or(u64::MAX);
        Box::pin(async move {
            // An engine that cannot be reached is asked again at the next interval.
            drop(engine.forget(&prefix, age).await);
        })
    }

    /// Sends a heartbeat, begins to read the streams that this process has taken, and marks those above its share for release.
    async fn beat(&mut self, tell: &mut impl FnMut(Notice)) -> Result<(), Broken> {
        let Some(beat) = self.link.beat(false).await? else { return Err(Broken::Taken) };
        let Heartbeat { share, kept, taken } = beat;
        let had: Vec<usize> = self.shards.keys().copied().collect();
        for nth in had.iter().filter(|nth| !kept.contains(nth)) {
            self.drop_shard(*nth, tell);
        }
        for nth in kept.into_iter().chain(taken) {
            // A kept stream has no state here if an earlier connection of this process owned it.
            if !self.shards.contains_key(&nth) && !self.is_stopping {
                let last = self.link.last(nth).await?;
                self.leases += 1;
                self.shards.insert(nth, Shard::new(self.leases, last));
                tell(Notice::Reads(self.options.key(nth)));
            }
        }
        let stay = self.shards.values_mut().filter(|shard| !shard.is_leaving);
        stay.skip(share.max(1)).for_each(|shard| shard.is_leaving = true);
        Ok(())
    }

    /// Drops the state of a stream. Its waiting entries stay pending in Redis, for the next owner to read.
    fn drop_shard(&mut self, nth: usize, tell: &mut impl FnMut(Notice)) {
        if self.shards.remove(&nth).is_some() {
            self.waits.retain(|(shard, _), _| *shard != nth);
            tell(Notice::Leaves(self.options.key(nth)));
        }
    }

    /// Acknowledges applied entries, moves dead ones to the dead stream, and releases streams that are marked and idle.
    async fn settle(&mut self, tell: &mut impl FnMut(Notice)) -> Result<(), Broken> {
        let mut free = Vec::new();
        for (nth, shard) in &mut self.shards {
            for (raw, reason) in std::mem::take(&mut shard.dead) {
                self.link.dead_letter(*nth, &raw, &reason).await?;
                self.counts.dead += 1;
                let (stream, entry) = (self.options.key(*nth), raw.id.to_string());
                tell(Notice::Dead { stream, entry, reason });
            }
            if !shard.done.is_empty() {
                self.link.acknowledge(*nth, &shard.done).await?;
                shard.done.clear();
            }
            // Only an idle stream is released: its next owner would otherwise deliver the entries under way a second time, out of order.
            if shard.is_leaving && shard.in_flight == 0 {
                free.push(*nth);
            }
        }
        for nth in free {
            self.link.leave(&[nth], false).await?;
            self.drop_shard(nth, tell);
        }
        Ok(())
    }

    /// Reads a page of each stream that may have unread entries. Returns whether anything was read.
    async fn read(&mut self, tell: &mut impl FnMut(Notice)) -> Result<bool, Broken> {
        let mut has_read = false;
        let ready: Vec<usize> =
            self.shards.iter().filter(|(_, shard)| shard.has_more).map(|(nth, _)| *nth).collect();
        for nth in ready {
            let Some(shard) = self.shards.get_mut(&nth) else { continue };
            let room = self.options.window.saturating_sub(shard.queues.active()).min(PAGE);
            if self.is_stopping
                || shard.is_leaving
                || room == 0
                || shard.queues.deferred() >= PARKED
            {
                continue;
            }
            let read = match &shard.stage {
                Stage::Claims(_) => {
                    has_read |= self.claim(nth, tell).await?;
                    continue;
                }
                Stage::Pending(after) => self.link.read(nth, &after.to_string(), room).await?,
                Stage::New => self.link.read(nth, ">", room).await?,
            };
            let Some(entries) = read else {
                self.drop_shard(nth, tell);
                continue;
            };
            has_read |= !entries.is_empty();
            match (&shard.stage, entries.last()) {
                (Stage::Pending(_), Some(raw)) => {
                    shard.pending = raw.id;
                    shard.stage = Stage::Pending(raw.id);
                }
                (Stage::Pending(_), None) => {
                    shard.stage = Stage::New;
                    has_read = true;
                }
                (Stage::New | Stage::Claims(_), Some(raw)) => shard.last = shard.last.max(raw.id),
                (Stage::New | Stage::Claims(_), None) => shard.has_more = false,
            }
            self.take(nth, entries);
        }
        Ok(has_read)
    }

    /// Claims entries that other consumers left pending. Returns whether the stream is still held.
    async fn claim(&mut self, nth: usize, tell: &mut impl FnMut(Notice)) -> Result<bool, Broken> {
        let Some(shard) = self.shards.get_mut(&nth) else { return Ok(false) };
        let Stage::Claims(from) = &shard.stage else { return Ok(false) };
        let Some((next, gone)) = self.link.claim(nth, from).await? else {
            self.drop_shard(nth, tell);
            return Ok(false);
        };
        self.counts.dead += gone.len() as u64;
        for entry in gone {
            let (stream, reason) = (self.options.key(nth), DELETED.to_owned());
            tell(Notice::Dead { stream, entry, reason });
        }
        let is_last = next == "0-0";
        shard.stage =
            if is_last { Stage::Pending(EntryId::default()) } else { Stage::Claims(next) };
        Ok(true)
    }

    /// Takes in entries of a stream, and delivers those that need not wait for another.
    fn take(&mut self, nth: usize, entries: Vec<Raw>) {
        let Some(shard) = self.shards.get_mut(&nth) else { return };
        let (key, lease) = (self.options.key(nth), shard.lease);
        for raw in entries {
            match Entry::read(raw, &key, &self.options.stream) {
                Ok(entry) => {
                    if let Some(entry) = shard.queues.push(entry) {
                        shard.in_flight += 1;
                        let flight = InFlight { shard: nth, lease, entry, waited: Duration::ZERO };
                        self.flights.push(Box::pin(deliver(self.engine, flight)));
                    }
                }
                Err(dead) => shard.dead.push(dead),
            }
        }
    }
}

/// Waits for a task, or forever if there is none.
async fn ended<T>(task: &mut Option<Task<'_, T>>) -> T {
    match task.as_mut() {
        Some(task) => task.await,
        None => pending().await,
    }
}

// The delivery of one event to an engine.

/// The first and the longest pause before a delivery is tried again. It doubles from one attempt to the next.
const WAITS: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));

/// An event that is being delivered.
pub(super) struct InFlight {
    pub(super) shard: usize,
    /// The number of the lease under which the entry was read. If this process has lost the stream since and taken it again, results of an
    /// earlier lease must not change the order of the new one.
    pub(super) lease: u64,
    pub(super) entry: Entry,
    /// The pause before this delivery: zero at first, longer after each attempt that found the engine unreachable or the agent busy.
    pub(super) waited: Duration,
}

/// The outcome of a delivery.
pub(super) enum DeliveryOutcome {
    /// The engine has committed the event, now or in an earlier delivery.
    Taken { is_repeated: bool },
    /// The agent is in a turn and has not taken the event.
    Busy,
    /// The agent can never take the event, for the reason given.
    Dead(String),
    /// The engine did not answer, for the reason given. The event may have been applied.
    Away(String),
}

/// Returns the pause that follows a pause of `wait`.
pub(super) fn longer(wait: Duration) -> Duration {
    (wait * 2).clamp(WAITS.0, WAITS.1)
}

/// Waits for the pause, if there is one, and fires the event at its agent.
pub(super) async fn deliver<E: Engine>(
    engine: &E,
    flight: InFlight,
) -> (InFlight, DeliveryOutcome) {
    if !flight.waited.is_zero() {
        tokio::time::sleep(flight.waited).await;
    }
    let event = flight.entry.event.clone();
    let content = event.content();
    let outcome = match engine.fire(&flight.entry.agent, event).await {
        Ok(reply) if reply.is_of_other(content) => {
            DeliveryOutcome::Dead("an earlier event with other content has the same id".into())
        }
        Ok(reply) => match reply.receipt {
            Receipt::Busy => DeliveryOutcome::Busy,
            _ => DeliveryOutcome::Taken { is_repeated: reply.is_repeated },
        },
        Err(why @ (EngineError::Event { .. } | EngineError::Stopped { .. })) => {
            DeliveryOutcome::Dead(why.to_string())
        }
        Err(EngineError::Away { why, .. }) => DeliveryOutcome::Away(why),
    };
    (flight, outcome)
}

// The order of delivery in one stream: the events of one agent one after another, those of different agents side by side.
//
// One [`KeyQueues`] per stream holds a [`KeyQueue`] per agent. For example, with the entries 1 (`turn`), 2 (`turn`) and 3 (`order`) for
// one agent:
//
// ```text
// push 1 -> deliver 1     nothing else is under way
// push 2, push 3 -> none  they wait behind 1
// defer 1 -> deliver 3    the agent is busy; 3 is no turn and overtakes 1 and 2
// undefer -> none         time to retry, but 3 is still under way
// done -> deliver 1       then 2
// ```

/// The entries of a stream that wait or are under way, by agent.
#[derive(Default)]
pub(super) struct KeyQueues {
    by_agent: BTreeMap<String, KeyQueue>,
    /// The number of entries that wait or are under way.
    count: usize,
    /// The number of entries that wait behind a deferred turn, deferred turns included.
    deferred: usize,
}

#[derive(Default)]
struct KeyQueue {
    /// The waiting entries, in the order of the stream.
    waiting: VecDeque<Entry>,
    in_flight: Option<EntryId>,
    /// The agent is busy with an earlier turn, so its next turn is tried again later. Events overtake that turn, since the agent may be
    /// waiting for them.
    is_deferred: bool,
}

impl KeyQueue {
    fn deferred(&self) -> usize {
        if self.is_deferred {
            self.waiting.iter().filter(|entry| entry.is_of_turns()).count()
        } else {
            0
        }
    }

    /// Takes the next entry to deliver, if none is under way.
    fn next(&mut self) -> Option<Entry> {
        if self.in_flight.is_some() {
            return None;
        }
        let nth = if self.is_deferred {
            self.waiting.iter().position(|entry| !entry.is_of_turns())?
        } else {
            0
        };
        let entry = self.waiting.remove(nth)?;
        self.in_flight = Some(entry.id);
        Some(entry)
    }
}

impl KeyQueues {
    /// Adds an entry. Returns the one to deliver, if the agent is free.
    pub(super) fn push(&mut self, entry: Entry) -> Option<Entry> {
        let agent = entry.agent.clone();
        self.count += 1;
        self.with(&agent, |queue| {
            queue.waiting.push_back(entry);
            queue.next()
        })
    }

    /// Ends the delivery under way. Returns the agent's next entry to deliver.
    pub(super) fn done(&mut self, agent: &str) -> Option<Entry> {
        self.count -= 1;
        self.with(agent, |queue| {
            queue.in_flight = None;
            queue.next()
        })
    }

    /// Puts the turn under way back to the front, because the agent is busy. Returns an event that may overtake it.
    pub(super) fn defer(&mut self, entry: Entry) -> Option<Entry> {
        let agent = entry.agent.clone();
        self.with(&agent, |queue| {
            queue.in_flight = None;
            queue.is_deferred = true;
            queue.waiting.push_front(entry);
            queue.next()
        })
    }

    /// Ends the deferral, because it is time to try the turn again. Returns the entry to deliver; none if an event of the agent is still
    /// under way, since the turn then follows it.
    pub(super) fn undefer(&mut self, agent: &str) -> Option<Entry> {
        self.with(agent, |queue| {
            queue.is_deferred = false;
            queue.next()
        })
    }

    fn with<R>(&mut self, agent: &str, work: impl FnOnce(&mut KeyQueue) -> R) -> R {
        let queue = self.by_agent.entry(agent.to_owned()).or_default();
        let before = queue.deferred();
        let result = work(queue);
        // Underflow is impossible: `self.deferred` contains `before` of this queue. The sum comes first, because the difference may be
        // negative.
        self.deferred = self.deferred + queue.deferred() - before;
        if queue.waiting.is_empty() && queue.in_flight.is_none() {
            self.by_agent.remove(agent);
        }
        result
    }

    /// The number of entries that are not deferred.
    pub(super) fn active(&self) -> usize {
        self.count - self.deferred
    }

    /// The number of entries that wait behind a deferred turn.
    pub(super) fn deferred(&self) -> usize {
        self.deferred
    }

    /// The id of the oldest entry that waits or is under way.
    pub(super) fn oldest(&self) -> Option<EntryId> {
        let of = |queue: &KeyQueue| {
            queue.waiting.front().map(|entry| entry.id).into_iter().chain(queue.in_flight).min()
        };
        self.by_agent.values().filter_map(of).min()
    }
}

// Handling the outcomes of deliveries.

impl<E: Engine + Sync> Session<'_, E> {
    /// Records the outcome of a delivery, and delivers the agent's next entry.
    pub(super) fn land(
        &mut self,
        flight: InFlight,
        outcome: DeliveryOutcome,
        tell: &mut impl FnMut(Notice),
    ) {
        let InFlight { shard: nth, lease, entry, waited } = flight;
        let agent = entry.agent.clone();
        match &outcome {
            DeliveryOutcome::Away(_) => {}
            DeliveryOutcome::Taken { .. } | DeliveryOutcome::Busy | DeliveryOutcome::Dead(_) => {
                self.is_away = false;
            }
        }
        // The stream was lost meanwhile, and the new owner delivers the entry again.
        let Some(shard) = self.shards.get_mut(&nth).filter(|shard| shard.lease == lease) else {
            return;
        };
        shard.in_flight -= 1;
        let next = match outcome {
            DeliveryOutcome::Taken { is_repeated } => {
                if is_repeated {
                    self.counts.repeated += 1;
                } else {
                    self.counts.applied += 1;
                }
                shard.done.push(entry.id);
                if entry.is_of_turns() {
                    self.waits.remove(&(nth, agent.clone()));
                }
                shard.queues.done(&agent)
            }
            DeliveryOutcome::Dead(reason) => {
                shard.dead.push((Raw { id: entry.id, fields: Some(entry.fields) }, reason));
                shard.queues.done(&agent)
            }
            DeliveryOutcome::Busy if entry.is_of_turns() => {
                let next = shard.queues.defer(entry);
                self.retry_later(nth, lease, agent);
                next
            }
            // Only turns are deferred. An event for a busy agent is delivered again, and so is every event while the engine is unreachable.
            DeliveryOutcome::Busy | DeliveryOutcome::Away(_) => {
                if let DeliveryOutcome::Away(why) = outcome
                    && !std::mem::replace(&mut self.is_away, true)
                {
                    tell(Notice::EngineAway(why));
                }
                if !self.is_stopping && !shard.is_leaving {
                    shard.in_flight += 1;
                    let flight = InFlight { shard: nth, lease, entry, waited: longer(waited) };
                    self.flights.push(Box::pin(deliver(self.engine, flight)));
                }
                return;
            }
        };
        self.send_next(nth, next);
    }

    /// Counts a turn for a busy agent, and has it tried again after a pause.
    fn retry_later(&mut self, nth: usize, lease: u64, agent: String) {
        self.counts.busy += 1;
        let wait = self.waits.entry((nth, agent.clone())).or_default();
        *wait = longer(*wait);
        let wait = *wait;
        self.retries.push(Box::pin(async move {
            sleep(wait).await;
            (nth, lease, agent)
        }));
    }

    /// Tries a deferred turn again.
    pub(super) fn retry(&mut self, nth: usize, lease: u64, agent: &str) {
        let Some(shard) = self.shards.get_mut(&nth).filter(|shard| shard.lease == lease) else {
            return;
        };
        let next = shard.queues.undefer(agent);
        self.send_next(nth, next);
    }

    /// Delivers the next entry of an agent, unless the stream is to be released: then the entry stays pending in Redis for the next owner.
    fn send_next(&mut self, nth: usize, next: Option<Entry>) {
        let Some(shard) = self.shards.get_mut(&nth) else { return };
        let Some(entry) = next.filter(|_| !self.is_stopping && !shard.is_leaving) else { return };
        shard.in_flight += 1;
        let flight = InFlight { shard: nth, lease: shard.lease, entry, waited: Duration::ZERO };
        self.flights.push(Box::pin(deliver(self.engine, flight)));
    }
}

// The state of a stream while this process owns it.

/// The stage of reading. It begins with entries that a former owner left behind, so that they keep their place before new ones.
pub(super) enum Stage {
    /// Entries pending for other consumers are being claimed; the next batch begins at this id.
    Claims(String),
    /// Pending entries of this consumer are being read; the next page begins behind this id.
    Pending(EntryId),
    New,
}

/// A stream that this process owns.
pub(super) struct Shard {
    pub(super) stage: Stage,
    pub(super) queues: KeyQueues,
    pub(super) lease: u64,
    /// The id of the last entry that was delivered to the group.
    pub(super) last: EntryId,
    /// The id of the last entry that was pending when this process took the stream.
    pub(super) pending: EntryId,
    /// Whether the stream may have unread entries.
    pub(super) has_more: bool,
    /// Whether the stream is to be released as soon as no delivery is under way.
    pub(super) is_leaving: bool,
    /// The number of deliveries under way.
    pub(super) in_flight: usize,
    pub(super) done: Vec<EntryId>,
    pub(super) dead: Vec<(Raw, String)>,
}

impl Shard {
    pub(super) fn new(lease: u64, last: EntryId) -> Self {
        Self {
            stage: Stage::Claims("0-0".into()),
            queues: KeyQueues::default(),
            lease,
            last,
            pending: EntryId::default(),
            has_more: true,
            is_leaving: false,
            in_flight: 0,
            done: Vec::new(),
            dead: Vec::new(),
        }
    }

    /// Whether all entries that were pending at the start have been handled. Before that, their ids must not be forgotten.
    pub(super) fn is_fresh(&self) -> bool {
        let is_read = matches!(self.stage, Stage::New);
        is_read && self.queues.oldest().is_none_or(|oldest| oldest > self.pending)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chartc_runtime::agents::Event;

    fn entry(id: u64, agent: &str, event: &str) -> Entry {
        let event = Event::new(id.to_string(), event);
        Entry { id: EntryId(id, 0), agent: agent.into(), event, fields: Vec::new() }
    }

    fn id(entry: Option<Entry>) -> Option<u64> {
        entry.map(|entry| entry.id.0)
    }

    #[test]
    fn an_agent_has_one_at_a_time_and_others_go_on() {
        let mut queues = KeyQueues::default();
        assert_eq!(id(queues.push(entry(1, "a", "x"))), Some(1));
        assert_eq!(id(queues.push(entry(2, "a", "x"))), None);
        assert_eq!(id(queues.push(entry(3, "b", "x"))), Some(3));
        assert_eq!(queues.oldest(), Some(EntryId(1, 0)));
        assert_eq!(id(queues.done("a")), Some(2));
        assert_eq!((id(queues.done("b")), id(queues.done("a"))), (None, None));
        assert_eq!((queues.active(), queues.oldest()), (0, None));
        assert!(queues.by_agent.is_empty());
    }

    #[test]
    fn events_go_past_a_turn_that_waits_and_turns_do_not() {
        let mut queues = KeyQueues::default();
        let first = queues.push(entry(1, "a", "turn")).expect("it is free");
        assert_eq!(id(queues.push(entry(2, "a", "turn"))), None);
        assert_eq!(id(queues.push(entry(3, "a", "x"))), None);
        assert_eq!(id(queues.push(entry(4, "a", "x"))), None);
        assert_eq!(id(queues.defer(first)), Some(3));
        assert_eq!((queues.active(), queues.deferred()), (2, 2));
        // Behind the event that is under way.
        assert_eq!(id(queues.undefer("a")), None);
        let first = queues.done("a").expect("the turn");
        assert_eq!(first.id.0, 1);
        assert_eq!(id(queues.defer(first)), Some(4));
        assert_eq!(id(queues.done("a")), None);
        assert_eq!(id(queues.push(entry(5, "a", "turn"))), None);
        assert_eq!(id(queues.undefer("a")), Some(1));
        assert_eq!((id(queues.done("a")), id(queues.done("a"))), (Some(2), Some(5)));
        assert_eq!((id(queues.done("a")), queues.active(), queues.deferred()), (None, 0, 0));
    }
}
