//! The store of a world: its checkpoints, its log, and the calls that its agents pay for.

#[cfg(test)]
mod tests;

use crate::keep::{Checkpoint, Keep, KeepError, KeptCall, Loaded};
use chartc_store::rusqlite::{self, OptionalExtension, Row, Transaction, params};
use chartc_store::{Kind, Safety, Store, StoreError, is_whole, put, shown, wall};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A world that survives its process, in an SQLite file. Only one process at a time can own it.
pub struct WorldStore(Mutex<Store>);

const CHECKPOINT: &str =
    "SELECT one, nth, number, now, lines, agents, meta, updated_ms, sum FROM checkpoint";
const CALL: &str = "SELECT id, question, answer, ended, sum FROM call WHERE id = ?1";
const PUT_CALL: &str = "INSERT INTO call VALUES (?1, ?2, ?3, ?4, ?5)
    ON CONFLICT (id) DO UPDATE SET question = ?2, answer = ?3, ended = ?4, sum = ?5";
const PUT_CHECKPOINT: &str =
    "INSERT OR REPLACE INTO checkpoint VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";

/// The tables with checksums, each with a text for messages, in which `{}` stands for the second column.
const TABLES: [(&str, &str); 6] = [
    ("its beginning", "SELECT one, given, made_ms, sum FROM begun"),
    ("the checkpoint", CHECKPOINT),
    ("the world", "SELECT one, saved, sum FROM world"),
    ("the agent `{}`", "SELECT place, name, saved, sum FROM agent"),
    ("a line of the log", "SELECT seq, text, sum FROM line"),
    ("a call", "SELECT id, question, answer, ended, sum FROM call"),
];

/// The content of the row of the last checkpoint.
#[derive(Default)]
struct Last {
    nth: i64,
    number: u64,
    now: u64,
    lines: i64,
    agents: i64,
    meta: String,
}

impl WorldStore {
    /// Opens or creates a store as its owner, who starts or continues the world.
    ///
    /// # Errors
    /// The file is no store of a world or cannot be written, or another process owns it.
    pub fn own(path: &Path, safety: Safety) -> Result<Self, StoreError> {
        Store::own_kind(path, safety, Kind::World).map(|store| Self(Mutex::new(store)))
    }

    /// Opens a store for reading.
    ///
    /// # Errors
    /// The file is no store of a world, or cannot be read.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Store::open_kind(path, Kind::World).map(|store| Self(Mutex::new(store)))
    }

    /// Checks every row against its checksum, and the file as a whole. Returns one sentence per fault; empty if the store is intact.
    ///
    /// # Errors
    /// The file cannot be read at all.
    pub fn check(&self) -> Result<Vec<String>, StoreError> {
        let mut faults =
            self.store().damage(&TABLES, &|row, what| what.replace("{}", &shown(row, 1)))?;
        if faults.is_empty() {
            // A checksum per row does not show a missing row.
            let whole = self.load().and_then(|_| self.log(0));
            faults.extend(whole.err().map(|why| why.to_string()));
        }
        Ok(faults)
    }

    fn store(&self) -> MutexGuard<'_, Store> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Executes `work` in one transaction, and returns after the commit.
    fn write(
        &self,
        work: impl FnOnce(&Transaction<'_>, &Path) -> Result<(), StoreError>,
    ) -> Result<(), KeepError> {
        let mut store = self.store();
        let path = store.path().to_owned();
        store.write(|tx| work(tx, &path)).map_err(kept)
    }
}

fn kept(why: StoreError) -> KeepError {
    KeepError(Box::new(why))
}

