//! Replies to events as they are stored, so that an event that comes again gets the same one.

use crate::command::Old;
use crate::error::StoreError;
use crate::file::Store;
use crate::row::is_whole;
use chartc_core::machine::Receipt;
use chartc_runtime::agents::Reply;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};
use std::path::Path;

impl Store {
    /// Whether an event was taken before.
    pub(crate) fn has(&self, run: &str, event: &str) -> Result<bool, StoreError> {
        reply(&self.connection, &self.path, run, event).map(|found| found.is_some())
    }
}

/// Rows that one piece looks at.
const PIECE: usize = 5_000;

/// Forgets a piece of the old events. Returns how many, and the last one that was looked at, unless it was the last of all.
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

/// The reply to an event that was taken before.
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

/// A reply as it is stored: the receipt, and the time.
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
