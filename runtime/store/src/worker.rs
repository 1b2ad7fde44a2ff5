//! The loop that goes on with runs: it gathers what has happened, commits all of it at once, and only then tells anybody and makes calls.

use crate::clock::Moment;
use crate::engine::Sqlite;
use crate::error::StoreError;
use crate::file::{Store, move_call};
use crate::inbox::Letter;
use crate::planner::{Planned, Planner, made};
use crate::row::{Call, Outcome, Stage};
use crate::run::{Left, Running};
use chartc_core::machine::{Instant, Receipt};
use chartc_runtime::agents::{AgentState, EngineError, Event, Reply, hand_over};
use chartc_runtime::clock::{Clock, Sleep};
use chartc_runtime::driver::Driver;
use chartc_runtime::oracle::{Answer, Kind};
use chartc_runtime::trace::{self, Line};
use chartc_runtime::{Saved, Saves, Session};
use rusqlite::{OptionalExtension, params};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// Commands that one commit takes.
const BATCH: usize = 512;

/// How often the inbox is looked at while runs wait in real time.
const INBOX: Duration = Duration::from_millis(200);

pub(crate) enum Command {
    Fire(String, Event, oneshot::Sender<Result<Reply, EngineError>>),
    Read(String, oneshot::Sender<Option<AgentState>>),
    Has(String, String, oneshot::Sender<bool>),
    Now(oneshot::Sender<Instant>),
    Quiet(oneshot::Sender<()>),
    Advance(u64, oneshot::Sender<()>),
}

/// The lines of a run's trace that are not committed yet.
#[derive(Debug, Clone, Default)]
pub struct Journal(Arc<Mutex<Vec<Line>>>);

impl Journal {
    pub(crate) fn take(&self) -> Vec<Line> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl trace::Sink for Journal {
    fn line(&mut self, line: &Line) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(line.clone());
        Ok(())
    }
}

/// What the session of a run is made of.
pub struct Making<'m> {
    /// The name of the run.
    pub run: &'m str,
    /// The session's clock.
    pub clock: Arc<dyn Clock>,
    /// The session's driver: see [`Session::with_driver`].
    pub driver: Arc<dyn Driver>,
    /// The session's trace.
    pub journal: Journal,
    /// The run so far, whose machine is to be restored; `None` for a new one.
    pub saved: Option<&'m Saved>,
}

type Make<'e, M> = Box<dyn FnMut(Making<'_>) -> Result<Session<M, Journal>, String> + 'e>;
type Show<'e> = Box<dyn FnMut(&str, &Line) -> io::Result<()> + 'e>;

/// How an engine works.
pub struct Options<'e, M> {
    /// Makes the session of a run.
    pub make: Make<'e, M>,
    /// Makes the calls.
    pub driver: Arc<dyn Driver>,
    /// Tells the time, from [`Store::last_moment`] on.
    pub clock: Arc<dyn Clock>,
    /// Whether the clock goes on by itself.
    pub is_real: bool,
    /// Whether people answer by [`Letter::Reply`], and the driver is not asked for them.
    pub replies: bool,
    /// Calls under way at once, at most.
    pub workers: usize,
    /// Shown each line of a trace once it is committed.
    pub show: Show<'e>,
    /// What hosts gave to the runs that begin.
    pub given: String,
}

/// A call that is being made.
struct Flight {
    run: String,
    id: String,
    future: Pin<Box<dyn Future<Output = Outcome> + Send>>,
}

/// Does the work of an engine.
pub struct Worker<'e, M> {
    store: Store,
    options: Options<'e, M>,
    commands: mpsc::UnboundedReceiver<Command>,
    runs: BTreeMap<String, Running<M>>,
    flights: Vec<Flight>,
    /// Committed plans that wait for a free worker.
    backlog: VecDeque<(String, Planned)>,
    quiet: Vec<oneshot::Sender<()>>,
    until: Vec<(Instant, oneshot::Sender<()>)>,
}

/// What has happened since the last commit.
#[derive(Default)]
struct Batch {
    commands: Vec<Command>,
    results: Vec<(String, String, Outcome)>,
    due: Vec<String>,
    is_over: bool,
}

/// What is said once the commit is done.
enum Ack {
    Fired(oneshot::Sender<Result<Reply, EngineError>>, Result<Reply, EngineError>),
    Read(oneshot::Sender<Option<AgentState>>, Option<AgentState>),
    Has(oneshot::Sender<bool>, bool),
}

impl<'e, M: Saves> Worker<'e, M> {
    /// An engine on a store that this process owns: the handle, and its worker.
    pub fn new(store: Store, options: Options<'e, M>) -> (Sqlite, Self) {
        let (commands, receiver) = mpsc::unbounded_channel();
        let worker = Self {
            store,
            options,
            commands: receiver,
            runs: BTreeMap::new(),
            flights: Vec::new(),
            backlog: VecDeque::new(),
            quiet: Vec::new(),
            until: Vec::new(),
        };
        (Sqlite { commands }, worker)
    }

