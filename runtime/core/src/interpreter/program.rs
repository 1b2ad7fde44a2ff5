//! The program of an interpreted chart: it evaluates guards, actions, code and prompts.
//!
//! **The problem.** The step algorithm asks whether a guard holds and orders a block to run, and knows nothing of expressions. Most guards
//! and blocks are tiny, such as `n < 3` or `n = n + 1`, and must cost little. The others may fail or take long, and must not end the run.
//!
//! **The idea.** [`Runner`] implements [`Program`] in two tiers. Compiled code ([`Quick`]) is tried first: it needs only the variables, the
//! payload and the configuration. Whatever it does not cover goes to the evaluator, which sees the run through a [`Context`]: data, the
//! host, and the machine's [`View`]. Each evaluation gets a budget (`fuel`) and is charged for it (`burn`). An error becomes a note with
//! the reason and a [`Fault`] without one (`explain`): the step algorithm handles all faults alike.
//!
//! **Example.** The block `enter { n = n + 1  raise ready }`, which is compiled:
//!
//! ```text
//! run_alone     `n` becomes 4; `raise` needs the outbox, so the result is false, with `begun` = 1
//! run           goes on with action 1 (`run_quickly`) and raises `ready`; nothing is left for the evaluator
//! (n unset)     `begun` = 0; `run` evaluates `n = n + 1` from the model, notes "`n` has no value yet", and returns a Fault
//! ```
//!
//! Order of the file: the trait, what expressions see, prompts and offers, compiled code, lists of steps with `each`.

use super::data::{Data, Gathering};
use super::{act, fields, put};
use crate::arena::{
    ChoiceId, EventId, FunctionId, PredicateId, StepId, ToolId, TransitionId, VarId,
};
use crate::calls::LastResult;
use crate::expr::quick::{Act, Scalars};
use crate::expr::{
    self, Environment, EvalError, Fuel, Value, evaluate, evaluate_for, execute, field_text, fit,
    format, holds, render, render_for,
};
use crate::family::Lent;
use crate::host::{About, Host, Mismatch, Note, Offer, Post, summary};
use crate::machine::{Element, Fault, Receiver, Sink, StepKey};
use crate::model::{
    Action, Chart, ChoiceKind, Expr, Field, FunctionKind, Observable, Position, Since, StateKind,
    StepKind, StreakOf, Template, Trigger, Type, VariableKind,
};
use crate::outbox::Outbox;
use crate::plan::Plan;
use crate::program::{Block, Bound, Caller, Program, View};
use crate::store::Dynamic;
use crate::tables::Tables;
use crate::wording;
use alloc;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

