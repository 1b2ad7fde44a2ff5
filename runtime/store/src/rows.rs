//! Writes the rows of a commit.

use crate::file::wall;
use crate::row::{Stage, checksum};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension, ToSql, Transaction, params, params_from_iter};
use std::sync::atomic::{AtomicI64, Ordering};

/// The columns of a run's row other than its name and the time of the change.
pub(crate) struct Head<'r> {
    pub(crate) chart: &'r str,
    pub(crate) given: &'r str,
    pub(crate) status: &'r str,
    pub(crate) stopped: Option<&'r str>,
    pub(crate) state: &'r str,
    pub(crate) turns: u32,
    pub(crate) calls: u32,
    pub(crate) cost: u64,
    pub(crate) waits_for: &'r str,
    pub(crate) wake: Option<u64>,
    pub(crate) now: u64,
    pub(crate) made_ms: i64,
    pub(crate) saved: &'r str,
}

/// A stamp that is greater than all earlier ones, also of earlier processes: microseconds since 1970, incremented if necessary.
fn stamp() -> i64 {
    static LAST: AtomicI64 = AtomicI64::new(0);
    let now = wall().saturating_mul(1000);
    let before =
        LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(now.max(last + 1)));
    now.max(before.unwrap_or(0) + 1)
}

/// Executes an insertion, with the checksum of the columns as the last parameter.
pub(crate) fn put(
    connection: &Connection,
    sql: &str,
    columns: &[&dyn ToSql],
) -> rusqlite::Result<()> {
    let values: Vec<ToSqlOutput<'_>> =
        columns.iter().map(|column| column.to_sql()).collect::<Result<_, _>>()?;
    let plain = values.iter().map(|value| match value {
        ToSqlOutput::Borrowed(value) => *value,
        ToSqlOutput::Owned(value) => value.into(),
        // No column here has another kind of value.
        _ => ValueRef::Null,
    });
    let sum = checksum(plain);
    let all = values.iter().map(|value| value as &dyn ToSql).chain([&sum as &dyn ToSql]);
    connection.prepare_cached(sql)?.execute(params_from_iter(all)).map(drop)
}

/// Inserts or replaces the row of a run.
pub(crate) const PUT_RUN: &str = "INSERT INTO run VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
    ON CONFLICT (name) DO UPDATE SET chart = ?2, given = ?3, status = ?4, stopped = ?5, state = ?6, turns = ?7, calls = ?8,
    cost = ?9, waits_for = ?10, wake = ?11, now = ?12, made_ms = ?13, updated_ms = ?14, saved = ?15, sum = ?16";

/// Inserts or replaces the row of a run, with the present time as the time of the change.
pub(crate) fn put_run(tx: &Transaction<'_>, run: &str, head: &Head<'_>) -> rusqlite::Result<()> {
    put(
        tx,
        PUT_RUN,
        params![
            run,
            head.chart,
            head.given,
            head.status,
            head.stopped,
            head.state,
            head.turns,
            head.calls,
            head.cost as i64,
            head.waits_for,
            head.wake.map(|at| at as i64),
            head.now as i64,
            head.made_ms,
            wall(),
            head.saved,
        ],
    )
}

/// Inserts a line of a trace.
pub(crate) fn put_line(
    tx: &Transaction<'_>,
    run: &str,
    seq: u64,
    text: &str,
) -> rusqlite::Result<()> {
    put(tx, "INSERT INTO line VALUES (?1, ?2, ?3, ?4)", params![run, seq as i64, text])
}

/// Inserts an event that was taken in: the run, its id, the reply, the time, and the number of the last trace line before it.
pub(crate) const PUT_EVENT: &str = "INSERT INTO event VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

pub(crate) const PUT_CALL: &str = "INSERT INTO call VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
    ON CONFLICT (run, id) DO UPDATE SET stage = ?3, call = ?4, outcome = ?5, planned = ?6, sum = ?7";

/// Inserts a call in the stage `planned`, or moves it back there.
pub(crate) fn put_call(
    tx: &Transaction<'_>,
    run: &str,
    id: &str,
    call: &str,
) -> rusqlite::Result<()> {
    let stage = Stage::Planned.word();
    put(tx, PUT_CALL, params![run, id, stage, call, None::<&str>, stamp()])
}

/// Moves a call to another stage if its present stage is one of `from`. Returns whether it was.
pub(crate) fn move_call(
    tx: &Transaction<'_>,
    (run, id): (&str, &str),
    from: &[Stage],
    to: Stage,
    outcome: Option<&str>,
) -> rusqlite::Result<bool> {
    let read = "SELECT stage, call, planned FROM call WHERE run = ?1 AND id = ?2";
    let row: Option<(String, String, i64)> = tx
        .prepare_cached(read)?
        .query_row([run, id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    let Some((stage, call, planned)) = row else { return Ok(false) };
    if !from.iter().any(|from| from.word() == stage) {
        return Ok(false);
    }
    put(tx, PUT_CALL, params![run, id, to.word(), call, outcome, planned])?;
    Ok(true)
}
