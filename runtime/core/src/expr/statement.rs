//! `code` steps.

use super::access::elements_with;
use super::eval::{Environment, Evaluator, MAX_DEPTH, Scope};
use super::fuel::{Fuel, fail};
use super::{EvalError, Value};
use crate::arena::VarId;
use crate::model::Statement;
use alloc::borrow::Cow;
use alloc::vec::Vec;

/// An environment whose variables can be set.
pub trait Assign: Environment {
    /// Sets a variable.
    ///
    /// # Errors
    /// A value that does not have the variable's type.
    fn assign(&mut self, variable: VarId, value: Value) -> Result<(), EvalError>;
}

/// Runs statements in order. What was assigned before one that fails stays assigned.
///
/// # Errors
/// As [`super::evaluate`], and values that do not fit.
pub fn execute(
    statements: &[Statement],
    environment: &mut dyn Assign,
    fuel: &Fuel,
) -> Result<(), EvalError> {
    block(statements, environment, fuel, None, 0)
}

fn block(
    statements: &[Statement],
    environment: &mut dyn Assign,
    fuel: &Fuel,
    scope: Option<&Scope<'_>>,
    depth: u32,
) -> Result<(), EvalError> {
    if depth > MAX_DEPTH {
        return fail!("statements nested too deep");
    }
    for statement in statements {
        fuel.charge(1)?;
        match statement {
            Statement::Assign(variable, expr) => {
                let value = Evaluator { environment: &*environment, fuel }.owned(expr, scope, 0)?;
                environment.assign(*variable, value)?;
            }
            Statement::If(condition, then, otherwise) => {
                let holds =
                    Evaluator { environment: &*environment, fuel }.bool(condition, scope, 0)?;
                let branch = if holds { then } else { otherwise };
                block(branch, environment, fuel, scope, depth + 1)?;
            }
            Statement::For(local, source, body) => {
                let source =
                    Evaluator { environment: &*environment, fuel }.owned(source, scope, 0)?;
                let items: Vec<Cow<'_, Value>> = elements_with(&source, fuel)?;
                for value in &items {
                    fuel.charge(1)?;
                    let inner = Scope { outer: scope, local: *local, value };
                    block(body, environment, fuel, Some(&inner), depth + 1)?;
                }
            }
        }
    }
    Ok(())
}
