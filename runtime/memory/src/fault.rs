//! Errors of SQLite as errors of memories, with the path and a remedy.

use chartc_runtime::memory::MemoryError;
use rusqlite::{Error, ErrorCode};

/// The refusal of a file that SQLite did not write.
pub(crate) const NO_SQLITE: &str = "is no SQLite file: give another path, or take it away";

/// The path of the store, as messages show it.
#[derive(Debug, Clone)]
pub(crate) struct StorePath(pub(crate) String);

impl StorePath {
    /// Refuses a file whose content is not what it should be.
    pub(crate) fn refused(&self, why: impl Into<String>) -> MemoryError {
        MemoryError::Refused { place: self.0.clone(), why: why.into() }
    }

    /// Turns an error of SQLite into an error that says what to do.
    pub(crate) fn fault(&self, error: &Error) -> MemoryError {
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
