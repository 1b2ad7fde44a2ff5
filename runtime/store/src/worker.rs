//! The loop that continues runs: it collects what has happened, commits all of it at once, and only then replies to hosts and makes
//! calls.
//!
//! Committing in batches shares the cost of a disk sync among all runs with news. One round, with two events and one result of a call:
//!
//! ```text
//! gather   Fire(run a), Fire(run b), the result of a call of run c
//! commit   the steps of a, b and c, in one transaction; the calls that they plan are stored with them
//! reply    the senders of both events get their receipts, and the new trace lines are shown
//! begin    a second transaction marks planned calls as started; then their futures are polled
//! ```

use crate::backlog::Backlog;
use crate::command::{Command, PendingCommands};
use crate::engine::Sqlite;
use crate::error::{Outage, StoreError, panicked, unreadable};
use crate::file::{Store, wall};
use crate::read::{StoredRun, became, written_steps};
use crate::rows::{
    Head, PUT_RUN, Stage, letters, move_call, put, put_call, put_line, put_run, whole,
};
use chartc_core::host::Machine;
use chartc_core::machine::Instant;
use chartc_runtime::Session;
use chartc_runtime::agents::Agenda;
use chartc_runtime::clock::{Clock, Sleep};
use chartc_runtime::driver::Driver;
use chartc_runtime::journal::{Known, Outcome};
use chartc_runtime::oracle::{Answer, NotOpen};
use chartc_runtime::stepped::{Left, Making, PendingLines, Planned, Stepped, StoredCalls};
use chartc_runtime::trace::Line;
use rusqlite::types::Value;
use rusqlite::{ErrorCode, OptionalExtension, ToSql, Transaction};
use std::collections::{BTreeMap, BTreeSet};
use std::future::{Future, poll_fn};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// The maximum number of commands per commit, and of runs that are due.
const BATCH: usize = 512;

/// The interval at which the inbox is read.
const INBOX: Duration = Duration::from_millis(200);

/// A call that is being made.
pub(crate) struct CallUnderWay {
    pub(crate) run: String,
    pub(crate) id: String,
    pub(crate) future: Pin<Box<dyn Future<Output = Outcome> + Send>>,
    /// Whether a person is asked, who may take any time.
    pub(crate) is_persons: bool,
}

/// The part of an engine that does its work. It continues the runs of one store.
pub struct Worker<'e, M> {
    pub(crate) store: Store,
    pub(crate) options: Options<'e, M>,
    commands: mpsc::UnboundedReceiver<Command>,
    pub(crate) runs: BTreeMap<String, Running<M>>,
    /// The times at which runs are to be stepped again, earliest first. A commit touches only the runs that are due, however many there
    /// are.
    pub(crate) wakes: Agenda<String>,
    /// The runs that have something under way that ends by itself.
    pub(crate) busy: BTreeSet<String>,
    pub(crate) flights: Vec<CallUnderWay>,
    /// Calls whose plans are committed and that wait until fewer calls are under way.
    pub(crate) backlog: Backlog,
    /// The results of calls that are not committed yet.
    pub(crate) unwritten: Vec<(String, String, Outcome)>,
    /// What waits for the next transaction.
    pub(crate) pending: PendingCommands,
    /// Why the store cannot be written. The handles read it, too.
    pub(crate) outage: Arc<Mutex<Option<Outage>>>,
    /// During an outage, when the next commit is tried.
    pub(crate) retry: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    /// Whether the sessions in memory may be ahead of the file.
    pub(crate) is_ahead: bool,
    /// The runs in memory, ordered by their last step, the oldest first.
    recent: BTreeMap<u64, String>,
    /// The hosts that wait until no run has anything under way.
    pub(crate) quiet: Vec<oneshot::Sender<()>>,
    /// The hosts that wait until one run has nothing under way.
    pub(crate) settled: Vec<(String, oneshot::Sender<()>)>,
    /// The hosts that wait for a point in time.
    pub(crate) until: Vec<(Instant, oneshot::Sender<()>)>,
    /// The runs that cannot be continued in this process, with the reasons.
    pub(crate) broken: BTreeMap<String, String>,
    /// The broken runs for which no model could be reached. They are tried again when a host starts them again.
    pub(crate) without_model: BTreeSet<String>,
    /// Whether a commit has failed. The state in memory then differs from the file, so nothing may be committed any more.
    pub(crate) has_failed: bool,
    /// Whether the process ends: no further call begins.
    pub(crate) is_ending: bool,
    /// Whether this worker continues all runs of the store, including those that have not been restored yet.
    pub(crate) has_all: bool,
    /// The time at which the inbox is read next; `None` for at once.
    look: Option<Pin<Box<tokio::time::Sleep>>>,
}

