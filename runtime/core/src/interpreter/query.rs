//! Evaluates expressions that are not part of the chart over a run, for tests.

use super::Interpreter;
use crate::arena::{FunctionId, PredicateId, StateId, StepId, VarId};
use crate::expr::{Environment, EvalError, Value, evaluate};
use crate::host::Host;
use crate::model::{Expr, Observable, Template};

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

impl<H: Host> Interpreter<'_, H> {
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
            let context = program.context(view, None);
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
