//! Memories of agents in an SQLite file: one file for many agents, each of which sees only its own memories.
//!
//! ```
//! use chartc_core::expr::Value;
//! use chartc_store::memory::Store;
//! use chartc_runtime::memory::Memory;
//!
//! let store = Store::in_memory()?;
//! let ada = store.agent("ada")?;
//! ada.record_action(1, "sold a lamp to ben", Value::None)?;
//! assert_eq!(ada.search("who buys lamp oil?", 5)?.len(), 1);
//! assert!(store.agent("ben")?.search("lamp", 5)?.is_empty());
//! # Ok::<(), chartc_runtime::memory::MemoryError>(())
//! ```

use crate::file::ensure_regular;
use chartc_core::expr::Value;
use chartc_runtime::memory::{Memo, Memory, MemoryError, MemoryKind, query_words, words};
use rusqlite::{
    Connection, Error, ErrorCode, OpenFlags, OptionalExtension, Row, TransactionBehavior, types,
};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The version of the table layout. A file with another version is refused.
pub const VERSION: i64 = 1;

/// The default time that an operation waits while another process locks the file.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// A database of memories. Clones share its connection.
#[derive(Debug, Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    place: StorePath,
    connection: Mutex<Connection>,
}

impl Store {
    /// Opens a file, and creates it if it does not exist.
    ///
    /// # Errors
    /// Fails if the file cannot be created or read, if another process locks it for longer than [`PATIENCE`], if it is not a file of
    /// memories, or if it has another [`VERSION`].
    pub fn open(path: &Path) -> Result<Self, MemoryError> {
        Self::open_within(path, PATIENCE)
    }

    /// The same as [`Store::open`], with `patience` instead of [`PATIENCE`] as the waiting time for locks, now and in all later operations.
    ///
    /// # Errors
    /// The same as for [`Store::open`].
    pub fn open_within(path: &Path, patience: Duration) -> Result<Self, MemoryError> {
        let place = StorePath(path.display().to_string());
        let connection = file(path, patience, &place)?;
        Ok(Self::of(place, connection))
    }

    /// Creates a store in memory, which is lost when its last clone is dropped.
    ///
    /// # Errors
    /// SQLite cannot allocate the database.
    pub fn in_memory() -> Result<Self, MemoryError> {
        let place = StorePath("the memory".to_owned());
        let connection = nowhere(&place)?;
        Ok(Self::of(place, connection))
    }

    fn of(place: StorePath, connection: Connection) -> Self {
        Self { shared: Arc::new(Shared { place, connection: Mutex::new(connection) }) }
    }

    /// Returns the memory of the agent with this name. It is empty if the agent is new.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn agent(&self, name: &str) -> Result<AgentMemory, MemoryError> {
        AgentMemory::of(self.shared.clone(), name)
    }
}

impl Shared {
    fn connection(&self) -> MutexGuard<'_, Connection> {
        // A panic inside a transaction rolls it back when it is dropped, so the connection is usable although the mutex is poisoned.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// The memory of one agent.

/// The memory of one agent in a [`Store`]: it reads and writes only this agent's rows.
#[derive(Debug, Clone)]
pub struct AgentMemory {
    shared: Arc<Shared>,
    id: i64,
}

/// A row of the table `memory`.
struct MemoryRow {
    tick: i64,
    kind: String,
    text: String,
    data: String,
}

impl AgentMemory {
    fn of(shared: Arc<Shared>, name: &str) -> Result<Self, MemoryError> {
        let id = {
            let fault = |error| shared.place.fault(&error);
            let mut connection = shared.connection();
            // Immediate, so that two processes cannot both find the name missing and insert it: SQLite locks the file before the SELECT.
            let all = connection
                .transaction_with_behavior(TransactionBehavior::Immediate)
                .map_err(fault)?;
            let known: Option<i64> = all
                .query_row("SELECT id FROM agent WHERE name = ?1", [name], |row| row.get(0))
                .optional()
                .map_err(fault)?;
            let id = if let Some(id) = known {
                id
            } else {
                all.execute("INSERT INTO agent (name) VALUES (?1)", [name]).map_err(fault)?;
                let id = all.last_insert_rowid();
                // The index holds words that `words` has already split, separated by spaces, so the simplest tokenizer suffices. With
                // `content = ''` it does not store the texts a second time: they are in `memory`.
                let table = format!(
                    "CREATE VIRTUAL TABLE words_{id} USING fts5(text, content = '', tokenize = 'ascii')"
                );
                all.execute_batch(&table).map_err(fault)?;
                id
            };
            all.commit().map_err(fault)?;
            id
        };
        Ok(Self { shared, id })
    }