/// Everything that has happened since the last commit.
#[derive(Default)]
pub(crate) struct Batch {
    pub(crate) commands: Vec<Command>,
    pub(crate) results: Vec<(String, String, Outcome)>,
    pub(crate) due: Vec<String>,
    pub(crate) is_retry: bool,
    pub(crate) has_mail: bool,
    pub(crate) is_over: bool,
}

impl<'e, M: Machine> Worker<'e, M> {
    /// Creates an engine on a store that this process owns: a handle for hosts, and the worker to run.
    pub fn new(store: Store, options: Options<'e, M>) -> (Sqlite, Self) {
        if options.service.is_some() {
            // SQLite blocks the thread while it waits for a lock, so it waits briefly and the worker tries again. If setting this fails,
            // readers wait longer.
            drop(store.connection.busy_timeout(BLOCKED));
        }
        let (commands, receiver) = mpsc::unbounded_channel();
        let outage = Arc::<Mutex<Option<Outage>>>::default();
        let handle = Sqlite { commands, outage: outage.clone() };
        let worker = Self {
            store,
            options,
            commands: receiver,
            runs: BTreeMap::new(),
            wakes: Agenda::default(),
            busy: BTreeSet::new(),
            flights: Vec::new(),
            backlog: Backlog::default(),
            unwritten: Vec::new(),
            pending: PendingCommands::default(),
            outage,
            retry: None,
            is_ahead: false,
            recent: BTreeMap::new(),
            quiet: Vec::new(),
            settled: Vec::new(),
            until: Vec::new(),
            broken: BTreeMap::new(),
            without_model: BTreeSet::new(),
            has_failed: false,
            is_ending: false,
            has_all: false,
            look: None,
        };
        (handle, worker)
    }

    /// Restores and continues a run, if it exists and has not ended. Returns whether it does.
    ///
    /// # Errors
    /// The run cannot be restored.
    pub fn load(&mut self, run: &str) -> Result<bool, StoreError> {
        if !self.ensure(run, None)? {
            return Ok(false);
        }
        self.commit(Batch { due: vec![run.to_owned()], ..Batch::default() })?;
        Ok(true)
    }

    /// Continues all runs that have not ended. A run that only waits for an event or a deadline is restored when that comes. A run that
    /// cannot be restored does not affect the others: see [`Worker::broken`].
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn load_all(&mut self) -> Result<(), StoreError> {
        self.has_all = true;
        let mut due = Vec::new();
        let (running, damaged) = self.store.running()?;
        for run in damaged {
            self.broken.insert(run, "its saved state is not as it was written".into());
        }
        for (run, wake, is_open) in running {
            if self.runs.contains_key(&run) {
                continue;
            }
            if is_open {
                due.push(run);
            } else {
                self.wakes.set(&run, wake);
            }
        }
        // In pieces, so that one transaction does not grow with the number of runs.
        for due in due.chunks(BATCH) {
            self.commit(Batch { due: due.to_vec(), ..Batch::default() })?;
        }
        Ok(())
    }

    /// Works until the last handle is dropped.
    ///
    /// # Errors
    /// The file cannot be written. The runs remain as of the last commit.
    pub async fn work(&mut self) -> Result<(), StoreError> {
        let worked = self.work_on().await;
        // Dropping all channels ends the waiting of hosts, whose commands will not be executed any more.
        self.commands.close();
        while self.commands.try_recv().is_ok() {}
        self.quiet.clear();
        self.settled.clear();
        self.until.clear();
        worked
    }

