//! The work on one connection. Its state ends with the connection; the server keeps everything that was not acknowledged.
//!
//! One task does everything: it sends heartbeats, reads pages of entries, delivers events, and acknowledges them. A stream passes through
//! three stages before new entries are read (see [`Stage`]): claim what other consumers left pending, read that together with this
//! consumer's own pending entries, then read new ones. So the order of a stream survives the change of its owner.

use crate::delivery::{DeliveryOutcome, InFlight, deliver};
use crate::entry::{DELETED, Entry, EntryId};
use crate::link::{Heartbeat, Line, Link};
use crate::notice::{Counts, Notice};
use crate::options::Options;
use crate::shard::{Shard, Stage};
use chartc_runtime::agents::Engine;
use futures_util::stream::{FuturesUnordered, StreamExt};
use redis::RedisError;
use std::collections::BTreeMap;
use std::future::pending;
use std::pin::Pin;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

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
pub(crate) enum Broken {
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
pub(crate) struct Session<'e, E> {
    pub(crate) link: Link,
    pub(crate) options: &'e Options,
    pub(crate) engine: &'e E,
    pub(crate) counts: &'e mut Counts,
    pub(crate) shards: BTreeMap<usize, Shard>,
    pub(crate) flights: FuturesUnordered<Task<'e, (InFlight, DeliveryOutcome)>>,
    /// The deferred turns, each as a timer that yields the stream, the lease and the agent.
    pub(crate) retries: FuturesUnordered<Task<'e, (usize, u64, String)>>,
    /// The current pause of each deferred turn, by stream and agent.
    pub(crate) waits: BTreeMap<(usize, String), Duration>,
    pub(crate) leases: u64,
    pub(crate) is_away: bool,
    pub(crate) is_stopping: bool,
}

impl<'e, E: Engine + Sync> Session<'e, E> {
    pub(crate) fn new(
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
    pub(crate) async fn begin(&mut self, is_first: bool) -> Result<(), Broken> {
        match self.link.beat(is_first).await? {
            Some(_) => Ok(()),
            None => Err(Broken::Taken),
        }
    }

    /// Works until `stop` resolves and the deliveries under way have ended.
    pub(crate) async fn work(
        &mut self,
        mut stop: Pin<&mut impl Future<Output = ()>>,
        tell: &mut impl FnMut(Notice),
    ) -> Result<(), Broken> {
        let every = self.options.idle / 3;
        let mut next_beat = Instant::now();
        let mut next_sweep = next_beat + SWEEP.min(self.options.horizon / 4);
        let mut sweep: Option<Task<'e, _>> = None;
        let mut news: Option<Task<'static, Result<Line, RedisError>>> = None;
        let (mut awaited, mut quiet_line) = (Vec::new(), None);
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
                // Only streams that have been read to the end are watched: one with unread entries would report them at once, again and
                // again.
                let quiet = self.shards.iter().filter(|(_, shard)| !shard.has_more);
                let behind: Vec<_> = quiet.map(|(nth, shard)| (*nth, shard.last)).collect();
                let of: Vec<usize> = behind.iter().map(|(nth, _)| *nth).collect();
                if !of.is_empty() && (news.is_none() || awaited != of) {
                    news = Some(Box::pin(self.link.news(quiet_line.take(), behind, every)));
                    awaited = of;
                }
            }
            let is_swept = sweep.is_none();
            let news_are = async {
                match news.as_mut() {
                    Some(news) => news.await,
                    None => pending().await,
                }
            };
            let swept = async {
                match sweep.as_mut() {
                    Some(sweep) => sweep.await,
                    None => pending().await,
                }
            };
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
                came = news_are => {
                    quiet_line = Some(came?);
                    news = None;
                    for nth in &awaited {
                        if let Some(shard) = self.shards.get_mut(nth) {
                            shard.has_more = true;
                        }
                    }
                }
                () = swept => sweep = None,
                () = sleep_until(next_beat) => {}
                () = sleep_until(next_sweep), if is_swept => {
                    next_sweep = Instant::now() + SWEEP.min(self.options.horizon / 4);
                    if self.shards.values().all(Shard::is_fresh) {
                        sweep = Some(self.sweep());
                    }
                }
                () = std::future::ready(()), if has_read => {}
            }
            // Collects all outcomes that are ready, so that one command can acknowledge them.
            while let Some(Some((flight, outcome))) =
                futures_util::FutureExt::now_or_never(self.flights.next())
            {
                self.land(flight, outcome, tell);
            }
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

    /// Sends a heartbeat, starts with the streams that this process has got, and marks those above its share for release.
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
                Stage::Claims(from) => {
                    let claimed = self.link.claim(nth, from).await?;
                    let Some((next, gone)) = claimed else {
                        self.drop_shard(nth, tell);
                        continue;
                    };
                    self.counts.dead += gone.len() as u64;
                    for entry in gone {
                        let (stream, reason) = (self.options.key(nth), DELETED.to_owned());
                        tell(Notice::Dead { stream, entry, reason });
                    }
                    let is_last = next == "0-0";
                    shard.stage = if is_last {
                        Stage::Pending(EntryId::default())
                    } else {
                        Stage::Claims(next)
                    };
                    has_read = true;
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
            let (key, lease) = (self.options.key(nth), shard.lease);
            for raw in entries {
                match Entry::read(raw, &key, &self.options.stream) {
                    Ok(entry) => {
                        if let Some(entry) = shard.queues.push(entry) {
                            shard.in_flight += 1;
                            let flight =
                                InFlight { shard: nth, lease, entry, waited: Duration::ZERO };
                            self.flights.push(Box::pin(deliver(self.engine, flight)));
                        }
                    }
                    Err(dead) => shard.dead.push(dead),
                }
            }
        }
        Ok(has_read)
    }
}
