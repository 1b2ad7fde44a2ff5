//! The stored replies to events. An event with the id of an earlier one gets the earlier reply.

use crate::command::Old;
use crate::error::StoreError;
use crate::file::Store;
use crate::row::is_whole;
use chartc_core::machine::Receipt;
use chartc_runtime::agents::Reply;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};
use std::path::Path;

impl Store {
    /// Whether an event with this id was taken in before.
    pub(crate) fn has(&self, run: &str, event: &str) -> Result<bool, StoreError> {
        reply(&self.connection, &self.path, run, event).map(|found| found.is_some())
    }
}

/// The number of rows that one batch examines.
const PIECE: usize = 5_000;

/// Deletes the old events among a batch of rows. Returns their number and the key of the last row; `None` for the key if it was the last
/// batch.
pub(crate) fn forget(
    tx: &Transaction<'_>,
    old: &Old,
    now: u64,
) -> rusqlite::Result<(usize, Option<(String, String)>)> {
    let read =
        "SELECT run, id, at_ms FROM event WHERE (run, id) > (?1, ?2) ORDER BY run, id LIMIT ?3";
    let (run, id) = &old.after;
    let rows: Vec<(String, String, i64)> = tx
        .prepare_cached(read)?
        .query_map(params![run, id, PIECE as i64], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?
        .collect::<Result<_, _>>()?;
    let Some(until) = now.checked_sub(old.age_ms) else { return Ok((0, None)) };
    let mut delete = tx.prepare_cached("DELETE FROM event WHERE run = ?1 AND id = ?2")?;
    let mut count = 0;
    for (run, id, at) in &rows {
        if id.starts_with(&old.prefix) && *at <= until as i64 {
            count += delete.execute([run, id])?;
        }
    }
    let is_last = rows.len() < PIECE;
    let next = rows.into_iter().next_back().map(|(run, id, _)| (run, id));
    Ok((count, next.filter(|_| !is_last)))
}

/// The stored reply to an event; `None` if the event was not taken in before.
pub(crate) fn reply(
    connection: &Connection,
    path: &Path,
    run: &str,
    event: &str,
) -> Result<Option<Reply>, StoreError> {
    let read = "SELECT * FROM event WHERE run = ?1 AND id = ?2";
    let found = connection.prepare_cached(read).and_then(|mut read| {
        let row = |row: &Row<'_>| Ok((is_whole(row)?, row.get::<_, String>(2)?));
        read.query_row([run, event], row).optional()
    });
    match found.map_err(|error| StoreError::of(path, error))? {
        None => Ok(None),
        Some((true, said)) => Ok(Some(replied(&said, true))),
        Some((false, _)) => Err(StoreError::damaged(path, &format!("its event `{event}`"), run)),
    }
}

/// A reply in its stored form: the receipt and the time.
pub(crate) fn said(reply: Reply) -> String {
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