    /// Waits for the calls under way and commits their results, so that nothing that was paid for is lost. No further call begins: the
    /// process that continues the runs makes those that are planned. People are not waited for.
    ///
    /// # Errors
    /// The file cannot be written.
    pub async fn finish_calls(&mut self) -> Result<(), StoreError> {
        self.is_ending = true;
        while !self.has_failed && self.flights.iter().any(|flight| !flight.is_persons) {
            let results = poll_fn(|cx| match self.poll_calls(cx) {
                results if results.is_empty() => Poll::Pending,
                results => Poll::Ready(results),
            });
            let results = results.await;
            self.commit(Batch { results, ..Batch::default() })?;
        }
        // What was paid for is not given up at the first failure.
        for _ in 0..LAST_TRIES {
            let Some(retry) = self.retry.take() else { break };
            retry.await;
            self.commit(Batch { is_retry: true, ..Batch::default() })?;
        }
        match self.present_outage().filter(|_| !self.unwritten.is_empty()) {
            Some(outage) => Err(StoreError::Outage(outage)),
            None => Ok(()),
        }
    }

    async fn work_on(&mut self) -> Result<(), StoreError> {
        loop {
            let batch = self.gather().await;
            if batch.is_over {
                return Ok(());
            }
            self.commit(batch)?;
            if self.retry.is_none() {
                self.tell();
            }
        }
    }

    /// The session of a run that is in memory.
    pub fn session(&self, run: &str) -> Option<&Session<M, PendingLines>> {
        self.runs.get(run).map(|running| running.run.session())
    }

    /// The reason why a run cannot be continued; `None` if it can.
    pub fn stopped(&self, run: &str) -> Option<&str> {
        let broken = self.broken.get(run).map(String::as_str);
        broken.or_else(|| self.runs.get(run)?.run.stopped())
    }

    /// Whether a run has stopped because no model could be reached and none has answered it before. The run continues when it is started
    /// again, also by a later process.
    pub fn has_no_model(&self, run: &str) -> bool {
        self.without_model.contains(run)
    }

    /// Restores a run, or creates it if there is none and `given` is set. Returns whether the run is in memory afterwards.
    pub(crate) fn ensure(&mut self, run: &str, given: Option<&str>) -> Result<bool, StoreError> {
        if self.runs.contains_key(run) {
            return Ok(true);
        }
        let found = self.store.saved(run)?;
        let refused = |why: String| StoreError::Run { run: run.to_owned(), why };
        let new = |given: &str| StoredRun {
            saved: String::new(),
            given: given.to_owned(),
            made_ms: wall(),
            is_fresh: true,
        };
        let Some(StoredRun { saved, given, made_ms, is_fresh }) = found.or(given.map(new)) else {
            return Ok(false);
        };
        let saved = if saved.is_empty() {
            None
        } else {
            Some(serde_json::from_str(&saved).map_err(|why| refused(why.to_string()))?)
        };
        let mut known = if saved.is_some() { self.store.known(run)? } else { BTreeMap::new() };
        // After an outage, calls of the run may still be under way, or have ended without being stored.
        let flights = self.flights.iter().filter(|flight| flight.run == run);
        let under_way: BTreeSet<String> = flights.map(|flight| flight.id.clone()).collect();
        known.extend(under_way.iter().map(|id| (id.clone(), Known::NotMade)));
        let ended = self.unwritten.iter().filter(|(of, ..)| of == run);
        known.extend(ended.map(|(_, id, outcome)| (id.clone(), Known::Ended(outcome.clone()))));
        // A row that is missing was deleted, and nobody knows whether its call was made.
        let missing = if is_fresh { Known::NotMade } else { Known::Started };
        let calls = (self.options.driver.clone(), StoredCalls { known, missing });
        let now = self.options.clock.now();
        let mail = letters(&self.store.connection, |of| of == run);
        let mail = mail.map_err(|error| self.store.fault(error))?;
        // The run's clock starts at the earliest answer in its inbox, so that deadlines after it do not fire first.
        let came = mail.iter().map(|mail| mail.came(now, self.options.is_real));
        let now = came.min().unwrap_or(now);
        let make = &mut self.options.make;
        // The host's function may panic; that stops this run, but not the others.
        let stepped = catch_unwind(AssertUnwindSafe(|| {
            Stepped::new((run, &given), saved.as_ref(), now, calls, make)
        }));
        let stepped = stepped.unwrap_or_else(|what| Err(panicked(&*what)));
        let running = Running {
            run: stepped.map_err(refused)?,
            given,
            made_ms,
            people: Vec::new(),
            under_way,
            is_restored: true,
            nth: 0,
        };
        self.runs.insert(run.to_owned(), running);
        Ok(true)
    }

