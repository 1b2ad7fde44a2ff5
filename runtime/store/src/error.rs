//! Why a store cannot be used.

use crate::kind::Kind;
use chartc_runtime::oracle::NotOpen;
use std::any::Any;
use std::io;
use std::path::{Path, PathBuf};

/// Version of the tables.
pub const VERSION: i64 = 2;

/// Why a store cannot be used, or a run in it cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no such file.
    #[error("there is no store {}", .0.display())]
    Missing(PathBuf),
    /// The file is something else.
    #[error("{} is no store of chartc runs: give another path", .0.display())]
    Other(PathBuf),
    /// The file keeps something else.
    #[error("{} keeps {}, not {}: give another path", .path.display(), .found.word(), .wanted.word())]
    Kind {
        /// The file.
        path: PathBuf,
        /// What it keeps.
        found: Kind,
        /// What was expected.
        wanted: Kind,
    },
    /// The file of a copy exists.
    #[error("{} exists: give the copy another name", .0.display())]
    Exists(PathBuf),
    /// Another version of chartc has made it.
    #[error("{} is a store of version {version}, and this chartc reads {}: use the chartc that wrote it", .path.display(), VERSION)]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: i64,
    },
    /// Another process has it.
    #[error("another process goes on with the runs of {}: stop it first", .0.display())]
    Owned(PathBuf),
    /// Another process has taken it over meanwhile.
    #[error("another process has taken over the runs of {}", .0.display())]
    Taken(PathBuf),
    /// It cannot be written.
    #[error("cannot write {}: {why}", .path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: io::Error,
    },
    /// A row of it is not as it was written.
    #[error("{} is damaged: {what} is not as it was written, run `{run}`; put a backup of it back", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Which part.
        what: String,
        /// Whose.
        run: String,
    },
    /// A row of a world is not as it was written.
    #[error("{} is damaged: {what} is not as it was written; put a backup of it back", .path.display())]
    DamagedWorld {
        /// The file.
        path: PathBuf,
        /// Which part.
        what: String,
    },
    /// A world cannot be begun or kept so.
    #[error("{}: {why}", .path.display())]
    World {
        /// The file.
        path: PathBuf,
        /// Why not.
        why: String,
    },
    /// It lacks its last commits: its log is damaged or was left behind, or an old copy was put back.
    #[error("{path} lacks its last {count} commits: put {path}-wal back, or delete {path}.lock to go on without them", path = .path.display())]
    Lost {
        /// The file.
        path: PathBuf,
        /// How many.
        count: i64,
    },
    /// SQLite cannot read or write it.
    #[error("{}: {why}", .path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// SQLite's reason.
        why: rusqlite::Error,
    },
    /// A run cannot be made or continued.
    #[error("run `{run}`: {why}")]
    Run {
        /// Its name.
        run: String,
        /// Why not.
        why: String,
    },
    /// An answer names a question that is not open.
    #[error("run `{run}`: {why}")]
    NotOpen {
        /// The run.
        run: String,
        /// The question, and those that are open.
        why: NotOpen,
    },
    /// The engine has ended.
    #[error("the engine has ended")]
    Closed,
    /// What a line of a trace is shown to cannot take it.
    #[error("{0}")]
    Shown(io::Error),
}

impl StoreError {
    pub(crate) fn of(path: &Path, why: rusqlite::Error) -> Self {
        if why.sqlite_error_code() == Some(rusqlite::ErrorCode::NotADatabase) {
            return Self::Other(path.to_owned());
        }
        Self::Sqlite { path: path.to_owned(), why }
    }

    pub(crate) fn damaged(path: &Path, what: &str, run: &str) -> Self {
        Self::Damaged { path: path.to_owned(), what: what.into(), run: run.into() }
    }
}

/// What a panic said.
pub(crate) fn panicked(what: &(dyn Any + Send)) -> String {
    let said = what.downcast_ref::<&str>().map(|said| (*said).to_owned());
    let said = said.or_else(|| what.downcast_ref::<String>().cloned());
    format!("it has panicked: {}", said.unwrap_or_else(|| "without a message".into()))
}
