//! The file: its tables, who may write it, and its rows.

use crate::error::StoreError;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Transaction, TransactionBehavior};
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
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
    pub(crate) path: PathBuf,
    /// Held by the process that goes on with the runs.
    lock: Option<File>,
    /// This process, among those that have gone on with the runs.
    pub(crate) boot: i64,
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
            .prepare_cached("SELECT value FROM meta WHERE key = 'boot'")
            .and_then(|mut read| read.query_row([], |row| row.get(0)))
            .map_err(|error| StoreError::of(&path, error))?;
        if owner == boot { Ok(begun) } else { Err(StoreError::Taken(path)) }
    }
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