    /// Updates the queues after a step of a run: the time of its next step, and whether it is busy.
    pub(crate) fn note(&mut self, run: &str) {
        let Some(running) = self.runs.get_mut(run) else { return };
        self.wakes.set(&run.to_owned(), running.run.wake());
        if self.options.service.is_some() {
            let next = self.recent.last_key_value().map_or(1, |(last, _)| last + 1);
            let name = self.recent.remove(&running.nth).unwrap_or_else(|| run.to_owned());
            running.nth = next;
            self.recent.insert(next, name);
        }
        if running.is_quiet() {
            self.busy.remove(run);
        } else if !self.busy.contains(run) {
            self.busy.insert(run.to_owned());
        }
    }

    /// Waits until something has happened, and collects it.
    async fn gather(&mut self) -> Batch {
        // Kept across polls: a clock forgets a sleep that is dropped.
        let mut sleep: Option<Sleep> = None;
        let is_real = self.options.is_real;
        poll_fn(|cx| {
            loop {
                let mut batch = self.poll_others(cx);
                if let Some(retry) = &mut self.retry {
                    batch.is_retry = retry.as_mut().poll(cx).is_ready();
                    if batch.is_retry || !batch.commands.is_empty() || batch.is_over {
                        return Poll::Ready(batch);
                    }
                    // Results wait with everything else that is to be written.
                    self.unwritten.append(&mut batch.results);
                    return Poll::Pending;
                }
                let now = self.options.clock.now();
                batch.due.extend(self.wakes.due(now).take(BATCH).cloned());
                let is_later = self.until.iter().any(|(until, _)| *until <= now);
                // The inbox is read at its interval also while events keep coming.
                batch.has_mail = match &mut self.look {
                    Some(look) => is_real && look.as_mut().poll(cx).is_ready(),
                    None => true,
                };
                if batch.has_mail {
                    self.look = Some(Box::pin(tokio::time::sleep(INBOX)));
                }
                let is_something = !batch.commands.is_empty()
                    || !batch.results.is_empty()
                    || !batch.due.is_empty();
                if is_something || batch.is_over || is_later || batch.has_mail {
                    return Poll::Ready(batch);
                }
                let until = self.until.iter().map(|(until, _)| *until);
                let at = until.chain(self.next_wake()).min();
                sleep = at.map(|at| self.options.clock.sleep_until(at));
                if sleep.as_mut().is_some_and(|sleep| sleep.as_mut().poll(cx).is_ready()) {
                    continue;
                }
                let is_waited =
                    !(self.quiet.is_empty() && self.settled.is_empty() && self.until.is_empty());
                if !(is_waited && self.options.clock.jump()) {
                    return Poll::Pending;
                }
            }
        })
        .await
    }

    /// Collects the commands of hosts and the results of calls.
    fn poll_others(&mut self, cx: &mut Context<'_>) -> Batch {
        let mut batch = Batch::default();
        while batch.commands.len() < BATCH {
            match self.commands.poll_recv(cx) {
                Poll::Ready(Some(command)) => batch.commands.push(command),
                Poll::Ready(None) => {
                    batch.is_over = batch.commands.is_empty();
                    break;
                }
                Poll::Pending => break,
            }
        }
        batch.results = self.poll_calls(cx);
        batch
    }

    /// Collects the results of calls.
    fn poll_calls(&mut self, cx: &mut Context<'_>) -> Vec<(String, String, Outcome)> {
        let (mut results, mut nth) = (Vec::new(), 0);
        while let Some(flight) = self.flights.get_mut(nth) {
            match flight.future.as_mut().poll(cx) {
                Poll::Ready(outcome) => {
                    let CallUnderWay { run, id, .. } = self.flights.remove(nth);
                    results.push((run, id, outcome));
                }
                Poll::Pending => nth += 1,
            }
        }
        results
    }

