//! Results of a function for hosts other than scripts, in the syntax of scripts.

use super::Reply;
use super::function::{Function, function};
use super::{ScriptError, result};
use crate::oracle::OracleError;
use chartc_core::expr::Value;

/// Results in the order of the calls or by the arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct Results(Function);

impl Results {
    /// Parses results. They must be available at once: without delay, timeout or usage.
    ///
    /// # Errors
    /// The fault at `place`.
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

    /// The result of a call; `None` if the list is used up or no case fits.
    pub fn next(&mut self, arguments: &[Value]) -> Option<Result<Value, OracleError>> {
        self.0.next(arguments).map(|taken| result(taken.entry.reply))
    }

    /// The number of results of a list that were returned.
    pub fn used(&self) -> usize {
        self.0.used()
    }

    /// Sets the number of results of a list that were returned.
    pub fn skip(&mut self, used: usize) {
        self.0.skip(used);
    }
}
