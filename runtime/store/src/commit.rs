//! One commit: all that has happened since the last one, and what it leads to.

use crate::command::Command;
use crate::error::StoreError;
use crate::file::counted;
use crate::inbox::Letter;
use crate::reply::{reply, said};
use crate::row::Stage;
use crate::rows::{PUT_EVENT, move_call, put};
use crate::worker::{Batch, Flight, Worker};
use chartc_core::host::Machine;
use chartc_core::machine::Receipt;
use chartc_runtime::agents::{AgentState, EngineError, Event, Reply};
use chartc_runtime::oracle::{Answer, Kind, Question};
use chartc_runtime::stepped::{Call, Left, Outcome, made};
use rusqlite::params;
use std::collections::{BTreeSet, VecDeque};
use tokio::sync::oneshot;

/// What is said once the commit is done.
enum Ack {
    Fired(oneshot::Sender<Result<Reply, EngineError>>, Result<Reply, EngineError>),
    Read(oneshot::Sender<Option<AgentState>>, Option<AgentState>),
    Has(oneshot::Sender<bool>, bool),
}

impl<M: Machine> Worker<'_, M> {
    /// Takes a batch in one commit, makes it known, and makes the calls that it plans.
    pub(crate) fn commit(&mut self, batch: Batch) -> Result<(), StoreError> {
        let now = self.options.clock.now();
        let mut acks = Vec::new();
        let mut fired = Vec::new();
        let mut due = batch.due;
        for command in batch.commands {
            match command {
                Command::Now(reply) => drop(reply.send(now)),
                Command::Quiet(reply) => self.quiet.push(reply),
                Command::Advance(milliseconds, reply) => {
                    self.until.push((now.saturating_add(milliseconds), reply));
                }
                Command::Has(run, event, reply) => {
                    let has = self.store.has(&run, &event)?;
                    acks.push(Ack::Has(reply, has));
                }
                Command::Read(run, reply) => {
                    let is_known = self.runs.contains_key(&run);
                    let state = if self.ensure(&run, false)? {
                        self.runs.get(&run).map(|running| running.run.state())
                    } else {
                        None
                    };
                    if state.is_some() && !is_known {
                        // It goes on from here.
                        due.push(run);
                    }
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
        for run in &due {
            self.ensure(run, false)?;
        }
        let letters = if batch.has_mail {
            self.store.letters(|run| self.has_all || self.runs.contains_key(run))?
        } else {
            Vec::new()
        };
        for (_, run, _) in &letters {
            self.ensure(run, false)?;
        }
        let path = self.store.path().to_owned();
        let tx = self.store.transaction()?;
        let fault = |error| StoreError::of(&path, error);
        let mut touched: BTreeSet<String> = BTreeSet::new();
        for (run, id, outcome) in batch.results {
            let Some(running) = self.runs.get_mut(&run) else { continue };
            let text = serde_json::to_string(&outcome).unwrap_or_default();
            let from = [Stage::Planned, Stage::Started];
            if move_call(&tx, (&run, &id), &from, Stage::Done, Some(&text)).map_err(fault)? {
                running.run.end(&id, outcome);
            }
            running.people.retain(|(_, open)| *open != id);
            touched.insert(run);
        }
        for (number, run, letter) in letters {
            tx.execute("DELETE FROM inbox WHERE number = ?1", [number]).map_err(fault)?;
            let Some(running) = self.runs.get_mut(&run) else { continue };
            running.run.begin(now);
            touched.insert(run.clone());
            match letter {
                Letter::Reply(step, text) => {
                    let open = running.people.iter().position(|(name, _)| *name == step);
                    let Some(open) = open else { continue };
                    let (_, id) = running.people.remove(open);
                    let outcome = Outcome::Answer(Ok(Answer::from(text)));
                    let text = serde_json::to_string(&outcome).unwrap_or_default();
                    let from = [Stage::Planned, Stage::Started];
                    move_call(&tx, (&run, &id), &from, Stage::Done, Some(&text)).map_err(fault)?;
                    running.run.end(&id, outcome);
                }
                Letter::Event(name, data) => {
                    let event = Event { id: format!("inbox:{number}"), name, data };
                    // What does not fit has changed nothing; nobody is there to be told.
                    drop(running.run.fire(&run, &event));
                }
            }
        }
        for (run, event, to) in fired {
            let Some(running) = self.runs.get_mut(&run) else { continue };
            running.run.begin(now);
            if let Some(known) = reply(&tx, &path, &run, &event.id)? {
                acks.push(Ack::Fired(to, Ok(known)));
                continue;
            }
            touched.insert(run.clone());
            let seq = running.run.start() as i64;
            let taken = running.run.fire(&run, &event).map(|receipt| Reply {
                receipt,
                at: now,
                is_repeated: false,
            });
            if let Ok(one) = &taken
                && one.receipt != Receipt::Busy
            {
                let row = params![run, event.id, said(*one), now as i64, seq];
                put(&tx, PUT_EVENT, row).map_err(fault)?;
            }
            acks.push(Ack::Fired(to, taken));
            running.step(now);
        }
        touched.extend(due);
        let touched_any = !touched.is_empty();
        let mut left = Vec::new();
        for run in touched {
            let Some(running) = self.runs.get_mut(&run) else { continue };
            running.step(now);
            let rest = running.commit(&tx, &run).map_err(|why| why.of(&path, &run))?;
            left.push((run, rest));
        }
        let number = if touched_any { Some(counted(&tx).map_err(fault)?) } else { None };
        tx.commit().map_err(fault)?;
        if let Some(number) = number {
            self.store.seal(number);
        }
        for ack in acks {
            // Whoever does not wait any more is not told.
            match ack {
                Ack::Fired(to, reply) => drop(to.send(reply)),
                Ack::Read(to, state) => drop(to.send(state)),
                Ack::Has(to, has) => drop(to.send(has)),
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
            let id = planned.id.to_string();
            let is_mine = move_call(&tx, (&run, &id), &[Stage::Planned], Stage::Started, None)
                .map_err(fault)?;
            if is_mine {
                let driver = self.options.driver.clone();
                let future = Box::pin(made(driver, planned.id, planned.call));
                self.flights.push(Flight { run, id, future });
            }
        }
        let number = counted(&tx).map_err(fault)?;
        tx.commit().map_err(fault)?;
        self.store.seal(number);
        Ok(())
    }
}

/// The name of a step that a person answers, with the way to it.
fn person(question: &Question) -> String {
    let way =
        if question.child.is_empty() { String::new() } else { format!("{}/", question.child) };
    match question.element {
        Some(element) => format!("{way}{}[{element}]", question.step),
        None => format!("{way}{}", question.step),
    }
}
