//! What expressions can see.

use super::super::fuel::fail;
use super::super::{EvalError, Value};
use crate::arena::{FunctionId, PredicateId, StepId, VarId};
use crate::model::{Expr, Observable, Template};
use alloc::string::ToString;

/// What an expression may read beside its locals. What an environment does not have is an error of the expression, so
/// `struct Constants; impl Environment for Constants {}` evaluates constant expressions.
pub trait Environment {
    /// A param, input or var.
    fn variable(&self, _: VarId) -> Option<&Value> {
        None
    }

    /// Why `variable` gives nothing.
    fn unset(&self, _: VarId) -> EvalError {
        EvalError { message: "a variable that has no value here".to_string() }
    }

    /// The nth field of what is being handled.
    fn payload(&self, _: u32) -> Option<&Value> {
        None
    }

    /// The answer of a step in this turn; `None` before it.
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

    /// What the machine itself knows; never asked for `Advice`.
    ///
    /// # Errors
    /// Not known here.
    fn observe(&self, observable: &Observable) -> Result<Value, EvalError> {
        fail!("{observable:?} is not known here")
    }

    /// Calls a pure host function.
    ///
    /// # Errors
    /// The call failed and the function declares no value for that.
    fn call(&self, _: FunctionId, _: &[Value]) -> Result<Value, EvalError> {
        fail!("host functions cannot be called here")
    }

    /// What a call is worth whose arguments have no value: the value that the function declares for a failure.
    ///
    /// # Errors
    /// The function declares none; `why` as given.
    fn uncalled(&self, _: FunctionId, why: EvalError) -> Result<Value, EvalError> {
        Err(why)
    }
}
