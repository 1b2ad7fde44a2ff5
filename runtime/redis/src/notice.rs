//! Notices and counts, with which an intake informs its host.

use std::time::Duration;

/// An event of interest to an operator. Texts from entries are quoted as they are, so they may contain control characters.
#[derive(Debug, Clone, PartialEq)]
pub enum Notice {
    /// The connection to the server is established.
    Connected {
        /// The address of the server.
        address: String,
    },
    /// The connection is lost or could not be established. The intake will try again.
    Lost {
        /// The address of the server.
        address: String,
        /// The error.
        why: String,
        /// The pause before the next attempt, without its random part.
        pause: Duration,
    },
    /// This process has taken over the stream with this name.
    Reads(String),
    /// This process has released or lost the stream with this name.
    Leaves(String),
    /// An entry cannot be applied. It was added to the dead stream and acknowledged.
    Dead {
        /// The name of the stream.
        stream: String,
        /// The id of the entry.
        entry: String,
        /// The reason why it cannot be applied.
        reason: String,
    },
    /// The engine has stopped or cannot be reached, for the reason given. Events wait and are tried again.
    EngineAway(String),
}

/// The numbers of entries that an intake has handled, by their outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// The number of events that were applied now.
    pub applied: u64,
    /// The number of events that had been applied in an earlier delivery.
    pub repeated: u64,
    /// The number of entries that went to the dead stream.
    pub dead: u64,
    /// The number of attempts at which an agent was still busy with a turn, so that its next turn had to wait.
    pub busy: u64,
}
