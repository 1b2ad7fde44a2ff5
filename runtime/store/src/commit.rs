//! Commits: everything that has happened since the last commit, and everything that it causes, in one transaction.
//!
//! **The problem.** Results, letters, answers and events for many runs arrive together. Each must take effect once, in an order that does
//! not depend on chance. No host may learn of an effect that a crash could undo, and a run that panics must not harm the others.
//!
//! **The idea.** The order is: results of calls, letters from the inbox, answers of people, events, and then all steps that are due. If a
//! run panics, its part of the commit is undone, and the others are committed. Hosts get their replies only after the commit ([`Ack`]), and
//! a call is made only after a second commit that marks it as started. An event has an id with a row of its own, so a repeated one gets the
//! earlier reply and has no effect.
//!
//! If the transaction itself fails, the state in memory differs from the file. Then the worker refuses all further commits (`has_failed`).
//!
//! **Example.** A batch with the result of a call of `a`, an event for `b` and a letter for `c`; `c` panics:
//!
//! ```text
//! write           take_result(a), take_letter(c) catches the panic, take_event(b), step_all(a, b)
//! transaction     the rows of `a` and `b`; the letter of `c` stays in the inbox
//! after it        the seal, `options.after`, `c` is marked as broken, the sender of `b` gets its receipt
//! begin           a second transaction: the calls that `a` and `b` have planned are started, and then made
//! ```

use crate::command::{Asked, Command, Fired, PersonAnswer, Piece};
use crate::error::{Outage, StoreError, panicked, unreadable};
use crate::file::{Store, counted, put_clock};
use crate::rows::{Letter, Mail, PUT_EVENT, Stage, forget, letters, move_call, put, reply, said};
use crate::worker::{Batch, CallUnderWay, Committed, Running, Unwritten, Worker};
use chartc_core::host::Machine;
use chartc_core::machine::{Instant, Receipt};
use chartc_runtime::agents::{AgentState, EngineError, Event, Reply, TURN};
use chartc_runtime::journal::{Call, Outcome, made};
use chartc_runtime::oracle::{Kind, OracleError};
use chartc_runtime::stepped::Left;
use rusqlite::{Transaction, params};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use tokio::sync::oneshot;

fn stopped(agent: String, why: &str) -> EngineError {
    EngineError::Stopped { agent, why: why.to_owned() }
}

