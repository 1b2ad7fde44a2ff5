//! The database file: opening it, owning it, and its transactions.
//!
//! Any process may read a store. One process at a time owns it and writes: it holds a lock on `FILE.lock`. As locks are unreliable on
//! some file systems, each owner also takes the next number (`boot`), and every transaction checks that this number is still the latest.

use crate::error::{StoreError, VERSION};
use crate::kind::Kind;
use chartc_core::machine::Instant;
use rusqlite::{
    Connection, ErrorCode, OpenFlags, OptionalExtension, Transaction, TransactionBehavior,
};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A page cache of 64 MiB, and a write-ahead log of 8000 pages (32 MiB) before a checkpoint. With many runs, most commits touch different
/// pages, so smaller values would write each page more often.
const WAL: &str =
    "PRAGMA journal_mode = WAL; PRAGMA cache_size = -65536; PRAGMA wal_autocheckpoint = 8000;";

/// What the name of the lock file adds to that of the store.
const LOCK: &str = ".lock";

/// The length of a lock file, in bytes: the number of the latest commit, in decimal.
const DIGITS: u64 = 20;

/// The number of attempts to get the lock, 5 ms apart.
const LOCKS: u32 = 40;

/// The time that a connection waits for the transaction of another process.
const PATIENCE: Duration = Duration::from_secs(10);

/// Milliseconds since 1970 on the computer's clock.
#[allow(clippy::disallowed_methods, reason = "a store outlives the clocks of its processes")]
pub fn wall() -> i64 {
    let passed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(passed.as_millis()).unwrap_or(i64::MAX)
}

/// The kind of crash that commits survive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Safety {
    /// Commits survive a crash of the computer. Each commit waits for the disk.
    #[default]
    Full,
    /// Commits survive a crash of the process. A crash of the computer may lose the last commits, but no earlier ones.
    Process,
}

/// A store of runs: an SQLite file, open for reading, or also for writing if this process owns it.
pub struct Store {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
    /// The lock file, held while this process owns the store.
    lock: Option<File>,
    /// The number of this owner among all owners so far; 0 without ownership.
    pub(crate) boot: i64,
}

