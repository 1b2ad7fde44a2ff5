//! What rows are: how far calls are, checksums.

use rusqlite::Row;
use rusqlite::types::ValueRef;

/// How far a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// It is to be made.
    Planned,
    /// It is about to be made, or under way.
    Started,
    /// Its result is stored.
    Done,
    /// Nobody waits for its result.
    Cancelled,
    /// Nobody knows whether it was made.
    Doubt,
    /// It was made and paid for by the run from which this one was forked.
    Copied,
}

impl Stage {
    /// As it is stored.
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

/// A checksum of the columns of a row (FNV-1a over words of 64 bits): it finds damage, not forgery.
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
        word(bytes.len() as u64);
        for chunk in bytes.chunks(8) {
            let mut eight = [0; 8];
            eight[..chunk.len()].copy_from_slice(chunk);
            word(u64::from_le_bytes(eight));
        }
    }
    hash as i64
}

/// Whether a row is as it was written. Its last column is the checksum of the others.
pub(crate) fn is_whole(row: &Row<'_>) -> rusqlite::Result<bool> {
    let last = row.as_ref().column_count().saturating_sub(1);
    let columns: Vec<_> = (0..last).map(|nth| row.get_ref(nth)).collect::<Result<_, _>>()?;
    Ok(row.get_ref(last)? == ValueRef::Integer(checksum(columns)))
}
