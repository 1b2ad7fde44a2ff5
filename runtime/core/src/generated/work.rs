//! What loops of generated code may repeat.

use super::{Failure, Vec, fails};
use crate::expr::Fuel;
use core::cell::Cell;

/// What loops may still repeat, in nodes of expressions: in this input, and in the block or condition that is evaluated now. The
/// bounds are those of [`Fuel`]; all of what a loop repeats is counted when it begins.
#[derive(Debug, Clone)]
pub struct Work {
    input: Cell<u64>,
    evaluation: Cell<u64>,
}

impl Work {
    /// Nothing was repeated yet.
    pub const fn new() -> Self {
        Self { input: Cell::new(Fuel::INPUT), evaluation: Cell::new(Fuel::USUAL) }
    }

    /// An input begins.
    pub fn refuel(&self) {
        self.input.set(Fuel::INPUT);
        self.begin();
    }

    /// A block or a condition begins.
    pub fn begin(&self) {
        self.evaluation.set(self.input.get().clamp(Fuel::LEAST, Fuel::USUAL));
    }
}

impl Default for Work {
    fn default() -> Self {
        Self::new()
    }
}

/// The elements that a loop goes over, each of which takes so many nodes.
///
/// # Errors
/// It repeats too much.
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
