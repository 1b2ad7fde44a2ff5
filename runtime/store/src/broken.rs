//! Runs that cannot go on here, beside others that do: their state is damaged or another chart's, or a function of their host has panicked.

use crate::error::StoreError;
use crate::file::Store;
use crate::row::is_whole;
use crate::rows::{PUT_RUN, put};
use crate::worker::Worker;
use chartc_core::host::Machine;
use rusqlite::types::Value;
use rusqlite::{OptionalExtension, ToSql};

/// The column of a run's row that says why it cannot go on.
const STOPPED: usize = 4;

impl<M: Machine> Worker<'_, M> {
    /// The runs of the store that cannot go on here, and why. The others do. They are tried again by the next process.
    pub fn broken(&self) -> impl Iterator<Item = (&str, &str)> {
        self.broken.iter().map(|(run, why)| (run.as_str(), why.as_str()))
    }

    /// Whether a run goes on here, as far as it is known. One that cannot be restored is noted; the others go on.
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

    /// Notes that a run cannot go on, also in its row, if that is as it was written.
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
    /// Whether the row of a run says that it could not go on, although it has not ended.
    pub(crate) fn is_broken(status: &str, stopped: Option<&str>) -> bool {
        status == "running" && stopped.is_some()
    }
}

/// Writes into a row why its run cannot go on; nothing else of it changes, its times included.
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
    // What is damaged stays as it is, so that a check finds it.
    let Some((true, mut columns)) = row else { return Ok(()) };
    if columns.get(3) == Some(&Value::Text("running".into())) {
        columns[STOPPED] = Value::Text(why.to_owned());
        let columns: Vec<&dyn ToSql> = columns.iter().map(|column| column as &dyn ToSql).collect();
        put(tx, PUT_RUN, &columns)?;
    }
    Ok(())
}
