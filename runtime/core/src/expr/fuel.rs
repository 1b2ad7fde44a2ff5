//! The budget of an evaluation, and the error of an evaluation.

use super::Value;
use alloc::string::String;
use core::cell::Cell;
use core::fmt;

/// The reason why an expression has no value: lower case, with text of users in backticks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvalError {
    /// The message for the trace.
    pub message: String,
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl core::error::Error for EvalError {}

impl From<EvalError> for crate::machine::Fault {
    fn from(_: EvalError) -> Self {
        Self
    }
}

/// Returns an error with a formatted message.
macro_rules! fail {
    ($($message:tt)*) => {
        Err($crate::expr::EvalError { message: alloc::format!($($message)*) })
    };
}
pub(crate) use fail;

/// A bound on the time and the memory of one evaluation. A unit pays for a node of an expression, an element of a list or map, or 16 bytes
/// of text. It is charged before the work is done or the memory is taken.
#[derive(Debug)]
pub struct Fuel(Cell<u64>);

impl Fuel {
    /// The budget of one guard, block, code step or prompt: at most a fraction of a second and a few dozen megabytes.
    pub const USUAL: u64 = 1_000_000;

    /// The budget of all evaluations in one input to a machine. Generated code charges the iterations of its loops to the same bound.
    pub const INPUT: u64 = 10_000_000;

    /// The budget that each evaluation has at least, even if earlier ones in the same input have used up [`Self::INPUT`]. It keeps
    /// transitions for `error.execution` working.
    pub const LEAST: u64 = 1_000;

    /// A budget with this number of units.
    pub const fn new(units: u64) -> Self {
        Self(Cell::new(units))
    }

    /// The remaining units.
    pub fn left(&self) -> u64 {
        self.0.get()
    }

    /// Takes this number of units.
    ///
    /// # Errors
    /// Fewer units are left. None is left then.
    pub fn charge(&self, units: usize) -> Result<(), EvalError> {
        match self.0.get().checked_sub(units as u64) {
            Some(left) => {
                self.0.set(left);
                Ok(())
            }
            None => {
                // Nothing is left after an error, so that a caller which ignores it cannot continue with smaller charges.
                self.0.set(0);
                fail!("too much work or data in one evaluation")
            }
        }
    }

    /// Takes the units for a text of this length.
    ///
    /// # Errors
    /// As for [`Fuel::charge`].
    pub fn charge_text(&self, bytes: usize) -> Result<(), EvalError> {
        self.charge(bytes / 16 + 1)
    }

    /// Copies a value, after its whole size was charged.
    ///
    /// # Errors
    /// As for [`Fuel::charge`].
    pub fn copy(&self, value: &Value) -> Result<Value, EvalError> {
        self.charge_value(value)?;
        Ok(value.clone())
    }

    fn charge_value(&self, value: &Value) -> Result<(), EvalError> {
        match value {
            Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Duration(_) => {
                self.charge(1)
            }
            Value::Text(text) => self.charge_text(text.len()),
            Value::List(items) => {
                self.charge(1)?;
                items.iter().try_for_each(|item| self.charge_value(item))
            }
            Value::Map(map) => map.iter().try_for_each(|(key, value)| {
                self.charge_text(key.len())?;
                self.charge_value(value)
            }),
        }
    }
}

impl Default for Fuel {
    fn default() -> Self {
        Self::new(Self::USUAL)
    }
}
