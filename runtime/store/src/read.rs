//! Queries about the runs, traces and calls of a store.

use crate::error::StoreError;
use crate::file::{Store, wall};
use crate::row::{Stage, is_whole};
use chartc_runtime::Saved;
use chartc_runtime::stepped::{Call, Known, Outcome};
use chartc_runtime::trace::Line;
use rusqlite::types::ValueRef;
use rusqlite::{OptionalExtension, Row};
use std::collections::BTreeMap;

/// The row of a run, without its saved state.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// The name of the run.
    pub run: String,
    /// The name of its chart.
    pub chart: String,
    /// `running`; or the status with which it ended; or `stopped`, after an error of the run; or `broken`, if it cannot be restored.
    pub status: String,
    /// The reason why the run cannot continue.
    pub stopped: Option<String>,
    /// The active leaves, as dotted paths, separated by `, `.
    pub state: String,
    /// The number of turns so far.
    pub turns: u32,
    /// The number of model calls so far.
    pub calls: u32,
    /// The cost so far, in millionths of the unit of the prices.
    pub cost: u64,
    /// The steps with calls under way, each with its path of child charts.
    pub waits_for: Vec<String>,
    /// The time of the start, in milliseconds since 1970.
    pub made_ms: i64,
    /// The time of the last change, in milliseconds since 1970.
    pub updated_ms: i64,
    /// The parameters with which the host created the run, as text.
    pub given: String,
}

impl Listed {
    /// The row as JSON, for programs. The cost is in units of the prices here.
    pub fn json(&self) -> serde_json::Value {
        serde_json::json!({
            "run": self.run,
            "chart": self.chart,
            "state": self.state,
            "status": self.status,
            "turns": self.turns,
            "calls": self.calls,
            "cost": self.cost as f64 / 1e6,
            "waits_for": self.waits_for,
            "stopped": self.stopped,
            "made_ms": self.made_ms,
            "updated_ms": self.updated_ms,
        })
    }

    /// Milliseconds since the last change.
    pub fn age_ms(&self) -> u64 {
        u64::try_from(wall().saturating_sub(self.updated_ms)).unwrap_or(0)
    }
}

/// The columns of a run's row that are needed to continue it.
pub(crate) struct StoredRun {
    pub(crate) saved: String,
    pub(crate) given: String,
    pub(crate) made_ms: i64,
}

/// A run that has not ended: its name, the time of its next step, and whether it needs a step at once.
pub(crate) type Waiting = (String, Option<u64>, bool);