    /// The next time at which a run has to go on.
    fn next_wake(&self) -> Option<Instant> {
        // A virtual clock stands still unless a host waits for time to pass. A host that waits for quiet waits only for
        // busy runs, so that the deadlines of the others do not fire.
        if self.options.is_real || !self.until.is_empty() {
            self.wakes.first()
        } else if !(self.quiet.is_empty() && self.settled.is_empty()) {
            let busy = self.busy.iter().filter_map(|run| self.runs.get(run)?.run.wake());
            busy.min()
        } else {
            None
        }
    }

    /// Replies to the hosts that have waited for a point in time or for quiet, if it has come.
    fn tell(&mut self) {
        let now = self.options.clock.now();
        let is_due = self.wakes.first().is_some_and(|at| at <= now);
        if self.busy.is_empty() && self.backlog.is_empty() {
            self.quiet.drain(..).for_each(|reply| _ = reply.send(()));
        }
        let (busy, backlog) = (&self.busy, &self.backlog);
        let is_at_work = |run: &String| busy.contains(run) || backlog.has(run);
        for (run, reply) in std::mem::take(&mut self.settled) {
            if is_at_work(&run) {
                self.settled.push((run, reply));
            } else {
                // The send fails if the host has stopped waiting, which is fine.
                _ = reply.send(());
            }
        }
        // Runs that are due now are stepped first, so that the host sees the effects.
        if !is_due {
            let (over, rest) = std::mem::take(&mut self.until)
                .into_iter()
                .partition::<Vec<_>, _>(|(until, _)| *until <= now);
            self.until = rest;
            for (_, reply) in over {
                // The send fails if the host has stopped waiting, which is fine.
                _ = reply.send(());
            }
        }
    }
}

// A run in memory.

/// A run that this process continues.
pub(crate) struct Running<M> {
    pub(crate) run: Stepped<M>,
    /// The parameters with which the host created the run, as text.
    pub(crate) given: String,
    /// The time of its start, in milliseconds since 1970.
    pub(crate) made_ms: i64,
    /// The ids of the calls that wait for a person.
    pub(crate) people: Vec<String>,
    /// The ids of the calls that were under way when the run was restored, so that they are not made again.
    pub(crate) under_way: BTreeSet<String>,
    /// Whether the run has not been stepped since it was restored.
    pub(crate) is_restored: bool,
    /// The key of the run in `recent`; 0 before its first step.
    nth: u64,
}

impl<M: Machine> Running<M> {
    /// Moves the run's clock to `now` and executes everything that can be done at this moment.
    pub(crate) fn step(&mut self, now: Instant) {
        self.run.begin(now);
        self.run.step();
    }

    /// Whether nothing is under way that ends by itself: all open calls wait for people.
    pub(crate) fn is_quiet(&self) -> bool {
        self.run.stopped().is_some() || self.run.session().open_calls() <= self.people.len()
    }

    /// Delivers a person's answer to the question with this id, and stores it as the result of the call.
    pub(crate) fn reply(
        &mut self,
        tx: &Transaction<'_>,
        (run, question): (&str, &str),
        text: String,
    ) -> rusqlite::Result<Result<(), NotOpen>> {
        let outcome = Outcome::Answer(Ok(Answer::from(text.clone())));
        let outcome = serde_json::to_string(&outcome).unwrap_or_default();
        match self.run.reply(question, text) {
            Ok(call) => {
                let from = [Stage::Planned, Stage::Started];
                move_call(tx, (run, &call), &from, Stage::Done, Some(&outcome))?;
                Ok(Ok(()))
            }
            Err(why) => Ok(Err(NotOpen { became: became(tx, run, question)?, ..why })),
        }
    }

