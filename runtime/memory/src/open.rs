//! Opening and creating database files.

use crate::VERSION;
use crate::fault::{self, StorePath};
use chartc_runtime::memory::MemoryError;
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, OptionalExtension, TransactionBehavior};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

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
pub(crate) fn file(
    path: &Path,
    patience: Duration,
    place: &StorePath,
) -> Result<Connection, MemoryError> {
    if path.is_dir() {
        return Err(place.refused("is a folder: give the path of a file"));
    }
    if begins_otherwise(path) {
        return Err(place.refused(fault::NO_SQLITE));
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
pub(crate) fn nowhere(place: &StorePath) -> Result<Connection, MemoryError> {
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
    let said = |key: &str| -> Result<Option<Value>, MemoryError> {
        if columns != 2 {
            return Ok(None);
        }
        let said = "SELECT value FROM meta WHERE key = ?1";
        connection.query_row(said, [key], |row| row.get(0)).optional().map_err(fault)
    };
    if said("format")? != Some(Value::Text(FORMAT.to_owned())) {
        return Err(place.refused("is an SQLite file of something else: give another path"));
    }
    match said("version")? {
        Some(Value::Integer(VERSION)) => Ok(true),
        Some(Value::Integer(other)) => Err(place.refused(format!(
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
