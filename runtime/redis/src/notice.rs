//! What an intake tells its host.

use std::time::Duration;

/// Something that an operator may want to know. What is quoted from entries may hold control characters.
#[derive(Debug, Clone, PartialEq)]
pub enum Notice {
    /// The server answers.
    Connected {
        /// Where it is.
        address: String,
    },
    /// The server does not answer; it is tried again.
    Lost {
        /// Where it should be.
        address: String,
        /// Why not.
        why: String,
        /// How long the next attempt waits.
        pause: Duration,
    },
    /// A stream is read here from now on.
    Reads(String),
    /// A stream is not read here any more.
    Leaves(String),
    /// An entry is of no use: it is in the dead stream, and acknowledged.
    Dead {
        /// Its stream.
        stream: String,
        /// Its id.
        entry: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The engine has ended or cannot be reached; events wait and are tried again.
    EngineAway(String),
}

/// What an intake has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Events that were applied.
    pub applied: u64,
    /// Events that had been applied before.
    pub repeated: u64,
    /// Entries that went into the dead stream.
    pub dead: u64,
    /// How often an agent was busy with a turn, so that the next one waited.
    pub busy: u64,
}
