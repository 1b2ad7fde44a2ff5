//! What rows are: their version, how far calls are, checksums.

/// Version of the tables.
pub const VERSION: i64 = 1;

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
        }
    }

    pub(crate) fn of(word: &str) -> Option<Self> {
        [Self::Planned, Self::Started, Self::Done, Self::Cancelled, Self::Doubt]
            .into_iter()
            .find(|stage| stage.word() == word)
    }
}

/// A checksum of the parts of a row (FNV-1a, 64 bits): it finds damage, not forgery.
pub(crate) fn checksum(parts: &[&[u8]]) -> i64 {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for part in parts {
        for byte in (part.len() as u64).to_le_bytes().iter().chain(*part) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    hash as i64
}
