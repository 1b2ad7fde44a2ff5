//! The budget of an evaluation, and its errors.

use super::Value;
use alloc::string::String;
use core::cell::Cell;
use core::fmt;

/// Why an expression has no value: lower case, user text in backticks.
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

/// Fails with a formatted message.
macro_rules! fail {
    ($($message:tt)*) => {
        Err($crate::expr::EvalError { message: alloc::format!($($message)*) })
    };
}
pub(crate) use fail;

/// Bounds the time and the memory of one evaluation. A unit is an expression node, an element of a list or map, or 16 bytes
/// of text; it is charged before the work is done or the memory taken.
#[derive(Debug)]
pub struct Fuel(Cell<u64>);

impl Fuel {
    /// The budget of one guard, block, code step or prompt: a fraction of a second, and a few dozen megabytes.
    pub const USUAL: u64 = 1_000_000;

    /// The budget of all evaluations in one input to a machine: a turn, an event, a tick, an answer. Generated code charges the repetitions
    /// of its loops against the same bound.
    pub const INPUT: u64 = 10_000_000;

    /// The budget that each evaluation has even after earlier ones in the same input have used [`Self::INPUT`], so that handlers of
    /// `error.execution` still work.
    pub const LEAST: u64 = 1_000;

    /// A budget with this number of units.
    pub const fn new(units: u64) -> Self {
        Self(Cell::new(units))
    }

    /// The remaining units.
    pub fn left(&self) -> u64 {
        self.0.get()
    }

    /// Charges `units`.
    ///
    /// # Errors
    /// Fewer units are left.
    pub fn charge(&self, units: usize) -> Result<(), EvalError> {
        match self.0.get().checked_sub(units as u64) {
            Some(left) => {
                self.0.set(left);
                Ok(())
            }
            None => {
                self.0.set(0);
                fail!("too much work or data in one evaluation")
            }
        }
    }

    /// Charges a text of this length.
    ///
    /// # Errors
    /// As [`Fuel::charge`].
    pub fn charge_text(&self, bytes: usize) -> Result<(), EvalError> {
        self.charge(bytes / 16 + 1)
    }

    /// Copies a value; its whole size is charged first.
    ///
    /// # Errors
    /// As [`Fuel::charge`].
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
