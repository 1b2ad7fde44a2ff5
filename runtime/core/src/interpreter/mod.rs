//! A machine that runs a chart from its model.
//!
//! The problem: the step algorithm knows only registers and tables, and leaves guards, actions and data to a [`crate::program::Program`].
//! The idea: an [`Interpreter`] is a [`Stepper`] over the tables of a [`Plan`], with a program that evaluates the expressions of the model.
//! For example, with `on pay(amount) if amount > 10 -> open { total = total + amount }`:
//!
//! ```text
//! handle(Event(pay, [12]))   `check::event`: the payload fits the declared type
//! engine.event               binds the payload, selects the transition, and asks for its guard
//! Runner::guard_alone        the guard is compiled: payload 0 is greater than 10
//! Runner::run_alone          the action is compiled, too: `total` grows by 12
//! (not compiled)             `guard` and `run` evaluate the expressions of the model instead, with a budget
//! ```
//!
//! | file | contents |
//! |---|---|
//! | `data` | the data of a run besides the registers; what takes no memory until it is written |
//! | `begin` | the initial data of a run, and checks that external data fits its declared types |
//! | `program` | guards, actions, code and prompts: [`crate::program::Program`]; what expressions see; compiled guards |
//! | `saved` | the state of a run as data, and the machines of `run` steps |
//! | `point` | stored points of a run to return to, and expressions outside the chart |

mod begin;
mod data;
mod point;
mod program;
mod room;
mod saved;

pub use crate::calls::{Call, Calls};
pub use point::{Facts, Point};
pub use room::DATA_BYTES;

use crate::arena::{ChoiceId, EventId, StateId, StepId, ToolId};
use crate::calls::add_option;
use crate::expr::{Environment, EvalError, Fuel, Locals, Value, fit, format};
use crate::host::{Host, Machine, Mismatch, Note, Offer, Post, ToolCall, listed};
use crate::machine::{Element, Fault, Input, Instant, Outcome, Receipt, Sink, Status, StepKey};
use crate::model::{
    Action, Expr, Field, Receiver, StateKind, StepKind, TypeDef, VariableKind, schema,
};
use crate::outbox::Outbox;
use crate::plan::Plan;
use crate::saved::{Saved, Unfit};
use crate::semantics::Stepper;
use crate::store::{Dynamic, Sent};
use crate::tables::{LimitsRow, Tables};
use alloc;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use data::Data;
use program::{Context, Runner};

/// A machine that runs a chart from its model: the step algorithm over the chart's tables, with an evaluator for guards and actions.
pub struct Interpreter<H: Host> {
    plan: Plan,
    engine: Stepper<Runner<H>>,
    /// The charts that `run` steps can start.
    charts: Arc<[Plan]>,
    /// The machines of the `run` steps that are under way, in the order of their start.
    children: Vec<(StepKey, Interpreter<H>)>,
}

impl<H: Host> Interpreter<H> {
    /// A machine that has not started. `params` are given by name, in any order. A param with a default may be omitted.
    ///
    /// # Errors
    /// A param that is unknown, missing, of another type or out of its range.
    pub fn new(
        plan: &Plan,
        host: H,
        params: impl IntoIterator<Item = (String, Value)>,
    ) -> Result<Self, Mismatch> {
        let given = begin::params(plan.chart(), params)?;
        let mut made = Self::with_data(plan, Some(host), Data::new(plan.chart()));
        made.engine.with_view(StateId(0), |program, view| program.begin(given, view))?;
        Ok(made)
    }

    fn with_data(plan: &Plan, host: Option<H>, data: Data) -> Self {
        let runner = Runner::new(plan.clone(), host, data);
        let engine = Stepper::new(plan.clone(), Dynamic::new(plan), runner);
        Self { plan: plan.clone(), engine, charts: Arc::default(), children: Vec::new() }
    }

    /// Sets how many bytes of data the run and its child charts may have together, instead of [`DATA_BYTES`].
    pub fn set_data_bound(&mut self, bytes: usize) {
        self.engine.program.data.room.set_most(bytes);
        self.share_room();
    }

    fn share_room(&mut self) {
        for (_, child) in &mut self.children {
            child.engine.program.data.room = self.engine.program.data.room.of_child();
            child.share_room();
        }
    }

    /// The keys of the steps and questions that wait for an answer of the host.
    pub fn pending(&self) -> Vec<StepKey> {
        let mut keys = Vec::new();
        self.engine.pending(&mut |key| keys.push(key));
        keys
    }

