//! The data that an expression can read.

use super::super::fuel::fail;
use super::super::{EvalError, Value};
use crate::arena::{FunctionId, PredicateId, StepId, VarId};
use crate::model::{Expr, Observable, Template};
use alloc::string::ToString;

/// The data that an expression can read besides its locals. Each method has a default for data that is not there, and reading it is an
/// error of the expression. So `struct Constants; impl Environment for Constants {}` evaluates constant expressions.
pub trait Environment {
    /// The value of a param, input or var; `None` without a value.
    fn variable(&self, _: VarId) -> Option<&Value> {
        None
    }

    /// The error for a variable for which [`Self::variable`] returns nothing.
    fn unset(&self, _: VarId) -> EvalError {
        EvalError { message: "a variable that has no value here".to_string() }
    }

    /// The field with this index of the current event, choice or answer.
    fn payload(&self, _: u32) -> Option<&Value> {
        None
    }

    /// The answer of a step in this turn; `None` without one.
    fn answer(&self, _: StepId) -> Option<&Value> {
        None
    }

    /// The expression of a named condition.
    fn predicate(&self, _: PredicateId) -> Option<&Expr> {
        None
    }

    /// The advice of the innermost active state that declares one.
    fn advice(&self) -> Option<&Template> {
        None
    }

    /// The options of the question whose prompt is being rendered.
    fn options(&self) -> Option<&str> {
        None
    }

    /// The value of an observable. Never called for `Advice`.
    ///
    /// # Errors
    /// The observable is unknown here.
    fn observe(&self, observable: &Observable) -> Result<Value, EvalError> {
        fail!("{observable:?} is not known here")
    }

    /// Calls a pure host function.
    ///
    /// # Errors
    /// The call failed and the function has no fallback.
    fn call(&self, _: FunctionId, _: &[Value]) -> Result<Value, EvalError> {
        fail!("host functions cannot be called here")
    }

    /// The value of a call whose arguments could not be evaluated: the fallback of the function.
    ///
    /// # Errors
    /// The function has no fallback. The error is `why`.
    fn uncalled(&self, _: FunctionId, why: EvalError) -> Result<Value, EvalError> {
        Err(why)
    }
}