impl<M: Machine> Worker<'_, M> {
    /// Commits a batch, replies to the hosts, and starts the calls that the batch has planned.
    pub(crate) fn commit(&mut self, batch: Batch) -> Result<(), StoreError> {
        if self.has_failed {
            return Err(StoreError::Closed);
        }
        self.unwritten.extend(batch.results);
        self.pending.due.extend(batch.due);
        let mut done = Done::default();
        let now = self.options.clock.now();
        let mut committed = self.sort(batch.commands, now, &mut done);
        let is_tried = committed.is_ok() && (self.retry.is_none() || batch.is_retry);
        if is_tried {
            self.retry = None;
            committed = self.commit_all(batch.has_mail, now, &mut done);
        }
        match committed {
            Ok(()) if is_tried => self.resume(),
            Ok(()) => {}
            Err(why) => match why.outage().filter(|_| self.options.service.is_some()) {
                Some(outage) => self.interrupt(outage),
                None => {
                    self.has_failed = true;
                    // Nothing is written any more: the senders get an error.
                    self.pending.refuse();
                    return Err(why);
                }
            },
        }
        // Reads need no commit. The senders of other commands get the outage as an error when their channels are dropped.
        for ack in done.acks {
            ack.send_if_read(&self.store);
        }
        self.refuse_pending();
        Ok(())
    }

    fn commit_all(
        &mut self,
        has_mail: bool,
        now: Instant,
        done: &mut Done,
    ) -> Result<(), StoreError> {
        if !matches!(self.present_outage(), None | Some(Outage::Busy)) {
            // A write without runs: if it fails, no session in memory has to be dropped again.
            self.store.write(|_| Ok(()))?;
        }
        self.put_aside_what_is_answered();
        let asked = std::mem::take(&mut self.pending.asked);
        let fired = self.ensure_asked(asked)?;
        self.pending.fired.extend(fired);
        let due = std::mem::take(&mut self.pending.due);
        let restored = self.restore_due(has_mail, &due);
        self.pending.due = due;
        restored?;
        let (left, number) = self.write(now, done)?;
        // After the transaction: a seal for a commit that was rolled back would look like a loss.
        if let Some(number) = number {
            self.store.seal(number);
        }
        // Before the replies: whoever reads the reply may rely on what `after` has done.
        for (run, _) in &left {
            let Some(running) = self.runs.get(run) else { continue };
            let committed = Committed { run, made_ms: running.made_ms };
            (self.options.after)(&committed, running.run.session())
                .map_err(|why| StoreError::Run { run: run.clone(), why })?;
        }
        self.without_model.append(&mut done.without_model);
        for ack in std::mem::take(&mut done.acks) {
            ack.send(&done.lost, &self.store);
        }
        let mut changed = Vec::new();
        for (run, left) in left {
            self.show_and_plan(&run, left)?;
            changed.push(run);
        }
        for (run, why) in &done.lost {
            self.breaks(run, why.clone())?;
        }
        self.begin()?;
        for run in changed.iter().chain(&done.read) {
            self.drop_ended(run);
        }
        self.drop_idle();
        Ok(())
    }

    /// Replies to the commands that need no commit, and sorts the others by the order in which a commit handles them.
    fn sort(
        &mut self,
        commands: Vec<Command>,
        now: Instant,
        done: &mut Done,
    ) -> Result<(), StoreError> {
        for command in commands {
            match command {
                Command::Now(reply) => drop(reply.send(now)),
                Command::Quiet(reply) => self.quiet.push(reply),
                Command::Settled(run, reply) => self.settled.push((run, reply)),
                Command::Look(look) => done.acks.push(Ack::Look(look)),
                Command::Forget(old, reply) => self.pending.forgets.push((old, reply)),
                Command::Advance(milliseconds, reply) => {
                    self.until.push((now.saturating_add(milliseconds), reply));
                }
                Command::Has(run, event, reply) => {
                    // The row of an event exists only if the event was taken in, so the answer is known even if the row is damaged.
                    let has = match self.store.has(&run, &event) {
                        Err(StoreError::Damaged { what, .. }) => {
                            self.breaks(&run, unreadable(&what))?;
                            true
                        }
                        has => has?,
                    };
                    done.acks.push(Ack::Has(reply, has));
                }
                Command::Read(run, reply) => self.read(run, reply, done)?,
                Command::Fire(run, event, reply) => {
                    let given = self.options.given.clone();
                    self.pending.asked.push(Asked { run, given, event, reply });
                }
                Command::Begin(run, given, event, reply) => {
                    // Starting the run again is the host's request to try the model again.
                    if self.without_model.remove(&run) {
                        self.broken.remove(&run);
                        self.pending.due.push(run.clone());
                    }
                    self.pending.asked.push(Asked { run, given, event, reply });
                }
                Command::Reply(run, question, text, to) => {
                    if self.has(&run)? {
                        self.pending.answers.push(PersonAnswer { run, question, text, to });
                        continue;
                    }
                    let why = self.broken.get(&run).map_or("there is no such run", String::as_str);
                    drop(to.send(Err(StoreError::Run { why: why.to_owned(), run })));
                }
            }
        }
        Ok(())
    }

    /// Reads the state of a run, which may restore it from the store.
    fn read(
        &mut self,
        run: String,
        reply: oneshot::Sender<Result<Option<AgentState>, EngineError>>,
        done: &mut Done,
    ) -> Result<(), StoreError> {
        let is_known = self.runs.contains_key(&run);
        let state = if self.has(&run)? {
            self.runs.get(&run).map(|running| running.run.state())
        } else if let Some(why) = self.broken.get(&run) {
            drop(reply.send(Err(stopped(run, why))));
            return Ok(());
        } else {
            None
        };
        match &state {
            // A run that has ended does not change any more.
            Some(state) if state.status.is_some() => done.read.push(run),
            // Reading has restored the run: it is stepped, too, and continues from here.
            Some(_) if !is_known => self.pending.due.push(run),
            Some(_) | None => {}
        }
        done.acks.push(Ack::Read(reply, state));
        Ok(())
    }

    /// Restores or creates the runs that events are for. Returns the events that have one; the others are refused.
    fn ensure_asked(&mut self, asked: Vec<Asked>) -> Result<Vec<Fired>, StoreError> {
        let mut fired = Vec::new();
        for Asked { run, given, event, reply } in asked {
            let begun = if self.has(&run)? {
                Ok(true)
            } else if let Some(why) = self.broken.get(&run) {
                drop(reply.send(Err(stopped(run, why))));
                continue;
            } else {
                self.ensure(&run, Some(&given))
            };
            match begun {
                Ok(_) => fired.push(Fired { run, event, to: reply }),
                Err(StoreError::Run { run, why }) => drop(reply.send(Err(stopped(run, &why)))),
                Err(fault) => return Err(fault),
            }
        }
        Ok(fired)
    }

    /// Restores the runs that are due, and those that have mail.
    fn restore_due(&mut self, has_mail: bool, due: &[String]) -> Result<(), StoreError> {
        let mut mail = Vec::new();
        if has_mail && self.has_all {
            let path = self.store.path().to_owned();
            let read = letters(&self.store.connection, |_| true);
            mail = read.map_err(|error| StoreError::of(&path, error))?;
        }
        for run in due.iter().chain(mail.iter().map(|mail| &mail.run)) {
            self.has(run)?;
        }
        Ok(())
    }

    /// The transaction. Returns what the runs have left to do after it, and the number of the commit, if it wrote anything.
    #[expect(clippy::type_complexity, reason = "two results, named in the sentence above")]
    fn write(
        &mut self,
        now: Instant,
        done: &mut Done,
    ) -> Result<(Vec<(String, Left)>, Option<i64>), StoreError> {
        let path = self.store.path().to_owned();
        let fault = |error| StoreError::of(&path, error);
        let is_real = self.options.is_real;
        let tx = self.store.transaction()?;
        // Until here nothing has changed, so a commit that cannot begin is tried again as it is.
        self.is_ahead = true;
        let pending = std::mem::take(&mut self.pending);
        let mut commit = Commit { tx: &tx, path: &path, now, runs: &mut self.runs, done };
        // Letters come before events of this batch, as they were written for the state of the last commit.
        let letters = letters(&tx, |run| commit.runs.contains_key(run)).map_err(fault)?;
        for (run, id, outcome) in &self.unwritten {
            commit.take_result(run, id, outcome).map_err(fault)?;
        }
        for mail in letters {
            commit.take_letter(mail, is_real).map_err(fault)?;
        }
        for answer in pending.answers {
            commit.take_answer(answer).map_err(fault)?;
        }
        for event in pending.fired {
            commit.take_event(event)?;
        }
        for (old, to) in pending.forgets {
            let piece = forget(&tx, &old, now).map_err(fault)?;
            commit.done.acks.push(Ack::Forgotten(to, piece));
        }
        commit.done.touched.extend(pending.due);
        let left = commit.step_all()?;
        commit.done.undo_what_is_lost(&tx).map_err(fault)?;
        let is_any = !left.is_empty() || !commit.done.lost.is_empty();
        let number = if is_any { Some(counted(&tx).map_err(fault)?) } else { None };
        if is_any {
            put_clock(&tx, now).map_err(fault)?;
        }
        tx.commit().map_err(fault)?;
        self.unwritten.clear();
        Ok((left, number))
    }

    /// Shows the lines of a committed run, and takes its planned calls into the backlog.
    fn show_and_plan(&mut self, run: &str, left: Left) -> Result<(), StoreError> {
        let Left { lines, planned, dropped, .. } = left;
        for line in &lines {
            (self.options.show)(run, line).map_err(StoreError::Shown)?;
        }
        if !dropped.is_empty() {
            self.flights.retain(|flight| flight.run != run || !dropped.contains(&flight.id));
            self.backlog.drop_calls(run, &dropped);
        }
        for one in planned.into_iter().filter(|one| !dropped.contains(&one.id.to_string())) {
            if !(self.options.replies && is_for_person(&one.call)) {
                self.backlog.push(run, one);
            } else if let Some(running) = self.runs.get_mut(run) {
                running.people.push(one.id.to_string());
            }
        }
        self.note(run);
        Ok(())
    }

    /// Marks planned calls as started, in a commit of their own, and then starts them, as many as `workers` allows.
    fn begin(&mut self) -> Result<(), StoreError> {
        if self.is_ending {
            return Ok(());
        }
        let path = self.store.path().to_owned();
        let fault = |error| StoreError::of(&path, error);
        let mut begun = Vec::new();
        let mut places = self.places();
        while let Some((run, planned)) = self.backlog.pop(|run| places.is_free(run)) {
            places.take(&run);
            begun.push((run, planned));
        }
        if begun.is_empty() {
            return Ok(());
        }
        let mut flights = Vec::new();
        let tx = self.store.transaction()?;
        for (run, planned) in begun {
            // A call that was cancelled since is no longer `planned`, and is not made.
            let id = planned.id.to_string();
            let is_mine = move_call(&tx, (&run, &id), &[Stage::Planned], Stage::Started, None)
                .map_err(fault)?;
            if is_mine {
                let driver = self.options.driver.clone();
                let is_persons = is_for_person(&planned.call);
                let future = Box::pin(made(driver, planned.id, planned.call));
                flights.push(CallUnderWay { run, id, future, is_persons });
            }
        }
        let number = counted(&tx).map_err(fault)?;
        tx.commit().map_err(fault)?;
        self.store.seal(number);
        self.flights.append(&mut flights);
        Ok(())
    }

    /// Drops runs that were restored while a call of theirs was under way, and have not been stepped since, if the call has ended now. They
    /// are restored once more, with the outcome: a session takes a result only for a call that it has planned.
    fn put_aside_what_is_answered(&mut self) {
        for (run, id, _) in &self.unwritten {
            let has_not_planned =
                |running: &Running<M>| running.is_restored && running.under_way.contains(id);
            if self.runs.get(run).is_some_and(has_not_planned) {
                self.runs.remove(run);
                self.pending.due.push(run.clone());
            }
        }
    }

    /// The places for calls, and who has them now.
    fn places(&self) -> Places {
        let (free, is_shared) = (self.options.workers, self.options.service.is_some());
        let mut places = Places { free, is_shared, taken: BTreeMap::new() };
        self.flights.iter().for_each(|flight| places.take(&flight.run));
        places
    }
}

