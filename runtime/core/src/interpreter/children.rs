//! The machines of `run` steps. They are created from charts given to this machine, and borrow its host while they run.

use super::data::Data;
use super::{Interpreter, check};
use crate::arena::StateId;
use crate::host::{Host, Machine, Mismatch};
use crate::machine::StepKey;
use crate::model::StepKind;
use crate::plan::Plan;
use alloc::format;
use alloc::string::String;

impl<'p, H: Host> Interpreter<'p, H> {
    /// Sets the charts that `run` steps can start, including this machine's own if it runs itself. Without them every such step fails.
    #[must_use]
    pub fn with_charts(mut self, charts: &'p [Plan<'p>]) -> Self {
        self.charts = charts;
        self
    }

    /// Whether the step with this key is under way and runs the chart with this name.
    pub(super) fn runs(&self, key: StepKey, name: &str) -> bool {
        let step = self.plan.chart().steps.get(key.step.index());
        let runs = matches!(step.map(|s| &s.kind), Some(StepKind::Run(run)) if run.chart == name);
        runs && self.pending().contains(&key)
    }

    /// Creates the machine of a started `run` step, and replaces an earlier one of the same key.
    pub(super) fn begin(&mut self, key: StepKey) -> Result<(), Mismatch> {
        let chart = self.plan.chart();
        let step = chart.steps.get(key.step.index());
        let Some(StepKind::Run(run)) = step.map(|s| &s.kind) else {
            return Err(Mismatch(String::from("no `run` step has this key")));
        };
        let charts = self.charts;
        let Some(plan) = charts.iter().find(|plan| plan.chart().name == run.chart) else {
            return Err(Mismatch(format!("there is no chart `{}` to run", run.chart)));
        };
        let leaf = if key.leaf.index() < chart.states.len() { key.leaf } else { StateId(0) };
        let given = self.engine.with_view(leaf, |program, view| program.step_run(key, view));
        let Ok(given) = given else {
            return Err(Mismatch(format!("the params of `{}` cannot be computed", run.chart)));
        };
        let given = check::params(plan.chart(), given)?;
        let mut child = Self::with_data(plan, None, Data::new(plan.chart())).with_charts(charts);
        // Defaults of the child's variables may call host functions.
        self.hand_over(&mut child);
        let begun = child.engine.with_view(StateId(0), |program, view| program.begin(given, view));
        child.hand_over(self);
        begun?;
        self.end_child(key);
        self.children.push((key, child));
        Ok(())
    }

    /// Calls `act` with a child, which has the host meanwhile. Returns whether the child exists.
    pub(super) fn lend(&mut self, key: StepKey, act: &mut dyn FnMut(&mut dyn Machine)) -> bool {
        // Taken out, because `self` and the child are both borrowed.
        let mut children = core::mem::take(&mut self.children);
        let found = children.iter_mut().find(|(k, _)| *k == key);
        let is_there = found.is_some();
        if let Some((_, child)) = found {
            self.hand_over(child);
            act(child);
            child.hand_over(self);
        }
        self.children = children;
        is_there
    }

    /// Hands the host and the evaluation budget to the machine that runs next. A family has only one of each.
    fn hand_over(&mut self, to: &mut Self) {
        to.engine.program.host().put(self.engine.program.host().take());
        to.engine.program.allowance.set(self.engine.program.allowance.get());
    }
}