    /// The tool whose call by the model is under way for this key.
    pub fn calls(&self, key: StepKey) -> Option<ToolId> {
        self.engine.calls(key)
    }

    /// The tools that the model of an open `llm` step may still call.
    pub fn step_tools(&mut self, key: StepKey) -> Vec<ToolId> {
        let mut tools = Vec::new();
        self.engine.step_tools(key, &mut |tool| tools.push(tool));
        tools
    }

    /// The active leaves in document order. After the end of the run: those of the last configuration.
    pub fn leaves(&self) -> Vec<StateId> {
        self.engine.leaves().collect()
    }

    /// The configuration as a bit set of state ids, root included.
    pub fn configuration(&self) -> &[u64] {
        self.engine.cells().configuration
    }

    /// The number of turns that have ended.
    pub fn turns(&self) -> u32 {
        self.engine.turns()
    }

    /// The status with which the run ended; `None` while it has not.
    pub fn ended(&self) -> Option<Status> {
        self.engine.ended()
    }

    /// Calls `read` with the host. What the host does meanwhile is not noted.
    pub fn with_host<R>(&mut self, read: impl FnOnce(&mut H) -> R) -> R {
        read(self.engine.program.host().get_mut())
    }
}

impl<H: Host> Machine for Interpreter<H> {
    fn tables(&self) -> &Tables {
        self.engine.tables()
    }

    fn limits(&self, state: StateId) -> LimitsRow {
        self.engine.limits(state)
    }

    fn handle(
        &mut self,
        input: Input<Vec<Value>>,
        now: Instant,
        sink: &mut dyn Sink,
    ) -> Result<Receipt, Mismatch> {
        // Whoever drives the machine has taken the events of the last input, or does not want them.
        self.engine.program.data.more.change(|more| more.posted.clear());
        let input = match input {
            Input::Event(event, payload) => {
                let payload = begin::event(self.plan.chart(), event, payload)?;
                return Ok(self.engine.event(event, payload, now, sink));
            }
            Input::Answer(key, outcome) => {
                let chart = self.plan.chart();
                let calling = self.engine.calls(key);
                let refused = match &outcome {
                    Outcome::Call(tool, _) => self.engine.tables().refused_call(*tool),
                    _ => None,
                };
                let program = &mut self.engine.program;
                let outcome = match refused {
                    Some(refused) => refused,
                    None => begin::outcome(chart, key, outcome, calling, program)?,
                };
                Input::Answer(key, outcome)
            }
            Input::Start => {
                // Inputs may have been set since the machine was created, and vars may read them.
                self.engine.with_view(StateId(0), |program, view| program.begin_run(view))?;
                Input::Start
            }
            Input::Turn => Input::Turn,
            Input::Tick => Input::Tick,
            Input::Stop => Input::Stop,
            Input::Exhausted(key, kind) => Input::Exhausted(key, kind),
            Input::Unmade(key) => Input::Unmade(key),
            Input::Warn(kind) => Input::Warn(kind),
            Input::Charge(key, charge) => Input::Charge(key, charge),
        };
        Ok(self.engine.handle(input, now, sink))
    }

    fn set_input(&mut self, name: &str, value: Value) -> Result<(), Mismatch> {
        let chart = self.plan.chart();
        let (variable, value) = begin::input(chart, name, value)?;
        self.engine.program.data.variables[variable.index()] = Some(value);
        Ok(())
    }

    fn prompt(&mut self, key: StepKey) -> Result<String, Fault> {
        if key.leaf.index() >= self.plan.chart().states.len() {
            return Err(Fault);
        }
        // Only the prompt of a question may contain `{options}`.
        let step = self.plan.chart().steps.get(key.step.index());
        let asks = step.is_some_and(|step| matches!(step.kind, StepKind::Ask { .. }));
        let options = if asks { listed(&self.options(key)) } else { String::new() };
        self.engine.with_view(key.leaf, |program, view| program.prompt(key, &options, view))
    }

    fn options(&mut self, key: StepKey) -> Vec<Offer> {
        if key.leaf.index() >= self.plan.chart().states.len() {
            return Vec::new();
        }
        if self.engine.has_tools(key.step) {
            let tools = self.step_tools(key);
            return tools.iter().map(|tool| self.engine.program.tool_offer(*tool)).collect();
        }
        let mut options = Vec::new();
        self.engine.options(key, &mut |choice, tool| add_option(&mut options, choice, tool));
        self.engine.with_view(key.leaf, |program, view| {
            options.iter().map(|(choice, tool)| program.offer(*choice, *tool, view)).collect()
        })
    }

