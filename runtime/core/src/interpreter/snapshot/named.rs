//! Converts a machine to and from its saved form, in which names replace numbers.

use super::super::data::Data;
use super::{FORMAT, Handled, Snapshot, called, data, keep};
use crate::arena::{StateId, StepId, VarId};
use crate::expr::Value;
use crate::host::{Host, Mismatch};
use crate::interpreter::Interpreter;
use crate::machine::StepKey;
use crate::model::VariableKind;
use crate::plan::Plan;
use crate::program::Bound;
use crate::saved::{Current, ProgramData, Saved, StoredValue, Unfit};
use alloc::vec::Vec;

impl<'p, H: Host> Interpreter<'p, H> {
    /// A machine that continues a saved run, with its children. An interpreted or a generated machine may have saved it.
    ///
    /// # Errors
    /// The run belongs to another chart, to a version that lacks what it needs, or is damaged.
    pub fn resume(
        plan: &'p Plan<'p>,
        charts: &'p [Plan<'p>],
        host: H,
        saved: &Saved,
    ) -> Result<Self, Unfit> {
        let made = Self::with_data(plan, Some(host), Data::new(plan.chart())).with_charts(charts);
        let mut family = crate::family::Family::new(made);
        family.load(saved)?;
        Ok(family.into_root())
    }

    /// The saved form of the machine, without its children.
    pub(in super::super) fn to_saved(&self) -> Saved {
        let chart = self.plan.chart();
        let data = &self.engine.program.data;
        let variables = chart.variables.iter().zip(&data.variables);
        let answers = data.more.answers.iter().enumerate();
        let fields = || data.payloads().to_vec();
        let sends = self.engine.sends().iter();
        let program = ProgramData {
            begun: data.begun,
            variables: variables
                .filter_map(|(row, value)| Some((row.name.clone(), value.clone()?)))
                .collect(),
            answers: answers.filter_map(|(i, v)| Some((StepId::at(i), v.clone()?))).collect(),
            current: match data.bound {
                Bound::Nothing | Bound::Call(..) | Bound::Returned(..) | Bound::CallFailed(..) => {
                    Current::Nothing
                }
                Bound::Event(id, ()) => Current::Event(id, fields()),
                Bound::Answer(id, ()) => Current::Answer(id, fields()),
                Bound::Reason(id, ()) => Current::Reason(id, fields()),
                Bound::Choice(id, ()) => Current::Choice(id, fields()),
            },
            sent: sends
                .map(|sent| data.more.sent.get(sent.slot as usize).cloned().unwrap_or_default())
                .collect(),
            finals: data.more.finals.iter().map(|(id, values)| (*id, values.clone())).collect(),
            last_result: data.more.last_result.clone(),
            calls: data.more.calls.clone(),
            gathered: (data.more.fans.iter())
                .map(|(id, fan)| (*id, fan.elements.clone(), fan.answers.clone()))
                .collect(),
        };
        Saved::of(self.engine.tables(), &self.engine.snapshot(), &program)
    }

    /// Replaces the state of the machine by a saved one, without its children.
    pub(in super::super) fn take_saved(&mut self, saved: &Saved) -> Result<(), Unfit> {
        let tables = self.engine.tables();
        let (registers, program) = saved.parts(tables)?;
        let chart = self.plan.chart();
        let kept = |values: &[Value]| keep(values);
        let snapshot = Snapshot {
            format: FORMAT,
            chart: chart.name.clone(),
            hash: tables.hash,
            machine: registers,
            begun: program.begun,
            variables: program.variables.into_iter().map(|(n, v)| (n, StoredValue(v))).collect(),
            answers: program.answers.into_iter().map(|(id, v)| (id, StoredValue(v))).collect(),
            handled: match program.current {
                Current::Nothing => Handled::Nothing,
                Current::Event(id, values) => Handled::Event(id, kept(&values)),
                Current::Answer(id, values) => Handled::Answer(id, kept(&values)),
                Current::Reason(id, values) => Handled::Reason(id, kept(&values)),
                Current::Choice(id, values) => Handled::Choice(id, kept(&values)),
            },
            raised: Vec::new(),
            sent: program.sent.iter().map(|values| kept(values)).collect(),
            finals: program.finals.iter().map(|(id, values)| (*id, kept(values))).collect(),
            last_result: program.last_result,
            calls: called::of_questions(&program.calls),
            step_calls: called::of_steps(&program.calls),
            called: (program.calls.ended())
                .map(|(call, times)| (call.tool, keep(&call.arguments), times))
                .collect(),
            gathered: (program.gathered.iter())
                .map(|(id, elements, answers)| {
                    let answers = answers.iter().map(|one| one.clone().map(StoredValue)).collect();
                    (*id, keep(elements), answers)
                })
                .collect(),
            children: Vec::new(),
        };
        // Another version of the chart may have variables that the run did not have.
        let is_exact = saved.is_of(tables);
        let data = data(self.plan, &snapshot, is_exact)?;
        let begun = data.begun;
        self.engine.restore(&snapshot.machine)?;
        self.engine.program.data = data;
        self.children.clear();
        let set = self.engine.with_view(StateId(0), |program, view| {
            for (i, row) in chart.variables.iter().enumerate() {
                // A variable that is new in this version gets its default.
                let is_missing = program.data.variables[i].is_none()
                    && (begun || matches!(row.kind, VariableKind::Param { .. }));
                if let (Some(default), true) = (&row.default, is_missing) {
                    program.set_default(VarId::at(i), default, view)?;
                }
            }
            program.set_limits(view)
        });
        set.map_err(|Mismatch(why)| Unfit::Data(why))?;
        // Last, because durations may read the variables.
        self.engine.arm_added(&snapshot.machine);
        Ok(())
    }

    /// Creates the machine of a `run` step that was under way. Its state is loaded later.
    pub(in super::super) fn place(&mut self, key: StepKey, chart: &str) -> Result<(), Unfit> {
        let charts = self.charts;
        let Some(plan) = charts.iter().find(|plan| plan.chart().name == chart) else {
            return Err(Unfit::OtherChart(chart.into()));
        };
        if !self.runs(key, chart) {
            return Err(Unfit::Gone(alloc::format!("the step that runs `{chart}`")));
        }
        let child = Self::with_data(plan, None, Data::new(plan.chart())).with_charts(charts);
        self.children.push((key, child));
        Ok(())
    }
}

impl From<super::RestoreError> for Unfit {
    fn from(why: super::RestoreError) -> Self {
        match why {
            super::RestoreError::Format(number) => Self::Format(number),
            super::RestoreError::OtherChart(name) => Self::OtherChart(name),
            super::RestoreError::Machine(why) => Self::Registers(why),
            super::RestoreError::Data(why) => Self::Data(why),
        }
    }
}
