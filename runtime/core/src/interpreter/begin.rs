//! The initial data of a run, and the budget of its evaluations.

use super::is_input;
use super::program::Runner;
use crate::arena::{TransitionId, VarId};
use crate::expr::{Fuel, Value, evaluate, holds};
use crate::host::{Host, Mismatch};
use crate::machine::LimitKind;
use crate::model::{Chart, Expr, VariableKind};
use crate::program::{View, held};
use crate::tables::{bound_of_cost, bound_of_count};
use alloc::format;
use alloc::vec::Vec;

impl<H: Host> Runner<'_, H> {
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
        let alternatives = self.chart.alternatives(line);
        let most = self.reasons.get().min(Fuel::USUAL);
        let fuel = Fuel::new(most);
        let context = self.context(view, None);
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
        let chart = self.chart;
        for (i, variable) in chart.variables.iter().enumerate() {
            if self.data.variables[i].is_some() {
                continue;
            }
            match (&variable.default, &variable.kind) {
                (Some(default), VariableKind::Param { .. } | VariableKind::Input) => {
                    self.set_default(VarId::at(i), default, view)?;
                }
                // A default that reads an input cannot be computed yet. It is computed when the run begins.
                (Some(default), VariableKind::Var { .. }) => {
                    let _ = self.set_default(VarId::at(i), default, view);
                }
                (None, VariableKind::Param { .. }) => {
                    return Err(Mismatch(format!("param `{}` is missing", variable.name)));
                }
                (None, VariableKind::Input | VariableKind::Var { .. }) => {}
            }
        }
        // The notes are about defaults that failed for now; they would confuse the trace.
        self.data.take_notes();
        super::check::ranges(chart, &self.data.variables)?;
        self.set_limits(view)
    }

    /// Computes the limits that are expressions over params.
    pub(super) fn set_limits(&mut self, view: &View<'_>) -> Result<(), Mismatch> {
        let chart = self.chart;
        let mut limits = Vec::new();
        for (state, limit) in chart.computed_limits() {
            let fuel = self.fuel();
            let value = evaluate(&limit.value, &self.context(view, None), &fuel);
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
        let chart = self.chart;
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
        let mut context = self.context(view, None);
        let value = evaluate(default, &context, &fuel);
        let set = value.and_then(|value| context.assign(id, value));
        self.burn(&fuel);
        set.map_err(|error| {
            let name = &self.chart.variables[id.index()].name;
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