    /// Goes on with a run of the store, if it is there and has not ended.
    ///
    /// # Errors
    /// It cannot be restored.
    pub fn load(&mut self, run: &str) -> Result<bool, StoreError> {
        if !self.ensure(run, false)? {
            return Ok(false);
        }
        self.commit(Batch { due: vec![run.to_owned()], ..Batch::default() })?;
        Ok(true)
    }

    /// Goes on with all runs that have not ended.
    ///
    /// # Errors
    /// One cannot be restored.
    pub fn load_all(&mut self) -> Result<(), StoreError> {
        for run in self.store.running()? {
            self.load(&run)?;
        }
        Ok(())
    }

    /// Works until the last handle is dropped.
    ///
    /// # Errors
    /// The file cannot be written: the runs stand as they were committed last.
    pub async fn work(&mut self) -> Result<(), StoreError> {
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
        self.runs.get(run).map(|running| &running.session)
    }

    /// Why a run cannot go on.
    pub fn stopped(&self, run: &str) -> Option<&str> {
        self.runs.get(run)?.stopped.as_deref()
    }

    /// Whether a run is here now: one of the store, or a new one.
    fn ensure(&mut self, run: &str, begins: bool) -> Result<bool, StoreError> {
        if self.runs.contains_key(run) {
            return Ok(true);
        }
        let found = self.store.saved(run)?;
        if found.is_none() && !begins {
            return Ok(false);
        }
        let refused = |why: String| StoreError::Run { run: run.to_owned(), why };
        let (saved, given) = match found {
            Some((text, given)) if !text.is_empty() => {
                (Some(Saved::read(&text).map_err(refused)?), given)
            }
            Some((_, given)) => (None, given),
            None => (None, self.options.given.clone()),
        };
        let known = if saved.is_some() { self.store.known(run)? } else { BTreeMap::new() };
        let planner = Arc::new(Planner::new(self.options.driver.clone(), known));
        let now = saved.as_ref().map_or(0, Saved::now).max(self.options.clock.now());
        let (moment, journal) = (Arc::new(Moment::at(now)), Journal::default());
        let making = Making {
            run,
            clock: moment.clone(),
            driver: planner.clone(),
            journal: journal.clone(),
            saved: saved.as_ref(),
        };
        let mut session = (self.options.make)(making).map_err(refused)?;
        if let Some(saved) = &saved {
            session.take_over(saved).map_err(|why| refused(why.to_string()))?;
        }
        let running = Running {
            session,
            planner,
            moment,
            journal,
            given,
            wake: None,
            stopped: None,
            people: Vec::new(),
        };
        self.runs.insert(run.to_owned(), running);
        Ok(true)
    }

