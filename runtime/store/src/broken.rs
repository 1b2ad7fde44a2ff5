//! Runs that cannot be continued in this process, while the others can: the saved state is damaged or of another chart, or a host
//! function has panicked.

use crate::error::StoreError;
use crate::file::Store;
use crate::row::is_whole;
use crate::rows::{PUT_RUN, put};
use crate::worker::Worker;
use chartc_core::host::Machine;
use rusqlite::types::Value;
use rusqlite::{OptionalExtension, ToSql};

/// The index of the column of a run's row that holds the reason why the run cannot continue.
const STOPPED: usize = 4;

impl<M: Machine> Worker<'_, M> {
    /// The runs that cannot be continued in this process, each with the reason. The next process tries them again.
    pub fn broken(&self) -> impl Iterator<Item = (&str, &str)> {
        self.broken.iter().map(|(run, why)| (run.as_str(), why.as_str()))
    }

    /// Whether a run exists and can be continued. A run that cannot be restored is marked as broken, which does not affect the others.
    pub(crate) fn has(&mut self, run: &str) -> Result<bool, StoreError> {
        if self.broken.contains_key(run) {
            return Ok(false);
        }
        match self.ensure(run, None) {
            Err(StoreError::Run { why, .. }) => self.breaks(run, why)?,
            Err(StoreError::Damaged { what, .. }) => {
                self.breaks(run, format!("{what} is not as it was written"))?;
            }
            whether => return whether,
        }
        Ok(false)
    }

    /// Marks a run as broken, here and in its row. A row that is damaged itself is not changed.
    pub(crate) fn breaks(&mut self, run: &str, why: String) -> Result<(), StoreError> {
        self.runs.remove(run);
        self.busy.remove(run);
        self.asleep.remove(run);
        self.wakes.retain(|(_, other)| other != run);
        self.backlog.retain(|(other, _)| other != run);
        let tx = self.store.transaction()?;
        let noted = note(&tx, run, &why).and_then(|()| tx.commit());
        self.broken.insert(run.to_owned(), why);
        noted.map_err(|error| self.store.fault(error))
    }
}

impl Store {
    /// Whether the columns of a row mean that the run is broken: it has not ended, and there is a reason why it cannot continue.
    pub(crate) fn is_broken(status: &str, stopped: Option<&str>) -> bool {
        status == "running" && stopped.is_some()
    }
}

/// Writes the reason into the row of a run. All other columns stay the same, including the times.
fn note(tx: &rusqlite::Transaction<'_>, run: &str, why: &str) -> rusqlite::Result<()> {
    let read = "SELECT * FROM run WHERE name = ?1";
    let row = tx
        .query_row(read, [run], |row| {
            let count = row.as_ref().column_count() - 1;
            let columns: Vec<Value> =
                (0..count).map(|nth| row.get(nth)).collect::<Result<_, _>>()?;
            Ok((is_whole(row)?, columns))
        })
        .optional()?;
    // A damaged row is left alone: a new checksum would hide the damage from `check`.
    let Some((true, mut columns)) = row else { return Ok(()) };
    if columns.get(3) == Some(&Value::Text("running".into())) {
        columns[STOPPED] = Value::Text(why.to_owned());
        let columns: Vec<&dyn ToSql> = columns.iter().map(|column| column as &dyn ToSql).collect();
        put(tx, PUT_RUN, &columns)?;
    }
    Ok(())
}
