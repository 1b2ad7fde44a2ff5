//! The errors of a store.

use crate::kind::Kind;
use chartc_runtime::oracle::NotOpen;
use rusqlite::ErrorCode;
use std::any::Any;
use std::io;
use std::path::{Path, PathBuf};

/// The version of the tables, stored in each file.
pub const VERSION: i64 = 2;

/// The reason why a store cannot be used, or why a run in it cannot be continued.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file does not exist.
    #[error("there is no store {}", .0.display())]
    Missing(PathBuf),
    /// The file is no SQLite database, or one that chartc has not made.
    #[error("{} is no store of chartc runs: give another path", .0.display())]
    Other(PathBuf),
    /// The file is a store of the other kind.
    #[error("{} keeps {}, not {}: give another path", .path.display(), .found.word(), .wanted.word())]
    Kind {
        /// The path of the file.
        path: PathBuf,
        /// The kind of the file.
        found: Kind,
        /// The kind that was expected.
        wanted: Kind,
    },
    /// The target of a backup exists already.
    #[error("{} exists: give the copy another name", .0.display())]
    Exists(PathBuf),
    /// The file has the table format of another version of chartc.
    #[error("{} is a store of version {version}, and this chartc reads {}: use the chartc that wrote it", .path.display(), VERSION)]
    Version {
        /// The path of the file.
        path: PathBuf,
        /// The version of its tables.
        version: i64,
    },
    /// Another process owns the store.
    #[error("another process goes on with the runs of {}: stop it first", .0.display())]
    Owned(PathBuf),
    /// Another process has become the owner of the store while this process had it open.
    #[error("another process has taken over the runs of {}", .0.display())]
    Taken(PathBuf),
    /// The lock file beside the store cannot be created or locked.
    #[error("cannot write {}: {why}", .path.display())]
    Unwritable {
        /// The path of the store.
        path: PathBuf,
        /// The error of the operating system.
        why: io::Error,
    },
    /// A file beside the store, which the store would write to, belongs to somebody else: it is a link, a pipe, or has other content.
    #[error("{} is in the way: it is no file of the store; remove it, or give the store another path", .0.display())]
    Beside(PathBuf),
    /// The checksum of a row does not match its content.
    #[error("{} is damaged: {what} is not as it was written, run `{run}`; put a backup of it back", .path.display())]
    Damaged {
        /// The path of the file.
        path: PathBuf,
        /// The damaged part, in words.
        what: String,
        /// The name of the run.
        run: String,
    },
    /// The checksum of a row of a world does not match its content.
    #[error("{} is damaged: {what} is not as it was written; put a backup of it back", .path.display())]
    DamagedWorld {
        /// The path of the file.
        path: PathBuf,
        /// The damaged part, in words.
        what: String,
    },
    /// A world cannot be started, or cannot be stored.
    #[error("{}: {why}", .path.display())]
    World {
        /// The path of the file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// The last commits are missing: the write-ahead log is damaged or was left behind, or an old copy of the file was put back.
    #[error("{path} lacks its last {count} commits: put {path}-wal back, or delete {path}.lock to go on without them", path = .path.display())]
    Lost {
        /// The path of the file.
        path: PathBuf,
        /// The number of missing commits.
        count: i64,
    },
    /// The file system does not let SQLite open or write the file, or the log beside it, which readers need as well.
    #[error("{}: {why}; if its disk or folder is read-only, copy the file and its -wal file to another one", .path.display())]
    ReadOnly {
        /// The path of the file.
        path: PathBuf,
        /// The error of SQLite.
        why: rusqlite::Error,
    },
    /// SQLite cannot read or write the file.
    #[error("{}: {why}", .path.display())]
    Sqlite {
        /// The path of the file.
        path: PathBuf,
        /// The error of SQLite.
        why: rusqlite::Error,
    },
    /// A run cannot be created or continued.
    #[error("run `{run}`: {why}")]
    Run {
        /// The name of the run.
        run: String,
        /// The reason.
        why: String,
    },
    /// The answer names a question that is not open.
    #[error("run `{run}`: {why}")]
    NotOpen {
        /// The name of the run.
        run: String,
        /// The question that was named, and those that are open.
        why: NotOpen,
    },
    /// The engine has stopped.
    #[error("the engine has ended")]
    Closed,
    /// The engine cannot write at present. Nothing has changed.
    #[error("{0}")]
    Outage(Outage),
    /// The host's function that shows lines of traces has failed.
    #[error("{0}")]
    Shown(io::Error),
}

/// The reason why a store cannot be written at present, which may pass by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Outage {
    /// Another process writes to the file.
    #[error("another process writes to the store: nothing has changed, try again")]
    Busy,
    /// The disk has no space left.
    #[error("the disk of the store is full: nothing has changed; make room, then try again")]
    Full,
    /// The disk reports errors.
    #[error(
        "the disk of the store cannot be written: nothing has changed; see to it, then try again"
    )]
    Failing,
    /// The write needs a part of the file that is damaged.
    #[error("the file of the store is damaged: nothing has changed; put a backup of it back")]
    Damaged,
}

impl StoreError {
    /// The error of SQLite for a file.
    pub fn of(path: &Path, why: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match why.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Self::Other(path),
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen) => Self::ReadOnly { path, why },
            _ => Self::Sqlite { path, why },
        }
    }

    /// The outage that this error is a part of; `None` if it does not pass by itself.
    pub fn outage(&self) -> Option<Outage> {
        let why = match self {
            Self::Sqlite { why, .. } => why,
            Self::ReadOnly { .. } => return Some(Outage::Failing),
            Self::Other(_) => return Some(Outage::Damaged),
            _ => return None,
        };
        match why.sqlite_error_code()? {
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Some(Outage::Busy),
            ErrorCode::DiskFull => Some(Outage::Full),
            ErrorCode::SystemIoFailure => Some(Outage::Failing),
            ErrorCode::DatabaseCorrupt => Some(Outage::Damaged),
            _ => None,
        }
    }

    pub(crate) fn damaged(path: &Path, what: &str, run: &str) -> Self {
        Self::Damaged { path: path.to_owned(), what: what.into(), run: run.into() }
    }
}

/// The message of a panic, as the reason why a run cannot continue.
pub(crate) fn panicked(what: &(dyn Any + Send)) -> String {
    let said = what.downcast_ref::<&str>().map(|said| (*said).to_owned());
    let said = said.or_else(|| what.downcast_ref::<String>().cloned());
    format!("it has panicked: {}", said.unwrap_or_else(|| "without a message".into()))
}

/// Why a run with this damaged part cannot continue.
pub(crate) fn unreadable(what: &str) -> String {
    format!("{what} is not as it was written; put a backup back")
}
