//! The loop that goes on with runs: it gathers what has happened, commits all of it at once, and only then tells anybody and makes calls.

use crate::command::Command;
use crate::engine::Sqlite;
use crate::error::{StoreError, panicked};
use crate::file::{Store, wall};
use crate::inbox::letters;
use crate::options::Options;
use crate::read::StoredRun;
use crate::run::Running;
use chartc_core::host::Machine;
use chartc_core::machine::Instant;
use chartc_runtime::Session;
use chartc_runtime::clock::Sleep;
use chartc_runtime::stepped::{Journal, Outcome, Planned, Stepped};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// Commands that one commit takes.
const BATCH: usize = 512;

/// How often the inbox is looked at while runs wait in real time.
const INBOX: Duration = Duration::from_millis(200);

/// A call that is being made.
pub(crate) struct CallUnderWay {
    pub(crate) run: String,
    pub(crate) id: String,
    pub(crate) future: Pin<Box<dyn Future<Output = Outcome> + Send>>,
}

/// Does the work of an engine.
pub struct Worker<'e, M> {
    pub(crate) store: Store,
    pub(crate) options: Options<'e, M>,
    commands: mpsc::UnboundedReceiver<Command>,
    pub(crate) runs: BTreeMap<String, Running<M>>,
    /// When runs are to be stepped again. With many runs, each commit costs what it touches.
    pub(crate) wakes: BTreeSet<(Instant, String)>,
    /// The runs among `wakes` that were not restored yet.
    pub(crate) asleep: BTreeMap<String, Instant>,
    /// The runs that have something under way that will end by itself.
    pub(crate) busy: BTreeSet<String>,
    pub(crate) flights: Vec<CallUnderWay>,
    /// Committed plans that wait for a free worker.
    pub(crate) backlog: VecDeque<(String, Planned)>,
    pub(crate) quiet: Vec<oneshot::Sender<()>>,
    /// Those who wait for one run to be quiet.
    pub(crate) settled: Vec<(String, oneshot::Sender<()>)>,
    pub(crate) until: Vec<(Instant, oneshot::Sender<()>)>,
    /// Runs that cannot go on here, and why.
    pub(crate) broken: BTreeMap<String, String>,
    /// Those of them that found no model to ask. They are tried again when they are begun again.
    pub(crate) without_model: BTreeSet<String>,
    /// Whether a commit has failed: what is in memory is not what is in the file.
    pub(crate) has_failed: bool,
    /// Whether all runs of the store go on here, also those that were not restored yet.
    pub(crate) has_all: bool,
    /// When the inbox is looked at next; `None` for at once.
    look: Option<Pin<Box<tokio::time::Sleep>>>,
}

/// What has happened since the last commit.
#[derive(Default)]
pub(crate) struct Batch {
    pub(crate) commands: Vec<Command>,
    pub(crate) results: Vec<(String, String, Outcome)>,
    pub(crate) due: Vec<String>,
    pub(crate) has_mail: bool,
    pub(crate) is_over: bool,
}

impl<'e, M: Machine> Worker<'e, M> {
    /// An engine on a store that this process owns: the handle, and its worker.
    pub fn new(store: Store, options: Options<'e, M>) -> (Sqlite, Self) {
        let (commands, receiver) = mpsc::unbounded_channel();
        let worker = Self {
            store,
            options,
            commands: receiver,
            runs: BTreeMap::new(),
            wakes: BTreeSet::new(),
            asleep: BTreeMap::new(),
            busy: BTreeSet::new(),
            flights: Vec::new(),
            backlog: VecDeque::new(),
            quiet: Vec::new(),
            settled: Vec::new(),
            until: Vec::new(),
            broken: BTreeMap::new(),
            without_model: BTreeSet::new(),
            has_failed: false,
            has_all: false,
            look: None,
        };
        (Sqlite { commands }, worker)
    }

    /// Goes on with a run of the store, if it is there and has not ended.
    ///
    /// # Errors
    /// It cannot be restored.
    pub fn load(&mut self, run: &str) -> Result<bool, StoreError> {
        if !self.ensure(run, None)? {
            return Ok(false);
        }
        self.commit(Batch { due: vec![run.to_owned()], ..Batch::default() })?;
        Ok(true)
    }

