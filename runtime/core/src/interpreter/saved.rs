//! Converts a machine to and from its saved form, in which names replace numbers.
//!
//! A saved machine may come from a generated one, or from another version of the chart, so its values are fitted to the types of this
//! chart again. For example:
//!
//! ```text
//! run      in the state `open`; `total` is 3; the `llm` step `sum` is under way with the key k
//! saved    { chart: "Shop", active: ["", "open"], variables: { total: 3 }, steps: [{ name: "sum", key: k }] }
//! resume   finds `open` and `sum` in the chart, fits 3 to the type of `total`, and sets the registers; an answer for k is then accepted
//! ```

use super::data::{Data, Gathering, Lazily, More};
use super::{Interpreter, begin};
use crate::arena::{EventId, StateId, StepId, ToolId, VarId};
use crate::calls::{Call, Calls};
use crate::expr::{Value, fit, fit_field};
use crate::host::{Host, Machine, Mismatch};
use crate::machine::StepKey;
use crate::model::{Chart, StepKind, Type, VariableKind};
use crate::plan::Plan;
use crate::program::Bound;
use crate::saved::{Current, Gathered, ProgramData, Saved, Unfit};
use crate::semantics;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

impl<H: Host> Interpreter<H> {
    /// A machine that continues a saved run, with its children. An interpreted or a generated machine may have saved it.
    ///
    /// # Errors
    /// The run belongs to another chart, to a version that lacks what it needs, or is damaged.
    pub fn resume(
        plan: &Plan,
        charts: impl Into<Arc<[Plan]>>,
        host: H,
        saved: &Saved,
    ) -> Result<Self, Unfit> {
        let made = Self::with_data(plan, Some(host), Data::new(plan.chart())).with_charts(charts);
        let mut family = crate::family::Family::new(made);
        family.load(saved)?;
        Ok(family.into_root())
    }

