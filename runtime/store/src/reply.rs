//! Replies to events as they are stored, so that an event that comes again gets the same one.

use crate::error::StoreError;
use crate::file::Store;
use chartc_core::machine::Receipt;
use chartc_runtime::agents::Reply;
use rusqlite::OptionalExtension;

impl Store {
    /// The reply to an event that was taken before.
    pub(crate) fn reply(&self, run: &str, event: &str) -> Result<Option<Reply>, StoreError> {
        let read = "SELECT reply FROM event WHERE run = ?1 AND id = ?2";
        let found: Option<String> = self
            .connection
            .query_row(read, [run, event], |row| row.get(0))
            .optional()
            .map_err(|error| self.fault(error))?;
        Ok(found.map(|said| replied(&said, true)))
    }
}

/// A reply as it is stored: the receipt, and the time.
pub(crate) fn said(reply: Reply) -> String {
    let word = match reply.receipt {
        Receipt::Handled => "handled",
        Receipt::Unhandled => "unhandled",
        Receipt::Busy => "busy",
        Receipt::Closed => "closed",
        Receipt::Refused => "refused",
    };
    format!("{word} {}", reply.at)
}

pub(crate) fn replied(said: &str, is_repeated: bool) -> Reply {
    let (word, at) = said.split_once(' ').unwrap_or((said, "0"));
    let receipt = match word {
        "handled" => Receipt::Handled,
        "unhandled" => Receipt::Unhandled,
        "busy" => Receipt::Busy,
        "closed" => Receipt::Closed,
        _ => Receipt::Refused,
    };
    Reply { receipt, at: at.parse().unwrap_or(0), is_repeated }
}
