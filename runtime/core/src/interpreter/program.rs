//! The program of an interpreted chart: it evaluates guards, actions and code.

use super::action::{act, fields, put};
use super::context::Context;
use super::data::Data;
use crate::arena::{EventId, StepId, ToolId, TransitionId, VarId};
use crate::calls::failure;
use crate::expr::quick::Quick;
use crate::expr::{EvalError, Fuel, Value, evaluate, evaluate_for, execute, fit, holds, python};
use crate::family::Lent;
use crate::host::{Host, Mismatch, Post};
use crate::machine::{Element, Fault, Receiver, Sink, StepKey};
use crate::model::{Action, Chart, ChoiceKind, Expr, StateKind, StepKind, Trigger, VariableKind};
use crate::outbox::Outbox;
use crate::program::{Block, Bound, Caller, Program, View};
use crate::store::Dynamic;
use crate::tables::{Own, Tables};
use crate::wording;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

pub(super) struct Runner<'p, H> {
    pub(super) chart: &'p Chart,
    pub(super) quick: &'p Quick,
    // Expressions are evaluated through `&self`, but a host function needs the host mutable.
    host: RefCell<Lent<H>>,
    pub(super) data: Data,
    /// The number of actions of the next block that compiled code has already run.
    begun: usize,
    /// A budget of all evaluations from now on; `u64::MAX` for none.
    pub(super) allowance: Cell<u64>,
    /// The remaining budget of evaluations in this input.
    pub(super) input: Cell<u64>,
    /// The remaining budget for alternatives of guards in this input.
    pub(super) reasons: Cell<u64>,
}

impl<'p, H: Host> Runner<'p, H> {
    pub(super) fn new(chart: &'p Chart, quick: &'p Quick, host: Option<H>, data: Data) -> Self {
        Self {
            chart,
            quick,
            host: RefCell::new(Lent::of(host)),
            data,
            begun: 0,
            allowance: Cell::new(u64::MAX),
            input: Cell::new(Fuel::INPUT),
            reasons: Cell::new(Fuel::INPUT),
        }
    }

    /// The slot of the host. A child borrows the host from it.
    pub(super) fn host(&mut self) -> &mut Lent<H> {
        self.host.get_mut()
    }

    pub(super) fn context<'a>(
        &'a mut self,
        view: &'a View<'a>,
        options: Option<&'a str>,
    ) -> Context<'a, Lent<H>> {
        Context { chart: self.chart, data: &mut self.data, host: &self.host, view, options }
    }

    /// Stores the result of a step or tool as the last result, and in the variable of `into`.
    fn keep(&mut self, value: &Value, into: Option<VarId>) {
        self.data.more.last_result = self.reason(core::slice::from_ref(value));
        let Some(into) = into else { return };
        let variable = &self.chart.variables[into.index()];
        match fit(value.clone(), &variable.ty, &self.chart.types) {
            Ok(value) => self.data.variables[into.index()] = Some(value),
            Err(why) => self.data.note(|| format!("`{}`: {why}", variable.name)),
        }
    }

    /// Stores the parts of a payload that guards and actions read after another payload is bound.
    fn keep_bound(&mut self, bound: &Bound<Vec<Value>>) {
        match bound {
            Bound::Answer(step, fields) => {
                let answer = fields.first().cloned().unwrap_or_default();
                self.keep(&answer, self.chart.steps[step.index()].into);
                self.data.more.keep_answer(*step, self.chart.steps.len(), answer);
            }
            Bound::Call(caller, tool, arguments) => {
                self.data.more.calls.begin(*caller, *tool, arguments.clone());
            }
            Bound::Returned(caller, choice, fields) => {
                self.data.more.calls.end(*caller);
                let into = match choice.map(|choice| &self.chart.choices[choice.index()].kind) {
                    Some(ChoiceKind::Call(_, into)) => *into,
                    Some(ChoiceKind::Option(_)) | None => None,
                };
                self.keep(&fields.first().cloned().unwrap_or_default(), into);
            }
            Bound::CallFailed(caller, reason) => {
                self.data.more.calls.end(*caller);
                self.data.more.last_result = failure(&self.reason(reason));
            }
            _ => {}
        }
    }

    /// The text of a value in prompts.
    fn reason(&self, fields: &[Value]) -> String {
        let Some(value) = fields.first() else { return String::new() };
        python::str(value).unwrap_or_else(|error| {
            self.data.note(|| format!("`last_result`: {}", error.message));
            String::new()
        })
    }

    /// The tool and the arguments of a started `call` step.
    pub(super) fn step_call(
        &mut self,
        key: StepKey,
        view: &View<'_>,
    ) -> Result<(ToolId, Vec<Value>), Fault> {
        let (step, element) = (key.step, self.element_of(key));
        let chart = self.chart;
        let Some(StepKind::Call(tool, arguments)) = chart.steps.get(step.index()).map(|s| &s.kind)
        else {
            return Err(Fault);
        };
        let params = &chart.tools[tool.index()].params;
        let fuel = self.fuel();
        let context = self.context(view, None);
        let element = element.as_ref();
        let values =
            fields(arguments, params, &chart.types, |e| evaluate_for(e, element, &context, &fuel));
        self.burn(&fuel);
        let values = self.explain(values, || wording::code_of(view.tables, step))?;
        Ok((*tool, values))
    }

    /// The params that a started `run` step gives to its child chart.
    pub(super) fn step_run(
        &mut self,
        key: StepKey,
        view: &View<'_>,
    ) -> Result<Vec<(String, Value)>, Fault> {
        let (chart, step, element) = (self.chart, key.step, self.element_of(key));
        let Some(StepKind::Run(run)) = chart.steps.get(step.index()).map(|s| &s.kind) else {
            return Err(Fault);
        };
        let fuel = self.fuel();
        let context = self.context(view, None);
        let values = run.arguments.iter().map(|(name, argument)| {
            let value = evaluate_for(argument, element.as_ref(), &context, &fuel)?;
            Ok((name.clone(), value))
        });
        let values = values.collect();
        self.burn(&fuel);
        self.explain(values, || wording::code_of(view.tables, step))
    }

    fn condition(
        &mut self,
        condition: Option<&Expr>,
        view: &View<'_>,
        what: impl FnOnce(&Tables<'_>) -> String,
    ) -> Result<bool, Fault> {
        let Some(condition) = condition else { return Ok(true) };
        let fuel = self.fuel();
        let result = holds(condition, &self.context(view, None), &fuel);
        self.burn(&fuel);
        self.explain(result, || what(view.tables))
    }
}

