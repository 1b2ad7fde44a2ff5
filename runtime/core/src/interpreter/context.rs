//! The data of a run and its machine, as expressions see them.

use super::data::Data;
use crate::arena::{FunctionId, PredicateId, StepId, VarId};
use crate::expr::{Environment, EvalError, Value, fit, python};
use crate::host::{About, Host, Note};
use crate::model::{Chart, Expr, FunctionKind, Observable, Since, StreakOf, Template, Type};
use crate::program::View;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cell::RefCell;

/// The maximum number of characters of a value in a note.
const SHOWN: usize = 400;

pub(super) struct Context<'a, H> {
    pub(super) chart: &'a Chart,
    pub(super) data: &'a mut Data,
    pub(super) host: &'a RefCell<H>,
    pub(super) view: &'a View<'a>,
    /// The options of the question whose prompt is being rendered.
    pub(super) options: Option<&'a str>,
}

fn failed(message: String) -> EvalError {
    EvalError { message }
}

impl<H: Host> Environment for Context<'_, H> {
    fn variable(&self, id: VarId) -> Option<&Value> {
        self.data.variables.get(id.index())?.as_ref()
    }

    fn unset(&self, id: VarId) -> EvalError {
        failed(match self.chart.variables.get(id.index()) {
            Some(variable) => format!("`{}` has no value yet", variable.name),
            None => "an unknown variable".to_string(),
        })
    }

    fn payload(&self, nth: u32) -> Option<&Value> {
        self.data.payload(nth)
    }

    fn answer(&self, step: StepId) -> Option<&Value> {
        self.data.more.answers.get(step.index())?.as_ref()
    }

    fn predicate(&self, id: PredicateId) -> Option<&Expr> {
        self.chart.predicates.get(id.index()).map(|predicate| &predicate.expr)
    }

    fn advice(&self) -> Option<&Template> {
        self.chart.state(self.view.adviser()?).advice.as_ref()
    }

    fn options(&self) -> Option<&str> {
        self.options
    }

    fn observe(&self, observable: &Observable) -> Result<Value, EvalError> {
        let view = self.view;
        let count = |n: u32| Value::Int(i64::from(n));
        Ok(match observable {
            Observable::State => Value::Text(view.state().to_string()),
            Observable::Turns => count(view.turns),
            Observable::TurnsHere => count(view.turns_here()),
            Observable::TurnsIn(state) => count(view.turns_in(*state)),
            Observable::FailsHere => count(view.fails_here()),
            Observable::Elapsed => Value::Duration(view.elapsed()),
            Observable::ElapsedHere => Value::Duration(view.elapsed_here()),
            Observable::In(state) => Value::Bool(view.is_in(*state)),
            Observable::Health => Value::Text(view.health().to_string()),
            Observable::LastResult => Value::Text(self.data.more.last_result.clone()),
            Observable::Event => Value::Text(view.event_name().to_string()),
            Observable::Streak(StreakOf::Tool) => Value::Int(self.data.more.calls.streak()),
            Observable::Streak(StreakOf::Argument(set, argument)) => {
                let tools = self.chart.tools_of(*set);
                Value::Int(self.data.more.calls.streak_of(&tools, argument, view.tables))
            }
            Observable::Repeated(set, argument) => {
                let tools = self.chart.tools_of(*set);
                self.data.more.calls.repeated_value(&tools, argument, view.tables)
            }
            Observable::Calls(Since::Start) => count(view.calls()),
            Observable::Calls(Since::Entry) => count(view.calls_here()),
            Observable::Tokens(since) => Value::Int(view.tokens(*since == Since::Entry)),
            Observable::Cost(since) => Value::Float(view.cost(*since == Since::Entry)),
            Observable::Advice => {
                return Err(failed("the advice is not known here".to_string()));
            }
        })
    }

    fn call(&self, id: FunctionId, arguments: &[Value]) -> Result<Value, EvalError> {
        let Some(function) = self.chart.functions.get(id.index()) else {
            return Err(failed("an unknown host function".to_string()));
        };
        let types = &self.chart.types;
        let name = &function.name;
        let mut fitted = Vec::with_capacity(arguments.len());
        for (value, param) in arguments.iter().zip(&function.params) {
            match fit(value.clone(), &param.ty, types) {
                Ok(value) => fitted.push(value),
                Err(why) => {
                    let why = format!("`{name}`, argument `{}`: {why}", param.name);
                    return self.uncalled(id, failed(why));
                }
            }
        }
        // The host is borrowed already if one of its functions has led here.
        let answer = match self.host.try_borrow_mut() {
            Ok(mut host) => host.call(name, &fitted),
            Err(_) => Err("the host is busy".to_string()),
        };
        let (result, fallback) = match &function.kind {
            FunctionKind::Pure { result, fallback, .. } => (result, fallback.as_ref()),
            FunctionKind::Effect => (&Type::Json, None),
        };
        let answer = answer.and_then(|value| fit(value, result, types));
        self.data.note(|| {
            let end = match (&answer, fallback) {
                (Ok(value), _) => format!(" = {}", shown(value)),
                (Err(why), Some(value)) => format!(" failed, {} instead: {why}", shown(value)),
                (Err(why), None) => format!(" failed: {why}"),
            };
            let text = format!("{name}({}){end}", shown_all(&fitted));
            Note { about: About::Call(name.clone()), text }
        });
        match (answer, fallback) {
            (Ok(value), _) => Ok(value),
            (Err(_), Some(value)) => Ok(value.clone()),
            (Err(why), None) => Err(failed(format!("`{name}` failed: {why}"))),
        }
    }

    fn uncalled(&self, id: FunctionId, why: EvalError) -> Result<Value, EvalError> {
        let Some(function) = self.chart.functions.get(id.index()) else { return Err(why) };
        let FunctionKind::Pure { fallback: Some(value), .. } = &function.kind else {
            return Err(why);
        };
        self.data.note(|| {
            let (name, instead) = (&function.name, shown(value));
            format!("{name} is not called, {instead} instead: {}", why.message)
        });
        Ok(value.clone())
    }
}

fn shown_all(values: &[Value]) -> String {
    values.iter().map(shown).collect::<Vec<_>>().join(", ")
}

/// A value for a note, shortened.
fn shown(value: &Value) -> String {
    let text = python::repr(value).unwrap_or_else(|_| "…".to_string());
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

impl<H: Host> Context<'_, H> {
    /// Sets a variable. Fails if the value does not fit the variable's type.
    pub(super) fn assign(&mut self, id: VarId, value: Value) -> Result<(), EvalError> {
        let Some(variable) = self.chart.variables.get(id.index()) else {
            return Err(failed("an unknown variable".to_string()));
        };
        match fit(value, &variable.ty, &self.chart.types) {
            Ok(value) => {
                self.data.variables[id.index()] = Some(value);
                Ok(())
            }
            Err(why) => Err(failed(format!("`{}`: {why}", variable.name))),
        }
    }
}
