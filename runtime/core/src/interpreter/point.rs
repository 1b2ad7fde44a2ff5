//! Stored points of a run to return to, so that several inputs can be tried at one point.

use super::Interpreter;
use super::data::{Data, More};
use super::program::Context;
use crate::arena::{ChoiceId, FunctionId, PredicateId, StateId, StepId, ToolId, VarId};
use crate::calls::{Calls, LastResult, add_option};
use crate::expr::{Environment, EvalError, Value, evaluate};
use crate::host::Host;
use crate::machine::StepKey;
use crate::model::{Expr, Observable, Template};
use crate::semantics::{Registers, Standing};
use crate::store::Dynamic;
use alloc::vec::Vec;

/// A point of a run in a stable configuration, without notes and without the machines of `run` steps.
pub struct Point {
    registers: Registers<Dynamic>,
    data: Data,
}

/// The data of a run besides the registers, read-only.
#[derive(Clone, Copy)]
pub struct Facts<'m> {
    /// The params, inputs and vars in declared order; `None` for one without a value yet.
    pub variables: &'m [Option<Value>],
    /// The answers of this turn, by step; empty before the first one.
    pub answers: &'m [Option<Value>],
    /// The payloads of the waiting sent events, by slot.
    pub sent: &'m [Vec<Value>],
    /// The tool calls of the model.
    pub calls: &'m Calls,
    /// The last result of a step or tool.
    pub last_result: &'m LastResult,
}

impl<H: Host> Interpreter<H> {
    /// The present point of the run. It does not contain the machines of `run` steps.
    pub fn point(&self) -> Point {
        Point { registers: self.engine.registers(), data: self.engine.program.data.kept() }
    }

    /// Moves the machine to a point of any run with the same plan. The host does not change, and machines of `run` steps are dropped.
    pub fn go_to(&mut self, point: &Point) {
        self.engine.go_to(&point.registers);
        self.engine.program.data.go_to(&point.data);
        self.children.clear();
    }

    /// The options and tools of an open question, without texts.
    pub fn offered(&mut self, key: StepKey) -> Vec<(ChoiceId, Option<ToolId>)> {
        let mut offered = Vec::new();
        if key.leaf.index() < self.plan.chart().states.len() {
            self.engine.options(key, &mut |choice, tool| add_option(&mut offered, choice, tool));
        }
        offered
    }

    /// Sets the number of turns that have ended in the run.
    pub fn set_turns(&mut self, turns: u32) {
        self.engine.set_turns(turns);
    }

    /// Sets the counts of model calls and turns that a state's limits read; `None` keeps a count.
    pub fn set_counted(&mut self, state: StateId, calls: Option<u32>, turns: Option<u32>) {
        self.engine.set_counted(state, calls, turns);
    }

    /// The registers, read-only.
    pub fn standing(&self) -> Standing<'_> {
        self.engine.standing()
    }

    /// The data of the run besides the registers, read-only.
    pub fn facts(&self) -> Facts<'_> {
        let Data { variables, more, .. } = &self.engine.program.data;
        let More { answers, sent, calls, last_result, .. } = &**more;
        Facts { variables, answers, sent, calls, last_result }
    }

    /// Sets a budget for all evaluations from now on together, in units of [`crate::expr::Fuel`]. When it is used up, every evaluation
    /// fails. Without it, there are only the budgets of each input and evaluation.
    pub fn allow(&mut self, units: u64) {
        self.engine.program.allowance.set(units);
    }

    /// The remaining units of the budget that [`Self::allow`] has set.
    pub fn allowed(&self) -> u64 {
        self.engine.program.allowance.get()
    }
}

// Evaluates expressions that are not part of the chart over a run, for tests.

/// The environment of the chart's own expressions, but with another payload.
struct With<'a> {
    inner: &'a dyn Environment,
    payload: &'a [Value],
}

impl Environment for With<'_> {
    fn variable(&self, id: VarId) -> Option<&Value> {
        self.inner.variable(id)
    }

    fn unset(&self, id: VarId) -> EvalError {
        self.inner.unset(id)
    }

    fn payload(&self, nth: u32) -> Option<&Value> {
        self.payload.get(nth as usize)
    }

    fn answer(&self, step: StepId) -> Option<&Value> {
        self.inner.answer(step)
    }

    fn predicate(&self, id: PredicateId) -> Option<&Expr> {
        self.inner.predicate(id)
    }

    fn advice(&self) -> Option<&Template> {
        self.inner.advice()
    }

    fn options(&self) -> Option<&str> {
        self.inner.options()
    }

    fn observe(&self, observable: &Observable) -> Result<Value, EvalError> {
        self.inner.observe(observable)
    }

    fn call(&self, id: FunctionId, arguments: &[Value]) -> Result<Value, EvalError> {
        self.inner.call(id, arguments)
    }

    fn uncalled(&self, id: FunctionId, why: EvalError) -> Result<Value, EvalError> {
        self.inner.uncalled(id, why)
    }
}

impl<H: Host> Interpreter<H> {
    /// The present value of an expression over this chart, in an active leaf. It reads `payload` as the fields of the current event. The
    /// run does not change, but host functions may have effects.
    ///
    /// # Errors
    /// The reason why the expression has no value.
    pub fn evaluate(
        &mut self,
        leaf: StateId,
        expr: &Expr,
        payload: &[Value],
    ) -> Result<Value, EvalError> {
        // The notes of this evaluation are dropped, and those of the run are put back.
        let notes = self.engine.program.data.take_notes();
        let value = self.engine.with_view(leaf, |program, view| {
            let fuel = program.fuel();
            let context = Context::of(&program.plan, &mut program.data, &program.host, view, None);
            let value = evaluate(expr, &With { inner: &context, payload }, &fuel);
            program.burn(&fuel);
            value
        });
        self.engine.program.data.take_notes();
        for note in notes {
            self.engine.program.data.keep_note(note);
        }
        value
    }
}
