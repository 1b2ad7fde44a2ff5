//! Results of one function, for hosts that are no scripts.

use super::Reply;
use super::function::{Function, function};
use super::{ScriptError, result};
use crate::oracle::OracleError;
use chartc_core::expr::Value;

/// Results, one after the other or by the arguments, as scripts have them.
#[derive(Debug, Clone, PartialEq)]
pub struct Results(Function);

impl Results {
    /// Reads them. They are there at once: nothing waits for them, and nobody counts what they took.
    ///
    /// # Errors
    /// What is wrong at `place`.
    pub(crate) fn read(place: &str, value: Value) -> Result<Self, ScriptError> {
        let read = function(place, value)?;
        let waits = read.entries().any(|entry| {
            let is_late = matches!(entry.reply, Reply::Fail(OracleError::Timeout(_)));
            entry.after > 0 || entry.usage.is_some() || is_late
        });
        if waits {
            let why = format!(
                "{place} has a result that comes later or takes tokens; here it is there at once"
            );
            return Err(ScriptError(why));
        }
        Ok(Self(read))
    }

    /// The result of one call; none if a list is used up or no case fits.
    pub fn next(&mut self, arguments: &[Value]) -> Option<Result<Value, OracleError>> {
        self.0.next(arguments).map(|taken| result(taken.entry.reply))
    }

    /// How many results of a list were given.
    pub fn used(&self) -> usize {
        self.0.used()
    }

    /// Goes on behind so many results.
    pub fn skip(&mut self, used: usize) {
        self.0.skip(used);
    }
}