    /// Writes everything that has happened since the last commit.
    pub(crate) fn commit(&mut self, tx: &Transaction<'_>, run: &str) -> Result<Left, Unwritten> {
        self.is_restored = false;
        let mut left = self.run.take();
        left.planned.retain(|one| !self.under_way.contains(&one.id.to_string()));
        for (nth, line) in left.lines.iter().enumerate() {
            if !put_line(tx, run, line.seq, &serde_json::to_string(line)?)? {
                for line in &left.lines[..nth] {
                    tx.execute(
                        "DELETE FROM line WHERE run = ?1 AND seq = ?2",
                        (run, line.seq as i64),
                    )?;
                }
                return Err(Unwritten::Damaged(format!("line {} of its trace", line.seq)));
            }
        }
        for id in &left.doubted {
            move_call(tx, (run, id), &[Stage::Planned, Stage::Started], Stage::Doubt, None)?;
        }
        // Doubts come first, because a call in doubt may be planned again under the same id.
        for Planned { id, call } in &left.planned {
            let id = id.to_string();
            // A call that was planned and dropped in the same step is never made, so it gets no row.
            if !left.dropped.contains(&id) {
                put_call(tx, run, &id, &serde_json::to_string(call)?)?;
            }
        }
        for id in &left.dropped {
            move_call(tx, (run, id), &[Stage::Planned, Stage::Started], Stage::Cancelled, None)?;
            self.people.retain(|open| open != id);
            self.under_way.remove(id);
        }
        let saved = match &left.saved {
            Some(saved) => serde_json::to_string(saved)?,
            None => String::new(),
        };
        let session = self.run.session();
        let status = match (self.run.stopped(), session.status()) {
            (Some(_), _) => "stopped",
            (None, Some(status)) => status.word(),
            (None, None) => "running",
        };
        let head = Head {
            chart: &session.machine().tables().name,
            given: &self.given,
            status,
            stopped: self.run.stopped(),
            state: &session.configuration().join(", "),
            turns: session.turns(),
            calls: session.calls(),
            cost: session.spent().cost.unwrap_or(0),
            waits_for: &written_steps(&session.waits_for()),
            wake: self.run.wake(),
            now: self.run.now(),
            made_ms: self.made_ms,
            saved: &saved,
        };
        put_run(tx, run, &head)?;
        Ok(left)
    }
}

/// The reason why a run could not be written.
pub(crate) enum Unwritten {
    Sqlite(rusqlite::Error),
    Data(serde_json::Error),
    /// This part of the run is damaged. Nothing of the run has been written.
    Damaged(String),
}

