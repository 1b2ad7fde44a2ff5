//! The environment of an expression.

use super::super::fuel::fail;
use super::super::{EvalError, Value};
use crate::arena::{FunctionId, PredicateId, StepId, VarId};
use crate::model::{Expr, Observable, Template};
use alloc::string::ToString;

/// What an expression may read besides its locals. Reading something that the environment lacks is an error of the expression, so `struct
/// Constants; impl Environment for Constants {}` evaluates constant expressions.
pub trait Environment {
    /// A param, input or var.
    fn variable(&self, _: VarId) -> Option<&Value> {
        None
    }

    /// The reason why `variable` returns nothing.
    fn unset(&self, _: VarId) -> EvalError {
        EvalError { message: "a variable that has no value here".to_string() }
    }

    /// The nth field of the current event, choice or answer.
    fn payload(&self, _: u32) -> Option<&Value> {
        None
    }

    /// The answer of a step in this turn; `None` without one.
    fn answer(&self, _: StepId) -> Option<&Value> {
        None
    }

    /// A named condition.
    fn predicate(&self, _: PredicateId) -> Option<&Expr> {
        None
    }

    /// The text of the innermost active state that declares advice.
    fn advice(&self) -> Option<&Template> {
        None
    }

    /// The options of the question whose prompt is rendered.
    fn options(&self) -> Option<&str> {
        None
    }

    /// An observable of the machine; never called for `Advice`.
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

    /// The value of a call whose arguments have no value: the function's fallback.
    ///
    /// # Errors
    /// The function has no fallback; `why` is returned.
    fn uncalled(&self, _: FunctionId, why: EvalError) -> Result<Value, EvalError> {
        Err(why)
    }
}