impl Store {
    /// Opens a store for reading, or to put letters into the inboxes of runs.
    ///
    /// # Errors
    /// The file is no store, or cannot be read.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::open_kind(path, Kind::Runs)
    }

    /// Opens a store of this kind for reading.
    ///
    /// # Errors
    /// See [`Store::open`].
    pub fn open_kind(path: &Path, kind: Kind) -> Result<Self, StoreError> {
        if !path.exists() {
            return Err(StoreError::Missing(path.to_owned()));
        }
        let connection = connect(path, false)?;
        let store = Self { connection, path: path.to_owned(), lock: None, boot: 0 };
        store.ensure_kind(kind)?;
        Ok(store)
    }

    /// Opens or creates a store as its owner, who starts and continues runs. Only one process at a time can own a store.
    ///
    /// # Errors
    /// The file is no store or cannot be written, or another process owns it.
    pub fn own(path: &Path, safety: Safety) -> Result<Self, StoreError> {
        Self::own_kind(path, safety, Kind::Runs)
    }

    /// Opens or creates a store of this kind as its owner.
    ///
    /// # Errors
    /// See [`Store::own`].
    pub fn own_kind(path: &Path, safety: Safety, kind: Kind) -> Result<Self, StoreError> {
        let is_new = !path.exists();
        let lock = locked(path)?;
        // A lock file without a store remains after a store was deleted: its count does not apply to the new store.
        let sealed = if is_new { 0 } else { seal(path) };
        let connection = connect(path, true)?;
        let fault = |error| StoreError::of(path, error);
        let set = match safety {
            Safety::Full => "PRAGMA synchronous = FULL;",
            Safety::Process => "PRAGMA synchronous = NORMAL;",
        };
        let tables: i64 = connection
            .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
            .map_err(fault)?;
        if tables > 0 {
            let store = Self { connection, path: path.to_owned(), lock: None, boot: 0 };
            store.ensure_kind(kind)?;
            store.ensure_complete(sealed)?;
            return store.begin(kind, lock, set);
        }
        // Commits were counted, but the file is empty: it has been replaced or deleted.
        if sealed > 0 {
            return Err(StoreError::Lost { path: path.to_owned(), count: sealed });
        }
        connection.execute_batch(&format!("{WAL} {set}")).map_err(fault)?;
        connection
            .execute_batch(&format!(
                "BEGIN IMMEDIATE; {}
                 INSERT INTO meta VALUES ('format', '{}'), ('version', {VERSION}), ('boot', 0), ('commits', 0);
                 COMMIT;",
                kind.tables(),
                kind.format()
            ))
            .map_err(fault)?;
        Self { connection, path: path.to_owned(), lock: None, boot: 0 }.begin(kind, lock, set)
    }

    fn begin(mut self, kind: Kind, lock: File, set: &str) -> Result<Self, StoreError> {
        let fault = |error| StoreError::of(&self.path, error);
        // Repeated for existing files: cache size and `synchronous` belong to the connection, not to the file.
        self.connection.execute_batch(&format!("{WAL} {set}")).map_err(fault)?;
        // Files of earlier versions have no indexes.
        self.connection.execute_batch(kind.indexes()).map_err(fault)?;
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

    fn ensure_kind(&self, kind: Kind) -> Result<(), StoreError> {
        let said = |key: &str| -> rusqlite::Result<Option<rusqlite::types::Value>> {
            let said = "SELECT value FROM meta WHERE key = ?1";
            self.connection.query_row(said, [key], |row| row.get(0)).optional()
        };
        let format = said("format").map_err(|error| match error.sqlite_error_code() {
            // Another database has no such table.
            Some(ErrorCode::Unknown) | None => StoreError::Other(self.path.clone()),
            Some(_) => StoreError::of(&self.path, error),
        })?;
        let format = match format {
            Some(rusqlite::types::Value::Text(format)) => Kind::of(&format),
            Some(_) | None => None,
        };
        match format {
            Some(found) if found == kind => {}
            Some(found) => {
                return Err(StoreError::Kind { path: self.path.clone(), found, wanted: kind });
            }
            None => return Err(StoreError::Other(self.path.clone())),
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

    /// Fails if the file has fewer commits than the lock file has counted. The last commits are in a log beside the file. SQLite silently
    /// ignores a damaged end of that log, and someone who copies the file may forget the log.
    pub(crate) fn ensure_complete(&self, sealed: i64) -> Result<(), StoreError> {
        let read = "SELECT value FROM meta WHERE key = 'commits'";
        let found = self.connection.query_row(read, [], |row| row.get::<_, i64>(0));
        match found.map_err(|error| self.fault(error))? {
            count if count >= sealed => Ok(()),
            count => Err(StoreError::Lost { path: self.path.clone(), count: sealed - count }),
        }
    }

    /// Writes the number of the latest commit into the lock file.
    pub(crate) fn seal(&mut self, number: i64) {
        use std::io::{Seek, SeekFrom, Write};
        let Some(lock) = &mut self.lock else { return };
        // If this fails, a later loss of commits may go unnoticed, but nothing is lost by it.
        let width = DIGITS as usize;
        drop(lock.seek(SeekFrom::Start(0)).and_then(|_| write!(lock, "{number:0width$}")));
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The connection, for queries.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The error of SQLite for this file.
    pub fn fault(&self, error: rusqlite::Error) -> StoreError {
        StoreError::of(&self.path, error)
    }

    pub(crate) fn damaged(&self, what: &str, run: &str) -> StoreError {
        StoreError::damaged(&self.path, what, run)
    }

    /// Executes `work` in one transaction, and returns after the commit.
    ///
    /// # Errors
    /// The work fails, the file cannot be written, or another process has become the owner since. Then nothing is written.
    pub fn write(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let path = self.path.clone();
        let fault = |error| StoreError::of(&path, error);
        let tx = self.transaction()?;
        work(&tx)?;
        let number = counted(&tx).map_err(fault)?;
        tx.commit().map_err(fault)?;
        self.seal(number);
        Ok(())
    }

    /// Begins a transaction. Fails if another process has become the owner since.
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

/// Writes the time on the clock of the runs, and on the computer's clock at the same moment.
pub(crate) fn put_clock(tx: &Transaction<'_>, now: Instant) -> rusqlite::Result<()> {
    let put = "INSERT INTO meta VALUES ('clock', ?1) ON CONFLICT (key) DO UPDATE SET value = ?1";
    tx.prepare_cached(put)?.execute([format!("{now} {}", wall())]).map(drop)
}

/// Increments the number of commits and returns it.
pub(crate) fn counted(tx: &Transaction<'_>) -> rusqlite::Result<i64> {
    let count = "UPDATE meta SET value = value + 1 WHERE key = 'commits' RETURNING value";
    tx.prepare_cached(count)?.query_row([], |row| row.get(0))
}

/// The path of a file beside the store. Links to the store lead to the same file.
#[allow(clippy::disallowed_methods, reason = "two names of a store have one lock")]
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.canonicalize().unwrap_or_else(|_| path.to_owned()).into_os_string();
    name.push(suffix);
    PathBuf::from(name)
}

/// Fails if there is something other than a regular file at a path that the store writes to: a link would make it overwrite another file,
/// and a pipe would make it wait.
pub(crate) fn ensure_regular(path: &Path) -> Result<(), StoreError> {
    if path.metadata().is_ok_and(|known| !known.is_file()) {
        return Err(StoreError::Other(path.to_owned()));
    }
    let besides = [LOCK, "-wal", "-shm", "-journal"].map(|suffix| beside(path, suffix));
    let is_other = |path: &&PathBuf| path.symlink_metadata().is_ok_and(|known| !known.is_file());
    match besides.iter().find(is_other) {
        Some(other) => Err(StoreError::Beside(other.clone())),
        None => Ok(()),
    }
}

/// The number of commits according to the lock file; 0 without one.
#[allow(clippy::disallowed_methods, reason = "the lock beside the file is one more file")]
pub(crate) fn seal(path: &Path) -> i64 {
    let text = std::fs::read_to_string(beside(path, LOCK)).unwrap_or_default();
    text.parse().unwrap_or(0)
}

#[allow(clippy::disallowed_methods, reason = "the lock beside the file is one more file")]
fn locked(path: &Path) -> Result<File, StoreError> {
    ensure_regular(path)?;
    let place = beside(path, LOCK);
    let unwritable = |why| StoreError::Unwritable { path: path.to_owned(), why };
    let opened =
        OpenOptions::new().create(true).truncate(false).read(true).write(true).open(&place);
    let file = opened.map_err(unwritable)?;
    let mut head = Vec::new();
    (&file).take(DIGITS + 1).read_to_end(&mut head).map_err(unwritable)?;
    if !head.is_empty() && (head.len() as u64 != DIGITS || !head.iter().all(u8::is_ascii_digit)) {
        return Err(StoreError::Beside(place));
    }
    // Several attempts: a process that another thread has just forked holds the lock, too, until it calls `exec`.
    for _ in 0..LOCKS {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(5)),
            Err(TryLockError::Error(why)) => {
                return Err(StoreError::Unwritable { path: path.to_owned(), why });
            }
        }
    }
    Err(StoreError::Owned(path.to_owned()))
}

pub(crate) fn connect(path: &Path, makes: bool) -> Result<Connection, StoreError> {
    ensure_regular(path)?;
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if makes {
        flags |= OpenFlags::SQLITE_OPEN_CREATE;
    }
    // SQLite would take a name that begins with `file:` for a URI.
    let plain = if path.is_absolute() { path.to_owned() } else { Path::new(".").join(path) };
    let fault = |error| StoreError::of(path, error);
    let connection = Connection::open_with_flags(plain, flags).map_err(fault)?;
    connection.busy_timeout(PATIENCE).map_err(fault)?;
    Ok(connection)
}