/// The data of an interpreted run, and everything that is needed to evaluate expressions over it.
pub(super) struct Runner<H> {
    pub(super) plan: Plan,
    // Expressions are evaluated through `&self`, but a host function needs the host mutable.
    pub(super) host: RefCell<Lent<H>>,
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

impl<H: Host> Runner<H> {
    pub(super) fn new(plan: Plan, host: Option<H>, data: Data) -> Self {
        Self {
            plan,
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

    /// Stores the result of a step or tool as the last result, and in the variable of `into`.
    fn keep(&mut self, value: &Value, into: Option<VarId>) {
        self.data.more.last_result = LastResult::of(self.reason(core::slice::from_ref(value)));
        let Some(into) = into else { return };
        let variable = &self.plan.chart().variables[into.index()];
        match fit(value.clone(), &variable.ty, &self.plan.chart().types) {
            Ok(value) => match self.data.make_room(core::slice::from_ref(&value)) {
                Ok(()) => self.data.variables[into.index()] = Some(value),
                Err(full) => self.data.note(|| alloc::format!("`{}`: {full}", variable.name)),
            },
            Err(why) => self.data.note(|| alloc::format!("`{}`: {why}", variable.name)),
        }
    }

    /// Stores the parts of a payload that guards and actions read after another payload is bound.
    fn keep_bound(&mut self, bound: &Bound<Vec<Value>>) {
        match bound {
            Bound::Answer(step, fields) => {
                let answer = fields.first().cloned().unwrap_or_default();
                self.keep(&answer, self.plan.chart().steps[step.index()].into);
                self.data.more.keep_answer(*step, self.plan.chart().steps.len(), answer);
            }
            Bound::Call(caller, tool, arguments) => {
                self.data.more.calls.begin(*caller, *tool, arguments.clone());
            }
            Bound::Returned(caller, choice, fields) => {
                self.data.more.calls.end(*caller);
                let into =
                    match choice.map(|choice| &self.plan.chart().choices[choice.index()].kind) {
                        Some(ChoiceKind::Call(_, into)) => *into,
                        Some(ChoiceKind::Option(_)) | None => None,
                    };
                self.keep(&fields.first().cloned().unwrap_or_default(), into);
            }
            Bound::CallFailed(caller, reason) => {
                self.data.more.calls.end(*caller);
                self.data.more.last_result = LastResult::failure(&self.reason(reason));
            }
            Bound::Refused(caller) => {
                self.data.more.calls.end(*caller);
                self.data.more.last_result = LastResult::failure(crate::host::REFUSED);
            }
            _ => {}
        }
    }

    /// The text of a value in prompts.
    fn reason(&self, fields: &[Value]) -> String {
        let Some(value) = fields.first() else { return String::new() };
        format::str(value).unwrap_or_else(|error| {
            self.data.note(|| alloc::format!("`last_result`: {}", error.message));
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
        let chart = self.plan.chart();
        let Some(StepKind::Call(tool, arguments)) = chart.steps.get(step.index()).map(|s| &s.kind)
        else {
            return Err(Fault);
        };
        let params = &chart.tools[tool.index()].params;
        let fuel = self.fuel();
        let context = Context::of(&self.plan, &mut self.data, &self.host, view, None);
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
        let (chart, step, element) = (self.plan.chart(), key.step, self.element_of(key));
        let Some(StepKind::Run(run)) = chart.steps.get(step.index()).map(|s| &s.kind) else {
            return Err(Fault);
        };
        let fuel = self.fuel();
        let context = Context::of(&self.plan, &mut self.data, &self.host, view, None);
        let values = run.arguments.iter().map(|(name, argument)| {
            let value = evaluate_for(argument, element.as_ref(), &context, &fuel)?;
            Ok((name.clone(), value))
        });
        let values = values.collect();
        self.burn(&fuel);
        self.explain(values, || wording::code_of(view.tables, step))
    }

    /// Evaluates a guard or an `if`; without one, the result is true. `what` names it in the note about an error.
    fn condition(
        &mut self,
        condition: impl FnOnce(&Chart) -> Option<&Expr>,
        view: &View<'_>,
        what: impl FnOnce(&Tables) -> String,
    ) -> Result<bool, Fault> {
        let Some(condition) = condition(self.plan.chart()) else { return Ok(true) };
        let fuel = self.fuel();
        let result = holds(
            condition,
            &Context::of(&self.plan, &mut self.data, &self.host, view, None),
            &fuel,
        );
        self.burn(&fuel);
        self.explain(result, || what(view.tables))
    }
}

impl<H: Host> Program for Runner<H> {
    type Store = Dynamic;
    type Tables = Plan;
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

    fn put_back(&mut self, slot: usize) {
        self.data.keep_sent(slot);
    }

    fn post(&mut self, event: EventId, slot: usize, to: Receiver) {
        let payload = self.data.take_sent(slot);
        self.data.more.posted.push(Post { event, to, payload });
    }

    fn begin_turn(&mut self, view: &View<'_>) {
        self.data.more.change(|more| more.answers.clear());
        let plan = self.plan.clone();
        let chart = plan.chart();
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
        self.condition(
            |chart| chart.transition(line).guard.as_ref(),
            view,
            |tables| wording::guard_of(tables, line),
        )
    }

    fn held(&mut self, line: TransitionId, view: &View<'_>) -> u64 {
        self.held_alternatives(line, view)
    }

    fn step_guard(&mut self, step: StepId, view: &View<'_>) -> Result<bool, Fault> {
        self.condition(
            |chart| chart.steps[step.index()].guard.as_ref(),
            view,
            |tables| wording::if_of(tables, step),
        )
    }

    fn permission_guard(&mut self, nth: usize, view: &View<'_>) -> Result<bool, Fault> {
        self.condition(
            |chart| chart.permissions[nth].guard.as_ref(),
            view,
            |tables| wording::permission_of(tables, nth),
        )
    }

    fn tool_guard(&mut self, nth: usize, view: &View<'_>) -> Result<bool, Fault> {
        self.condition(
            |chart| chart.tool_lines().nth(nth)?.guard.as_ref(),
            view,
            |tables| wording::tool_line_of(tables, nth),
        )
    }

    fn limit(&self, nth: usize) -> u64 {
        self.data.more.limits.get(nth).copied().unwrap_or(0)
    }

    fn ends_turn(&mut self, step: StepId, view: &View<'_>) -> Result<bool, Fault> {
        self.condition(
            |chart| chart.steps[step.index()].ends_turn.as_ref(),
            view,
            |tables| wording::end_of(tables, step),
        )
    }

    fn deadline(&mut self, line: TransitionId, view: &View<'_>) -> Result<u64, Fault> {
        let chart = self.plan.chart();
        let (Trigger::After(bound) | Trigger::AfterTurns(bound) | Trigger::StepTimeout(_, bound)) =
            &chart.transition(line).trigger
        else {
            return Err(Fault);
        };
        let fuel = self.fuel();
        let value = evaluate(
            bound,
            &Context::of(&self.plan, &mut self.data, &self.host, view, None),
            &fuel,
        );
        self.burn(&fuel);
        let turns = matches!(chart.transition(line).trigger, Trigger::AfterTurns(_));
        let bound = value.and_then(|value| {
            if let (false, Value::Duration(millis)) = (turns, &value) {
                return Ok(*millis);
            }
            if let (true, Value::Int(turns @ 0..)) = (turns, &value) {
                return Ok(*turns as u64);
            }
            Err(EvalError {
                message: alloc::format!("a bound cannot be {}", format::python_repr(&value)?),
            })
        });
        self.explain(bound, || wording::bound_of(view.tables, line))
    }

    fn arguments(&mut self, line: TransitionId, view: &View<'_>) -> Result<(), Fault> {
        let chart = self.plan.chart();
        for target in &chart.transition(line).targets {
            let StateKind::Final { params, .. } = &chart.state(target.state).kind else { continue };
            if target.arguments.is_empty() {
                continue;
            }
            let fuel = self.fuel();
            let context = Context::of(&self.plan, &mut self.data, &self.host, view, None);
            let values =
                fields(&target.arguments, params, &chart.types, |e| evaluate(e, &context, &fuel));
            self.burn(&fuel);
            let values = values.and_then(|values| self.data.make_room(&values).map(|()| values));
            let values = self.explain(values, || wording::arguments_of(view.tables, line))?;
            self.data.more.finals.insert(target.state, values);
        }
        Ok(())
    }

    #[inline]
    fn run_alone(&mut self, block: Block, configuration: &[u64]) -> bool {
        let acts = self.plan.compiled(block);
        let begun = self.data.run(acts, configuration);
        let is_done = begun == acts.len() && !acts.is_empty();
        self.begun = if is_done { 0 } else { begun };
        is_done
    }

    #[inline]
    fn guard_alone(&self, line: TransitionId, configuration: &[u64]) -> Option<bool> {
        self.plan.quick().guard(line)?.holds(&self.data.scalars(configuration))
    }

    fn run(&mut self, block: Block, view: &View<'_>, outbox: &mut Outbox<'_>) -> Result<(), Fault> {
        let chart = self.plan.chart();
        // `run_alone` may have run the first actions.
        let begun = core::mem::take(&mut self.begun);
        let done = self.data.run_quickly(self.plan.compiled(block), begun, view, outbox);
        let actions = match block {
            Block::Entry(state, nth) => &chart.state(state).entry[nth as usize],
            Block::Exit(state, nth) => &chart.state(state).exit[nth as usize],
            Block::Default(state) => &chart.state(state).default_actions,
            Block::Transition(line) => &chart.transition(line).actions,
            Block::Asking(step) => &chart.steps[step.index()].asking,
            Block::Calling(nth) => {
                chart.tool_lines().nth(nth as usize).map_or(&[][..], |line| &line.calling)
            }
        };
        let actions = &actions[done..];
        if actions.is_empty() {
            return Ok(());
        }
        let fuel = self.fuel();
        let mut context = Context::of(&self.plan, &mut self.data, &self.host, view, None);
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
        let StepKind::Code(actions) = &self.plan.chart().steps[step.index()].kind else {
            return Ok(());
        };
        let fuel = self.fuel();
        let mut context = Context::of(&self.plan, &mut self.data, &self.host, view, None);
        let result = execute(actions, &mut context, &fuel, &mut |context, action, locals| {
            act(action, context, locals, &fuel)
        });
        self.burn(&fuel);
        self.explain(result, || wording::code_of(view.tables, step))
    }
}

// The data of a run and its machine, as expressions see them.

/// The maximum number of characters of a value in a note.
const SHOWN: usize = 400;

/// The view of an expression that is being evaluated.
pub(super) struct Context<'a, H> {
    pub(super) chart: &'a Chart,
    pub(super) data: &'a mut Data,
    pub(super) host: &'a RefCell<H>,
    pub(super) view: &'a View<'a>,
    /// The options of the question whose prompt is being rendered.
    pub(super) options: Option<&'a str>,
}

fn failed(message: String) -> EvalError {
    EvalError { message }
}

impl<'a, H> Context<'a, H> {
    pub(super) fn of(
        plan: &'a Plan,
        data: &'a mut Data,
        host: &'a RefCell<H>,
        view: &'a View<'a>,
        options: Option<&'a str>,
    ) -> Self {
        Self { chart: plan.chart(), data, host, view, options }
    }
}

impl<H: Host> Environment for Context<'_, H> {
    fn variable(&self, id: VarId) -> Option<&Value> {
        self.data.variables.get(id.index())?.as_ref()
    }

    fn unset(&self, id: VarId) -> EvalError {
        failed(match self.chart.variables.get(id.index()) {
            Some(variable) => alloc::format!("`{}` has no value yet", variable.name),
            None => "an unknown variable".to_string(),
        })
    }

    fn payload(&self, nth: u32) -> Option<&Value> {
        self.data.payload(nth)
    }

    fn answer(&self, step: StepId) -> Option<&Value> {
        self.data.more.answers.get(step.index())?.as_ref()
    }

    fn predicate(&self, id: PredicateId) -> Option<&Expr> {
        self.chart.predicates.get(id.index()).map(|predicate| &predicate.expr)
    }

    fn advice(&self) -> Option<&Template> {
        self.chart.state(self.view.adviser()?).advice.as_ref()
    }

    fn options(&self) -> Option<&str> {
        self.options
    }

    fn observe(&self, observable: &Observable) -> Result<Value, EvalError> {
        let view = self.view;
        let count = |n: u32| Value::Int(i64::from(n));
        Ok(match observable {
            Observable::State => Value::Text(view.state().to_string()),
            Observable::Turns => count(view.turns),
            Observable::TurnsHere => count(view.turns_here()),
            Observable::TurnsIn(state) => count(view.turns_in(*state)),
            Observable::FailsHere => count(view.fails_here()),
            Observable::Elapsed => Value::Duration(view.elapsed()),
            Observable::ElapsedHere => Value::Duration(view.elapsed_here()),
            Observable::In(state) => Value::Bool(view.is_in(*state)),
            Observable::Health => Value::Text(view.health().to_string()),
            Observable::LastResult => Value::Text(self.data.more.last_result.text.clone()),
            Observable::LastFailed => Value::Bool(self.data.more.last_result.failed),
            Observable::Event => Value::Text(view.event_name().to_string()),
            Observable::Streak(StreakOf::Tool) => Value::Int(self.data.more.calls.streak()),
            Observable::Streak(StreakOf::Argument(set, argument)) => {
                let tools = self.chart.tools_of(*set);
                Value::Int(self.data.more.calls.streak_of(&tools, argument, view.tables))
            }
            Observable::Repeated(set, argument) => {
                let tools = self.chart.tools_of(*set);
                self.data.more.calls.repeated_value(&tools, argument, view.tables)
            }
            Observable::Calls(Since::Start) => count(view.calls()),
            Observable::Calls(Since::Entry) => count(view.calls_here()),
            Observable::Tokens(since) => Value::Int(view.tokens(*since == Since::Entry)),
            Observable::Cost(since) => Value::Float(view.cost(*since == Since::Entry)),
            Observable::Advice => {
                return Err(failed("the advice is not known here".to_string()));
            }
        })
    }

    fn call(&self, id: FunctionId, arguments: &[Value]) -> Result<Value, EvalError> {
        let Some(function) = self.chart.functions.get(id.index()) else {
            return Err(failed("an unknown host function".to_string()));
        };
        let types = &self.chart.types;
        let name = &function.name;
        let mut fitted = Vec::with_capacity(arguments.len());
        for (value, param) in arguments.iter().zip(&function.params) {
            match fit(value.clone(), &param.ty, types) {
                Ok(value) => fitted.push(value),
                Err(why) => {
                    let why = alloc::format!("`{name}`, argument `{}`: {why}", param.name);
                    return self.uncalled(id, failed(why));
                }
            }
        }
        // The host is borrowed already if one of its functions has led here.
        let answer = match self.host.try_borrow_mut() {
            Ok(mut host) => host.call(name, &fitted),
            Err(_) => Err("the host is busy".to_string()),
        };
        let (result, fallback) = match &function.kind {
            FunctionKind::Pure { result, fallback, .. } => (result, fallback.as_ref()),
            FunctionKind::Effect => (&Type::Json, None),
        };
        let answer = answer.and_then(|value| fit(value, result, types));
        self.data.note(|| {
            let end = match (&answer, fallback) {
                (Ok(value), _) => alloc::format!(" = {}", shown(value)),
                (Err(why), Some(value)) => {
                    alloc::format!(" failed, {} instead: {why}", shown(value))
                }
                (Err(why), None) => alloc::format!(" failed: {why}"),
            };
            let text = alloc::format!("{name}({}){end}", shown_all(&fitted));
            Note { about: About::Call(name.clone()), text }
        });
        match (answer, fallback) {
            (Ok(value), _) => Ok(value),
            (Err(_), Some(value)) => Ok(value.clone()),
            (Err(why), None) => Err(failed(alloc::format!("`{name}` failed: {why}"))),
        }
    }

    /// The result of a function whose arguments do not fit: its `else`, or the error. The host is not called, because it may rely on the
    /// declared types.
    fn uncalled(&self, id: FunctionId, why: EvalError) -> Result<Value, EvalError> {
        let Some(function) = self.chart.functions.get(id.index()) else { return Err(why) };
        let FunctionKind::Pure { fallback: Some(value), .. } = &function.kind else {
            return Err(why);
        };
        self.data.note(|| {
            let (name, instead) = (&function.name, shown(value));
            alloc::format!("{name} is not called, {instead} instead: {}", why.message)
        });
        Ok(value.clone())
    }
}

fn shown_all(values: &[Value]) -> String {
    values.iter().map(shown).collect::<Vec<_>>().join(", ")
}

/// A value for a note, shortened.
fn shown(value: &Value) -> String {
    let text = format::python_repr(value).unwrap_or_else(|_| "…".to_string());
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => alloc::format!("{}…", &text[..end]),
        None => text,
    }
}

impl<H: Host> Context<'_, H> {
    /// Sets a variable. Fails if the value does not fit the variable's type.
    pub(super) fn assign(&mut self, id: VarId, value: Value) -> Result<(), EvalError> {
        let Some(variable) = self.chart.variables.get(id.index()) else {
            return Err(failed("an unknown variable".to_string()));
        };
        match fit(value, &variable.ty, &self.chart.types) {
            Ok(value) => {
                self.data.make_room(core::slice::from_ref(&value))?;
                self.data.variables[id.index()] = Some(value);
                Ok(())
            }
            Err(why) => Err(failed(alloc::format!("`{}`: {why}", variable.name))),
        }
    }
}

// Renders prompts and the offers of questions.

/// The text between a step's own prompt and those of components.
const BETWEEN: &str = "\n\n";

impl<H: Host> Runner<H> {
    /// The rendered prompt of a step, with its components.
    pub(super) fn prompt(
        &mut self,
        key: StepKey,
        options: &str,
        view: &View<'_>,
    ) -> Result<String, Fault> {
        let (chart, step, element) = (self.plan.chart(), key.step, self.element_of(key));
        let Some(row) = chart.steps.get(step.index()) else {
            self.data.note(|| format!("no step has the number {}", step.0));
            return Err(Fault);
        };
        let options = matches!(row.kind, StepKind::Ask { .. }).then_some(options);
        let (mut start, mut middle, mut end) = (Vec::new(), Vec::new(), Vec::new());
        for (component, insert) in chart.inserts(step) {
            if let Some(guard) = &insert.guard {
                let fuel = self.fuel();
                let result = holds(
                    guard,
                    &Context::of(&self.plan, &mut self.data, &self.host, view, None),
                    &fuel,
                );
                self.burn(&fuel);
                let what = || format!("`if` of `{}` into `{}`", component.name, row.name);
                // A guard that fails counts as false, as everywhere.
                if !self.explain(result, what).unwrap_or(false) {
                    continue;
                }
            }
            match insert.place {
                Position::Start => start.push(&component.text),
                Position::Replace => middle.push(&component.text),
                Position::End => end.push(&component.text),
            }
        }
        // A component with `replace` takes the place of the step's own text.
        if middle.is_empty() {
            middle.extend(chart.own_prompt(step));
        }
        let fuel = self.fuel();
        let context = Context::of(&self.plan, &mut self.data, &self.host, view, options);
        let templates = start.into_iter().chain(middle).chain(end);
        let texts: Result<Vec<String>, EvalError> = templates
            .map(|template| render_for(template, element.as_ref(), &context, &fuel))
            .collect();
        self.burn(&fuel);
        Ok(self.explain(texts, || wording::prompt_of(view.tables, step))?.join(BETWEEN))
    }