    fn tool_schema(&self, tool: ToolId) -> String {
        schema::of_tool(self.plan.chart(), tool)
    }

    fn call(&mut self, key: StepKey) -> Result<ToolCall, Fault> {
        let chart = self.plan.chart();
        if key.leaf.index() >= chart.states.len() {
            return Err(Fault);
        }
        let (tool, arguments) =
            match self.engine.program.data.more.calls.open(self.engine.caller(key)) {
                Some(call) if self.engine.wants(key) == Some(call.tool) => {
                    (call.tool, call.arguments.clone())
                }
                Some(_) | None => {
                    self.engine.with_view(key.leaf, |program, view| program.step_call(key, view))?
                }
            };
        let row = &chart.tools[tool.index()];
        let names = row.params.iter().map(|param| param.name.clone());
        Ok(ToolCall {
            tool: row.name.clone(),
            arguments: names.zip(arguments).collect(),
            result: schema::of_type(chart, &row.result),
        })
    }

    fn answer_schema(&self, step: StepId) -> String {
        schema::of_answer(self.plan.chart(), step)
    }

    fn argument_schema(&self, choice: ChoiceId) -> String {
        schema::of_arguments(self.plan.chart(), choice)
    }

    fn is_active(&self, state: StateId) -> bool {
        self.engine.is_active(state)
    }

    fn enabled_events(&mut self) -> Vec<EventId> {
        let mut events = Vec::new();
        self.engine.enabled_events(&mut |event| events.push(event));
        events
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.engine.next_deadline()
    }

    fn sends(&self) -> Vec<Sent> {
        self.engine.sends().to_vec()
    }

    fn take_posted(&mut self) -> Vec<Post> {
        let more = self.engine.program.data.more.written();
        more.map_or_else(Vec::new, |more| core::mem::take(&mut more.posted))
    }

    fn is_walking(&self) -> bool {
        self.engine.is_walking()
    }

    fn variables(&self) -> Vec<(String, Value)> {
        let declared = &self.plan.chart().variables;
        let values = &self.engine.program.data.variables;
        let pairs = declared.iter().zip(values);
        pairs.map(|(v, value)| (v.name.clone(), value.clone().unwrap_or_default())).collect()
    }

    fn result(&self) -> Vec<(String, Value)> {
        let chart = self.plan.chart();
        let last = chart.children(StateId(0)).find(|child| {
            matches!(chart.state(*child).kind, StateKind::Final { .. })
                && self.engine.is_active(*child)
        });
        let Some(last) = last else { return Vec::new() };
        let StateKind::Final { params, .. } = &chart.state(last).kind else { return Vec::new() };
        let values = self.engine.program.data.more.finals.get(&last);
        let values = values.into_iter().flatten().cloned();
        params.iter().map(|param| param.name.clone()).zip(values).collect()
    }

    fn take_notes(&mut self) -> Vec<Note> {
        self.engine.program.data.take_notes()
    }

    fn begin_child(&mut self, key: StepKey) -> Result<(), Mismatch> {
        self.begin(key)
    }

    fn children(&self) -> Vec<StepKey> {
        self.children.iter().map(|(key, _)| *key).collect()
    }

    fn child(&self, key: StepKey) -> Option<&dyn Machine> {
        let (_, child) = self.children.iter().find(|(k, _)| *k == key)?;
        Some(child)
    }

    fn each_child(&self, act: &mut dyn FnMut(StepKey, &dyn Machine)) {
        self.children.iter().for_each(|(key, child)| act(*key, child));
    }

    fn with_child(&mut self, key: StepKey, act: &mut dyn FnMut(&mut dyn Machine)) -> bool {
        self.lend(key, act)
    }

    fn end_child(&mut self, key: StepKey) {
        self.children.retain(|(k, _)| *k != key);
    }

    fn save(&self) -> Option<Saved> {
        Some(self.to_saved())
    }

    fn load(&mut self, saved: &Saved) -> Result<(), Unfit> {
        self.take_saved(saved)
    }

    fn place_child(&mut self, key: StepKey, saved: &Saved) -> Result<(), Unfit> {
        self.place(key, saved.chart())
    }
}

/// Whether the host sets a variable of this kind.
const fn is_input(kind: &VariableKind) -> bool {
    matches!(kind, VariableKind::Input)
}

// Executes the actions of blocks and `code` steps, apart from branches and loops.

