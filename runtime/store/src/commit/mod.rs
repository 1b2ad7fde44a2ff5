//! Commits: everything that has happened since the last commit, and everything that it causes, in one transaction.
//!
//! The order is: results of calls, letters from the inbox, answers of people, events, and then all steps that are due. If a run panics,
//! its part of the commit is undone, and the others are committed. Hosts get their replies only after the commit, and a call is made only
//! after a second commit that marks it as started.

mod done;

use crate::command::Command;
use crate::error::StoreError;
use crate::file::counted;
use crate::inbox::{Letter, Mail, letters};
use crate::options::Committed;
use crate::reply::{forget, reply, said};
use crate::row::Stage;
use crate::rows::{PUT_EVENT, move_call, put};
use crate::run::Running;
use crate::worker::{Batch, CallUnderWay, Worker};
use chartc_core::host::Machine;
use chartc_core::machine::{Instant, Receipt};
use chartc_runtime::agents::{EngineError, Event, Reply, TURN};
use chartc_runtime::oracle::{Kind, OracleError};
use chartc_runtime::stepped::{Call, Left, Outcome, made};
use done::{Ack, Done, letter_id};
use rusqlite::{Transaction, params};
use std::collections::VecDeque;

fn stopped(agent: String, why: &str) -> EngineError {
    EngineError::Stopped { agent, why: why.to_owned() }
}