/// The places for calls under way. In a service, a run may have as many as a quarter of those that are still free, and one in any case:
/// whoever comes later finds places, too.
struct Places {
    free: usize,
    is_shared: bool,
    taken: BTreeMap<String, usize>,
}

impl Places {
    fn is_free(&self, run: &str) -> bool {
        let taken = self.taken.get(run).copied().unwrap_or(0);
        self.free > 0 && (!self.is_shared || taken == 0 || taken < self.free / 4)
    }

    fn take(&mut self, run: &str) {
        self.free = self.free.saturating_sub(1);
        *self.taken.entry(run.to_owned()).or_default() += 1;
    }
}

fn is_for_person(call: &Call) -> bool {
    matches!(call, Call::Question(question) if question.kind == Kind::Human)
}

/// A transaction in progress, with the runs that it changes.
struct Commit<'c, M> {
    tx: &'c Transaction<'c>,
    path: &'c Path,
    now: Instant,
    runs: &'c mut BTreeMap<String, Running<M>>,
    done: &'c mut Done,
}

impl<M: Machine> Commit<'_, M> {
    fn take_result(&mut self, run: &str, id: &str, outcome: &Outcome) -> rusqlite::Result<()> {
        if !self.runs.contains_key(run) && is_unavailable(outcome) {
            // Another call of the run has found no model, which has stopped the run: this call must be made again, too.
            move_call(self.tx, (run, id), &[Stage::Started], Stage::Planned, None)?;
            return Ok(());
        }
        let text = serde_json::to_string(outcome).unwrap_or_default();
        let from = [Stage::Planned, Stage::Started];
        let was_open = move_call(self.tx, (run, id), &from, Stage::Done, Some(&text))?;
        let Some(running) = self.runs.get_mut(run) else { return Ok(()) };
        // A call that was dropped meanwhile has no step that waits for the result.
        if was_open {
            running.run.end(id, outcome.clone());
        }
        running.people.retain(|open| open != id);
        running.under_way.remove(id);
        self.done.touched.insert(run.to_owned());
        self.done.ended.push((run.to_owned(), id.to_owned()));
        Ok(())
    }

    fn take_letter(&mut self, mail: Mail, is_real: bool) -> rusqlite::Result<()> {
        let (number, run) = (mail.number, mail.run.clone());
        let came = mail.came(self.now, is_real);
        let (tx, now) = (self.tx, self.now);
        let Some(running) = self.runs.get_mut(&run) else { return Ok(()) };
        let taken = self.done.catch_panic(&run, || take(running, tx, mail, (came, now)));
        if taken.transpose()?.unwrap_or_default() {
            self.done.letters.push((run.clone(), number));
            self.done.touched.insert(run);
        }
        Ok(())
    }

    fn take_answer(&mut self, answer: PersonAnswer) -> rusqlite::Result<()> {
        let PersonAnswer { run, question, text, to } = answer;
        let (tx, now) = (self.tx, self.now);
        let Some(running) = self.runs.get_mut(&run) else { return Ok(()) };
        let seq = running.run.session().seq();
        let replied = self.done.catch_panic(&run, || -> rusqlite::Result<_> {
            // Deadlines before the answer fire before it.
            running.step(now);
            if let Some(why) = running.run.stopped() {
                return Ok(Err(StoreError::Run { run: run.clone(), why: why.to_owned() }));
            }
            let replied = running.reply(tx, (&run, &question), text)?;
            rusqlite::Result::Ok(
                replied.map_err(|why| StoreError::NotOpen { run: run.clone(), why }),
            )
        });
        // Even a refused answer may come after steps that have written trace lines.
        if running.run.session().seq() != seq {
            self.done.touched.insert(run.clone());
        }
        // If the run has panicked, the host gets that as an error instead (see [`Ack::send`]).
        let replied = replied.transpose()?.unwrap_or(Ok(()));
        self.done.acks.push(Ack::Replied(run, to, replied));
        Ok(())
    }

    fn take_event(&mut self, Fired { run, event, to }: Fired) -> Result<(), StoreError> {
        let now = self.now;
        let Some(running) = self.runs.get_mut(&run) else { return Ok(()) };
        running.run.begin(now);
        // An event with a known id was handled before a crash or a retry: it gets its earlier reply and has no effect.
        match reply(self.tx, self.path, &run, &event.id) {
            Ok(None) => {}
            Ok(Some(known)) => {
                self.done.acks.push(Ack::Fired(run, to, Ok(known)));
                return Ok(());
            }
            Err(StoreError::Damaged { what, .. }) => {
                let why = unreadable(&what);
                self.done.acks.push(Ack::Fired(run.clone(), to, Err(stopped(run.clone(), &why))));
                self.done.lost.insert(run, why);
                return Ok(());
            }
            Err(fault) => return Err(fault),
        }
        self.done.touched.insert(run.clone());
        let fired = self.done.catch_panic(&run, || {
            let seq = running.run.start() as i64;
            let taken = running.run.fire(&run, &event);
            running.step(now);
            (seq, taken.map(|receipt| Reply::new(event.content(), receipt, now)))
        });
        // If the run has panicked, the host gets that as an error (see [`Ack::send`]).
        let panic = || (0, Err(stopped(run.clone(), "it has panicked")));
        let (seq, taken) = fired.unwrap_or_else(panic);
        if let Ok(one) = &taken
            // An event that was not taken in gets no row, so that it can be sent again with the same id.
            && one.receipt != Receipt::Busy
        {
            let row = params![run, event.id, said(*one), now as i64, seq];
            put(self.tx, PUT_EVENT, row).map_err(|error| StoreError::of(self.path, error))?;
            self.done.taken.push((run.clone(), event.id));
        }
        self.done.acks.push(Ack::Fired(run, to, taken));
        Ok(())
    }

    /// Steps every run that has changed or is due, and writes it. Returns what each has left to do after the commit.
    fn step_all(&mut self) -> Result<Vec<(String, Left)>, StoreError> {
        let mut left = Vec::new();
        for run in std::mem::take(&mut self.done.touched) {
            let Some(running) = self.runs.get_mut(&run) else { continue };
            if self.done.catch_panic(&run, || running.step(self.now)).is_none() {
                continue;
            }
            // A run without a model keeps its last committed state, so that it can be tried again from there.
            if let (true, Some(why)) = (running.run.has_no_model(), running.run.stopped()) {
                self.done.lost.insert(run.clone(), why.to_owned());
                self.done.without_model.insert(run);
            } else {
                match running.commit(self.tx, &run) {
                    Ok(written) => left.push((run.clone(), written)),
                    Err(Unwritten::Damaged(what)) => {
                        self.done.lost.insert(run, unreadable(&what));
                    }
                    Err(why) => return Err(why.of(self.path, &run)),
                }
            }
        }
        Ok(left)
    }
}