    /// Adds a note with the reason if something has failed, named by `what`.
    pub(super) fn explain<T>(
        &self,
        result: Result<T, EvalError>,
        what: impl FnOnce() -> String,
    ) -> Result<T, Fault> {
        result.map_err(|error| {
            self.data.note(|| format!("{}: {}", what(), error.message));
            Fault
        })
    }

    /// An option of a question. A text that cannot be rendered is empty, and a note gives the reason.
    pub(super) fn offer(&mut self, id: ChoiceId, tool: Option<ToolId>, view: &View<'_>) -> Offer {
        let plan = self.plan.clone();
        let chart = plan.chart();
        let choice = &chart.choices[id.index()];
        let text = match &choice.text {
            Some(template) => {
                let text = self.text(template, view);
                text.unwrap_or_else(|Fault| {
                    self.data.note(|| {
                        let line = wording::line(view.tables, choice.transition);
                        format!("{line} is offered without its text")
                    });
                    String::new()
                })
            }
            None => tool.map_or_else(String::new, |tool| summary(&chart.tools[tool.index()].doc)),
        };
        let fields: &[Field] = match (&choice.kind, tool) {
            (ChoiceKind::Option(fields), _) => fields,
            (ChoiceKind::Call(..), Some(tool)) => &chart.tools[tool.index()].params,
            (ChoiceKind::Call(..), None) => &[],
        };
        let arguments = fields
            .iter()
            .map(|field| (field.name.clone().into(), field_text(field, &chart.types).into()))
            .collect();
        let name = tool.map_or(&choice.name, |tool| &chart.tools[tool.index()].name);
        Offer { choice: id, tool, name: name.clone().into(), text: text.into(), arguments }
    }