/// Splits the stored list of steps.
fn steps(text: &str) -> Vec<String> {
    text.split(", ").filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Reads a row of the table `run`.
pub(crate) fn listed(row: &Row<'_>) -> rusqlite::Result<Listed> {
    let (status, stopped): (String, Option<String>) = (row.get(3)?, row.get(4)?);
    let is_broken = Store::is_broken(&status, stopped.as_deref());
    Ok(Listed {
        run: row.get(0)?,
        chart: row.get(1)?,
        given: row.get(2)?,
        status: if is_broken { BROKEN.into() } else { status },
        stopped,
        state: row.get(5)?,
        turns: row.get(6)?,
        calls: row.get(7)?,
        cost: row.get::<_, i64>(8)? as u64,
        waits_for: steps(&row.get::<_, String>(9)?),
        made_ms: row.get(12)?,
        updated_ms: row.get(13)?,
    })
}

/// The listing of a damaged row. Any column may be wrong, the name included.
fn damaged(row: &Row<'_>) -> Listed {
    Listed {
        run: shown(row, 0),
        chart: shown(row, 1),
        status: BROKEN.into(),
        stopped: Some("its row is not as it was written; put a backup back".into()),
        state: "?".into(),
        turns: 0,
        calls: 0,
        cost: 0,
        waits_for: Vec::new(),
        made_ms: 0,
        updated_ms: 0,
        given: String::new(),
    }
}

/// A column as text, for messages. The row may be damaged.
pub(crate) fn shown(row: &Row<'_>, nth: usize) -> String {
    match row.get_ref(nth) {
        Ok(ValueRef::Text(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
        Ok(ValueRef::Integer(number)) => number.to_string(),
        Ok(_) | Err(_) => "?".into(),
    }
}

/// The status of a run that has not ended and cannot be restored.
pub(crate) const BROKEN: &str = "broken";

impl Store {
    /// All runs, ordered by name. A damaged row is listed as `broken`.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn list(&self) -> Result<Vec<Listed>, StoreError> {
        let mut rows = self
            .connection
            .prepare("SELECT * FROM run ORDER BY name")
            .map_err(|error| self.fault(error))?;
        let rows =
            rows.query_map([], |row| if is_whole(row)? { listed(row) } else { Ok(damaged(row)) });
        let rows = rows.map_err(|error| self.fault(error))?;
        rows.map(|row| row.map_err(|error| self.fault(error))).collect()
    }

    /// The saved session of a run, with the parameters with which it was created.
    pub(crate) fn saved(&self, run: &str) -> Result<Option<StoredRun>, StoreError> {
        let read = self.connection.prepare_cached("SELECT * FROM run WHERE name = ?1");
        let row = |row: &Row<'_>| {
            let kept = StoredRun { saved: row.get(14)?, given: row.get(2)?, made_ms: row.get(12)? };
            Ok((is_whole(row)?, kept))
        };
        let found = read.and_then(|mut read| read.query_row([run], row).optional());
        match found.map_err(|error| self.fault(error))? {
            None => Ok(None),
            Some((true, kept)) => Ok(Some(kept)),
            Some((false, _)) => Err(self.damaged("its saved state", run)),
        }
    }

    /// The session of a run as of its last commit; `None` before its first step.
    ///
    /// # Errors
    /// The row is damaged, or its saved state cannot be parsed.
    pub fn session(&self, run: &str) -> Result<Option<Saved>, StoreError> {
        let text = self.saved(run)?.map(|kept| kept.saved).unwrap_or_default();
        if text.is_empty() {
            return Ok(None);
        }
        let read = serde_json::from_str(&text);
        read.map(Some).map_err(|why| StoreError::Run { run: run.to_owned(), why: why.to_string() })
    }

    /// All lines of a run's trace.
    ///
    /// # Errors
    /// The file cannot be read, or a line is damaged.
    pub fn lines(&self, run: &str) -> Result<Vec<Line>, StoreError> {
        let fault = |error| self.fault(error);
        let mut rows = self
            .connection
            .prepare("SELECT * FROM line WHERE run = ?1 ORDER BY seq")
            .map_err(fault)?;
        let rows = rows
            .query_map([run], |row| {
                Ok((row.get::<_, i64>(1)?, row.get::<_, String>(2)?, is_whole(row)?))
            })
            .map_err(fault)?;
        let mut lines = Vec::new();
        for row in rows {
            let (seq, text, is_whole) = row.map_err(fault)?;
            let line = serde_json::from_str(&text).ok().filter(|_| is_whole);
            lines.push(line.ok_or_else(|| self.damaged(&format!("line {seq} of its trace"), run))?);
        }
        Ok(lines)
    }

    /// The stored state of a run's calls, by their ids, without those that were cancelled or copied from the parent of a fork.
    pub(crate) fn known(&self, run: &str) -> Result<BTreeMap<String, Known>, StoreError> {
        let fault = |error| self.fault(error);
        let mut rows =
            self.connection.prepare("SELECT * FROM call WHERE run = ?1").map_err(fault)?;
        let rows = rows
            .query_map([run], |row| {
                Ok((
                    row.get::<_, String>(1)?,
                    row.get::<_, String>(2)?,
                    row.get::<_, Option<String>>(4)?,
                    is_whole(row)?,
                ))
            })
            .map_err(fault)?;
        let mut known = BTreeMap::new();
        for row in rows {
            let (id, stage, outcome, is_whole) = row.map_err(fault)?;
            let damaged = || self.damaged(&format!("its call `{id}`"), run);
            if !is_whole {
                return Err(damaged());
            }
            let what = match (Stage::of(&stage), outcome) {
                (Some(Stage::Planned), _) => Known::Planned,
                (Some(Stage::Started | Stage::Doubt), _) => Known::Started,
                (Some(Stage::Done), Some(outcome)) => {
                    let outcome: Outcome = serde_json::from_str(&outcome).map_err(|_| damaged())?;
                    Known::Ended(outcome)
                }
                (Some(Stage::Cancelled | Stage::Copied), _) => continue,
                (Some(Stage::Done) | None, _) => return Err(damaged()),
            };
            known.insert(id, what);
        }
        Ok(known)
    }

    /// The calls of a run that have ended, in the order in which they were planned. A fork's list begins with the calls that it has
    /// copied from its parent.
    ///
    /// # Errors
    /// The file cannot be read, or a call is damaged.
    pub fn made(&self, run: &str) -> Result<Vec<Call>, StoreError> {
        let read = || -> rusqlite::Result<Vec<(String, bool)>> {
            let mut rows = self
                .connection
                .prepare("SELECT * FROM call WHERE run = ?1 AND stage IN ('copied', 'done', 'cancelled') ORDER BY rowid")?;
            rows.query_map([run], |row| Ok((row.get(3)?, is_whole(row)?)))?.collect()
        };
        let rows = read().map_err(|error| self.fault(error))?;
        let call = |(text, is_whole): &(String, bool)| {
            serde_json::from_str(text).ok().filter(|_| *is_whole)
        };
        let calls: Option<Vec<Call>> = rows.iter().map(call).collect();
        calls.ok_or_else(|| self.damaged("a call", run))
    }

    /// The runs that have not ended, each with the time of its next step; and the names of the runs with damaged rows. A run needs a step
    /// at once if it has open calls, or if it could not be continued before.
    pub(crate) fn running(&self) -> Result<(Vec<Waiting>, Vec<String>), StoreError> {
        let read = || -> rusqlite::Result<_> {
            let mut rows = self.connection.prepare("SELECT * FROM run")?;
            let mut rows = rows.query([])?;
            let (mut all, mut damaged) = (Vec::new(), Vec::new());
            while let Some(row) = rows.next()? {
                if !is_whole(row)? {
                    damaged.push(shown(row, 0));
                } else if row.get_ref(3)? == ValueRef::Text(b"running") {
                    let wake = row.get::<_, Option<i64>>(10)?.map(|at| at as u64);
                    let is_open = row.get_ref(9)? != ValueRef::Text(b"");
                    all.push((row.get(0)?, wake, is_open || row.get_ref(4)? != ValueRef::Null));
                }
            }
            Ok((all, damaged))
        };
        read().map_err(|error| self.fault(error))
    }

    /// The time on the clock of one run, or the latest time of all: the time of the last commit. With real time, the time that has passed
    /// since on the computer's clock is added, whether or not a process was running. A clock that was set back adds nothing.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn moment(&self, run: Option<&str>, is_real: bool) -> Result<u64, StoreError> {
        self.moment_at(run, if is_real { wall() } else { 0 })
    }

    fn moment_at(&self, run: Option<&str>, wall: i64) -> Result<u64, StoreError> {
        let read = || -> rusqlite::Result<i64> {
            let mut rows =
                self.connection.prepare("SELECT * FROM run WHERE ?1 IS NULL OR name = ?1")?;
            let mut rows = rows.query([run])?;
            let mut latest = 0;
            while let Some(row) = rows.next()? {
                // A damaged row is skipped: a wrong time in it would move the clock of all runs.
                if is_whole(row)? {
                    let (now, updated): (i64, i64) = (row.get(11)?, row.get(13)?);
                    let passed = wall.saturating_sub(updated).max(0);
                    latest = latest.max(now.saturating_add(passed));
                }
            }
            Ok(latest)
        };
        read().map(|now| now as u64).map_err(|error| self.fault(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::Safety;
    use crate::rows::{PUT_RUN, put};

    #[test]
    #[allow(clippy::disallowed_methods, reason = "a folder of the test's own")]
    fn time_passes_while_nobody_is_there_but_not_backwards() {
        let folder = std::env::temp_dir().join(format!("chartc-moment-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let store = Store::own(&folder.join("s.db"), Safety::Process).expect("a store");
        for (run, now, updated) in [("a", 5000, 1_000_000), ("b", 70_000, 990_000)] {
            let none = None::<i64>;
            let row = rusqlite::params![
                run, "", "", "running", none, "", 0, 0, 0, "", none, now, 0, updated, ""
            ];
            put(&store.connection, PUT_RUN, row).expect("a row");
        }
        let at = |run, wall| store.moment_at(run, wall).expect("it can be read");
        assert_eq!(at(Some("a"), 1_000_000 + 3_600_000), 5000 + 3_600_000);
        assert_eq!(at(Some("a"), 1_000_000 - 3_600_000), 5000, "the clock was set back");
        assert_eq!(at(Some("b"), 1_000_000), 80_000);
        assert_eq!((at(None, 1_000_000), at(None, 0), at(Some("c"), 1)), (80_000, 70_000, 0));
        drop(store);
        std::fs::remove_dir_all(folder).expect("it is the test's own");
    }
}