/// Whether a call has failed because no model could be reached.
fn is_unavailable(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Answer(answer) => answer.as_ref().is_err_and(OracleError::is_unavailable),
        Outcome::Result(_) => false,
    }
}

/// Delivers a letter to its run. A letter that does not fit is noted in the trace, because its sender may be gone. Returns whether the
/// letter can be removed from the inbox.
fn take<M: Machine>(
    running: &mut Running<M>,
    tx: &Transaction<'_>,
    Mail { number, run, letter, .. }: Mail,
    (came, now): (Instant, Instant),
) -> rusqlite::Result<bool> {
    if running.run.stopped().is_some() {
        return Ok(false);
    }
    let run = run.as_str();
    match letter {
        Letter::Reply(question, text) => {
            // Deadlines before the answer's arrival fire first; those between the arrival and now fire after it.
            running.step(came);
            if let Err(why) = running.reply(tx, (run, &question), text)? {
                running.run.note(&question, &format!("an answer was not taken: {why}"));
            }
        }
        Letter::Event(name, data) => {
            // Deadlines that are due fire before the event.
            running.step(now);
            if name == TURN && running.run.session().machine().is_walking() {
                // The letter waits until the present turn has ended.
                return Ok(false);
            }
            let event = Event { id: letter_id(number), name, data };
            let seq = running.run.start() as i64;
            match running.run.fire(run, &event) {
                Ok(receipt) => {
                    let reply = Reply::new(event.content(), receipt, now);
                    put(tx, PUT_EVENT, params![run, event.id, said(reply), now as i64, seq])?;
                }
                Err(EngineError::Event { why, .. }) => {
                    running.run.note(&event.name, &format!("an event was not taken: {why}"));
                }
                // Nothing has changed, so the letter stays in the inbox.
                Err(EngineError::Stopped { .. } | EngineError::Away { .. }) => return Ok(false),
            }
        }
    }
    Ok(true)
}