/// Reads a row, after checking its checksum.
fn whole<T>(
    path: &Path,
    what: &str,
    row: &Row<'_>,
    read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<T, StoreError> {
    let damaged = || StoreError::DamagedWorld { path: path.to_owned(), what: what.to_owned() };
    match is_whole(row) {
        Ok(true) => read(row).map_err(|_| damaged()),
        Ok(false) | Err(_) => Err(damaged()),
    }
}

/// Reads all rows of a query, each after checking its checksum.
fn rows<T>(
    store: &Store,
    sql: &str,
    given: impl rusqlite::Params,
    what: &str,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, StoreError> {
    let fault = |error| store.fault(error);
    let mut select = store.connection().prepare_cached(sql).map_err(fault)?;
    let mut found = select.query(given).map_err(fault)?;
    let mut all = Vec::new();
    while let Some(row) = found.next().map_err(fault)? {
        all.push(whole(store.path(), what, row, &read)?);
    }
    Ok(all)
}

fn last(row: &Row<'_>) -> rusqlite::Result<Last> {
    Ok(Last {
        nth: row.get(1)?,
        number: row.get::<_, i64>(2)? as u64,
        now: row.get::<_, i64>(3)? as u64,
        lines: row.get(4)?,
        agents: row.get(5)?,
        meta: row.get(6)?,
    })
}

/// Reads the last checkpoint within a transaction.
fn before(tx: &Transaction<'_>, path: &Path) -> Result<Option<Last>, StoreError> {
    let fault = |error| StoreError::of(path, error);
    let mut select = tx.prepare_cached(CHECKPOINT).map_err(fault)?;
    let mut found = select.query([]).map_err(fault)?;
    let row = found.next().map_err(fault)?;
    row.map(|row| whole(path, "the checkpoint", row, last)).transpose()
}

/// Writes an agent, or deletes it with `None`. Returns the change in the number of agents: 1, 0 or -1.
fn put_agent(tx: &Transaction<'_>, name: &str, saved: Option<&String>) -> rusqlite::Result<i64> {
    let find = "SELECT place FROM agent WHERE name = ?1";
    let place =
        tx.prepare_cached(find)?.query_row([name], |row| row.get::<_, i64>(0)).optional()?;
    let Some(saved) = saved else {
        let delete = "DELETE FROM agent WHERE name = ?1";
        return Ok(-(tx.prepare_cached(delete)?.execute([name])? as i64));
    };
    let (place, more) = match place {
        Some(place) => (place, 0),
        None => {
            let next = "SELECT coalesce(max(place), 0) + 1 FROM agent";
            (tx.prepare_cached(next)?.query_row([], |row| row.get(0))?, 1)
        }
    };
    put(tx, "INSERT OR REPLACE INTO agent VALUES (?1, ?2, ?3, ?4)", params![place, name, saved])?;
    Ok(more)
}

/// Writes a checkpoint, and deletes the calls that no checkpoint needs any more.
fn put_checkpoint(
    tx: &Transaction<'_>,
    checkpoint: &Checkpoint,
    last: &Last,
) -> rusqlite::Result<()> {
    let mut agents = last.agents;
    for (name, saved) in &checkpoint.agents {
        agents += put_agent(tx, name, saved.as_ref())?;
    }
    if let Some(world) = &checkpoint.world {
        put(tx, "INSERT OR REPLACE INTO world VALUES (?1, ?2, ?3)", params![1, world])?;
    }
    let mut lines = last.lines;
    for text in &checkpoint.log {
        lines += 1;
        put(tx, "INSERT INTO line VALUES (?1, ?2, ?3)", params![lines, text])?;
    }
    // A call that ended before the last checkpoint was seen by its agent before this one. A call that ended after it may be seen later.
    tx.prepare_cached("DELETE FROM call WHERE ended < ?1")?.execute([last.nth])?;
    let (number, now) = (checkpoint.number as i64, checkpoint.now_ms as i64);
    let row = params![1, last.nth + 1, number, now, lines, agents, checkpoint.meta, wall()];
    put(tx, PUT_CHECKPOINT, row)
}

/// Stores the end of a call. Fails if there is no such call.
fn end_call(
    tx: &Transaction<'_>,
    path: &Path,
    id: &str,
    answer: Option<&str>,
) -> Result<(), StoreError> {
    let fault = |error| StoreError::of(path, error);
    let read = "SELECT question FROM call WHERE id = ?1";
    let question = tx
        .prepare_cached(read)
        .and_then(|mut read| read.query_row([id], |row| row.get::<_, String>(0)).optional())
        .map_err(fault)?;
    let Some(question) = question else {
        let why = format!("the call `{id}` was not begun");
        return Err(StoreError::World { path: path.to_owned(), why });
    };
    let nth = before(tx, path)?.unwrap_or_default().nth;
    put(tx, PUT_CALL, params![id, question, answer, nth]).map_err(fault)
}

impl Keep for WorldStore {
    fn begin(&self, given: &str) -> Result<(), KeepError> {
        self.write(|tx, path| {
            let fault = |error| StoreError::of(path, error);
            let count = "SELECT count(*) FROM begun";
            let begun: i64 = tx.query_row(count, [], |row| row.get(0)).map_err(fault)?;
            if begun > 0 {
                let why = "it has a world already: go on with it, or give another path".into();
                return Err(StoreError::World { path: path.to_owned(), why });
            }
            let row = params![1, given, wall()];
            put(tx, "INSERT INTO begun VALUES (?1, ?2, ?3, ?4)", row).map_err(fault)
        })
    }

    fn given(&self) -> Result<Option<String>, KeepError> {
        let store = self.store();
        let select = "SELECT one, given, made_ms, sum FROM begun";
        let found = rows(&store, select, [], "its beginning", |row| row.get(1)).map_err(kept)?;
        Ok(found.into_iter().next())
    }

    fn commit(&self, checkpoint: &Checkpoint) -> Result<(), KeepError> {
        self.write(|tx, path| {
            let found = before(tx, path)?;
            if let Some(last) = found.as_ref().filter(|last| last.number > checkpoint.number) {
                let (number, last) = (checkpoint.number, last.number);
                let why = format!("checkpoint {number} comes after checkpoint {last}");
                return Err(StoreError::World { path: path.to_owned(), why });
            }
            let last = found.unwrap_or_default();
            put_checkpoint(tx, checkpoint, &last).map_err(|error| StoreError::of(path, error))
        })
    }

    fn load(&self) -> Result<Option<Loaded>, KeepError> {
        let store = self.store();
        let path = store.path().to_owned();
        let read = (|| {
            // A transaction gives a consistent view, also while another process writes.
            let _moment = store.connection().unchecked_transaction().map_err(|e| store.fault(e))?;
            let found = rows(&store, CHECKPOINT, [], "the checkpoint", last)?;
            let Some(last) = found.into_iter().next() else { return Ok(None) };
            let world = "SELECT one, saved, sum FROM world";
            let world = rows(&store, world, [], "the world", |row| row.get(1))?;
            let agents = "SELECT place, name, saved, sum FROM agent ORDER BY place";
            let pair = |row: &Row<'_>| Ok((row.get(1)?, row.get(2)?));
            let agents: Vec<(String, String)> = rows(&store, agents, [], "an agent", pair)?;
            // A checksum per row does not show a missing row; the checkpoint's count does.
            if agents.len() as i64 != last.agents {
                let what = "the number of agents".to_owned();
                return Err(StoreError::DamagedWorld { path: path.clone(), what });
            }
            Ok(Some(Loaded {
                number: last.number,
                now_ms: last.now,
                world: world.into_iter().next(),
                agents,
                meta: last.meta,
                log_lines: last.lines as u64,
            }))
        })();
        read.map_err(kept)
    }

    fn log(&self, from: u64) -> Result<Vec<String>, KeepError> {
        let store = self.store();
        let from = i64::try_from(from).unwrap_or(i64::MAX);
        let read = (|| {
            let found = rows(&store, CHECKPOINT, [], "the checkpoint", last)?;
            // Lines that another process commits between these two queries are left out.
            let until = found.first().map_or(0, |last| last.lines);
            let select =
                "SELECT seq, text, sum FROM line WHERE seq > ?1 AND seq <= ?2 ORDER BY seq";
            let lines = rows(&store, select, [from, until], "a line of the log", |row| row.get(1))?;
            if lines.len() as i64 == (until - from).max(0) {
                Ok(lines)
            } else {
                let what = "the number of lines of the log".to_owned();
                Err(StoreError::DamagedWorld { path: store.path().to_owned(), what })
            }
        })();
        read.map_err(kept)
    }

    fn call_begun(&self, id: &str, question: &str) -> Result<(), KeepError> {
        self.write(|tx, path| {
            let (answer, ended): (Option<&str>, Option<i64>) = (None, None);
            put(tx, PUT_CALL, params![id, question, answer, ended])
                .map_err(|error| StoreError::of(path, error))
        })
    }

    fn call_settled(&self, id: &str, answer: &str) -> Result<(), KeepError> {
        self.write(|tx, path| end_call(tx, path, id, Some(answer)))
    }

    fn call_dropped(&self, id: &str) -> Result<(), KeepError> {
        self.write(|tx, path| end_call(tx, path, id, None))
    }

    fn call(&self, id: &str) -> Result<Option<KeptCall>, KeepError> {
        let store = self.store();
        let read = |row: &Row<'_>| Ok(KeptCall { question: row.get(1)?, answer: row.get(2)? });
        let found = rows(&store, CALL, [id], "a call", read).map_err(kept)?;
        Ok(found.into_iter().next())
    }
}
