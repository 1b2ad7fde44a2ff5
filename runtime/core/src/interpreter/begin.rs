//! The initial data of a run, and the budget of its evaluations.

use super::is_input;
use super::program::{Context, Runner};
use crate::arena::{EventId, ToolId, TransitionId, VarId};
use crate::expr::{Fuel, Value, evaluate, fit, fit_field, holds, ranged, within};
use crate::host::{About, Host, Mismatch, Note};
use crate::machine::{LimitKind, Outcome, StepKey};
use crate::model::{Chart, ChoiceKind, Event, Expr, Field, StepKind, VariableKind};
use crate::program::{View, held};
use crate::tables::{bound_of_cost, bound_of_count};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

impl<H: Host> Runner<H> {
    /// The budget for the next evaluation.
    pub(super) fn fuel(&self) -> Fuel {
        Fuel::new(self.room())
    }

    fn room(&self) -> u64 {
        self.input.get().clamp(Fuel::LEAST, Fuel::USUAL).min(self.allowance.get())
    }

    /// Subtracts the units that an evaluation has used of [`Self::fuel`] from the budgets of the input and of the run.
    pub(super) fn burn(&self, fuel: &Fuel) {
        let spent = self.room() - fuel.left();
        self.input.set(self.input.get().saturating_sub(spent));
        let allowance = self.allowance.get();
        if allowance != u64::MAX {
            self.allowance.set(allowance - spent);
        }
    }

    /// The alternatives of a guard that hold. They are evaluated on a budget of their own, so that tracing does not change the run.
    pub(super) fn held_alternatives(&mut self, line: TransitionId, view: &View<'_>) -> u64 {
        let alternatives = self.plan.chart().alternatives(line);
        let most = self.reasons.get().min(Fuel::USUAL);
        let fuel = Fuel::new(most);
        let context = Context::of(&self.plan, &mut self.data, &self.host, view, None);
        let held = held(alternatives.len() as u32, |nth| {
            holds(alternatives[nth as usize], &context, &fuel)
        });
        self.reasons.set(self.reasons.get() - (most - fuel.left()));
        held
    }

    /// Sets the given params, and the defaults of the other variables.
    pub(super) fn begin(
        &mut self,
        params: Vec<(VarId, Value)>,
        view: &View<'_>,
    ) -> Result<(), Mismatch> {
        for (id, value) in params {
            self.data.variables[id.index()] = Some(value);
        }
        let plan = self.plan.clone();
        let chart = plan.chart();
        for (i, variable) in chart.variables.iter().enumerate() {
            if self.data.variables[i].is_some() {
                continue;
            }
            match (&variable.default, &variable.kind) {
                (Some(default), VariableKind::Param { .. } | VariableKind::Input) => {
                    self.set_default(VarId::at(i), default, view)?;
                }
                // A default that reads an input cannot be computed yet. It is computed when the run begins.
                (Some(default), VariableKind::Var { .. } | VariableKind::Asked) => {
                    let _ = self.set_default(VarId::at(i), default, view);
                }
                (None, VariableKind::Param { .. }) => {
                    return Err(Mismatch(format!("param `{}` is missing", variable.name)));
                }
                (None, VariableKind::Input | VariableKind::Var { .. } | VariableKind::Asked) => {}
            }
        }
        // The notes are about defaults that failed for now; they would confuse the trace.
        self.data.take_notes();
        ranges(chart, &self.data.variables)?;
        self.set_limits(view)
    }

    /// Computes the limits that are expressions over params.
    pub(super) fn set_limits(&mut self, view: &View<'_>) -> Result<(), Mismatch> {
        let chart = self.plan.chart();
        let mut limits = Vec::new();
        for (state, limit) in chart.computed_limits() {
            let fuel = self.fuel();
            let value = evaluate(
                &limit.value,
                &Context::of(&self.plan, &mut self.data, &self.host, view, None),
                &fuel,
            );
            self.burn(&fuel);
            let bound = value.map_err(|error| error.message);
            let bound = bound.and_then(|value| {
                bound_of(limit.kind, &value).ok_or_else(|| "it is negative".into())
            });
            limits.push(bound.map_err(|why| {
                let place = chart.state(state);
                let place = if place.path.is_empty() { &place.name } else { &place.path };
                Mismatch(format!("limit of {} of `{place}`: {why}", limit.kind.name()))
            })?);
        }
        if !limits.is_empty() {
            self.data.more.limits = limits;
        }
        Ok(())
    }