    /// A tool that the model of an `llm` step may call.
    pub(super) fn tool_offer(&self, id: ToolId) -> Offer {
        let tool = &self.plan.chart().tools[id.index()];
        let typed = |field: &Field| {
            let ty = field_text(field, &self.plan.chart().types);
            (field.name.clone().into(), ty.into())
        };
        Offer {
            choice: Offer::NO_LINE,
            tool: Some(id),
            name: tool.name.clone().into(),
            text: summary(&tool.doc).into(),
            arguments: tool.params.iter().map(typed).collect(),
        }
    }

    fn text(&mut self, template: &Template, view: &View<'_>) -> Result<String, Fault> {
        let fuel = self.fuel();
        let text = render(
            template,
            &Context::of(&self.plan, &mut self.data, &self.host, view, None),
            &fuel,
        );
        self.burn(&fuel);
        self.explain(text, || "text of an option".to_string())
    }
}

// Runs compiled guards and actions. A case that they do not cover is left to the evaluator.

impl Data {
    #[inline]
    pub(super) fn scalars<'a>(&'a self, configuration: &'a [u64]) -> Scalars<'a> {
        Scalars { variables: &self.variables, payload: self.payloads(), configuration }
    }

    /// Runs compiled actions until one needs the machine or the evaluator. Returns the number of actions that have run.
    #[inline]
    pub(super) fn run(&mut self, acts: &[Act], configuration: &[u64]) -> usize {
        for (done, act) in acts.iter().enumerate() {
            let went = match act {
                Act::Step(variable, by) => self.step(*variable, *by),
                // The outbox is needed, which only `run_quickly` has.
                Act::Raise(_) => None,
                Act::Int(variable, value) => value
                    .value(&self.scalars(configuration))
                    .and_then(|value| self.assign_int(*variable, value)),
                Act::Float(variable, value) => value
                    .value(&self.scalars(configuration))
                    .and_then(|value| self.assign(*variable, Value::Float(value))),
                Act::Bool(variable, value) => value
                    .holds(&self.scalars(configuration))
                    .and_then(|value| self.assign(*variable, Value::Bool(value))),
            };
            if went.is_none() {
                return done;
            }
        }
        acts.len()
    }

