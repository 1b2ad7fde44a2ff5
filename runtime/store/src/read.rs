//! What a store holds: runs, traces, calls.

use crate::error::StoreError;
use crate::file::{Store, wall};
use crate::planner::Known;
use crate::row::{Call, Outcome, Stage, checksum};
use crate::rows::call_sum;
use chartc_runtime::trace::Line;
use rusqlite::OptionalExtension;
use std::collections::BTreeMap;

/// A run as the store lists it.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// Its name.
    pub run: String,
    /// Its chart.
    pub chart: String,
    /// `running`, or how it ended.
    pub status: String,
    /// Why it cannot go on.
    pub stopped: Option<String>,
    /// The active basic states, as dotted paths with `, ` between.
    pub state: String,
    /// Turns begun.
    pub turns: u32,
    /// Model calls made.
    pub calls: u32,
    /// Millionths of the unit of prices.
    pub cost: u64,
    /// The steps whose calls are under way, with the way to each.
    pub waits_for: Vec<String>,
    /// When it was begun, in milliseconds since 1970.
    pub made_ms: i64,
    /// When it last changed, in milliseconds since 1970.
    pub updated_ms: i64,
    /// What its host gave it at its beginning.
    pub given: String,
}

impl Listed {
    /// Milliseconds since it last changed.
    pub fn age_ms(&self) -> u64 {
        u64::try_from(wall().saturating_sub(self.updated_ms)).unwrap_or(0)
    }
}

