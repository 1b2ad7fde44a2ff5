//! The bound on the work of loops in generated code.

use super::{Failure, Vec, fails};
use crate::expr::Fuel;
use core::cell::Cell;

/// The work that loops may still do, in nodes of expressions: within this input, and within the current block or condition. The bounds are
/// those of [`Fuel`]. A loop pays for all its iterations when it begins.
#[derive(Debug, Clone)]
pub struct Work {
    input: Cell<u64>,
    evaluation: Cell<u64>,
}

impl Work {
    /// The full budget.
    pub const fn new() -> Self {
        Self { input: Cell::new(Fuel::INPUT), evaluation: Cell::new(Fuel::USUAL) }
    }

    /// Refills both budgets. Called when an input begins.
    pub fn refuel(&self) {
        self.input.set(Fuel::INPUT);
        self.begin();
    }

    /// Refills the budget of a block or condition, from that of the input. Called when a block or condition begins.
    pub fn begin(&self) {
        self.evaluation.set(self.input.get().clamp(Fuel::LEAST, Fuel::USUAL));
    }
}

impl Default for Work {
    fn default() -> Self {
        Self::new()
    }
}

/// Pays for a loop over these elements, each of which costs `nodes` nodes, and returns them.
///
/// # Errors
/// The budget does not suffice.
pub fn over<T>(elements: Vec<T>, nodes: u64, work: &Work) -> Result<Vec<T>, Failure> {
    let units = (elements.len() as u64).saturating_mul(nodes);
    // Charged even if the evaluation fails below, so that a loop which is too long cannot be tried again and again.
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