impl From<rusqlite::Error> for Unwritten {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<serde_json::Error> for Unwritten {
    fn from(error: serde_json::Error) -> Self {
        Self::Data(error)
    }
}

impl Unwritten {
    pub(crate) fn of(self, path: &std::path::Path, run: &str) -> StoreError {
        match self {
            Self::Sqlite(error) => StoreError::of(path, error),
            Self::Data(why) => StoreError::Run { run: run.to_owned(), why: why.to_string() },
            Self::Damaged(what) => StoreError::damaged(path, &what, run),
        }
    }
}

// Outages: times in which the store cannot be written, because another process holds its lock or the disk is full.
//
// During an outage, the worker of a service answers readers, refuses events, and keeps the results of calls. A transaction that failed
// halfway leaves the sessions in memory ahead of the file. They are dropped, and restored from the file when it can be written again. Their
// calls stay under way: a restored session waits for them instead of making them again.

/// The time for which a single attempt to write waits for another process. Readers wait meanwhile, too.
const BLOCKED: Duration = Duration::from_millis(100);
/// The time between two attempts to write.
const RETRY: Duration = Duration::from_millis(200);
/// The time that events wait for another process that writes, before they are refused.
const PATIENCE: Duration = Duration::from_secs(10);
/// The number of attempts to write the last results before the process ends.
const LAST_TRIES: usize = 25;
/// The number of runs that are looked at after a commit, to drop those that have nothing to do.
const LOOKED_AT: usize = 64;

impl<M: Machine> Worker<'_, M> {
    pub(crate) fn present_outage(&self) -> Option<Outage> {
        *self.outage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_outage(&mut self, outage: Option<Outage>) {
        let before = std::mem::replace(
            &mut *self.outage.lock().unwrap_or_else(PoisonError::into_inner),
            outage,
        );
        if before != outage
            && let Some(service) = &mut self.options.service
        {
            (service.on_outage)(outage);
        }
    }

    /// Notes that a commit has failed. If the sessions in memory are ahead of the file, they are dropped.
    pub(crate) fn interrupt(&mut self, outage: Outage) {
        self.set_outage(Some(outage));
        // The timer is made when it is first polled: runs are also loaded outside of a tokio runtime.
        self.retry = Some(Box::pin(async { tokio::time::sleep(RETRY).await }));
        if std::mem::take(&mut self.is_ahead) {
            self.pending = PendingCommands::default();
            for run in std::mem::take(&mut self.runs).into_keys() {
                self.wakes.set(&run, None);
                self.pending.due.push(run);
            }
            self.recent.clear();
            self.busy.clear();
            self.backlog = Backlog::default();
        }
    }

    /// Notes that a commit has succeeded.
    pub(crate) fn resume(&mut self) {
        self.is_ahead = false;
        self.pending.since = None;
        if self.present_outage().is_some() {
            self.set_outage(None);
        }
    }

    /// Refuses the commands that wait to be written. If another process holds the lock, they may wait for it first.
    pub(crate) fn refuse_pending(&mut self) {
        let Some(outage) = self.present_outage() else { return };
        let now = tokio::time::Instant::now();
        let since = *self.pending.since.get_or_insert(now);
        if outage != Outage::Busy || now.duration_since(since) >= PATIENCE {
            self.pending.refuse();
            self.pending.since = None;
        }
    }

    /// Whether a run in memory can be dropped and restored without any difference: nothing is under way that ends by itself.
    fn is_at_rest(&self, run: &str) -> bool {
        let is_busy = self.busy.contains(run) || self.backlog.has(run);
        let has_flights = || self.flights.iter().any(|flight| flight.run == run);
        let is_stopped = |running: &Running<M>| running.run.stopped().is_some();
        !is_busy && !has_flights() && !self.runs.get(run).is_some_and(is_stopped)
    }

    /// Drops a run from memory if it has ended and has nothing under way.
    pub(crate) fn drop_ended(&mut self, run: &str) {
        let has_ended = |running: &Running<M>| running.run.session().status().is_some();
        if self.options.service.is_some()
            && self.runs.get(run).is_some_and(has_ended)
            && self.is_at_rest(run)
            && let Some(running) = self.runs.remove(run)
        {
            self.recent.remove(&running.nth);
        }
    }

    /// Drops those runs from memory that have had nothing to do for longest, if there are too many.
    pub(crate) fn drop_idle(&mut self) {
        let Some(service) = &self.options.service else { return };
        let most = service.at_rest;
        for _ in 0..LOOKED_AT {
            if self.recent.len() <= most {
                return;
            }
            let Some((_, run)) = self.recent.pop_first() else { return };
            if self.is_at_rest(&run) {
                self.runs.remove(&run);
            } else if let Some(running) = self.runs.get_mut(&run) {
                let next = self.recent.last_key_value().map_or(1, |(last, _)| last + 1);
                running.nth = next;
                self.recent.insert(next, run);
            }
        }
    }
}

// Runs that cannot be continued in this process, while the others can: the saved state is damaged or of another chart, or a host
// function has panicked.

/// The index of the column of a run's row that holds the reason why the run cannot continue.
const STOPPED: usize = 4;

impl<M: Machine> Worker<'_, M> {
    /// The runs that cannot be continued in this process, each with the reason. The next process tries them again.
    pub fn broken(&self) -> impl Iterator<Item = (&str, &str)> {
        self.broken.iter().map(|(run, why)| (run.as_str(), why.as_str()))
    }

    /// Whether a run exists and can be continued. A run that cannot be restored is marked as broken, which does not affect the others.
    pub(crate) fn has(&mut self, run: &str) -> Result<bool, StoreError> {
        if self.broken.contains_key(run) {
            return Ok(false);
        }
        match self.ensure(run, None) {
            Err(StoreError::Run { why, .. }) => self.breaks(run, why)?,
            Err(StoreError::Damaged { what, .. }) => {
                self.breaks(run, unreadable(&what))?;
            }
            Err(StoreError::Sqlite { why, .. })
                if why.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) =>
            {
                // Its row cannot be written either.
                self.broken.insert(run.to_owned(), unreadable("the file where its rows are"));
            }
            whether => return whether,
        }
        Ok(false)
    }

    /// Marks a run as broken, here and in its row. A row that is damaged itself is not changed.
    pub(crate) fn breaks(&mut self, run: &str, why: String) -> Result<(), StoreError> {
        if let Some(running) = self.runs.remove(run) {
            self.recent.remove(&running.nth);
        }
        self.busy.remove(run);
        self.wakes.set(&run.to_owned(), None);
        self.backlog.remove(run);
        let tx = self.store.transaction()?;
        let noted = note(&tx, run, &why).and_then(|()| tx.commit());
        self.broken.insert(run.to_owned(), why);
        noted.map_err(|error| self.store.fault(error))
    }
}