impl<M: Machine> Worker<'_, M> {
    /// Commits a batch, replies to the hosts, and starts the calls that the batch has planned.
    pub(crate) fn commit(&mut self, batch: Batch) -> Result<(), StoreError> {
        if self.has_failed {
            return Err(StoreError::Closed);
        }
        let committed = self.commit_all(batch);
        self.has_failed = committed.is_err();
        committed
    }

    fn commit_all(&mut self, batch: Batch) -> Result<(), StoreError> {
        let now = self.options.clock.now();
        let mut done = Done::default();
        let (mut asked, mut fired, mut forgets) = (Vec::new(), Vec::new(), Vec::new());
        let mut replies = Vec::new();
        let mut due = batch.due;
        for command in batch.commands {
            match command {
                Command::Now(reply) => drop(reply.send(now)),
                Command::Quiet(reply) => self.quiet.push(reply),
                Command::Settled(run, reply) => self.settled.push((run, reply)),
                Command::Look(look) => done.acks.push(Ack::Look(look)),
                Command::Forget(old, reply) => forgets.push((old, reply)),
                Command::Advance(milliseconds, reply) => {
                    self.until.push((now.saturating_add(milliseconds), reply));
                }
                Command::Has(run, event, reply) => {
                    let has = self.store.has(&run, &event)?;
                    done.acks.push(Ack::Has(reply, has));
                }
                Command::Read(run, reply) => {
                    let is_known = self.runs.contains_key(&run);
                    let state = if self.has(&run)? {
                        self.runs.get(&run).map(|running| running.run.state())
                    } else if let Some(why) = self.broken.get(&run) {
                        drop(reply.send(Err(stopped(run, why))));
                        continue;
                    } else {
                        None
                    };
                    if state.is_some() && !is_known {
                        // Reading has restored the run: it is stepped, too, and continues from here.
                        due.push(run);
                    }
                    done.acks.push(Ack::Read(reply, state));
                }
                Command::Fire(run, event, reply) => {
                    let given = self.options.given.clone();
                    asked.push((run, given, event, reply));
                }
                Command::Begin(run, given, event, reply) => {
                    // Starting the run again is the host's request to try the model again.
                    if self.without_model.remove(&run) {
                        self.broken.remove(&run);
                        due.push(run.clone());
                    }
                    asked.push((run, given, event, reply));
                }
                Command::Reply(run, question, text, reply) => {
                    if self.has(&run)? {
                        replies.push((run, question, text, reply));
                        continue;
                    }
                    let why = self.broken.get(&run).map_or("there is no such run", String::as_str);
                    drop(reply.send(Err(StoreError::Run { why: why.to_owned(), run })));
                }
            }
        }
        for (run, given, event, reply) in asked {
            let begun = if self.has(&run)? {
                Ok(true)
            } else if let Some(why) = self.broken.get(&run) {
                drop(reply.send(Err(stopped(run, why))));
                continue;
            } else {
                self.ensure(&run, Some(&given))
            };
            match begun {
                Ok(_) => fired.push((run, event, reply)),
                Err(StoreError::Run { run, why }) => drop(reply.send(Err(stopped(run, &why)))),
                Err(fault) => return Err(fault),
            }
        }
        let path = self.store.path().to_owned();
        let fault = |error| StoreError::of(&path, error);
        let mut mail = Vec::new();
        if batch.has_mail && self.has_all {
            mail = letters(&self.store.connection, |_| true).map_err(fault)?;
        }
        for run in due.iter().chain(mail.iter().map(|mail| &mail.run)) {
            self.has(run)?;
        }
        let tx = self.store.transaction()?;
        // Letters come before events of this batch, as they were written for the state of the last commit.
        let letters = letters(&tx, |run| self.runs.contains_key(run)).map_err(fault)?;
        for (run, id, outcome) in batch.results {
            if !self.runs.contains_key(&run) && is_unavailable(&outcome) {
                // Another call of the run has found no model, which has stopped the run: this call must be made again, too.
                let call = (run.as_str(), id.as_str());
                move_call(&tx, call, &[Stage::Started], Stage::Planned, None).map_err(fault)?;
                continue;
            }
            let text = serde_json::to_string(&outcome).unwrap_or_default();
            let from = [Stage::Planned, Stage::Started];
            let was_open =
                move_call(&tx, (&run, &id), &from, Stage::Done, Some(&text)).map_err(fault)?;
            let Some(running) = self.runs.get_mut(&run) else { continue };
            // A call that was dropped meanwhile has no step that waits for the result.
            if was_open {
                running.run.end(&id, outcome);
            }
            running.people.retain(|open| *open != id);
            done.touched.insert(run.clone());
            done.ended.push((run, id));
        }
        for mail in letters {
            let (number, run) = (mail.number, mail.run.clone());
            let came = mail.came(now, self.options.is_real);
            let Some(running) = self.runs.get_mut(&run) else { continue };
            let taken = done.catch_panic(&run, || take(running, &tx, mail, (came, now)));
            if let Some(is_taken) = taken.transpose().map_err(fault)?
                && is_taken
            {
                done.letters.push((run.clone(), number));
                done.touched.insert(run);
            }
        }
        for (run, question, text, to) in replies {
            let Some(running) = self.runs.get_mut(&run) else { continue };
            let seq = running.run.session().seq();
            let replied = done.catch_panic(&run, || {
                // Deadlines before the answer fire before it.
                running.step(now);
                match running.run.stopped() {
                    Some(why) => Ok(Err(StoreError::Run { run: run.clone(), why: why.to_owned() })),
                    None => {
                        let replied = running.reply(&tx, (&run, &question), text)?;
                        let not_open = |why| StoreError::NotOpen { run: run.clone(), why };
                        Ok(replied.map_err(not_open))
                    }
                }
            });
            // Even a refused answer may come after steps that have written trace lines.
            if running.run.session().seq() != seq {
                done.touched.insert(run.clone());
            }
            // If the run has panicked, the host gets that as an error instead (see `done.lost` below).
            let replied = replied.transpose().map_err(fault)?.unwrap_or(Ok(()));
            done.acks.push(Ack::Replied(run, to, replied));
        }
        for (run, event, to) in fired {
            let Some(running) = self.runs.get_mut(&run) else { continue };
            running.run.begin(now);
            // An event with a known id was handled before a crash or a retry: it gets its earlier reply and has no effect.
            if let Some(known) = reply(&tx, &path, &run, &event.id)? {
                done.acks.push(Ack::Fired(run, to, Ok(known)));
                continue;
            }
            done.touched.insert(run.clone());
            let fired = done.catch_panic(&run, || {
                let seq = running.run.start() as i64;
                let taken = running.run.fire(&run, &event);
                running.step(now);
                (seq, taken.map(|receipt| Reply { receipt, at: now, is_repeated: false }))
            });
            // If the run has panicked, the host gets that as an error (see `done.lost` below).
            let panic = || (0, Err(stopped(run.clone(), "it has panicked")));
            let (seq, taken) = fired.unwrap_or_else(panic);
            if let Ok(one) = &taken
                // An event that was not taken in gets no row, so that it can be sent again with the same id.
                && one.receipt != Receipt::Busy
            {
                let row = params![run, event.id, said(*one), now as i64, seq];
                put(&tx, PUT_EVENT, row).map_err(fault)?;
                done.taken.push((run.clone(), event.id));
            }
            done.acks.push(Ack::Fired(run, to, taken));
        }
        for (old, to) in forgets {
            done.acks.push(Ack::Forgotten(to, forget(&tx, &old, now).map_err(fault)?));
        }
        done.touched.extend(due);
        let mut left = Vec::new();
        for run in std::mem::take(&mut done.touched) {
            let Some(running) = self.runs.get_mut(&run) else { continue };
            if done.catch_panic(&run, || running.step(now)).is_none() {
                continue;
            }
            // A run without a model keeps its last committed state, so that it can be tried again from there.
            if let (true, Some(why)) = (running.run.has_no_model(), running.run.stopped()) {
                done.lost.insert(run.clone(), why.to_owned());
                done.without_model.insert(run);
            } else {
                let rest = running.commit(&tx, &run).map_err(|why| why.of(&path, &run))?;
                left.push((run, rest));
            }
        }
        done.undo_what_is_lost(&tx).map_err(fault)?;
        let is_any = !left.is_empty() || !done.lost.is_empty();
        let number = if is_any { Some(counted(&tx).map_err(fault)?) } else { None };
        tx.commit().map_err(fault)?;
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
        for (run, why) in &done.lost {
            self.breaks(run, why.clone())?;
        }
        self.without_model.append(&mut done.without_model);
        for ack in done.acks {
            // The sends fail if the hosts have stopped waiting, which is fine.
            match ack {
                Ack::Fired(run, to, reply) => match done.lost.get(&run) {
                    Some(why) => drop(to.send(Err(stopped(run, why)))),
                    None => drop(to.send(reply)),
                },
                Ack::Replied(run, to, reply) => match done.lost.get(&run) {
                    Some(why) => {
                        drop(to.send(Err(StoreError::Run { run, why: why.to_owned() })));
                    }
                    None => drop(to.send(reply)),
                },
                Ack::Read(to, state) => drop(to.send(Ok(state))),
                Ack::Has(to, has) => drop(to.send(has)),
                Ack::Look(look) => look(&self.store),
                Ack::Forgotten(to, piece) => drop(to.send(piece)),
            }
        }
        for (run, Left { lines, planned, dropped, .. }) in left {
            for line in &lines {
                (self.options.show)(&run, line).map_err(StoreError::Shown)?;
            }
            if !dropped.is_empty() {
                self.flights.retain(|flight| flight.run != run || !dropped.contains(&flight.id));
                let is_dropped = |id: &String| dropped.contains(id);
                self.backlog.retain(|(of, one)| *of != run || !is_dropped(&one.id.to_string()));
            }
            self.note(&run);
            let planned = planned.into_iter().filter(|one| !dropped.contains(&one.id.to_string()));
            self.backlog.extend(planned.map(|one| (run.clone(), one)));
        }
        self.begin()
    }

    /// Marks planned calls as started, in a commit of their own, and then starts them, as many as `workers` allows.
    fn begin(&mut self) -> Result<(), StoreError> {
        let path = self.store.path().to_owned();
        let fault = |error| StoreError::of(&path, error);
        let mut begun = Vec::new();
        let mut later = VecDeque::new();
        while let Some((run, planned)) = self.backlog.pop_front() {
            let is_persons = matches!(&planned.call, Call::Question(q) if q.kind == Kind::Human);
            if is_persons && self.options.replies {
                if let Some(running) = self.runs.get_mut(&run) {
                    running.people.push(planned.id.to_string());
                }
                self.note(&run);
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
        let tx = self.store.transaction()?;
        for (run, planned) in begun {
            // A call that was cancelled since is no longer `planned`, and is not made.
            let id = planned.id.to_string();
            let is_mine = move_call(&tx, (&run, &id), &[Stage::Planned], Stage::Started, None)
                .map_err(fault)?;
            if is_mine {
                let driver = self.options.driver.clone();
                let future = Box::pin(made(driver, planned.id, planned.call));
                self.flights.push(CallUnderWay { run, id, future });
            }
        }
        let number = counted(&tx).map_err(fault)?;
        tx.commit().map_err(fault)?;
        self.store.seal(number);
        Ok(())
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
                    let reply = Reply { receipt, at: now, is_repeated: false };
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