impl<H: Host> Program for Runner<'_, H> {
    type Store = Dynamic;
    type Tables<'t> = Own<'t>;
    type Payload = Vec<Value>;

    #[inline(always)]
    fn refuel(&mut self) {
        self.input.set(Fuel::INPUT);
        self.reasons.set(Fuel::INPUT);
    }

    #[inline(always)]
    fn heed(&mut self, sink: &dyn Sink) {
        self.data.heed(sink);
    }

    #[inline(always)]
    fn bind(&mut self, bound: Bound<Vec<Value>>) {
        if !matches!(bound, Bound::Nothing | Bound::Event(..)) {
            self.keep_bound(&bound);
        }
        self.data.bind(bound);
    }

    fn another_option(&mut self) {
        self.data.more.change(|more| more.calls.break_streaks());
    }

    fn repeated(&self) -> u32 {
        self.data.more.calls.repeated()
    }

    fn forget_call(&mut self, caller: Caller) {
        self.data.more.change(|more| more.calls.forget(caller));
    }

    fn dequeue(&mut self) {
        let bound = match self.data.raised.pop_front() {
            Some((event, fields)) => Bound::Event(event, fields),
            None => Bound::Nothing,
        };
        self.data.bind(bound);
    }

    fn deliver(&mut self, event: EventId, slot: usize) {
        let payload = self.data.take_sent(slot);
        self.data.bind(Bound::Event(event, payload));
    }

    fn post(&mut self, event: EventId, slot: usize, to: Receiver) {
        let payload = self.data.take_sent(slot);
        self.data.more.posted.push(Post { event, to, payload });
    }

    fn begin_turn(&mut self, view: &View<'_>) {
        self.data.more.change(|more| more.answers.clear());
        let chart = self.chart;
        for (i, variable) in chart.variables.iter().enumerate() {
            if let (Some(default), VariableKind::Var { per_turn: true }) =
                (&variable.default, &variable.kind)
                && let Err(Mismatch(why)) = self.set_default(VarId::at(i), default, view)
            {
                self.data.note(|| why);
            }
        }
    }

    fn guard(&mut self, line: TransitionId, view: &View<'_>) -> Result<bool, Fault> {
        if let Some(holds) = self.guard_alone(line, view.cells.configuration) {
            return Ok(holds);
        }
        let guard = self.chart.transition(line).guard.as_ref();
        self.condition(guard, view, |tables| wording::guard_of(tables, line))
    }

    fn held(&mut self, line: TransitionId, view: &View<'_>) -> u64 {
        self.held_alternatives(line, view)
    }

    fn step_guard(&mut self, step: StepId, view: &View<'_>) -> Result<bool, Fault> {
        let guard = self.chart.steps[step.index()].guard.as_ref();
        self.condition(guard, view, |tables| wording::if_of(tables, step))
    }

    fn permission_guard(&mut self, nth: usize, view: &View<'_>) -> Result<bool, Fault> {
        let guard = self.chart.permissions[nth].guard.as_ref();
        self.condition(guard, view, |tables| wording::permission_of(tables, nth))
    }

    fn limit(&self, nth: usize) -> u64 {
        self.data.more.limits.get(nth).copied().unwrap_or(0)
    }

    fn ends_turn(&mut self, step: StepId, view: &View<'_>) -> Result<bool, Fault> {
        let guard = self.chart.steps[step.index()].ends_turn.as_ref();
        self.condition(guard, view, |tables| wording::end_of(tables, step))
    }

    fn deadline(&mut self, line: TransitionId, view: &View<'_>) -> Result<u64, Fault> {
        let chart = self.chart;
        let (Trigger::After(bound) | Trigger::AfterTurns(bound) | Trigger::StepTimeout(_, bound)) =
            &chart.transition(line).trigger
        else {
            return Err(Fault);
        };
        let fuel = self.fuel();
        let value = evaluate(bound, &self.context(view, None), &fuel);
        self.burn(&fuel);
        let turns = matches!(chart.transition(line).trigger, Trigger::AfterTurns(_));
        let bound = value.and_then(|value| {
            if let (false, Value::Duration(millis)) = (turns, &value) {
                return Ok(*millis);
            }
            if let (true, Value::Int(turns @ 0..)) = (turns, &value) {
                return Ok(*turns as u64);
            }
            Err(EvalError { message: format!("a bound cannot be {}", python::repr(&value)?) })
        });
        self.explain(bound, || wording::bound_of(view.tables, line))
    }

    fn arguments(&mut self, line: TransitionId, view: &View<'_>) -> Result<(), Fault> {
        let chart = self.chart;
        for target in &chart.transition(line).targets {
            let StateKind::Final { params, .. } = &chart.state(target.state).kind else { continue };
            if target.arguments.is_empty() {
                continue;
            }
            let fuel = self.fuel();
            let context = self.context(view, None);
            let values =
                fields(&target.arguments, params, &chart.types, |e| evaluate(e, &context, &fuel));
            self.burn(&fuel);
            let values = self.explain(values, || wording::arguments_of(view.tables, line))?;
            self.data.more.finals.insert(target.state, values);
        }
        Ok(())
    }

    #[inline]
    fn run_alone(&mut self, block: Block, configuration: &[u64]) -> bool {
        let acts = self.compiled(block);
        self.begun = self.data.run(acts, configuration);
        let is_done = self.begun == acts.len() && !acts.is_empty();
        if is_done {
            self.begun = 0;
        }
        is_done
    }

    #[inline]
    fn guard_alone(&self, line: TransitionId, configuration: &[u64]) -> Option<bool> {
        self.quick.guard(line)?.holds(&self.data.scalars(configuration))
    }

    fn run(&mut self, block: Block, view: &View<'_>, outbox: &mut Outbox<'_>) -> Result<(), Fault> {
        let chart = self.chart;
        // `run_alone` may have run the first actions.
        let begun = core::mem::take(&mut self.begun);
        let done = self.run_quickly(self.compiled(block), begun, view, outbox);
        let actions = match block {
            Block::Entry(state, nth) => &chart.state(state).entry[nth as usize],
            Block::Exit(state, nth) => &chart.state(state).exit[nth as usize],
            Block::Default(state) => &chart.state(state).default_actions,
            Block::Transition(line) => &chart.transition(line).actions,
        };
        let actions = &actions[done..];
        if actions.is_empty() {
            return Ok(());
        }
        let fuel = self.fuel();
        let mut context = self.context(view, None);
        let result =
            execute(actions, &mut context, &fuel, &mut |context, action, locals| match action {
                Action::Raise(..) | Action::Send { .. } | Action::Cancel(_) => {
                    put(action, context, locals, &fuel, outbox)
                }
                _ => act(action, context, locals, &fuel),
            });
        self.burn(&fuel);
        self.explain(result, || wording::actions_of(view.tables, block))
    }

    fn elements(
        &mut self,
        step: StepId,
        most: u32,
        view: &View<'_>,
    ) -> Result<u32, Option<Vec<Value>>> {
        self.begin_list(step, most, view)
    }

    fn element_done(&mut self, step: StepId, element: Element, answer: Vec<Value>) {
        self.keep_element(step, element, answer);
    }

    fn gathered(&mut self, step: StepId, with_none: bool) -> Option<Vec<Value>> {
        self.gather(step, with_none)
    }

    fn forget_elements(&mut self, step: StepId) {
        self.data.more.change(|more| drop(more.fans.remove(&step)));
    }

    fn code(&mut self, step: StepId, view: &View<'_>) -> Result<(), Fault> {
        let StepKind::Code(actions) = &self.chart.steps[step.index()].kind else {
            return Ok(());
        };
        let fuel = self.fuel();
        let mut context = self.context(view, None);
        let result = execute(actions, &mut context, &fuel, &mut |context, action, locals| {
            act(action, context, locals, &fuel)
        });
        self.burn(&fuel);
        self.explain(result, || wording::code_of(view.tables, step))
    }
}