impl Store {
    /// Whether the columns of a row mean that the run is broken: it has not ended, and there is a reason why it cannot continue.
    pub(crate) fn is_broken(status: &str, stopped: Option<&str>) -> bool {
        status == "running" && stopped.is_some()
    }
}

/// Writes the reason into the row of a run. All other columns stay the same, including the times.
fn note(tx: &rusqlite::Transaction<'_>, run: &str, why: &str) -> rusqlite::Result<()> {
    let read = "SELECT * FROM run WHERE name = ?1";
    let row = tx
        .query_row(read, [run], |row| {
            whole(row, |row| {
                let count = row.as_ref().column_count() - 1;
                (0..count).map(|nth| row.get(nth)).collect::<Result<Vec<Value>, _>>()
            })
        })
        .optional()?;
    // A damaged row is left alone: a new checksum would hide the damage from `check`.
    let Some(mut columns) = row.flatten() else { return Ok(()) };
    if columns.get(3) == Some(&Value::Text("running".into())) {
        columns[STOPPED] = Value::Text(why.to_owned());
        let columns: Vec<&dyn ToSql> = columns.iter().map(|column| column as &dyn ToSql).collect();
        put(tx, PUT_RUN, &columns)?;
    }
    Ok(())
}

// The configuration of an engine.

type Make<'e, M> = Box<dyn FnMut(Making<'_>) -> Result<Session<M, PendingLines>, String> + 'e>;
type After<'e, M> =
    Box<dyn FnMut(&Committed<'_>, &Session<M, PendingLines>) -> Result<(), String> + 'e>;
type Show<'e> = Box<dyn FnMut(&str, &Line) -> io::Result<()> + 'e>;

/// A run that a commit has changed.
#[derive(Debug, Clone, Copy)]
pub struct Committed<'r> {
    /// The name of the run.
    pub run: &'r str,
    /// The time of its start, in milliseconds since 1970. It distinguishes the run from a pruned one of the same name.
    pub made_ms: i64,
}

/// How a process behaves that continues many runs for a long time.
pub struct Service<'e> {
    /// The maximum number of runs in memory that have nothing to do. The others are restored when something happens to them.
    pub at_rest: usize,
    /// Called when the store cannot be written any more, and with `None` when it can again. Meanwhile, events are refused, and what is to
    /// be written is tried again.
    pub on_outage: Box<dyn FnMut(Option<Outage>) + 'e>,
}

/// The configuration of an engine.
pub struct Options<'e, M> {
    /// Creates the session of a run, new or saved.
    pub make: Make<'e, M>,
    /// Makes the calls to models, people and tools.
    pub driver: Arc<dyn Driver>,
    /// The clock of all runs. It must start at [`Store::moment`](crate::Store::moment).
    pub clock: Arc<dyn Clock>,
    /// Whether time passes by itself, as on a real clock. A virtual clock moves only while a host waits for it.
    pub is_real: bool,
    /// Whether people answer by [`Letter::Reply`](crate::Letter::Reply). The driver is not asked for people's answers then.
    pub replies: bool,
    /// The maximum number of calls at the same time.
    pub workers: usize,
    /// Called with each line of a trace after it is committed.
    pub show: Show<'e>,
    /// Called with each run that a commit has changed, before the commit is announced. After a crash it may be called again for the same
    /// commit, so its external effects must be idempotent.
    pub after: After<'e, M>,
    /// The parameters of new runs, as text, stored with each.
    pub given: String,
    /// For a process that continues many runs. With `None`, the worker keeps its runs in memory, and ends if the store cannot be written.
    pub service: Option<Service<'e>>,
}