/// Names of steps as they are stored.
fn steps(text: &str) -> Vec<String> {
    text.split(", ").filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

impl Store {
    /// All runs, by name.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn list(&self) -> Result<Vec<Listed>, StoreError> {
        let read = || -> rusqlite::Result<Vec<Listed>> {
            let mut rows = self.connection.prepare(
                "SELECT name, chart, status, state, turns, calls, cost, waits_for, made_ms, updated_ms, given, stopped
                 FROM run ORDER BY name",
            )?;
            let rows = rows.query_map([], |row| {
                Ok(Listed {
                    run: row.get(0)?,
                    chart: row.get(1)?,
                    status: row.get(2)?,
                    state: row.get(3)?,
                    turns: row.get(4)?,
                    calls: row.get(5)?,
                    cost: row.get::<_, i64>(6)? as u64,
                    waits_for: steps(&row.get::<_, String>(7)?),
                    made_ms: row.get(8)?,
                    updated_ms: row.get(9)?,
                    given: row.get(10)?,
                    stopped: row.get(11)?,
                })
            })?;
            rows.collect()
        };
        read().map_err(|error| self.fault(error))
    }

    /// The saved session of a run, with what its host gave it.
    pub(crate) fn saved(&self, run: &str) -> Result<Option<(String, String)>, StoreError> {
        let row: Option<(String, String, String, i64)> = self
            .connection
            .query_row("SELECT saved, given, chart, sum FROM run WHERE name = ?1", [run], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            })
            .optional()
            .map_err(|error| self.fault(error))?;
        let Some((saved, given, chart, sum)) = row else { return Ok(None) };
        if sum != checksum(&[run.as_bytes(), chart.as_bytes(), given.as_bytes(), saved.as_bytes()])
        {
            return Err(self.damaged("its saved state", run));
        }
        Ok(Some((saved, given)))
    }

    /// The lines of a run's trace.
    ///
    /// # Errors
    /// The file cannot be read, or a line is damaged.
    pub fn lines(&self, run: &str) -> Result<Vec<Line>, StoreError> {
        let fault = |error| self.fault(error);
        let mut rows = self
            .connection
            .prepare("SELECT seq, text, sum FROM line WHERE run = ?1 ORDER BY seq")
            .map_err(fault)?;
        let rows = rows
            .query_map([run], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, i64>(2)?))
            })
            .map_err(fault)?;
        let mut lines = Vec::new();
        for row in rows {
            let (seq, text, sum) = row.map_err(fault)?;
            let whole = sum == checksum(&[run.as_bytes(), &seq.to_le_bytes(), text.as_bytes()]);
            let line = serde_json::from_str(&text).ok().filter(|_| whole);
            lines.push(line.ok_or_else(|| self.damaged(&format!("line {seq} of its trace"), run))?);
        }
        Ok(lines)
    }

    /// What is known of the calls of a run that were not over.
    pub(crate) fn known(&self, run: &str) -> Result<BTreeMap<String, Known>, StoreError> {
        let fault = |error| self.fault(error);
        let mut rows = self
            .connection
            .prepare("SELECT id, stage, call, outcome, sum FROM call WHERE run = ?1")
            .map_err(fault)?;
        let rows = rows
            .query_map([run], |row| {
                Ok((
                    row.get::<_, String>(0)?,
                    row.get::<_, String>(1)?,
                    row.get::<_, String>(2)?,
                    row.get::<_, Option<String>>(3)?,
                    row.get::<_, i64>(4)?,
                ))
            })
            .map_err(fault)?;
        let mut known = BTreeMap::new();
        for row in rows {
            let (id, stage, call, outcome, sum) = row.map_err(fault)?;
            let damaged = || self.damaged(&format!("its call `{id}`"), run);
            if sum != call_sum(run, &id, &stage, &call, outcome.as_deref()) {
                return Err(damaged());
            }
            let what = match (Stage::of(&stage), outcome) {
                (Some(Stage::Planned), _) => Known::Planned,
                (Some(Stage::Started | Stage::Doubt), _) => Known::Started,
                (Some(Stage::Done), Some(outcome)) => {
                    let outcome: Outcome = serde_json::from_str(&outcome).map_err(|_| damaged())?;
                    Known::Ended(outcome)
                }
                (Some(Stage::Cancelled), _) => continue,
                (Some(Stage::Done) | None, _) => return Err(damaged()),
            };
            known.insert(id, what);
        }
        Ok(known)
    }

    /// The calls of a run whose results are stored, in the order in which they were planned.
    ///
    /// # Errors
    /// The file cannot be read, or a call is damaged.
    pub fn made(&self, run: &str) -> Result<Vec<Call>, StoreError> {
        let read = || -> rusqlite::Result<Vec<String>> {
            let mut rows = self.connection.prepare(
                "SELECT call FROM call WHERE run = ?1 AND stage = 'done' ORDER BY planned",
            )?;
            rows.query_map([run], |row| row.get(0))?.collect()
        };
        let rows = read().map_err(|error| self.fault(error))?;
        let call = |text: &String| serde_json::from_str(text).ok();
        let calls: Option<Vec<Call>> = rows.iter().map(call).collect();
        calls.ok_or_else(|| self.damaged("a call", run))
    }

    /// The runs that have not ended: when they are to go on, and whether calls of theirs are open.
    pub(crate) fn running(&self) -> Result<Vec<(String, Option<u64>, bool)>, StoreError> {
        let read = || -> rusqlite::Result<Vec<_>> {
            let mut rows = self
                .connection
                .prepare("SELECT name, wake, waits_for != '' FROM run WHERE status = 'running'")?;
            let row = |row: &rusqlite::Row<'_>| {
                Ok((row.get(0)?, row.get::<_, Option<i64>>(1)?.map(|at| at as u64), row.get(2)?))
            };
            rows.query_map([], row)?.collect()
        };
        read().map_err(|error| self.fault(error))
    }

    /// The last moment of any run.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn last_moment(&self) -> Result<u64, StoreError> {
        let read = "SELECT coalesce(max(now), 0) FROM run";
        let now: i64 = self
            .connection
            .query_row(read, [], |row| row.get(0))
            .map_err(|error| self.fault(error))?;
        Ok(now as u64)
    }

    /// The time on the runs' clock by the computer's: what has passed since the first process in real time, whether or not one was there.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn passed(&mut self, now: u64) -> Result<u64, StoreError> {
        let fault = |error| StoreError::of(&self.path, error);
        let read = "SELECT value FROM meta WHERE key = 'epoch'";
        let found = self.connection.query_row(read, [], |row| row.get(0)).optional();
        let epoch: i64 = match found.map_err(fault)? {
            Some(epoch) => epoch,
            None => {
                let epoch = wall().saturating_sub(i64::try_from(now).unwrap_or(i64::MAX));
                let put = "INSERT INTO meta VALUES ('epoch', ?1)";
                self.connection.execute(put, [epoch]).map_err(fault)?;
                epoch
            }
        };
        Ok(u64::try_from(wall().saturating_sub(epoch)).unwrap_or(0))
    }
}
