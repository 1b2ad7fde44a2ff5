//! Stored points of a run to return to, for trying several inputs there.

use super::Interpreter;
use super::data::{Data, More};
use crate::arena::{ChoiceId, StateId, ToolId};
use crate::calls::{Calls, add_option};
use crate::expr::Value;
use crate::host::Host;
use crate::machine::StepKey;
use crate::semantics::{Registers, Standing};
use crate::store::Dynamic;
use alloc::vec::Vec;

/// A point of a run in a stable configuration, without notes and without the machines of `run` steps.
pub struct Point {
    registers: Registers<Dynamic>,
    data: Data,
}

/// Read access to the data of a run besides the registers.
#[derive(Clone, Copy)]
pub struct Facts<'m> {
    /// Params, inputs and vars in declared order; `None` without a value yet.
    pub variables: &'m [Option<Value>],
    /// Answers of this turn, by step; empty before the first one.
    pub answers: &'m [Option<Value>],
    /// Payloads of the waiting sent events, by slot.
    pub sent: &'m [Vec<Value>],
    /// Tool calls of the model.
    pub calls: &'m Calls,
    /// The last result of a step or tool.
    pub last_result: &'m str,
}

impl<H: Host> Interpreter<'_, H> {
    /// The current point of the run. Not for runs with machines of `run` steps under way.
    pub fn point(&self) -> Point {
        Point { registers: self.engine.registers(), data: self.engine.program.data.kept() }
    }

    /// Moves to a point of a run of the same plan, earlier or later. The host does not change.
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

    /// Sets the number of turns of the run.
    pub fn set_turns(&mut self, turns: u32) {
        self.engine.set_turns(turns);
    }

    /// Sets the counters of a state's limits: model calls and turns.
    pub fn set_counted(&mut self, state: StateId, calls: Option<u32>, turns: Option<u32>) {
        self.engine.set_counted(state, calls, turns);
    }

    /// Read access to the registers.
    pub fn standing(&self) -> Standing<'_> {
        self.engine.standing()
    }

    /// Read access to the data of the run besides the registers.
    pub fn facts(&self) -> Facts<'_> {
        let Data { variables, more, .. } = &self.engine.program.data;
        let More { answers, sent, calls, last_result, .. } = &**more;
        Facts { variables, answers, sent, calls, last_result }
    }

    /// Sets a common budget for all evaluations of actions, conditions and arguments from now on, in units of [`crate::expr::Fuel`].
    /// Without it, only each evaluation has a bound. When the budget is used up, every evaluation fails.
    pub fn allow(&mut self, units: u64) {
        self.engine.program.allowance.set(units);
    }

    /// The rest of this budget.
    pub fn allowed(&self) -> u64 {
        self.engine.program.allowance.get()
    }
}
