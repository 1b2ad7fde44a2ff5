//! Renders texts with placeholders.

use super::eval::{Environment, Evaluator, Scope};
use super::fuel::{Fuel, fail};
use super::{EvalError, format};
use crate::model::{Template, TemplatePart};
use alloc::string::String;

/// Replaces the placeholders of a text, like Python's `str.format`.
///
/// # Errors
/// A placeholder has no value, or its format spec does not accept the value.
pub fn render(
    template: &Template,
    environment: &dyn Environment,
    fuel: &Fuel,
) -> Result<String, EvalError> {
    let mut to = String::new();
    render_to(&Evaluator { environment, fuel }, template, None, 0, &mut to)?;
    Ok(to)
}

/// Like [`render`], with the element of an `each` bound to its local.
///
/// # Errors
/// As for [`render`].
pub(crate) fn render_for(
    template: &Template,
    element: Option<&crate::value::Value>,
    environment: &dyn Environment,
    fuel: &Fuel,
) -> Result<String, EvalError> {
    let scope = element.map(Scope::of_element);
    let mut to = String::new();
    render_to(&Evaluator { environment, fuel }, template, scope.as_ref(), 0, &mut to)?;
    Ok(to)
}

pub(super) fn render_to(
    evaluator: &Evaluator<'_>,
    template: &Template,
    scope: Option<&Scope<'_>>,
    depth: u32,
    to: &mut String,
) -> Result<(), EvalError> {
    for part in &template.parts {
        match part {
            TemplatePart::Text(text) => {
                evaluator.fuel.charge_text(text.len())?;
                to.push_str(text);
            }
            TemplatePart::Hole { expr, spec } => {
                let value = evaluator.eval(expr, scope, depth)?;
                format::write(&value, spec, to, evaluator.fuel)?;
            }
            TemplatePart::Options => match evaluator.environment.options() {
                Some(options) => {
                    evaluator.fuel.charge_text(options.len())?;
                    to.push_str(options);
                }
                None => return fail!("there are no options outside a question's prompt"),
            },
            TemplatePart::Bad(text) => return fail!("`{text}` is no placeholder"),
        }
    }
    Ok(())
}