// The state of a commit in progress, and the replies that are sent after it.

/// A reply to a host, sent after the commit.
enum Ack {
    Fired(String, oneshot::Sender<Result<Reply, EngineError>>, Result<Reply, EngineError>),
    Read(oneshot::Sender<Result<Option<AgentState>, EngineError>>, Option<AgentState>),
    Replied(String, oneshot::Sender<Result<(), StoreError>>, Result<(), StoreError>),
    Has(oneshot::Sender<bool>, bool),
    Look(Box<dyn FnOnce(&Store) + Send>),
    Forgotten(oneshot::Sender<Piece>, Piece),
}

impl Ack {
    /// Sends the reply. A host whose run is among the `lost` gets the reason instead. Sending fails if the host has stopped waiting,
    /// which is fine.
    fn send(self, lost: &BTreeMap<String, String>, store: &Store) {
        match self {
            Self::Fired(run, to, reply) => match lost.get(&run) {
                Some(why) => drop(to.send(Err(stopped(run, why)))),
                None => drop(to.send(reply)),
            },
            Self::Replied(run, to, reply) => match lost.get(&run) {
                Some(why) => drop(to.send(Err(StoreError::Run { run, why: why.to_owned() }))),
                None => drop(to.send(reply)),
            },
            Self::Read(to, state) => drop(to.send(Ok(state))),
            Self::Has(to, has) => drop(to.send(has)),
            Self::Look(look) => look(store),
            Self::Forgotten(to, piece) => drop(to.send(piece)),
        }
    }