    /// Adds to an Int variable. `None` if it has no value or another kind, or if the sum overflows: the evaluator then reports the error.
    #[inline]
    fn step(&mut self, variable: u32, by: i64) -> Option<()> {
        let Value::Int(n) = self.variables.get_mut(variable as usize)?.as_mut()? else {
            return None;
        };
        *n = n.checked_add(by)?;
        Some(())
    }

    /// Sets a variable to a value that has its type.
    fn assign(&mut self, variable: u32, value: Value) -> Option<()> {
        *self.variables.get_mut(variable as usize)? = Some(value);
        Some(())
    }

    #[inline]
    fn assign_int(&mut self, variable: u32, value: i64) -> Option<()> {
        let place = self.variables.get_mut(variable as usize)?;
        if let Some(Value::Int(old)) = place {
            *old = value;
        } else {
            *place = Some(Value::Int(value));
        }
        Some(())
    }
}

impl Plan {
    /// The actions of a block, if it is compiled; otherwise empty.
    #[inline]
    fn compiled(&self, block: Block) -> &[Act] {
        match block {
            Block::Transition(line) => self.quick().line(line),
            Block::Entry(state, nth) => self.quick().entry(state, nth),
            Block::Exit(state, nth) => self.quick().exit(state, nth),
            Block::Default(_) | Block::Asking(_) | Block::Calling(_) => &[],
        }
    }
}

impl Data {
    /// Runs compiled actions from index `from` on, until one needs the evaluator. Returns the number of actions that have run, `from`
    /// included.
    fn run_quickly(
        &mut self,
        acts: &[Act],
        from: usize,
        view: &View<'_>,
        outbox: &mut Outbox<'_>,
    ) -> usize {
        let mut done = from;
        loop {
            done += self.run(&acts[done..], view.cells.configuration);
            let Some(Act::Raise(event)) = acts.get(done) else { return done };
            if !outbox.raise(*event) {
                return done;
            }
            self.raised.push_back((*event, Vec::new()));
            done += 1;
        }
    }
}

impl<H: Host> Runner<H> {
    /// The element of a list that an attempt is for.
    pub(super) fn element_of(&self, key: StepKey) -> Option<Value> {
        let element = key.element?.index() as usize;
        self.data.more.fans.get(&key.step)?.elements.get(element).cloned()
    }

