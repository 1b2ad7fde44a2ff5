//! Maintenance of a store: backups, integrity checks, and the removal of old runs.

use crate::error::StoreError;
use crate::file::{Store, connect, seal, wall};
use crate::read::shown;
use crate::rows::is_whole;
use rusqlite::backup::Backup;
use rusqlite::{OptionalExtension, Row, Transaction, TransactionBehavior};
use std::path::Path;
use std::time::Duration;

/// The maximum number of lines that one slice of a prune removes.
const SLICE: i64 = 5_000;
/// The time between two slices, in which other processes may write.
const PAUSE: Duration = Duration::from_millis(5);

/// The runs that are removed so far.
#[derive(Default)]
struct Pruned {
    count: usize,
    /// The name of the last one.
    last: String,
}

/// The number of database pages that a backup copies at a time. Writers can commit between two steps.
const PAGES: i32 = 256;

impl Store {
    /// Copies the store into a new file. Runs may continue meanwhile; the copy shows the store at a single moment.
    ///
    /// # Errors
    /// The file exists or cannot be written, or the store cannot be read.
    pub fn backup(&self, to: &Path) -> Result<(), StoreError> {
        if to.symlink_metadata().is_ok() {
            return Err(StoreError::Exists(to.to_owned()));
        }
        let fault = |error| StoreError::of(to, error);
        let mut copy = connect(to, true)?;
        let backup = Backup::new(&self.connection, &mut copy).map_err(fault)?;
        backup.run_to_completion(PAGES, Duration::from_millis(5), None).map_err(fault)
    }

    /// Removes runs that ended more than `days` days ago, in slices between which other processes write. Returns their number.
    ///
    /// # Errors
    /// The file cannot be written.
    #[allow(
        clippy::disallowed_methods,
        reason = "SQLite lets nobody else write in between unless this thread pauses"
    )]
    pub fn prune(&self, days: u32) -> Result<usize, StoreError> {
        let before = wall().saturating_sub(i64::from(days).saturating_mul(86_400_000));
        let mut pruned = Pruned::default();
        while !self.prune_slice(before, &mut pruned).map_err(|error| self.fault(error))? {
            std::thread::sleep(PAUSE);
        }
        Ok(pruned.count)
    }

    /// Removes rows of runs that were last changed before this time, until there are enough for a slice. A run goes with its first lines,
    /// after its later ones. Returns whether no such run is left.
    fn prune_slice(&self, before: i64, pruned: &mut Pruned) -> rusqlite::Result<bool> {
        let ended = "SELECT name FROM run WHERE name > ?1 AND status NOT IN ('running', 'stopped') AND updated_ms < ?2 ORDER BY name LIMIT 1";
        let lines = "DELETE FROM line WHERE rowid IN (SELECT rowid FROM line WHERE run = ?1 ORDER BY seq DESC LIMIT ?2)";
        let tx = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
        let mut room = SLICE;
        while room > 0 {
            let next =
                tx.prepare_cached(ended)?.query_row((&pruned.last, before), |row| row.get(0));
            let Some(run) = next.optional()? else {
                tx.commit()?;
                return Ok(true);
            };
            let run: String = run;
            let removed = tx.prepare_cached(lines)?.execute((&run, room))? as i64;
            let is_last = removed < room;
            room -= removed + 1;
            if is_last {
                for table in ["event", "call", "inbox"] {
                    tx.execute(&format!("DELETE FROM {table} WHERE run = ?1"), [&run])?;
                }
                tx.execute("DELETE FROM run WHERE name = ?1", [&run])?;
                pruned.count += 1;
                pruned.last = run;
            }
        }
        tx.commit()?;
        Ok(false)
    }

    /// Checks every row against its checksum, and the file as a whole. Returns one sentence per fault; empty if the store is intact.
    ///
    /// # Errors
    /// The file cannot be read at all.
    pub fn check(&self) -> Result<Vec<String>, StoreError> {
        let fault = |error| self.fault(error);
        let mut faults = self.damage(&ROWS, &|row, what| {
            let [run, which] = [shown(row, 0), shown(row, 1)];
            format!("run `{run}`: {}", what.replace("{}", &which))
        })?;
        // A checksum per row cannot show that a whole row is missing: the saved state says how many lines its trace must have.
        let ends = "SELECT name, saved, (SELECT count(*) FROM line WHERE run = name), (SELECT max(seq) FROM line WHERE run = name) FROM run";
        let mut runs = self.connection.prepare(ends).map_err(fault)?;
        let mut rows = runs.query([]).map_err(fault)?;
        while let Some(row) = rows.next().map_err(fault)? {
            let saved = row.get_ref(1).map_err(fault)?.as_str().ok();
            let seq = saved.and_then(|saved| serde_json::from_str::<Seq>(saved).ok());
            let seq = seq.map_or(0, |seq| seq.seq);
            let (count, last) = (row.get::<_, i64>(2), row.get::<_, Option<i64>>(3));
            if count != Ok(seq) || last.map(|last| last.unwrap_or(0)) != Ok(seq) {
                faults.push(format!(
                    "run `{}`: its trace has not all of its {seq} lines",
                    shown(row, 0)
                ));
            }
        }
        Ok(faults)
    }

    /// The faults of the file as a whole, and of rows of these tables, for which `told` has the words.
    ///
    /// # Errors
    /// The file cannot be read at all.
    pub fn damage(
        &self,
        tables: &[(&str, &str)],
        told: &dyn Fn(&Row<'_>, &str) -> String,
    ) -> Result<Vec<String>, StoreError> {
        let fault = |error| self.fault(error);
        let mut faults = Vec::new();
        if let Err(StoreError::Lost { count, .. }) = self.ensure_complete(seal(&self.path)) {
            faults.push(format!("its last {count} commits are not there"));
        }
        let mut said = self.connection.prepare("PRAGMA integrity_check").map_err(fault)?;
        let said = said.query_map([], |row| row.get::<_, String>(0)).map_err(fault)?;
        for one in said {
            let one = one.map_err(fault)?;
            if one != "ok" {
                faults.push(format!("SQLite: {one}"));
            }
        }
        for (what, read) in tables {
            let mut rows = self.connection.prepare(read).map_err(fault)?;
            let mut rows = rows.query([]).map_err(fault)?;
            while let Some(row) = rows.next().map_err(fault)? {
                if !is_whole(row).map_err(fault)? {
                    faults.push(told(row, what));
                }
            }
        }
        Ok(faults)
    }
}

/// The tables with checksums, each with a text for messages, in which `{}` stands for the second column.
const ROWS: [(&str, &str); 5] = [
    ("its saved state", "SELECT * FROM run"),
    ("line {} of its trace", "SELECT * FROM line"),
    ("its call `{}`", "SELECT * FROM call"),
    ("its event `{}`", "SELECT * FROM event"),
    ("a letter in its inbox", "SELECT run, kind, name, data, sum FROM inbox"),
];

/// The part of a saved state that is the number of the last line of its trace.
#[derive(serde::Deserialize)]
struct Seq {
    seq: i64,
}