    /// Sends the reply to a host that has only read, and drops it otherwise.
    fn send_if_read(self, store: &Store) {
        match self {
            Self::Read(..) | Self::Has(..) | Self::Look(_) => self.send(&BTreeMap::new(), store),
            Self::Fired(..) | Self::Replied(..) | Self::Forgotten(..) => {}
        }
    }
}

/// The changes of a commit so far.
#[derive(Default)]
struct Done {
    acks: Vec<Ack>,
    /// The runs that have changed.
    touched: BTreeSet<String>,
    /// The runs and ids of the events that were taken in.
    taken: Vec<(String, String)>,
    /// The runs and numbers of the letters that were delivered.
    letters: Vec<(String, i64)>,
    /// The runs and ids of the calls that have ended.
    ended: Vec<(String, String)>,
    /// The runs that were only read, and have ended.
    read: Vec<String>,
    /// The runs that have panicked or found no model, with the reasons. Only the results of their calls are committed.
    lost: BTreeMap<String, String>,
    /// The runs that found no model. Their failed calls are made again later.
    without_model: BTreeSet<String>,
}

impl Done {
    /// Calls `work` for a run, unless the run has panicked in this commit. `None` if it has, or does now.
    fn catch_panic<R>(&mut self, run: &str, work: impl FnOnce() -> R) -> Option<R> {
        if self.lost.contains_key(run) {
            return None;
        }
        match catch_unwind(AssertUnwindSafe(work)) {
            Ok(done) => Some(done),
            Err(what) => {
                self.lost.insert(run.to_owned(), panicked(&*what));
                None
            }
        }
    }

    /// Removes delivered letters from the inbox, and the rows of events that lost runs had taken in. Calls that found no model are
    /// planned again.
    fn undo_what_is_lost(&mut self, tx: &Transaction<'_>) -> rusqlite::Result<()> {
        for (run, number) in &self.letters {
            if !self.lost.contains_key(run) {
                tx.execute("DELETE FROM inbox WHERE number = ?1", [number])?;
            }
        }
        for (run, id) in self.ended.iter().filter(|(run, _)| self.without_model.contains(run)) {
            move_call(tx, (run, id), &[Stage::Done], Stage::Planned, None)?;
        }
        let letters = self.letters.iter().map(|(run, number)| (run, letter_id(*number)));
        let events = self.taken.iter().map(|(run, id)| (run, id.clone()));
        for (run, id) in letters.chain(events).filter(|(run, _)| self.lost.contains_key(*run)) {
            tx.execute("DELETE FROM event WHERE run = ?1 AND id = ?2", params![run, id])?;
        }
        Ok(())
    }
}

fn letter_id(number: i64) -> String {
    format!("inbox:{number}")
}
