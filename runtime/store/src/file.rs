//! The file: its tables, who may write it, and its rows.

use crate::error::StoreError;
use crate::planner::Known;
use crate::row::{Call, Outcome, Stage, checksum};
use chartc_runtime::trace::Line;
use rusqlite::{
    Connection, OpenFlags, OptionalExtension, Transaction, TransactionBehavior, params,
};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What `meta` says that a file is.
const FORMAT: &str = "chartc store";
/// Version of the tables.
pub const VERSION: i64 = 1;

/// How long a command waits for another one's short transaction.
const PATIENCE: Duration = Duration::from_secs(10);

const TABLES: &str = "
    CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
    CREATE TABLE run (
        name TEXT PRIMARY KEY,
        chart TEXT NOT NULL,
        given TEXT NOT NULL,
        status TEXT NOT NULL,
        stopped TEXT,
        state TEXT NOT NULL,
        turns INTEGER NOT NULL,
        calls INTEGER NOT NULL,
        cost INTEGER NOT NULL,
        waits_for TEXT NOT NULL,
        wake INTEGER,
        now INTEGER NOT NULL,
        made_ms INTEGER NOT NULL,
        updated_ms INTEGER NOT NULL,
        saved TEXT NOT NULL,
        sum INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE event (
        run TEXT NOT NULL,
        id TEXT NOT NULL,
        reply TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        PRIMARY KEY (run, id)
    ) WITHOUT ROWID;
    CREATE TABLE line (
        run TEXT NOT NULL,
        seq INTEGER NOT NULL,
        text TEXT NOT NULL,
        sum INTEGER NOT NULL,
        PRIMARY KEY (run, seq)
    ) WITHOUT ROWID;
    CREATE TABLE call (
        run TEXT NOT NULL,
        id TEXT NOT NULL,
        stage TEXT NOT NULL,
        boot INTEGER NOT NULL,
        attempts INTEGER NOT NULL,
        call TEXT NOT NULL,
        outcome TEXT,
        planned INTEGER NOT NULL,
        ended_ms INTEGER,
        sum INTEGER NOT NULL,
        PRIMARY KEY (run, id)
    ) WITHOUT ROWID;
    CREATE TABLE inbox (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        run TEXT NOT NULL,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        data TEXT NOT NULL
    );
";

/// Milliseconds since 1970 on the computer's clock.
pub(crate) fn wall() -> i64 {
    let passed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(passed.as_millis()).unwrap_or(i64::MAX)
}

/// A number that grows with each plan, also from process to process: microseconds since 1970, made unique.
fn stamp() -> i64 {
    static LAST: AtomicI64 = AtomicI64::new(0);
    let now = wall().saturating_mul(1000);
    let before =
        LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(now.max(last + 1)));
    now.max(before.unwrap_or(0) + 1)
}

/// What commits survive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Safety {
    /// A crash of the computer: each commit waits for the disk.
    #[default]
    Full,
    /// A crash of the process; a crash of the computer may lose the last commits, none of the others.
    Process,
}

/// A store of runs.
pub struct Store {
    pub(crate) connection: Connection,
    path: PathBuf,
    /// Held by the process that goes on with the runs.
    lock: Option<File>,
    /// This process, among those that have gone on with the runs.
    pub(crate) boot: i64,
}

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

