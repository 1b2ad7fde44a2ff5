//! A point of a run that is kept to come back to: for whoever tries several inputs there.

use super::Interpreter;
use super::data::Data;
use crate::arena::{ChoiceId, StateId, ToolId};
use crate::calls::{Calls, add_option};
use crate::expr::Value;
use crate::host::Host;
use crate::machine::StepKey;
use crate::semantics::{Registers, Standing};
use crate::store::Dynamic;
use alloc::vec::Vec;

/// A stable point of a run, without notes and without the machines of `run` steps.
pub struct Point {
    registers: Registers<Dynamic>,
    data: Data,
}

/// What a run knows beside the registers, to read.
#[derive(Clone, Copy)]
pub struct Facts<'m> {
    /// Params, inputs and vars in declared order; `None` has no value yet.
    pub variables: &'m [Option<Value>],
    /// Answers of this turn, by step.
    pub answers: &'m [Option<Value>],
    /// Payloads of sent events that wait, by slot.
    pub sent: &'m [Vec<Value>],
    /// Tool calls of the model.
    pub calls: &'m Calls,
    /// What the last step or tool returned.
    pub last_result: &'m str,
}

impl<H: Host> Interpreter<'_, H> {
    /// The point where the run stands. Not for runs with machines of `run` steps under way.
    pub fn point(&self) -> Point {
        Point { registers: self.engine.registers(), data: self.engine.program.data.kept() }
    }

    /// Goes back (or on) to a point of a run of the same plan. The host stays as it is.
    pub fn go_to(&mut self, point: &Point) {
        self.engine.go_to(&point.registers);
        self.engine.program.data.go_to(&point.data);
        self.children.clear();
    }

    /// What an open question offers, without words: options, and tools.
    pub fn offered(&mut self, key: StepKey) -> Vec<(ChoiceId, Option<ToolId>)> {
        let mut offered = Vec::new();
        if key.leaf.index() < self.plan.chart().states.len() {
            self.engine.options(key, &mut |choice, tool| add_option(&mut offered, choice, tool));
        }
        offered
    }

    /// Sets how many turns the run has taken.
    pub fn set_turns(&mut self, turns: u32) {
        self.engine.set_turns(turns);
    }

    /// Sets what a state has counted for its limits: model calls, and turns.
    pub fn set_counted(&mut self, state: StateId, calls: Option<u32>, turns: Option<u32>) {
        self.engine.set_counted(state, calls, turns);
    }

    /// The registers, to read.
    pub fn standing(&self) -> Standing<'_> {
        self.engine.standing()
    }

    /// What the run knows beside the registers, to read.
    pub fn facts(&self) -> Facts<'_> {
        let Data { variables, answers, sent, calls, last_result, .. } = &self.engine.program.data;
        Facts { variables, answers, sent, calls, last_result }
    }

    /// Bounds what all evaluations of actions, conditions and arguments together may spend from now on, in units of
    /// [`crate::expr::Fuel`]; without it each has a bound of its own only. Once nothing is left every one of them fails.
    pub fn allow(&mut self, units: u64) {
        self.engine.program.allowance.set(units);
    }

    /// What is left of the units that were allowed.
    pub fn allowed(&self) -> u64 {
        self.engine.program.allowance.get()
    }
}