    /// Evaluates and stores the list of a step. Returns the number of elements.
    ///
    /// # Errors
    /// The list cannot be evaluated, or has more than `most` elements. The error has the reason, unless a note has it.
    pub(super) fn begin_list(
        &mut self,
        step: StepId,
        most: u32,
        view: &View<'_>,
    ) -> Result<u32, Option<Vec<Value>>> {
        let chart = self.plan.chart();
        let Some(each) = &chart.steps[step.index()].each else { return Err(None) };
        let fuel = self.fuel();
        let list = evaluate(
            &each.list,
            &Context::of(&self.plan, &mut self.data, &self.host, view, None),
            &fuel,
        );
        self.burn(&fuel);
        let elements = list.and_then(expr::list);
        let elements = elements.and_then(|all| self.data.make_room(&all).map(|()| all));
        let elements = self.explain(elements, || wording::list_of(view.tables, step));
        let elements = elements.map_err(|Fault| None)?;
        let size = u32::try_from(elements.len()).unwrap_or(u32::MAX);
        if size > most {
            return Err(Some(alloc::vec![Value::Text(wording::too_many(size, most))]));
        }
        let answers = alloc::vec![None; elements.len()];
        self.data.more.fans.insert(step, Gathering { elements, answers });
        Ok(size)
    }

    /// Stores the answer of an element.
    pub(super) fn keep_element(&mut self, step: StepId, element: Element, answer: Vec<Value>) {
        let mut answer = answer;
        if let Err(full) = self.data.make_room(&answer) {
            self.data.note(|| alloc::format!("an answer is dropped: {full}"));
            answer.clear();
        }
        let fan = self.data.more.fans.get_mut(&step);
        if let Some(place) = fan.and_then(|fan| fan.answers.get_mut(element.index() as usize)) {
            *place = Some(answer.into_iter().next().unwrap_or_default());
        }
    }

    /// Takes the answers in the order of the elements. A missing answer becomes `none` if `with_none` is set, and is left out otherwise.
    pub(super) fn gather(&mut self, step: StepId, with_none: bool) -> Option<Vec<Value>> {
        let answers = self.data.more.fans.remove(&step)?.answers;
        let all = if with_none {
            answers.into_iter().map(Option::unwrap_or_default).collect()
        } else {
            answers.into_iter().flatten().collect()
        };
        Some(alloc::vec![Value::List(all)])
    }
}