    /// Goes on with all runs that have not ended. Those that wait only for events or for their time are restored when it comes. One that
    /// cannot be restored does not keep the others from going on: see [`Worker::broken`].
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
            } else if let Some(at) = wake {
                self.wakes.insert((at, run.clone()));
                self.asleep.insert(run, at);
            }
        }
        for due in due.chunks(BATCH) {
            self.commit(Batch { due: due.to_vec(), ..Batch::default() })?;
        }
        Ok(())
    }

    /// Works until the last handle is dropped.
    ///
    /// # Errors
    /// The file cannot be written: the runs stand as they were committed last.
    pub async fn work(&mut self) -> Result<(), StoreError> {
        let worked = self.work_on().await;
        // Nobody waits for what will not come.
        self.commands.close();
        while self.commands.try_recv().is_ok() {}
        self.quiet.clear();
        self.settled.clear();
        self.until.clear();
        worked
    }

    async fn work_on(&mut self) -> Result<(), StoreError> {
        loop {
            let batch = self.gather().await;
            if batch.is_over {
                return Ok(());
            }
            self.commit(batch)?;
            self.tell();
        }
    }

    /// The session of a run that goes on here.
    pub fn session(&self, run: &str) -> Option<&Session<M, Journal>> {
        self.runs.get(run).map(|running| running.run.session())
    }

    /// Why a run cannot go on.
    pub fn stopped(&self, run: &str) -> Option<&str> {
        let broken = self.broken.get(run).map(String::as_str);
        broken.or_else(|| self.runs.get(run)?.run.stopped())
    }

    /// Whether a run has stopped because no model has answered it yet and none can be asked. It continues when it is begun again, also by
    /// the next process.
    pub fn has_no_model(&self, run: &str) -> bool {
        self.without_model.contains(run)
    }

    /// Whether a run is here now: one of the store, or a new one that is given something.
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
        };
        let Some(StoredRun { saved, given, made_ms }) = found.or(given.map(new)) else {
            return Ok(false);
        };
        let saved = if saved.is_empty() {
            None
        } else {
            Some(serde_json::from_str(&saved).map_err(|why| refused(why.to_string()))?)
        };
        let known = if saved.is_some() { self.store.known(run)? } else { BTreeMap::new() };
        let calls = (self.options.driver.clone(), known);
        let now = self.options.clock.now();
        let mail = letters(&self.store.connection, |of| of == run);
        let mail = mail.map_err(|error| self.store.fault(error))?;
        // It goes on from when the first answer came.
        let came = mail.iter().map(|mail| mail.came(now, self.options.is_real));
        let now = came.min().unwrap_or(now);
        let make = &mut self.options.make;
        let stepped = catch_unwind(AssertUnwindSafe(|| {
            Stepped::new((run, &given), saved.as_ref(), now, calls, make)
        }));
        let stepped = stepped.unwrap_or_else(|what| Err(panicked(&*what)));
        let running = Running {
            run: stepped.map_err(refused)?,
            given,
            made_ms,
            noted: self.asleep.remove(run),
            people: Vec::new(),
        };
        self.runs.insert(run.to_owned(), running);
        Ok(true)
    }

    /// Notes what a run waits for, after a step of it.
    pub(crate) fn note(&mut self, run: &str) {
        let Some(running) = self.runs.get_mut(run) else { return };
        let wake = running.run.wake();
        if running.noted != wake {
            if let Some(at) = running.noted {
                self.wakes.remove(&(at, run.to_owned()));
            }
            self.wakes.extend(wake.map(|at| (at, run.to_owned())));
            running.noted = wake;
        }
        if running.is_quiet() {
            self.busy.remove(run);
        } else if !self.busy.contains(run) {
            self.busy.insert(run.to_owned());
        }
    }

    /// Waits until something has happened.
    async fn gather(&mut self) -> Batch {
        // Held while time passes: a sleep that is dropped is not waited for.
        let mut sleep: Option<Sleep> = None;
        let is_real = self.options.is_real;
        poll_fn(|cx| {
            loop {
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
                let mut nth = 0;
                while let Some(flight) = self.flights.get_mut(nth) {
                    match flight.future.as_mut().poll(cx) {
                        Poll::Ready(outcome) => {
                            let CallUnderWay { run, id, .. } = self.flights.remove(nth);
                            batch.results.push((run, id, outcome));
                        }
                        Poll::Pending => nth += 1,
                    }
                }
                let now = self.options.clock.now();
                let due = self.wakes.iter().take_while(|(at, _)| *at <= now).take(BATCH);
                batch.due.extend(due.map(|(_, run)| run.clone()));
                let is_later = self.until.iter().any(|(until, _)| *until <= now);
                // Also where events come more often than anybody looks.
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
                // Nobody waits for a deadline in virtual time, unless time is to pass.
                let wake = if is_real || !self.until.is_empty() {
                    self.wakes.first().map(|(at, _)| *at)
                } else if !(self.quiet.is_empty() && self.settled.is_empty()) {
                    let busy = self.busy.iter().filter_map(|run| self.runs.get(run)?.run.wake());
                    busy.min()
                } else {
                    None
                };
                let until = self.until.iter().map(|(until, _)| *until);
                let at = until.chain(wake).min();
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

    /// Tells those who wait for time or for quiet.
    fn tell(&mut self) {
        let now = self.options.clock.now();
        let is_due = self.wakes.first().is_some_and(|(at, _)| *at <= now);
        if self.busy.is_empty() && self.backlog.is_empty() {
            self.quiet.drain(..).for_each(|reply| _ = reply.send(()));
        }
        let (busy, backlog) = (&self.busy, &self.backlog);
        let is_at_work =
            |run: &String| busy.contains(run) || backlog.iter().any(|(of, _)| of == run);
        for (run, reply) in std::mem::take(&mut self.settled) {
            if is_at_work(&run) {
                self.settled.push((run, reply));
            } else {
                // Whoever does not wait any more is not told.
                _ = reply.send(());
            }
        }
        if !is_due {
            let (over, rest) = std::mem::take(&mut self.until)
                .into_iter()
                .partition::<Vec<_>, _>(|(until, _)| *until <= now);
            self.until = rest;
            for (_, reply) in over {
                // Whoever does not wait any more is not told.
                _ = reply.send(());
            }
        }
    }
}