    /// Sets the vars to their defaults, which may read inputs. Called once, when `Start` is handled.
    pub(super) fn begin_run(&mut self, view: &View<'_>) -> Result<(), Mismatch> {
        if self.data.begun {
            return Ok(());
        }
        let plan = self.plan.clone();
        let chart = plan.chart();
        for (i, variable) in chart.variables.iter().enumerate() {
            if let (Some(default), VariableKind::Var { .. }) = (&variable.default, &variable.kind) {
                self.set_default(VarId::at(i), default, view)?;
            }
        }
        self.data.begun = true;
        Ok(())
    }

    pub(super) fn set_default(
        &mut self,
        id: VarId,
        default: &Expr,
        view: &View<'_>,
    ) -> Result<(), Mismatch> {
        let fuel = self.fuel();
        let mut context = Context::of(&self.plan, &mut self.data, &self.host, view, None);
        let value = evaluate(default, &context, &fuel);
        let set = value.and_then(|value| context.assign(id, value));
        self.burn(&fuel);
        set.map_err(|error| {
            let name = &self.plan.chart().variables[id.index()].name;
            Mismatch(format!("default of `{name}`: {}", error.message))
        })
    }
}

/// Converts the value of a limit to a number, milliseconds, or millionths of money; `None` if it is negative or of another kind.
fn bound_of(kind: LimitKind, value: &Value) -> Option<u64> {
    match (kind, value) {
        (LimitKind::Cost, Value::Int(whole)) => bound_of_cost(*whole as f64),
        (_, Value::Float(amount)) => bound_of_cost(*amount),
        (_, Value::Int(count)) => bound_of_count(*count),
        (_, Value::Duration(ms)) => Some(*ms),
        (_, Value::None | Value::Bool(_) | Value::Text(_) | Value::List(_) | Value::Map(_)) => None,
    }
}

/// The input with this name.
pub(super) fn input_named(chart: &Chart, name: &str) -> Option<VarId> {
    let found = chart.variables.iter().position(|v| v.name == name && is_input(&v.kind));
    found.map(VarId::at)
}

// Checks that external data fits its declared types, and converts it.

/// The given params by id, converted to their types.
pub(super) fn params(
    chart: &Chart,
    given: impl IntoIterator<Item = (String, Value)>,
) -> Result<Vec<(VarId, Value)>, Mismatch> {
    let fitted = given.into_iter().map(|(name, value)| {
        let declared = chart.variables.iter().enumerate().find(|(_, variable)| {
            variable.name == name && matches!(variable.kind, VariableKind::Param { .. })
        });
        let Some((i, variable)) = declared else {
            return Err(Mismatch(format!("no param is named `{name}`")));
        };
        match fit(value, &variable.ty, &chart.types) {
            Ok(value) => Ok((VarId::at(i), value)),
            Err(why) => Err(Mismatch(format!("param `{name}`: {why}"))),
        }
    });
    fitted.collect()
}

/// Checks that every param is within its range.
pub(super) fn ranges(chart: &Chart, values: &[Option<Value>]) -> Result<(), Mismatch> {
    for (variable, value) in chart.variables.iter().zip(values) {
        let VariableKind::Param { range: Some((low, high)) } = &variable.kind else { continue };
        let Some(value) = value else { continue };
        if *value == Value::None {
            continue;
        }
        within(&variable.name, value, low, high).map_err(Mismatch)?;
    }
    Ok(())
}

/// An input by id, with its value converted to its type.
pub(super) fn input(chart: &Chart, name: &str, value: Value) -> Result<(VarId, Value), Mismatch> {
    let Some(id) = input_named(chart, name) else {
        return Err(Mismatch(format!("no input is named `{name}`")));
    };
    match fit(value, &chart.variables[id.index()].ty, &chart.types) {
        Ok(value) => Ok((id, value)),
        Err(why) => Err(Mismatch(format!("input `{name}`: {why}"))),
    }
}

/// The payload of a host event, converted to the types of its fields.
#[inline]
pub(super) fn event(
    chart: &Chart,
    event: EventId,
    payload: Vec<Value>,
) -> Result<Vec<Value>, Mismatch> {
    let Some(declared) = chart.events.get(event.index()) else {
        return Err(Mismatch(format!("no event has the number {}", event.0)));
    };
    // Most events have no data.
    if declared.fields.is_empty() && payload.is_empty() {
        return Ok(payload);
    }
    event_fields(chart, declared, payload)
}