impl Store {
    /// Opens a file to look at it, or to put something into the inbox of a run.
    ///
    /// # Errors
    /// It is no store, or cannot be read.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        if !path.exists() {
            return Err(StoreError::Missing(path.to_owned()));
        }
        let connection = connect(path, false)?;
        let store = Self { connection, path: path.to_owned(), lock: None, boot: 0 };
        store.is_one()?;
        Ok(store)
    }

    /// Opens or makes a file, to begin runs and to go on with them. One process at a time may.
    ///
    /// # Errors
    /// It is no store, cannot be written, or another process has it.
    pub fn own(path: &Path, safety: Safety) -> Result<Self, StoreError> {
        let lock = locked(path)?;
        let connection = connect(path, true)?;
        let fault = |error| StoreError::of(path, error);
        let set = match safety {
            Safety::Full => "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;",
            Safety::Process => "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;",
        };
        let tables: i64 = connection
            .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
            .map_err(fault)?;
        if tables > 0 {
            let store = Self { connection, path: path.to_owned(), lock: None, boot: 0 };
            store.is_one()?;
            return store.begin(lock, set);
        }
        connection.execute_batch(set).map_err(fault)?;
        connection
            .execute_batch(&format!(
                "BEGIN IMMEDIATE; {TABLES}
                 INSERT INTO meta VALUES ('format', '{FORMAT}'), ('version', {VERSION}), ('boot', 0);
                 COMMIT;"
            ))
            .map_err(fault)?;
        Self { connection, path: path.to_owned(), lock: None, boot: 0 }.begin(lock, set)
    }

    fn begin(mut self, lock: File, set: &str) -> Result<Self, StoreError> {
        let fault = |error| StoreError::of(&self.path, error);
        self.connection.execute_batch(set).map_err(fault)?;
        self.boot = self
            .connection
            .query_row(
                "UPDATE meta SET value = value + 1 WHERE key = 'boot' RETURNING value",
                [],
                |row| row.get(0),
            )
            .map_err(fault)?;
        self.lock = Some(lock);
        Ok(self)
    }

    fn is_one(&self) -> Result<(), StoreError> {
        let said = |key: &str| -> rusqlite::Result<Option<rusqlite::types::Value>> {
            let said = "SELECT value FROM meta WHERE key = ?1";
            self.connection.query_row(said, [key], |row| row.get(0)).optional()
        };
        let format = said("format").map_err(|_| StoreError::Other(self.path.clone()))?;
        if format != Some(rusqlite::types::Value::Text(FORMAT.into())) {
            return Err(StoreError::Other(self.path.clone()));
        }
        let version = said("version").map_err(|error| StoreError::of(&self.path, error))?;
        match version {
            Some(rusqlite::types::Value::Integer(VERSION)) => Ok(()),
            Some(rusqlite::types::Value::Integer(other)) => {
                Err(StoreError::Version { path: self.path.clone(), version: other })
            }
            Some(_) | None => Err(StoreError::Other(self.path.clone())),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn fault(&self, error: rusqlite::Error) -> StoreError {
        StoreError::of(&self.path, error)
    }

    pub(crate) fn damaged(&self, what: &str, run: &str) -> StoreError {
        StoreError::Damaged { path: self.path.clone(), what: what.into(), run: run.into() }
    }

    /// Begins a commit. It fails if another process has the runs by now.
    pub(crate) fn transaction(&mut self) -> Result<Transaction<'_>, StoreError> {
        let (path, boot) = (self.path.clone(), self.boot);
        let fault = |error| StoreError::of(&path, error);
        let begun = self.connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let begun = begun.map_err(fault)?;
        let owner: i64 = begun
            .query_row("SELECT value FROM meta WHERE key = 'boot'", [], |row| row.get(0))
            .map_err(|error| StoreError::of(&path, error))?;
        if owner == boot { Ok(begun) } else { Err(StoreError::Taken(path)) }
    }

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

    /// The runs that have not ended.
    pub(crate) fn running(&self) -> Result<Vec<String>, StoreError> {
        let read = || -> rusqlite::Result<Vec<String>> {
            let mut rows =
                self.connection.prepare("SELECT name FROM run WHERE status = 'running'")?;
            rows.query_map([], |row| row.get(0))?.collect()
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

#[allow(clippy::disallowed_methods, reason = "the lock beside the file is one more file")]
fn locked(path: &Path) -> Result<File, StoreError> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let lock = PathBuf::from(name);
    let opened = OpenOptions::new().create(true).truncate(false).write(true).open(&lock);
    let file = opened.map_err(|why| StoreError::Unwritable { path: path.to_owned(), why })?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StoreError::Owned(path.to_owned())),
        Err(TryLockError::Error(why)) => Err(StoreError::Unwritable { path: path.to_owned(), why }),
    }
}

fn connect(path: &Path, makes: bool) -> Result<Connection, StoreError> {
    if path.is_dir() {
        return Err(StoreError::Other(path.to_owned()));
    }
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if makes {
        flags |= OpenFlags::SQLITE_OPEN_CREATE;
    }
    // Never a name that begins like a URI.
    let plain = if path.is_absolute() { path.to_owned() } else { Path::new(".").join(path) };
    let fault = |error| StoreError::of(path, error);
    let connection = Connection::open_with_flags(plain, flags).map_err(fault)?;
    connection.busy_timeout(PATIENCE).map_err(fault)?;
    Ok(connection)
}
