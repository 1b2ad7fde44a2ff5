//! The rows that a commit writes.

use crate::file::wall;
use crate::row::{Stage, checksum};
use rusqlite::{OptionalExtension, Transaction, params};
use std::sync::atomic::{AtomicI64, Ordering};

/// What the row of a run holds besides.
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
    pub(crate) saved: &'r str,
}

/// A number that grows with each plan, also from process to process: microseconds since 1970, made unique.
fn stamp() -> i64 {
    static LAST: AtomicI64 = AtomicI64::new(0);
    let now = wall().saturating_mul(1000);
    let before =
        LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(now.max(last + 1)));
    now.max(before.unwrap_or(0) + 1)
}

/// The checksum of a call's row.
pub(crate) fn call_sum(run: &str, id: &str, stage: &str, call: &str, outcome: Option<&str>) -> i64 {
    let outcome = outcome.map_or(&[][..], str::as_bytes);
    checksum(&[run.as_bytes(), id.as_bytes(), stage.as_bytes(), call.as_bytes(), outcome])
}

/// Writes the row of a run.
pub(crate) fn put_run(tx: &Transaction<'_>, run: &str, head: &Head<'_>) -> rusqlite::Result<()> {
    let Head { chart, given, saved, .. } = head;
    let sum = checksum(&[run.as_bytes(), chart.as_bytes(), given.as_bytes(), saved.as_bytes()]);
    let mut put = tx.prepare_cached(
        "INSERT INTO run VALUES (?1, ?2, ?3, ?4, ?15, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?12, ?13, ?14)
         ON CONFLICT (name) DO UPDATE SET chart = ?2, status = ?4, stopped = ?15, state = ?5, turns = ?6, calls = ?7, cost = ?8,
         waits_for = ?9, wake = ?10, now = ?11, updated_ms = ?12, saved = ?13, sum = ?14",
    )?;
    put.execute(params![
        run,
        chart,
        given,
        head.status,
        head.state,
        head.turns,
        head.calls,
        head.cost as i64,
        head.waits_for,
        head.wake.map(|at| at as i64),
        head.now as i64,
        wall(),
        saved,
        sum,
        head.stopped,
    ])?;
    Ok(())
}

/// Writes a line of a trace.
pub(crate) fn put_line(
    tx: &Transaction<'_>,
    run: &str,
    seq: u64,
    text: &str,
) -> rusqlite::Result<()> {
    let seq = seq as i64;
    let sum = checksum(&[run.as_bytes(), &seq.to_le_bytes(), text.as_bytes()]);
    let mut put = tx.prepare_cached("INSERT INTO line VALUES (?1, ?2, ?3, ?4)")?;
    put.execute(params![run, seq, text, sum])?;
    Ok(())
}

/// Plans a call, or plans it again.
pub(crate) fn put_call(
    tx: &Transaction<'_>,
    run: &str,
    id: &str,
    call: &str,
) -> rusqlite::Result<()> {
    let stage = Stage::Planned.word();
    let sum = call_sum(run, id, stage, call, None);
    let mut put = tx.prepare_cached(
        "INSERT INTO call VALUES (?1, ?2, ?3, 0, 0, ?4, NULL, ?5, NULL, ?6)
         ON CONFLICT (run, id) DO UPDATE SET stage = ?3, call = ?4, outcome = NULL, ended_ms = NULL, sum = ?6",
    )?;
    put.execute(params![run, id, stage, call, stamp(), sum])?;
    Ok(())
}

/// Moves a call to another stage. Returns whether it was in one of those that lead there.
pub(crate) fn move_call(
    tx: &Transaction<'_>,
    (run, id): (&str, &str),
    from: &[Stage],
    to: Stage,
    outcome: Option<&str>,
    boot: i64,
) -> rusqlite::Result<bool> {
    let mut read = tx.prepare_cached("SELECT stage, call FROM call WHERE run = ?1 AND id = ?2")?;
    let row: Option<(String, String)> =
        read.query_row([run, id], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let Some((stage, call)) = row else { return Ok(false) };
    if !from.iter().any(|from| from.word() == stage) {
        return Ok(false);
    }
    let sum = call_sum(run, id, to.word(), &call, outcome);
    let ended = (to != Stage::Started).then(wall);
    let begun = i64::from(to == Stage::Started);
    let mut put = tx.prepare_cached(
        "UPDATE call SET stage = ?3, outcome = ?4, boot = ?5, ended_ms = ?6, sum = ?7, attempts = attempts + ?8
         WHERE run = ?1 AND id = ?2",
    )?;
    put.execute(params![run, id, to.word(), outcome, boot, ended, sum, begun])?;
    Ok(true)
}
