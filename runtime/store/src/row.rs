//! The stages of calls, and the checksums of rows.

use rusqlite::Row;
use rusqlite::types::ValueRef;

/// The progress of a call, as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The call is to be made.
    Planned,
    /// The call is about to be made, or under way.
    Started,
    /// The result of the call is stored.
    Done,
    /// The step that made the call does not wait for it any more.
    Cancelled,
    /// It is unknown whether the call was made.
    Doubt,
    /// The run from which this one was forked has made and paid for the call.
    Copied,
}

impl Stage {
    /// The name in the database.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Started => "started",
            Self::Done => "done",
            Self::Cancelled => "cancelled",
            Self::Doubt => "doubt",
            Self::Copied => "copied",
        }
    }

    pub(crate) fn of(word: &str) -> Option<Self> {
        let all =
            [Self::Planned, Self::Started, Self::Done, Self::Cancelled, Self::Doubt, Self::Copied];
        all.into_iter().find(|stage| stage.word() == word)
    }
}

/// A checksum of columns (FNV-1a over words of 64 bits, with a rotation). It detects damage, not forgery.
pub(crate) fn checksum<'v>(columns: impl IntoIterator<Item = ValueRef<'v>>) -> i64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut word = |word: u64| {
        hash = (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29);
    };
    for column in columns {
        let bytes: &[u8] = match column {
            ValueRef::Null => {
                word(u64::MAX);
                continue;
            }
            ValueRef::Integer(number) => &number.to_le_bytes(),
            ValueRef::Real(number) => &number.to_le_bytes(),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes,
        };
        // The length separates columns: `("ab", "c")` and `("a", "bc")` must differ.
        word(bytes.len() as u64);
        for chunk in bytes.chunks(8) {
            let mut eight = [0; 8];
            eight[..chunk.len()].copy_from_slice(chunk);
            word(u64::from_le_bytes(eight));
        }
    }
    hash as i64
}

/// Whether the checksum in the last column matches the other columns.
pub(crate) fn is_whole(row: &Row<'_>) -> rusqlite::Result<bool> {
    let last = row.as_ref().column_count().saturating_sub(1);
    let columns: Vec<_> = (0..last).map(|nth| row.get_ref(nth)).collect::<Result<_, _>>()?;
    Ok(row.get_ref(last)? == ValueRef::Integer(checksum(columns)))
}
