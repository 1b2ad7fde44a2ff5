//! Long-term memory: what an agent keeps beyond a turn and a run, and how it is found again.
//!
//! A [`Memory`] belongs to one agent. [`InProcess`] lasts as long as the process; `chartc-memory` has one in a file. Both rank memories
//! in the same way (BM25): a memory that shares rarer [`words`] with the query is nearer, and of equally near ones the newest comes
//! first.
//!
//! ```text
//! record   turn 3, action       "write_artifact(note) -> SUCCESS: ok"
//! record   turn 5, observation  "step think failed"
//! search   "what about the note?", limit 2   finds turn 3: only it shares a word (`note`) with the query
//! search   "", limit 2                       finds turn 5, turn 3: without words, the newest
//! ```

mod process;
mod rag;
mod template;
mod words;

pub use process::InProcess;
pub use rag::{Rag, RagError, RecallError};
pub use template::{Query, Unreadable};
pub use words::{MOST_WORDS, query_words, words};

use chartc_core::expr::{Map, Value};

/// The subject of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryKind {
    /// The agent did something.
    Action,
    /// Something happened to the agent.
    Observation,
}

impl MemoryKind {
    /// The name of the kind in prompts and files.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Action => "action",
            Self::Observation => "observation",
        }
    }

    /// The kind with this name.
    pub fn of(word: &str) -> Option<Self> {
        [Self::Action, Self::Observation].into_iter().find(|kind| kind.word() == word)
    }
}

/// A memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Memo {
    /// The subject of the memory.
    pub kind: MemoryKind,
    /// The number of the turn.
    pub tick: u64,
    /// The memory in words. Searches read only this.
    pub text: String,
    /// The same as data for programs. Searches ignore it.
    pub data: Value,
}

/// The keys of every memory in the input `memories`, which `data` cannot replace.
const OWN: [&str; 3] = ["text", "kind", "tick"];

impl Memo {
    /// The memory as an item of the input `memories`: `text`, `kind`, `tick`, and the fields of `data` (or `data` itself if it is no
    /// map).
    pub fn value(&self) -> Value {
        let mut map = Map::new();
        map.insert("text".to_owned(), Value::Text(self.text.clone()));
        map.insert("kind".to_owned(), Value::Text(self.kind.word().to_owned()));
        map.insert("tick".to_owned(), Value::Int(i64::try_from(self.tick).unwrap_or(i64::MAX)));
        if let Value::Map(data) = &self.data {
            for (name, value) in data.iter().filter(|(name, _)| !OWN.contains(name)) {
                map.insert(name.to_owned(), value.clone());
            }
        } else if self.data != Value::None {
            map.insert("data".to_owned(), self.data.clone());
        }
        Value::Map(map)
    }
}

/// The reason why a memory cannot be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// Another process holds the store, and did not release it in time.
    #[error(
        "{place} is in use by another process ({why}): wait until it has ended, or give another file"
    )]
    Busy {
        /// The path of the store.
        place: String,
        /// The store's own message.
        why: String,
    },
    /// The file is no memory, or has another version.
    #[error("{place} {why}")]
    Refused {
        /// The path of the store.
        place: String,
        /// The problem, with a remedy.
        why: String,
    },
    /// Any other failure, for example a full disk.
    #[error("{place}: {why}")]
    Failed {
        /// The path of the store.
        place: String,
        /// The store's own message.
        why: String,
    },
}

/// The long-term memory of one agent.
pub trait Memory: Send + Sync {
    /// Stores a memory.
    ///
    /// # Errors
    /// The memory was not stored.
    fn record(&self, memo: Memo) -> Result<(), MemoryError>;

    /// Stores a memory under a key, unless one with this key is stored already, by this process or another. So a run that continues after
    /// a crash stores nothing twice. Returns whether the memory was stored now.
    ///
    /// # Errors
    /// The memory was not stored.
    fn record_once(&self, name: &str, memo: Memo) -> Result<bool, MemoryError>;

    /// Stores an action of the agent in a turn.
    ///
    /// # Errors
    /// The memory was not stored.
    fn record_action(&self, tick: u64, text: &str, data: Value) -> Result<(), MemoryError> {
        self.record(Memo { kind: MemoryKind::Action, tick, text: text.to_owned(), data })
    }

    /// Stores an event that happened to the agent in a turn.
    ///
    /// # Errors
    /// The memory was not stored.
    fn record_observation(&self, tick: u64, text: &str, data: Value) -> Result<(), MemoryError> {
        self.record(Memo { kind: MemoryKind::Observation, tick, text: text.to_owned(), data })
    }

    /// Finds the memories that share [`query_words`] with the query, nearest first, at most `limit`. A query without words finds the
    /// newest.
    ///
    /// # Errors
    /// The store cannot be read. Any text is a valid query.
    fn search(&self, query: &str, limit: usize) -> Result<Vec<Memo>, MemoryError>;
}

#[cfg(test)]
mod tests;
