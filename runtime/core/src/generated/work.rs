//! The bound on repetitions by loops of generated code.

use super::{Failure, Vec, fails};
use crate::expr::Fuel;
use core::cell::Cell;

/// The remaining repetitions of loops, in nodes of expressions: in this input, and in the current block or condition. The bounds are those
/// of [`Fuel`]. A loop pays for all its repetitions when it begins.
#[derive(Debug, Clone)]
pub struct Work {
    input: Cell<u64>,
    evaluation: Cell<u64>,
}

impl Work {
    /// The full amount.
    pub const fn new() -> Self {
        Self { input: Cell::new(Fuel::INPUT), evaluation: Cell::new(Fuel::USUAL) }
    }

    /// Restores both amounts. Called when an input begins.
    pub fn refuel(&self) {
        self.input.set(Fuel::INPUT);
        self.begin();
    }

    /// Restores the amount of a block or condition. Called when one begins.
    pub fn begin(&self) {
        self.evaluation.set(self.input.get().clamp(Fuel::LEAST, Fuel::USUAL));
    }
}

impl Default for Work {
    fn default() -> Self {
        Self::new()
    }
}

/// The elements of a loop, each of which costs `nodes` nodes.
///
/// # Errors
/// The loop exceeds the bound.
pub fn over<T>(elements: Vec<T>, nodes: u64, work: &Work) -> Result<Vec<T>, Failure> {
    let units = (elements.len() as u64).saturating_mul(nodes);
    work.input.set(work.input.get().saturating_sub(units));
    match work.evaluation.get().checked_sub(units) {
        Some(left) => {
            work.evaluation.set(left);
            Ok(elements)
        }
        None => {
            work.evaluation.set(0);
            fails("too much work or data in one evaluation")
        }
    }
}
