//! Care of a store: copies, checks, forgetting.

use crate::error::StoreError;
use crate::file::{Store, wall};
use crate::row::checksum;
use crate::rows::call_sum;
use rusqlite::Connection;
use rusqlite::backup::Backup;
use std::path::Path;
use std::time::Duration;

/// Pages that a copy takes at a time, so that whoever writes meanwhile does not wait.
const PAGES: i32 = 256;

impl Store {
    /// Copies the store into a file that does not exist, also while runs go on: the copy is of one moment.
    ///
    /// # Errors
    /// The file exists or cannot be written.
    pub fn backup(&self, to: &Path) -> Result<(), StoreError> {
        if to.exists() {
            return Err(StoreError::Exists(to.to_owned()));
        }
        let fault = |error| StoreError::of(to, error);
        let mut copy = Connection::open(to).map_err(fault)?;
        let backup = Backup::new(&self.connection, &mut copy).map_err(fault)?;
        backup.run_to_completion(PAGES, Duration::from_millis(5), None).map_err(fault)
    }

    /// Forgets runs that ended more than so many days ago. Returns how many.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn prune(&self, days: u32) -> Result<usize, StoreError> {
        let before = wall().saturating_sub(i64::from(days).saturating_mul(86_400_000));
        let ended =
            "SELECT name FROM run WHERE status NOT IN ('running', 'stopped') AND updated_ms < ?1";
        let tx = self.connection.unchecked_transaction().map_err(|error| self.fault(error))?;
        for table in ["event", "line", "call", "inbox"] {
            tx.execute(&format!("DELETE FROM {table} WHERE run IN ({ended})"), [before])
                .map_err(|error| self.fault(error))?;
        }
        let count = tx
            .execute(&format!("DELETE FROM run WHERE name IN ({ended})"), [before])
            .map_err(|error| self.fault(error))?;
        tx.commit().map_err(|error| self.fault(error))?;
        Ok(count)
    }

    /// What is not as it was written, one sentence each; empty if all is.
    ///
    /// # Errors
    /// The file cannot be read at all.
    pub fn check(&self) -> Result<Vec<String>, StoreError> {
        let fault = |error| self.fault(error);
        let mut faults = Vec::new();
        let mut said = self.connection.prepare("PRAGMA integrity_check").map_err(fault)?;
        let said = said.query_map([], |row| row.get::<_, String>(0)).map_err(fault)?;
        for one in said {
            let one = one.map_err(fault)?;
            if one != "ok" {
                faults.push(format!("SQLite: {one}"));
            }
        }
        let mut runs = self
            .connection
            .prepare("SELECT name, chart, given, saved, sum FROM run")
            .map_err(fault)?;
        let mut rows = runs.query([]).map_err(fault)?;
        while let Some(row) = rows.next().map_err(fault)? {
            let text = |nth: usize| row.get::<_, String>(nth);
            let read = || -> rusqlite::Result<(String, bool)> {
                let [name, chart, given, saved] = [text(0)?, text(1)?, text(2)?, text(3)?];
                let parts = [name.as_bytes(), chart.as_bytes(), given.as_bytes(), saved.as_bytes()];
                Ok((name.clone(), row.get::<_, i64>(4)? == checksum(&parts)))
            };
            match read() {
                Ok((_, true)) => {}
                Ok((name, false)) => faults.push(format!("run `{name}`: its saved state")),
                Err(why) => faults.push(format!("a run: {why}")),
            }
        }
        let mut lines =
            self.connection.prepare("SELECT run, seq, text, sum FROM line").map_err(fault)?;
        let mut rows = lines.query([]).map_err(fault)?;
        while let Some(row) = rows.next().map_err(fault)? {
            let read = || -> rusqlite::Result<(String, i64, bool)> {
                let (run, seq, text) =
                    (row.get::<_, String>(0)?, row.get::<_, i64>(1)?, row.get::<_, String>(2)?);
                let parts: [&[u8]; 3] = [run.as_bytes(), &seq.to_le_bytes(), text.as_bytes()];
                let is_whole = row.get::<_, i64>(3)? == checksum(&parts);
                Ok((run, seq, is_whole))
            };
            match read() {
                Ok((_, _, true)) => {}
                Ok((run, seq, false)) => {
                    faults.push(format!("run `{run}`: line {seq} of its trace"))
                }
                Err(why) => faults.push(format!("a line of a trace: {why}")),
            }
        }
        let mut calls = self
            .connection
            .prepare("SELECT run, id, stage, call, outcome, sum FROM call")
            .map_err(fault)?;
        let mut rows = calls.query([]).map_err(fault)?;
        while let Some(row) = rows.next().map_err(fault)? {
            let text = |nth: usize| row.get::<_, String>(nth);
            let read = || -> rusqlite::Result<(String, String, bool)> {
                let [run, id, stage, call] = [text(0)?, text(1)?, text(2)?, text(3)?];
                let outcome = row.get::<_, Option<String>>(4)?;
                let sum = call_sum(&run, &id, &stage, &call, outcome.as_deref());
                let is_whole = row.get::<_, i64>(5)? == sum;
                Ok((run, id, is_whole))
            };
            match read() {
                Ok((_, _, true)) => {}
                Ok((run, id, false)) => faults.push(format!("run `{run}`: call `{id}`")),
                Err(why) => faults.push(format!("a call: {why}")),
            }
        }
        Ok(faults)
    }
}