/// Evaluates arguments, and converts them to the types of the declared fields.
fn fields(
    arguments: &[Expr],
    declared: &[Field],
    types: &[TypeDef],
    evaluate: impl Fn(&Expr) -> Result<Value, EvalError>,
) -> Result<Vec<Value>, EvalError> {
    let values = arguments.iter().zip(declared).map(|(argument, field)| {
        fit(evaluate(argument)?, &field.ty, types)
            .map_err(|why| EvalError { message: alloc::format!("`{}`: {why}", field.name) })
    });
    values.collect()
}

/// Executes an action that neither adds events nor removes any.
fn act<H: Host>(
    action: &Action,
    context: &mut Context<'_, H>,
    locals: Locals<'_>,
    fuel: &Fuel,
) -> Result<(), EvalError> {
    match action {
        Action::Assign(variable, expr) => {
            let value = locals.evaluate(expr, &*context, fuel)?;
            context.assign(*variable, value)
        }
        Action::Do(function, arguments) => {
            let values =
                arguments.iter().map(|argument| locals.evaluate(argument, &*context, fuel));
            let values = values.collect::<Result<Vec<_>, _>>()?;
            context.call(*function, &values).map(drop)
        }
        Action::Log(template) => {
            let text = locals.render(template, &*context, fuel)?;
            context.data.note(|| alloc::format!("log: {text}"));
            Ok(())
        }
        Action::Result(state, values) => {
            let StateKind::Final { params, .. } = &context.chart.state(*state).kind else {
                return Ok(());
            };
            let values = fields(values, params, &context.chart.types, |e| {
                locals.evaluate(e, &*context, fuel)
            })?;
            context.data.make_room(&values)?;
            context.data.more.finals.insert(*state, values);
            Ok(())
        }
        // `execute` handles `if` and `for` itself, and `put` handles the others. `code` steps contain none of the latter.
        _ => Ok(()),
    }
}

/// Executes an action that adds events to the outbox or removes waiting ones.
fn put<H: Host>(
    action: &Action,
    context: &mut Context<'_, H>,
    locals: Locals<'_>,
    fuel: &Fuel,
    outbox: &mut Outbox<'_>,
) -> Result<(), EvalError> {
    let (event, arguments) = match action {
        Action::Raise(event, arguments) | Action::Send { event, arguments, .. } => {
            (*event, arguments)
        }
        Action::Cancel(id) => {
            outbox.cancel(*id);
            return Ok(());
        }
        _ => return Ok(()),
    };
    let declared = &context.chart.events[event.index()];
    let payload = fields(arguments, &declared.fields, &context.chart.types, |e| {
        locals.evaluate(e, &*context, fuel)
    })?;
    context.data.make_room(&payload)?;
    let Action::Send { after, id, to, element, .. } = action else {
        if !outbox.raise(event) {
            return Err(EvalError {
                message: alloc::format!("no room to raise `{}`", declared.name),
            });
        }
        // In the order of the queue, from which `dequeue` takes both.
        context.data.raised.push_back((event, payload));
        return Ok(());
    };
    let delay = match after {
        None => 0,
        Some(after) => milliseconds(&locals.evaluate(after, &*context, fuel)?)?,
    };
    let to = match (element, *to) {
        (Some(element), Receiver::Child(step)) => {
            let index = locals.evaluate(element, &*context, fuel)?;
            Receiver::Element(step, element_at(&index)?)
        }
        (_, to) => to,
    };
    // Without a delay there is nothing to wait for in the queue of sent events.
    if to != Receiver::Own && delay == 0 {
        outbox.post(event, to);
        context.data.more.posted.push(Post { event, to, payload });
        return Ok(());
    }
    let Some(slot) = outbox.send_to(event, to, delay, *id) else {
        return Err(EvalError { message: alloc::format!("no room to send `{}`", declared.name) });
    };
    context.data.put_sent(slot, payload);
    Ok(())
}

/// The delay of a sent event.
fn milliseconds(delay: &Value) -> Result<u64, EvalError> {
    let Value::Duration(millis) = delay else {
        let message = alloc::format!("a delay cannot be {}", format::python_repr(delay)?);
        return Err(EvalError { message });
    };
    Ok(*millis)
}

fn element_at(index: &Value) -> Result<Element, EvalError> {
    let known = if let Value::Int(index) = index { u32::try_from(*index).ok() } else { None };
    let Some(known) = known else {
        return Err(EvalError { message: "there is no such element".into() });
    };
    Ok(Element::at(known))
}
