//! What an agent keeps beyond a turn and a run, and how it finds it again: its long-term memory.
//!
//! A [`Memory`] is one agent's. [`InProcess`] lasts as long as the process; `chartc-memory` has one in a file. Both find and order in the same
//! way: a memory that shares rarer [`words`] with the query is nearer (BM25), and of equally near ones the newest comes first.

mod process;
mod rag;
mod template;
mod words;

pub use process::InProcess;
pub use rag::{Rag, RagError, RecallError};
pub use template::{Query, Unreadable};
pub use words::{MOST_WORDS, query_words, words};

use chartc_core::expr::{Map, Value};

/// What a memory is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryKind {
    /// The agent did something.
    Action,
    /// Something happened to it.
    Observation,
}

impl MemoryKind {
    /// As prompts and files have it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Action => "action",
            Self::Observation => "observation",
        }
    }

    /// The kind of this word.
    pub fn of(word: &str) -> Option<Self> {
        [Self::Action, Self::Observation].into_iter().find(|kind| kind.word() == word)
    }
}

/// One memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Memo {
    /// What it is of.
    pub kind: MemoryKind,
    /// The agent's turn.
    pub tick: u64,
    /// In words: what is searched.
    pub text: String,
    /// The same for programs; not searched.
    pub data: Value,
}

/// The names that every memory has.
const OWN: [&str; 3] = ["text", "kind", "tick"];

impl Memo {
    /// As the input `memories` has it: `text`, `kind`, `tick`, and the fields of `data`, or `data` itself where it is no mapping.
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

/// A memory cannot be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// Another process has the store, and did not let go of it in time.
    #[error(
        "{place} is in use by another process ({why}): wait until it has ended, or give another file"
    )]
    Busy {
        /// The store.
        place: String,
        /// In the words of the store.
        why: String,
    },
    /// What is there is no memory, or one of another version.
    #[error("{place} {why}")]
    Refused {
        /// The store.
        place: String,
        /// What is there, and what to do.
        why: String,
    },
    /// Anything else, a full disk for example.
    #[error("{place}: {why}")]
    Failed {
        /// The store.
        place: String,
        /// In the words of the store.
        why: String,
    },
}

/// The long-term memory of one agent.
pub trait Memory: Send + Sync {
    /// Keeps a memory.
    ///
    /// # Errors
    /// It was not kept.
    fn record(&self, memo: Memo) -> Result<(), MemoryError>;

    /// Keeps a memory under a name of its own, unless one was kept under this name before, by this process or another one: so that a run that
    /// goes on after a crash remembers nothing twice. Returns whether it was kept now.
    ///
    /// # Errors
    /// It was not kept.
    fn record_once(&self, name: &str, memo: Memo) -> Result<bool, MemoryError>;

    /// Keeps what the agent did in a turn.
    ///
    /// # Errors
    /// It was not kept.
    fn record_action(&self, tick: u64, text: &str, data: Value) -> Result<(), MemoryError> {
        self.record(Memo { kind: MemoryKind::Action, tick, text: text.to_owned(), data })
    }

    /// Keeps what happened to the agent in a turn.
    ///
    /// # Errors
    /// It was not kept.
    fn record_observation(&self, tick: u64, text: &str, data: Value) -> Result<(), MemoryError> {
        self.record(Memo { kind: MemoryKind::Observation, tick, text: text.to_owned(), data })
    }

    /// The memories that share [`query_words`] with the query, the nearest first, at most `limit`; of a query without words the newest.
    ///
    /// # Errors
    /// The store cannot be read. No query is an error.
    fn search(&self, query: &str, limit: usize) -> Result<Vec<Memo>, MemoryError>;
}

#[cfg(test)]
mod tests;
