//! How a turn went, for whoever has run it.

use chartc_core::machine::{Receipt, Status};

/// How a turn went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnReport {
    /// Its number, from 1.
    pub turn: u32,
    /// What the machine made of it.
    pub receipt: Receipt,
    /// The step that failed and ended the walk: the turn's error.
    pub failed: Option<String>,
    /// Model calls made.
    pub calls: u32,
    /// How the run ended, if it did.
    pub ended: Option<Status>,
}
