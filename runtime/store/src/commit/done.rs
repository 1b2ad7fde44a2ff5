//! The state of a commit in progress, and the replies that are sent after it.

use super::stopped;
use crate::error::{StoreError, panicked};
use crate::file::Store;
use crate::row::Stage;
use crate::rows::move_call;
use chartc_runtime::agents::{AgentState, EngineError, Reply};
use rusqlite::{Transaction, params};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use tokio::sync::oneshot;

/// A reply to a host, sent after the commit.
pub(super) enum Ack {
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
    pub(super) fn send(self, lost: &BTreeMap<String, String>, store: &Store) {
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
}

/// The number of events that were forgotten, and the key after which the next batch begins.
pub(super) type Piece = (usize, Option<(String, String)>);

/// The changes of a commit so far.
#[derive(Default)]
pub(super) struct Done {
    pub(super) acks: Vec<Ack>,
    /// The runs that have changed.
    pub(super) touched: BTreeSet<String>,
    /// The runs and ids of the events that were taken in.
    pub(super) taken: Vec<(String, String)>,
    /// The runs and numbers of the letters that were delivered.
    pub(super) letters: Vec<(String, i64)>,
    /// The runs and ids of the calls that have ended.
    pub(super) ended: Vec<(String, String)>,
    /// The runs that have panicked or found no model, with the reasons. Only the results of their calls are committed.
    pub(super) lost: BTreeMap<String, String>,
    /// The runs that found no model. Their failed calls are made again later.
    pub(super) without_model: BTreeSet<String>,
}

impl Done {
    /// Calls `work` for a run, unless the run has panicked in this commit. `None` if it has, or does now.
    pub(super) fn catch_panic<R>(&mut self, run: &str, work: impl FnOnce() -> R) -> Option<R> {
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
    pub(super) fn undo_what_is_lost(&mut self, tx: &Transaction<'_>) -> rusqlite::Result<()> {
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

pub(super) fn letter_id(number: i64) -> String {
    format!("inbox:{number}")
}
