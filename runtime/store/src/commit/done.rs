//! What one commit has done so far, and what is said once it is made.

use crate::error::{StoreError, panicked};
use crate::file::Store;
use crate::row::Stage;
use crate::rows::move_call;
use chartc_runtime::agents::{AgentState, EngineError, Reply};
use rusqlite::{Transaction, params};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use tokio::sync::oneshot;

/// What is said once the commit is done.
pub(super) enum Ack {
    Fired(String, oneshot::Sender<Result<Reply, EngineError>>, Result<Reply, EngineError>),
    Read(oneshot::Sender<Result<Option<AgentState>, EngineError>>, Option<AgentState>),
    Replied(String, oneshot::Sender<Result<(), StoreError>>, Result<(), StoreError>),
    Has(oneshot::Sender<bool>, bool),
    Look(Box<dyn FnOnce(&Store) + Send>),
    Forgotten(oneshot::Sender<Piece>, Piece),
}

/// How many events were forgotten, and where to go on.
pub(super) type Piece = (usize, Option<(String, String)>);

/// What a batch has done so far.
#[derive(Default)]
pub(super) struct Done {
    pub(super) acks: Vec<Ack>,
    /// The runs to which something has happened.
    pub(super) touched: BTreeSet<String>,
    /// The events that were taken.
    pub(super) taken: Vec<(String, String)>,
    /// The letters that were taken.
    pub(super) letters: Vec<(String, i64)>,
    pub(super) ended: Vec<(String, String)>,
    /// The runs that have panicked or found no model, and why. Of what they did in this batch only results of calls are committed.
    pub(super) lost: BTreeMap<String, String>,
    /// Those that found no model: their failed calls are made again later.
    pub(super) without_model: BTreeSet<String>,
}

impl Done {
    /// Does something with a run that has not panicked in this batch; `None` if it does.
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

    /// Takes letters out of the inbox, and back what was written of events of runs that are lost: they were not taken. Calls for which there
    /// was no model are planned again.
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