fn event_fields(
    chart: &Chart,
    declared: &Event,
    payload: Vec<Value>,
) -> Result<Vec<Value>, Mismatch> {
    fields(chart, &declared.fields, payload)
        .map_err(|why| Mismatch(format!("event `{}`: {why}", declared.name)))
}

/// The values of the declared fields, converted to their types.
fn fields(chart: &Chart, declared: &[Field], given: Vec<Value>) -> Result<Vec<Value>, String> {
    if given.len() != declared.len() {
        return Err(format!("{} fields are declared, not {}", declared.len(), given.len()));
    }
    let fitted = given.into_iter().zip(declared).map(|(value, field)| {
        fit_field(value, field, &chart.types).map_err(|why| format!("`{}`: {why}", field.name))
    });
    fitted.collect()
}

/// The outcome of a tool's result, converted to its type. A result that does not fit is a failure of the tool.
fn returned<H: Host>(
    chart: &Chart,
    tool: ToolId,
    value: Value,
    program: &Runner<H>,
) -> Outcome<Vec<Value>> {
    let tool = &chart.tools[tool.index()];
    match fit(value, &tool.result, &chart.types) {
        Ok(value) => Outcome::Done(alloc::vec![value]),
        Err(why) => {
            let why = format!("what `{}` returned does not fit: {why}", tool.name);
            program.data.note(|| why.clone());
            Outcome::Failed(alloc::vec![Value::Text(why)])
        }
    }
}

/// Converts the outcome of a step to its type. `calling` is the tool whose call is under way for this key. An answer that does not fit is
/// unusable, and a note gives the reason.
pub(super) fn outcome<H: Host>(
    chart: &Chart,
    key: StepKey,
    outcome: Outcome<Vec<Value>>,
    calling: Option<ToolId>,
    program: &mut Runner<H>,
) -> Result<Outcome<Vec<Value>>, Mismatch> {
    let Some(step) = chart.steps.get(key.step.index()) else {
        return Err(Mismatch(format!("no step has the number {}", key.step.0)));
    };
    let fitted = match outcome {
        Outcome::Done(mut values) => {
            if values.len() > 1 {
                return Err(Mismatch(format!("an answer is one value, not {}", values.len())));
            }
            let answer = values.pop().unwrap_or_default();
            if let Some(tool) = calling {
                return Ok(returned(chart, tool, answer, program));
            }
            let kind = &step.kind;
            if let StepKind::Call(tool, _) = kind
                && let Outcome::Failed(why) = returned(chart, *tool, answer.clone(), program)
            {
                // The tool has run: another attempt might repeat its effect.
                let is_free = chart.retries_doubt(step);
                return Ok(if is_free { Outcome::Failed(why) } else { Outcome::Doubt(why) });
            }
            fit(answer, step.one_returns(), &chart.types)
                .and_then(|answer| ranged(answer, step.range.as_ref()))
                .map(|answer| Outcome::Done(alloc::vec![answer]))
        }
        Outcome::Choice(id, values) => match chart.choices.get(id.index()).map(|c| &c.kind) {
            Some(ChoiceKind::Option(declared)) => {
                fields(chart, declared, values).map(|values| Outcome::Choice(id, values))
            }
            Some(ChoiceKind::Call(..)) => Err(String::from("a tool is called, not chosen")),
            None => Err(format!("no option has the number {}", id.0)),
        },
        Outcome::Call(id, values) => match chart.tools.get(id.index()) {
            Some(tool) => {
                fields(chart, &tool.params, values).map(|values| Outcome::Call(id, values))
            }
            None => Err(format!("no tool has the number {}", id.0)),
        },
        Outcome::Forbidden(id) => Ok(Outcome::Forbidden(id)),
        Outcome::Failed(reason) => Ok(Outcome::Failed(reason)),
        Outcome::Final(reason) => Ok(Outcome::Final(reason)),
        Outcome::Unusable => Ok(Outcome::Unusable),
        Outcome::Doubt(reason) => Ok(Outcome::Doubt(reason)),
    };
    Ok(fitted.unwrap_or_else(|why| {
        let text = format!("answer to `{}`: {why}", step.name);
        // Kept even if nobody takes notes, because the question is repeated with this reason.
        program.data.keep_note(Note { about: About::Answer, text });
        Outcome::Unusable
    }))
}
