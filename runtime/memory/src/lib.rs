//! Memories of agents in an SQLite file: one file for many agents, each of which sees only its own memories.
//!
//! ```
//! use chartc_core::expr::Value;
//! use chartc_memory::Store;
//! use chartc_runtime::memory::Memory;
//!
//! let store = Store::in_memory()?;
//! let ada = store.agent("ada")?;
//! ada.record_action(1, "sold a lamp to ben", Value::None)?;
//! assert_eq!(ada.search("who buys lamp oil?", 5)?.len(), 1);
//! assert!(store.agent("ben")?.search("lamp", 5)?.is_empty());
//! # Ok::<(), chartc_runtime::memory::MemoryError>(())
//! ```

mod agent;
mod fault;
mod open;

pub use agent::AgentMemory;

use chartc_runtime::memory::MemoryError;
use fault::StorePath;
use rusqlite::Connection;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The version of the table layout. A file with another version is refused.
pub const VERSION: i64 = 1;

/// The default time that an operation waits while another process locks the file.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// A database of memories. Clones share its connection.
#[derive(Debug, Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    place: StorePath,
    connection: Mutex<Connection>,
}

impl Store {
    /// Opens a file, and creates it if it does not exist.
    ///
    /// # Errors
    /// Fails if the file cannot be created or read, if another process locks it for longer than [`PATIENCE`], if it is not a file of
    /// memories, or if it has another [`VERSION`].
    pub fn open(path: &Path) -> Result<Self, MemoryError> {
        Self::open_within(path, PATIENCE)
    }

    /// The same as [`Store::open`], with `patience` instead of [`PATIENCE`] as the waiting time for locks, now and in all later operations.
    ///
    /// # Errors
    /// The same as for [`Store::open`].
    pub fn open_within(path: &Path, patience: Duration) -> Result<Self, MemoryError> {
        let place = StorePath(path.display().to_string());
        let connection = open::file(path, patience, &place)?;
        Ok(Self::of(place, connection))
    }

    /// Creates a store in memory, which is lost when its last clone is dropped.
    ///
    /// # Errors
    /// SQLite cannot allocate the database.
    pub fn in_memory() -> Result<Self, MemoryError> {
        let place = StorePath("the memory".to_owned());
        let connection = open::nowhere(&place)?;
        Ok(Self::of(place, connection))
    }

    fn of(place: StorePath, connection: Connection) -> Self {
        Self { shared: Arc::new(Shared { place, connection: Mutex::new(connection) }) }
    }

    /// Returns the memory of the agent with this name. It is empty if the agent is new.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn agent(&self, name: &str) -> Result<AgentMemory, MemoryError> {
        AgentMemory::of(self.shared.clone(), name)
    }
}

impl Shared {
    fn connection(&self) -> MutexGuard<'_, Connection> {
        // A panic inside a transaction rolls it back when it is dropped, so the connection is usable although the mutex is poisoned.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