    /// Stores a memory. With a `name`, it does so only the first time: if this agent has stored a memory under the name before, it returns
    /// `false`.
    fn keep(&self, name: Option<&str>, memo: &Memo) -> Result<bool, MemoryError> {
        let place = &self.shared.place;
        let fault = |error| place.fault(&error);
        let tick = i64::try_from(memo.tick).unwrap_or(i64::MAX);
        let data = serde_json::to_string(&memo.data).map_err(|error| MemoryError::Failed {
            place: place.0.clone(),
            why: error.to_string(),
        })?;
        let cut: Vec<String> = words(&memo.text).collect();
        let mut connection = self.shared.connection();
        if name.is_some() {
            // The caller assumes that a named memory is on disk once this returns, also after a power failure. SQLite syncs each commit
            // only with FULL.
            connection.execute_batch("PRAGMA synchronous = FULL").map_err(fault)?;
        }
        let all =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fault)?;
        if let Some(name) = name {
            // The name and the memory are inserted in one transaction: after a crash there are both or none.
            let put = "INSERT INTO once (agent, name) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
            if all.execute(put, (self.id, name)).map_err(fault)? == 0 {
                return Ok(false);
            }
        }
        all.prepare(
            "INSERT INTO memory (agent, tick, kind, text, data) VALUES (?1, ?2, ?3, ?4, ?5)",
        )
        .and_then(|mut row| row.execute((self.id, tick, memo.kind.word(), &memo.text, &data)))
        .map_err(fault)?;
        let index = format!("INSERT INTO words_{} (rowid, text) VALUES (?1, ?2)", self.id);
        all.prepare(&index)
            .and_then(|mut row| row.execute((all.last_insert_rowid(), cut.join(" "))))
            .map_err(fault)?;
        all.commit().map_err(fault)?;
        Ok(true)
    }

    fn memo(&self, row: MemoryRow) -> Result<Memo, MemoryError> {
        let damaged = |what: &str| {
            let why = format!("is damaged ({what}): put a copy of it back, or take it away");
            self.shared.place.refused(why)
        };
        let Some(kind) = MemoryKind::of(&row.kind) else {
            return Err(damaged(&format!("a memory of the kind `{}`", row.kind)));
        };
        let data: Value =
            serde_json::from_str(&row.data).map_err(|_| damaged("data that is no JSON"))?;
        Ok(Memo { kind, tick: u64::try_from(row.tick).unwrap_or(0), text: row.text, data })
    }
}

impl Memory for AgentMemory {
    fn record(&self, memo: Memo) -> Result<(), MemoryError> {
        self.keep(None, &memo).map(drop)
    }

    fn record_once(&self, name: &str, memo: Memo) -> Result<bool, MemoryError> {
        self.keep(Some(name), &memo)
    }

