//! The result of a turn.

use chartc_core::machine::{Receipt, Status};

/// The result of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnReport {
    /// The number of the turn, from 1.
    pub turn: u32,
    /// The receipt of the turn's event.
    pub receipt: Receipt,
    /// The step whose failure ended the walk.
    pub failed: Option<String>,
    /// The number of model calls.
    pub calls: u32,
    /// The status with which the run has ended; `None` if it has not.
    pub ended: Option<Status>,
}