    /// Waits until something has happened.
    async fn gather(&mut self) -> Batch {
        // Held while time passes: a sleep that is dropped is not waited for.
        let mut sleep: Option<Sleep> = None;
        let mut inbox = Box::pin(tokio::time::sleep(INBOX));
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
                            let Flight { run, id, .. } = self.flights.remove(nth);
                            batch.results.push((run, id, outcome));
                        }
                        Poll::Pending => nth += 1,
                    }
                }
                let now = self.options.clock.now();
                let due = self.runs.iter().filter(|(_, one)| one.wake.is_some_and(|at| at <= now));
                batch.due.extend(due.map(|(run, _)| run.clone()));
                let is_later = self.until.iter().any(|(until, _)| *until <= now);
                let has_mail = is_real && inbox.as_mut().poll(cx).is_ready();
                let is_something = !batch.commands.is_empty()
                    || !batch.results.is_empty()
                    || !batch.due.is_empty();
                if is_something || batch.is_over || is_later || has_mail {
                    return Poll::Ready(batch);
                }
                // Nobody waits for a deadline in virtual time, unless time is to pass.
                let is_waited = |one: &Running<M>| {
                    is_real || !self.until.is_empty() || (!self.quiet.is_empty() && !one.is_quiet())
                };
                let wakes = self.runs.values().filter(|one| is_waited(one));
                let wakes = wakes.filter_map(|one| one.wake);
                let at = wakes.chain(self.until.iter().map(|(until, _)| *until)).min();
                sleep = at.map(|at| self.options.clock.sleep_until(at));
                if sleep.as_mut().is_some_and(|sleep| sleep.as_mut().poll(cx).is_ready()) {
                    continue;
                }
                let is_waited = !self.quiet.is_empty() || !self.until.is_empty();
                if !(is_waited && self.options.clock.jump()) {
                    return Poll::Pending;
                }
            }
        })
        .await
    }

    /// Takes a batch in one commit, makes it known, and makes the calls that it plans.
    fn commit(&mut self, batch: Batch) -> Result<(), StoreError> {
        let now = self.options.clock.now();
        let mut acks = Vec::new();
        let mut fired = Vec::new();
        for command in batch.commands {
            match command {
                Command::Now(reply) => drop(reply.send(now)),
                Command::Quiet(reply) => self.quiet.push(reply),
                Command::Advance(milliseconds, reply) => {
                    self.until.push((now.saturating_add(milliseconds), reply));
                }
                Command::Has(run, event, reply) => {
                    let has = self.reply(&run, &event)?.is_some();
                    acks.push(Ack::Has(reply, has));
                }
                Command::Read(run, reply) => {
                    let state = if self.ensure(&run, false)? {
                        self.runs.get(&run).map(Running::state)
                    } else {
                        None
                    };
                    acks.push(Ack::Read(reply, state));
                }
                Command::Fire(run, event, reply) => match self.ensure(&run, true) {
                    Ok(_) => fired.push((run, event, reply)),
                    Err(StoreError::Run { run, why }) => {
                        acks.push(Ack::Fired(reply, Err(EngineError::Stopped { agent: run, why })));
                    }
                    Err(fault) => return Err(fault),
                },
            }
        }
        let letters = self.store.letters(|run| self.runs.contains_key(run))?;
        let path = self.store.path().to_owned();
        let boot = self.store.boot;
        let tx = self.store.transaction()?;
        let fault = |error| StoreError::of(&path, error);
        let mut touched: BTreeSet<String> = BTreeSet::new();
        for running in self.runs.values() {
            running.moment.step(now);
        }
        for (run, id, outcome) in batch.results {
            let Some(running) = self.runs.get_mut(&run) else { continue };
            let text = serde_json::to_string(&outcome).unwrap_or_default();
            let from = [Stage::Planned, Stage::Started];
            if move_call(&tx, (&run, &id), &from, Stage::Done, Some(&text), boot).map_err(fault)? {
                running.planner.end(&id, outcome);
            }
            running.people.retain(|(_, open)| *open != id);
            touched.insert(run);
        }
        for (number, run, letter) in letters {
            tx.execute("DELETE FROM inbox WHERE number = ?1", [number]).map_err(fault)?;
            let Some(running) = self.runs.get_mut(&run) else { continue };
            touched.insert(run.clone());
            match letter {
                Letter::Reply(step, text) => {
                    let open = running.people.iter().position(|(name, _)| *name == step);
                    let Some(open) = open else { continue };
                    let (_, id) = running.people.remove(open);
                    let outcome = Outcome::Answer(Ok(Answer::from(text)));
                    let text = serde_json::to_string(&outcome).unwrap_or_default();
                    let from = [Stage::Planned, Stage::Started];
                    move_call(&tx, (&run, &id), &from, Stage::Done, Some(&text), boot)
                        .map_err(fault)?;
                    running.planner.end(&id, outcome);
                }
                Letter::Event(name, data) => {
                    let event = Event { id: format!("inbox:{number}"), name, data };
                    // What does not fit has changed nothing; nobody is there to be told.
                    drop(hand_over(&mut running.session, &event));
                }
            }
        }
        for (run, event, reply) in fired {
            let Some(running) = self.runs.get_mut(&run) else { continue };
            let known: Option<String> = tx
                .query_row(
                    "SELECT reply FROM event WHERE run = ?1 AND id = ?2",
                    [&run, &event.id],
                    |row| row.get(0),
                )
                .optional()
                .map_err(fault)?;
            if let Some(known) = known {
                acks.push(Ack::Fired(reply, Ok(replied(&known, true))));
                continue;
            }
            if let Some(why) = &running.stopped {
                let why = why.clone();
                acks.push(Ack::Fired(reply, Err(EngineError::Stopped { agent: run, why })));
                continue;
            }
            touched.insert(run.clone());
            let taken = match hand_over(&mut running.session, &event) {
                Ok(receipt) => {
                    let one = Reply { receipt, at: now, is_repeated: false };
                    if receipt != Receipt::Busy {
                        tx.execute(
                            "INSERT INTO event VALUES (?1, ?2, ?3, ?4)",
                            params![run, event.id, said(one), now as i64],
                        )
                        .map_err(fault)?;
                    }
                    Ok(one)
                }
                Err(why) if why.is_about_input() => {
                    Err(EngineError::Event { agent: run.clone(), why })
                }
                Err(why) => {
                    running.stopped = Some(why.to_string());
                    Err(EngineError::Stopped { agent: run.clone(), why: why.to_string() })
                }
            };
            acks.push(Ack::Fired(reply, taken));
            running.step();
        }
        touched.extend(batch.due);
        let mut left = Vec::new();
        for run in touched {
            let Some(running) = self.runs.get_mut(&run) else { continue };
            running.step();
            let rest = running.commit(&tx, &run).map_err(|why| why.of(&path, &run))?;
            left.push((run, rest));
        }
        tx.commit().map_err(fault)?;
        for ack in acks {
            // Whoever does not wait any more is not told.
            match ack {
                Ack::Fired(to, reply) => drop(to.send(reply)),
                Ack::Read(to, state) => drop(to.send(state)),
                Ack::Has(to, has) => drop(to.send(has)),
            }
        }
        for (run, Left { lines, planned, dropped }) in left {
            for line in &lines {
                (self.options.show)(&run, line).map_err(StoreError::Shown)?;
            }
            self.flights.retain(|flight| flight.run != run || !dropped.contains(&flight.id));
            self.backlog.extend(planned.into_iter().map(|one| (run.clone(), one)));
            let is_dropped = |id: &String| dropped.contains(id);
            self.backlog.retain(|(of, one)| *of != run || !is_dropped(&one.id.to_string()));
        }
        self.begin()
    }

    /// Makes the calls for which there is a worker, after a commit that says so.
    fn begin(&mut self) -> Result<(), StoreError> {
        let path = self.store.path().to_owned();
        let fault = |error| StoreError::of(&path, error);
        let mut begun = Vec::new();
        let mut later = VecDeque::new();
        while let Some((run, planned)) = self.backlog.pop_front() {
            let is_persons = matches!(&planned.call, Call::Question(q) if q.kind == Kind::Human);
            if is_persons && self.options.replies {
                if let (Some(running), Call::Question(question)) =
                    (self.runs.get_mut(&run), &planned.call)
                {
                    let step = person(question);
                    running.people.push((step, planned.id.to_string()));
                }
            } else if self.flights.len() + begun.len() < self.options.workers {
                begun.push((run, planned));
            } else {
                later.push_back((run, planned));
            }
        }
        self.backlog = later;
        if begun.is_empty() {
            return Ok(());
        }
        let boot = self.store.boot;
        let tx = self.store.transaction()?;
        for (run, planned) in begun {
            let id = planned.id.to_string();
            let is_mine =
                move_call(&tx, (&run, &id), &[Stage::Planned], Stage::Started, None, boot)
                    .map_err(fault)?;
            if is_mine {
                let driver = self.options.driver.clone();
                let future = Box::pin(made(driver, planned.id, planned.call));
                self.flights.push(Flight { run, id, future });
            }
        }
        tx.commit().map_err(fault)
    }

    /// Tells those who wait for time or for quiet.
    fn tell(&mut self) {
        let now = self.options.clock.now();
        let is_due = self.runs.values().any(|one| one.wake.is_some_and(|at| at <= now));
        let is_quiet = self.runs.values().all(Running::is_quiet) && self.backlog.is_empty();
        if is_quiet {
            self.quiet.drain(..).for_each(|reply| _ = reply.send(()));
        }
        if !is_due {
            let (over, rest) = std::mem::take(&mut self.until)
                .into_iter()
                .partition::<Vec<_>, _>(|(until, _)| *until <= now);
            self.until = rest;
            over.into_iter().for_each(|(_, reply)| _ = reply.send(()));
        }
    }

    fn reply(&self, run: &str, event: &str) -> Result<Option<Reply>, StoreError> {
        let read = "SELECT reply FROM event WHERE run = ?1 AND id = ?2";
        let found: Option<String> = self
            .store
            .connection
            .query_row(read, [run, event], |row| row.get(0))
            .optional()
            .map_err(|error| self.store.fault(error))?;
        Ok(found.map(|said| replied(&said, true)))
    }
}

/// The name of a step that a person answers, with the way to it.
fn person(question: &chartc_runtime::oracle::Question) -> String {
    let way =
        if question.child.is_empty() { String::new() } else { format!("{}/", question.child) };
    match question.element {
        Some(element) => format!("{way}{}[{element}]", question.step),
        None => format!("{way}{}", question.step),
    }
}

/// A reply as it is stored: the receipt, and the time.
fn said(reply: Reply) -> String {
    let word = match reply.receipt {
        Receipt::Handled => "handled",
        Receipt::Unhandled => "unhandled",
        Receipt::Busy => "busy",
        Receipt::Closed => "closed",
        Receipt::Refused => "refused",
    };
    format!("{word} {}", reply.at)
}

fn replied(said: &str, is_repeated: bool) -> Reply {
    let (word, at) = said.split_once(' ').unwrap_or((said, "0"));
    let receipt = match word {
        "handled" => Receipt::Handled,
        "unhandled" => Receipt::Unhandled,
        "busy" => Receipt::Busy,
        "closed" => Receipt::Closed,
        _ => Receipt::Refused,
    };
    Reply { receipt, at: at.parse().unwrap_or(0), is_repeated }
}