    fn search(&self, query: &str, limit: usize) -> Result<Vec<Memo>, MemoryError> {
        let fault = |error| self.shared.place.fault(&error);
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let kept = |row: &Row<'_>| {
            let (tick, kind, text, data) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
            Ok(MemoryRow { tick, kind, text, data })
        };
        let words = query_words(query);
        let rows: Vec<MemoryRow> = {
            let connection = self.shared.connection();
            if words.is_empty() {
                let newest = "SELECT tick, kind, text, data FROM memory WHERE agent = ?1 ORDER BY id DESC LIMIT ?2";
                let mut rows = connection.prepare(newest).map_err(fault)?;
                let rows = rows.query_map((self.id, limit), kept).map_err(fault)?;
                rows.collect::<Result<_, _>>().map_err(fault)?
            } else {
                // Words consist of letters and digits, so between quotes none of them can be read as syntax of FTS5.
                let any: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
                let id = self.id;
                let nearest = format!(
                    "SELECT m.tick, m.kind, m.text, m.data FROM words_{id} AS w JOIN memory AS m ON m.id = w.rowid
                     WHERE w.words_{id} MATCH ?1 ORDER BY bm25(words_{id}), m.id DESC LIMIT ?2"
                );
                let mut rows = connection.prepare(&nearest).map_err(fault)?;
                let rows = rows.query_map((any.join(" OR "), limit), kept).map_err(fault)?;
                rows.collect::<Result<_, _>>().map_err(fault)?
            }
        };
        rows.into_iter().map(|row| self.memo(row)).collect()
    }
}

// Opening and creating database files.

/// The tables of a new file. In addition, each agent has a full-text index of its own, so that the ranking of its search results does not
/// depend on the word frequencies of other agents.
const TABLES: &str = "
    CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
    CREATE TABLE agent (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
    CREATE TABLE memory (
        id INTEGER PRIMARY KEY,
        agent INTEGER NOT NULL REFERENCES agent (id),
        tick INTEGER NOT NULL,
        kind TEXT NOT NULL,
        text TEXT NOT NULL,
        data TEXT NOT NULL
    );
    CREATE INDEX memory_of_agent ON memory (agent, id);
";

/// The names under which memories were stored once. The statement runs on every file, because older files lack this table.
const NAMES: &str = "CREATE TABLE IF NOT EXISTS once (
    agent INTEGER NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (agent, name)
) WITHOUT ROWID;";

/// The first bytes of every SQLite file.
// Source: "Database File Format", sqlite.org.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// The value of `format` in the table `meta`, which identifies a file of memories.
const FORMAT: &str = "chartc memory";

/// Opens a file, and creates it if it does not exist. A file that is refused is left unchanged.
fn file(path: &Path, patience: Duration, place: &StorePath) -> Result<Connection, MemoryError> {
    if path.is_dir() {
        return Err(place.refused("is a folder: give the path of a file"));
    }
    ensure_regular(path).map_err(|why| place.refused(format!("cannot be used: {why}")))?;
    if begins_otherwise(path) {
        return Err(place.refused(NO_SQLITE));
    }
    // The flags exclude URIs, and `plain` returns a path that cannot begin like one, so `file:x` names a file like any other.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let fault = |error| place.fault(&error);
    let mut connection = Connection::open_with_flags(plain(path), flags).map_err(fault)?;
    connection.busy_timeout(patience).map_err(fault)?;
    if !is_made(&connection, place)? {
        make(&mut connection, place)?;
    }
    connection.execute_batch(NAMES).map_err(fault)?;
    // With a write-ahead log, readers do not wait for a writer, and a commit is one write. With NORMAL, a power failure may lose the last
    // commits, but it does not damage the file.
    let set = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;";
    connection.execute_batch(set).map_err(fault)?;
    Ok(connection)
}

/// Creates a store that has no file.
fn nowhere(place: &StorePath) -> Result<Connection, MemoryError> {
    let mut connection = Connection::open_in_memory().map_err(|error| place.fault(&error))?;
    make(&mut connection, place)?;
    Ok(connection)
}

/// Whether the file begins with anything but SQLite's header. SQLite takes a file of a few bytes for an empty one and would overwrite it. A
/// file that cannot be read counts as acceptable: SQLite reports the reason.
#[allow(
    clippy::disallowed_methods,
    reason = "SQLite reads files by itself, too: this crate is about one"
)]
fn begins_otherwise(path: &Path) -> bool {
    let mut start = Vec::new();
    let read =
        File::open(path).and_then(|file| file.take(MAGIC.len() as u64).read_to_end(&mut start));
    read.is_ok() && !start.is_empty() && start != MAGIC
}

