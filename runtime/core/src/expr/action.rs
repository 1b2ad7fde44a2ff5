//! Executes action blocks and `code` steps: branches and loops. The caller executes the other actions.

use super::access::elements_with;
use super::eval::{Environment, Evaluator, MAX_DEPTH, Scope};
use super::fuel::{Fuel, fail};
use super::template::render_to;
use super::{EvalError, Value};
use crate::model::{Action, Expr, Template};
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

/// The locals that the loops around an action have bound.
#[derive(Debug, Clone, Copy)]
pub struct Locals<'s>(Option<&'s Scope<'s>>);

impl Locals<'_> {
    /// The value of an expression in the action.
    ///
    /// # Errors
    /// As for [`super::evaluate`].
    pub fn evaluate(
        self,
        expr: &Expr,
        environment: &dyn Environment,
        fuel: &Fuel,
    ) -> Result<Value, EvalError> {
        Evaluator { environment, fuel }.owned(expr, self.0, 0)
    }

    /// A text of the action with its placeholders replaced.
    ///
    /// # Errors
    /// As for [`super::render`].
    pub fn render(
        self,
        text: &Template,
        environment: &dyn Environment,
        fuel: &Fuel,
    ) -> Result<String, EvalError> {
        let mut to = String::new();
        render_to(&Evaluator { environment, fuel }, text, self.0, 0, &mut to)?;
        Ok(to)
    }
}

/// Runs actions in order. `carry_out` runs those that are neither `if` nor `for`. If one fails, the effects of the earlier ones remain.
///
/// # Errors
/// The errors of [`super::evaluate`] and of `carry_out`.
pub fn execute<E: Environment>(
    actions: &[Action],
    environment: &mut E,
    fuel: &Fuel,
    carry_out: &mut dyn FnMut(&mut E, &Action, Locals<'_>) -> Result<(), EvalError>,
) -> Result<(), EvalError> {
    block(actions, environment, fuel, carry_out, None, 0)
}

fn block<E: Environment>(
    actions: &[Action],
    environment: &mut E,
    fuel: &Fuel,
    carry_out: &mut dyn FnMut(&mut E, &Action, Locals<'_>) -> Result<(), EvalError>,
    scope: Option<&Scope<'_>>,
    depth: u32,
) -> Result<(), EvalError> {
    if depth > MAX_DEPTH {
        return fail!("actions nested too deep");
    }
    for action in actions {
        fuel.charge(1)?;
        match action {
            Action::If(condition, then, otherwise) => {
                let holds =
                    Evaluator { environment: &*environment, fuel }.bool(condition, scope, 0)?;
                let branch = if holds { then } else { otherwise };
                block(branch, environment, fuel, carry_out, scope, depth + 1)?;
            }
            Action::For(local, source, body) => {
                let source =
                    Evaluator { environment: &*environment, fuel }.owned(source, scope, 0)?;
                let items: Vec<Cow<'_, Value>> = elements_with(&source, fuel)?;
                for value in &items {
                    // An iteration costs fuel even if the body is empty.
                    fuel.charge(1)?;
                    let inner = Scope { outer: scope, local: local.id, value };
                    block(body, environment, fuel, carry_out, Some(&inner), depth + 1)?;
                }
            }
            _ => carry_out(environment, action, Locals(scope))?,
        }
    }
    Ok(())
}
