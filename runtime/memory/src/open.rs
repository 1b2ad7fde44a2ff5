//! Opening and making stores.

use crate::VERSION;
use crate::fault::{self, StorePath};
use chartc_runtime::memory::MemoryError;
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, OptionalExtension, TransactionBehavior};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The tables of a new file. Words are in one more table for each agent, so that what others remember counts nowhere.
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

/// Names under which memories were kept, also in files of before.
const NAMES: &str = "CREATE TABLE IF NOT EXISTS once (
    agent INTEGER NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (agent, name)
) WITHOUT ROWID;";

/// How an SQLite file begins.
// Source: "Database File Format", sqlite.org.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// What `meta` says that a file is.
const FORMAT: &str = "chartc memory";

/// Opens a file, or makes it. Nothing is changed in one that is refused.
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
    // Without URI in the flags, and never with a name that begins as one: `file:x` is a file like any other.
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
    // Readers do not wait for a writer then, and a commit is one write. A crash of the computer may lose the last memories, none of the others.
    let set = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;";
    connection.execute_batch(set).map_err(fault)?;
    Ok(connection)
}

/// A store without a file.
pub(crate) fn nowhere(place: &StorePath) -> Result<Connection, MemoryError> {
    let mut connection = Connection::open_in_memory().map_err(|error| place.fault(&error))?;
    make(&mut connection, place)?;
    Ok(connection)
}

/// Whether something is in the file that SQLite has not begun. It takes a file of a few bytes for an empty one, and would write over it.
/// What cannot be read is for SQLite to judge.
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

fn plain(path: &Path) -> PathBuf {
    if path.is_absolute() { path.to_owned() } else { Path::new(".").join(path) }
}

/// Whether it is a file of memories; `false` where it is empty.
fn is_made(connection: &Connection, place: &StorePath) -> Result<bool, MemoryError> {
    let fault = |error| place.fault(&error);
    let tables: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(fault)?;
    if tables == 0 {
        return Ok(false);
    }
    // A `meta` of another program has other columns.
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
    let all =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fault)?;
    // Another process may have made it meanwhile.
    if !is_made(&all, place)? {
        all.execute_batch(TABLES).map_err(fault)?;
        let insert = "INSERT INTO meta (key, value) VALUES ('format', ?1), ('version', ?2)";
        all.execute(insert, (FORMAT, VERSION)).map_err(fault)?;
    }
    all.commit().map_err(fault)
}