    /// The saved form of the machine, without its children.
    pub(super) fn to_saved(&self) -> Saved {
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
                Bound::Nothing
                | Bound::Call(..)
                | Bound::Returned(..)
                | Bound::CallFailed(..)
                | Bound::Refused(_) => Current::Nothing,
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
    pub(super) fn take_saved(&mut self, saved: &Saved) -> Result<(), Unfit> {
        let tables = self.engine.tables();
        let (registers, program) = saved.parts(tables)?;
        let chart = self.plan.chart();
        // Another version of the chart may have variables that the run did not have.
        let is_exact = saved.is_of(tables);
        let data = fitted(&self.plan, program, &registers, is_exact)?;
        let begun = data.begun;
        self.engine.restore(&registers)?;
        let room = self.engine.program.data.room.emptied();
        self.engine.program.data = data.with_room(room);
        self.children.clear();
        let set = self.engine.with_view(StateId(0), |program, view| {
            for (i, row) in chart.variables.iter().enumerate() {
                // A variable that is new in this version gets its default.
                let is_new = program.data.variables[i].is_none()
                    && match row.kind {
                        VariableKind::Param { .. } => true,
                        VariableKind::Input | VariableKind::Var { .. } => begun,
                        // It had no value before, if an input that it shows was not set.
                        VariableKind::Asked => begun && !is_exact,
                    };
                if let (Some(default), true) = (&row.default, is_new) {
                    let set = program.set_default(VarId::at(i), default, view);
                    if row.kind != VariableKind::Asked {
                        set?;
                    }
                }
            }
            program.set_limits(view)
        });
        set.map_err(|Mismatch(why)| Unfit::Data(why))?;
        // Last, because durations may read the variables.
        self.engine.arm_added(&registers);
        Ok(())
    }

    /// Creates the machine of a `run` step that was under way. Its state is loaded later.
    pub(super) fn place(&mut self, key: StepKey, chart: &str) -> Result<(), Unfit> {
        let charts = Arc::clone(&self.charts);
        let Some(plan) = charts.iter().find(|plan| plan.tables().is_named(chart)) else {
            return Err(Unfit::OtherChart(chart.into()));
        };
        if !self.runs(key, &plan.chart().name) {
            return Err(Unfit::Gone(format!("the step that runs `{chart}`")));
        }
        let child = self.child_of(plan, &charts);
        self.children.push((key, child));
        Ok(())
    }
}

/// The data of a saved machine, fitted to the declared types. If `is_exact`, a variable that must have a value has to be saved.
fn fitted(
    plan: &Plan,
    saved: ProgramData,
    registers: &semantics::Snapshot,
    is_exact: bool,
) -> Result<Data, Unfit> {
    let chart = plan.chart();
    let mut data = Data::new(chart);
    let mut values: BTreeMap<_, _> = saved.variables.into_iter().collect();
    for (slot, variable) in data.variables.iter_mut().zip(&chart.variables) {
        let Some(value) = values.remove(&variable.name) else {
            // Params have values from the creation of a machine on, other variables from its start on.
            // What a question shows may be an input that was not set yet.
            let needed = match variable.kind {
                VariableKind::Param { .. } => true,
                VariableKind::Input | VariableKind::Var { .. } => saved.begun,
                VariableKind::Asked => false,
            };
            if is_exact && needed && variable.default.is_some() {
                return Err(Unfit::Data(format!("no value for `{}`", variable.name)));
            }
            continue;
        };
        *slot = Some(fit_named(value, &variable.ty, chart, &variable.name)?);
    }
    begin::ranges(chart, &data.variables)?;
    let mut answers = More::default();
    for (step, answer) in saved.answers {
        let Some(row) = chart.steps.get(step.index()) else {
            return Err(Unfit::Data(format!("no step has the number {}", step.0)));
        };
        let answer = fit_named(answer, &row.returns, chart, &row.name)?;
        answers.keep_answer(step, chart.steps.len(), answer);
    }
    data.bind(match saved.current {
        Current::Nothing => Bound::Nothing,
        Current::Event(id, fields) => Bound::Event(id, fields),
        Current::Answer(id, fields) => Bound::Answer(id, fields),
        Current::Reason(id, fields) => Bound::Reason(id, fields),
        Current::Choice(id, fields) => Bound::Choice(id, fields),
    });
    data.begun = saved.begun;
    check_calls(chart, &saved.calls)?;
    data.more = Lazily::of(More {
        finals: saved.finals.into_iter().collect(),
        last_result: saved.last_result,
        calls: saved.calls,
        fans: fans(plan, saved.gathered, registers)?,
        sent: sent(chart, registers, saved.sent)?,
        ..answers
    });
    Ok(data)
}

fn fit_named(value: Value, ty: &Type, chart: &Chart, name: &str) -> Result<Value, Unfit> {
    fit(value, ty, &chart.types).map_err(|why| Unfit::Data(format!("`{name}`: {why}")))
}

/// The payloads of the sent events by slot, which is their order in a restored machine.
fn sent(
    chart: &Chart,
    registers: &semantics::Snapshot,
    payloads: Vec<Vec<Value>>,
) -> Result<Vec<Vec<Value>>, Unfit> {
    let events: Vec<EventId> = registers.sends().map(|sent| sent.event).collect();
    if events.len() != payloads.len() {
        return Err(Unfit::Data("a sent event has no data".into()));
    }
    let payload = |(event, fields): (EventId, Vec<Value>)| {
        let Some(row) = chart.events.get(event.index()) else {
            return Err(Unfit::Data(format!("no event has the number {}", event.0)));
        };
        if row.fields.len() != fields.len() {
            return Err(Unfit::Data(format!("`{}` has other data", row.name)));
        }
        let fields = fields.into_iter().zip(&row.fields);
        let fit = |(value, field)| {
            let fitted = fit_field(value, field, &chart.types);
            fitted.map_err(|why| Unfit::Data(format!("`{}`: {why}", row.name)))
        };
        fields.map(fit).collect()
    };
    events.into_iter().zip(payloads).map(payload).collect()
}

/// Fails if a tool does not exist or has other arguments.
fn check_calls(chart: &Chart, calls: &Calls) -> Result<(), Unfit> {
    let check = |tool: ToolId, arguments: &[Value]| {
        let Some(row) = chart.tools.get(tool.index()) else {
            return Err(Unfit::Data(format!("no tool has the number {}", tool.0)));
        };
        if row.params.len() != arguments.len() {
            return Err(Unfit::Data(format!("`{}` has other arguments", row.name)));
        }
        Ok(())
    };
    let open = calls.opened().map(|(_, call)| call);
    open.chain(calls.ended().map(|(call, _)| call))
        .try_for_each(|Call { tool, arguments }| check(*tool, arguments))
}

/// The lists of steps with an `each`, fitted to their types. Fails unless they fit the chart and the registers.
fn fans(
    plan: &Plan,
    gathered: Vec<Gathered>,
    registers: &semantics::Snapshot,
) -> Result<BTreeMap<StepId, Gathering>, Unfit> {
    let chart = plan.chart();
    let mut fans = BTreeMap::new();
    for (step, elements, answers) in gathered {
        let each = chart.steps.get(step.index()).and_then(|step| step.each.as_ref());
        let Some(each) = each.filter(|_| elements.len() == answers.len()) else {
            return Err(Unfit::Data(format!("step {} has no such list", step.0)));
        };
        let fitted = |value, ty| fit(value, ty, &chart.types).map_err(Unfit::Data);
        let element = match &each.list.ty {
            Type::List(element) => element,
            _ => &Type::Json,
        };
        let elements = elements.into_iter().map(|value| fitted(value, element));
        let elements = elements.collect::<Result<_, _>>()?;
        let answers = answers
            .into_iter()
            .map(|answer| answer.map(|value| fitted(value, &each.returns)).transpose());
        fans.insert(step, Gathering { elements, answers: answers.collect::<Result<_, _>>()? });
    }
    // A step that is under way needs its list, because the registers count its elements.
    let is_whole = |(step, size): (StepId, u32)| {
        size == 0 || fans.get(&step).is_some_and(|fan| fan.elements.len() == size as usize)
    };
    if registers.fans(plan).into_iter().all(is_whole) {
        Ok(fans)
    } else {
        Err(Unfit::Data("the list of a step is missing".into()))
    }
}

// The machines of `run` steps. They are created from charts given to this machine, and borrow its host while they run.

impl<H: Host> Interpreter<H> {
    /// Sets the charts that `run` steps can start, including this machine's own if it runs itself. Without them every such step fails.
    #[must_use]
    pub fn with_charts(mut self, charts: impl Into<Arc<[Plan]>>) -> Self {
        self.charts = charts.into();
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
        let charts = Arc::clone(&self.charts);
        let Some(plan) = charts.iter().find(|plan| plan.chart().name == run.chart) else {
            return Err(Mismatch(format!("there is no chart `{}` to run", run.chart)));
        };
        let leaf = if key.leaf.index() < chart.states.len() { key.leaf } else { StateId(0) };
        let given = self.engine.with_view(leaf, |program, view| program.step_run(key, view));
        let Ok(given) = given else {
            return Err(Mismatch(format!("the params of `{}` cannot be computed", run.chart)));
        };
        let given = begin::params(plan.chart(), given)?;
        let mut child = self.child_of(plan, &charts);
        // Defaults of the child's variables may call host functions.
        self.hand_over(&mut child);
        let begun = child.engine.with_view(StateId(0), |program, view| program.begin(given, view));
        child.hand_over(self);
        begun?;
        self.end_child(key);
        self.children.push((key, child));
        Ok(())
    }

    fn child_of(&mut self, plan: &Plan, charts: &Arc<[Plan]>) -> Self {
        let room = self.engine.program.data.room.of_child();
        let data = Data::new(plan.chart()).with_room(room);
        Self::with_data(plan, None, data).with_charts(Arc::clone(charts))
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