/// Makes a relative path begin with `./`, so that SQLite cannot read it as a URI or as `:memory:`.
fn plain(path: &Path) -> PathBuf {
    if path.is_absolute() { path.to_owned() } else { Path::new(".").join(path) }
}

/// Whether the file already has the tables of a store; `false` for an empty file.
///
/// # Errors
/// The file has other tables, or another version.
fn is_made(connection: &Connection, place: &StorePath) -> Result<bool, MemoryError> {
    let fault = |error| place.fault(&error);
    let tables: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(fault)?;
    if tables == 0 {
        return Ok(false);
    }
    // The table `meta` of another program may have other columns, and then the queries below would fail with a confusing error.
    let columns = "SELECT count(*) FROM pragma_table_info('meta') WHERE name IN ('key', 'value')";
    let columns: i64 = connection.query_row(columns, [], |row| row.get(0)).map_err(fault)?;
    let said = |key: &str| -> Result<Option<types::Value>, MemoryError> {
        if columns != 2 {
            return Ok(None);
        }
        let said = "SELECT value FROM meta WHERE key = ?1";
        connection.query_row(said, [key], |row| row.get(0)).optional().map_err(fault)
    };
    if said("format")? != Some(types::Value::Text(FORMAT.to_owned())) {
        return Err(place.refused("is an SQLite file of something else: give another path"));
    }
    match said("version")? {
        Some(types::Value::Integer(VERSION)) => Ok(true),
        Some(types::Value::Integer(other)) => Err(place.refused(format!(
            "has memories of version {other}, and this chartc reads {VERSION}: use the chartc that wrote it, or give another path"
        ))),
        Some(_) | None => Err(place
            .refused("does not say its version: put a copy of it back, or give another path")),
    }
}

fn make(connection: &mut Connection, place: &StorePath) -> Result<(), MemoryError> {
    let fault = |error| place.fault(&error);
    // Immediate, so that of two processes that create the file, the second waits here until the first has committed.
    let all =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fault)?;
    // Another process may have created the tables since the check before.
    if !is_made(&all, place)? {
        all.execute_batch(TABLES).map_err(fault)?;
        let insert = "INSERT INTO meta (key, value) VALUES ('format', ?1), ('version', ?2)";
        all.execute(insert, (FORMAT, VERSION)).map_err(fault)?;
    }
    all.commit().map_err(fault)
}

// Errors of SQLite as errors of memories, with the path and a remedy.

/// The refusal of a file that SQLite did not write.
const NO_SQLITE: &str = "is no SQLite file: give another path, or take it away";

/// The path of the store, as messages show it.
#[derive(Debug, Clone)]
struct StorePath(String);

impl StorePath {
    /// Refuses a file whose content is not what it should be.
    fn refused(&self, why: impl Into<String>) -> MemoryError {
        MemoryError::Refused { place: self.0.clone(), why: why.into() }
    }

    /// Turns an error of SQLite into an error that says what to do.
    fn fault(&self, error: &Error) -> MemoryError {
        let place = self.0.clone();
        let why = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                MemoryError::Busy { place, why }
            }
            Some(ErrorCode::NotADatabase) => self.refused(NO_SQLITE),
            Some(ErrorCode::DatabaseCorrupt) => {
                self.refused(format!("is damaged ({why}): put a copy of it back, or take it away"))
            }
            Some(ErrorCode::CannotOpen) => MemoryError::Failed {
                place,
                why: format!(
                    "cannot be opened ({why}): is there such a folder, and may it be written?"
                ),
            },
            Some(ErrorCode::ReadOnly) => MemoryError::Failed {
                place,
                why: format!(
                    "cannot be written ({why}): a memory is added to, so its file and folder have to be writable"
                ),
            },
            Some(ErrorCode::DiskFull) => {
                MemoryError::Failed { place, why: format!("no room is left ({why})") }
            }
            Some(_) | None => MemoryError::Failed { place, why },
        }
    }
}
