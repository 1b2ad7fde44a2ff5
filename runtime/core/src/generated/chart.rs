//! What a generated file says about its chart, as traits: the data of the chart, its guards and actions, and its data by name.
//!
//! The problem: a machine answers some forty questions, and for most charts most answers are the same. The idea: a generated file
//! implements [`Chart`] and [`Code`] for its `Core`, with only those methods in which the chart differs from one without guards, actions
//! and steps; the step algorithm asks through [`Program`], which is implemented here for all charts. Failures become notes here. For
//! example:
//!
//! ```text
//! on go if n > 3 -> b          fn guard(&mut self, line: TransitionId, _: &View) -> Result<bool, Fault> {
//!                                  match line.0 { 0 => Ok(self.data.n > 3), _ => Ok(true) }
//!                              }
//! ```

use super::{Answers, Item};
use super::{BadParam, Held, Name};
#[cfg(feature = "alloc")]
use super::{Failure, Given, Notes, String, Vec};
#[cfg(feature = "alloc")]
use crate::arena::{ChoiceId, ToolId};
use crate::arena::{EventId, StepId, TransitionId};
#[cfg(feature = "alloc")]
use crate::calls::{Calls, LastResult};
#[cfg(feature = "alloc")]
use crate::expr::{FromValue, IntoValue, Value};
#[cfg(feature = "alloc")]
use crate::host::{self, Mismatch};
#[cfg(feature = "alloc")]
use crate::machine::StepKey;
use crate::machine::{Element, Fault, Receiver, Sink};
use crate::program::{Block, Bound, Caller, Outbox, Program, View};
#[cfg(feature = "alloc")]
use crate::saved::{ProgramData, Unfit};
#[cfg(feature = "alloc")]
use crate::store::Sent;
use crate::store::Store;
use crate::tables::Tables;
use core::fmt::Debug;

/// What is being handled.
#[derive(Debug, Clone, PartialEq)]
pub enum Payload<E, C, A, G> {
    /// Something without data.
    Nothing,
    /// An event.
    Event(E),
    /// The option that was chosen.
    Choice(C),
    /// The answer of a step, or of an element of one.
    Answer(A),
    /// The answers of all elements of a step.
    Gathered(G),
    /// Why a step failed.
    #[cfg(feature = "alloc")]
    Reason(String),
    /// The arguments or the result of a tool.
    #[cfg(feature = "alloc")]
    Tool(Vec<Value>),
}

impl<E: Item, C: Item, A, G> Payload<E, C, A, G> {
    /// The payload if it has data that a guard or an action may read.
    pub fn with_data(self) -> Option<Self> {
        let is_read = match &self {
            Self::Nothing => false,
            Self::Event(event) => event.has_data(),
            Self::Choice(choice) => choice.has_data(),
            _ => true,
        };
        is_read.then_some(self)
    }
}

/// The payload of a chart.
pub type PayloadOf<C> = Payload<
    <C as Chart>::Event,
    <C as Chart>::Choice,
    <C as Chart>::Answer,
    <C as Chart>::Gathered,
>;

/// Where a machine keeps its host: the host itself, or a slot from which it is lent to machines of child charts.
pub trait Place<H> {
    /// A place with this host.
    fn new(host: H) -> Self;
    /// The host.
    fn host(&self) -> &H;
    /// The host, to change.
    fn host_mut(&mut self) -> &mut H;
}

impl<H> Place<H> for H {
    fn new(host: H) -> Self {
        host
    }

    fn host(&self) -> &H {
        self
    }

    fn host_mut(&mut self) -> &mut H {
        self
    }
}

#[cfg(feature = "alloc")]
impl<H> Place<H> for crate::family::Lent<H> {
    fn new(host: H) -> Self {
        Self::of(Some(host))
    }

    fn host(&self) -> &H {
        self.get()
    }

    fn host_mut(&mut self) -> &mut H {
        self.get_mut()
    }
}

/// The types and the data of a chart.
pub trait Chart: Sized {
    /// The host.
    type Host;
    /// Where the host is kept.
    type Place: Place<Self::Host>;
    /// The states.
    type State: Name + Ord + core::fmt::Display;
    /// The events.
    type Event: Item;
    /// The options.
    type Choice: Item;
    /// The answers of steps.
    type Answer: Answers;
    /// The answers of all elements of steps.
    type Gathered: Clone + PartialEq + Debug;
    /// What final states are given.
    type Ending;
    /// What an instance is made with.
    type Params;
    /// Values for inputs.
    type Inputs;
    /// Params, inputs and variables.
    type Data: Clone;
    /// Why an expression failed.
    type Failure: Reason;
    /// The tables.
    const TABLES: &'static Tables;

    /// The first values of params, inputs and variables.
    ///
    /// # Errors
    /// A param out of its range, or a default without a value.
    fn first(params: Self::Params) -> Result<Self::Data, BadParam>;
    /// A chart that has not started.
    fn new(data: Self::Data, host: Self::Place) -> Self;
    /// The place of the host.
    fn place(&mut self) -> &mut Self::Place;
    /// The host.
    fn host(&self) -> &Self::Place;
    /// The present values.
    fn data(&self) -> &Self::Data;
    /// The present values, to change.
    fn data_mut(&mut self) -> &mut Self::Data;
    /// Sets inputs.
    fn set_inputs(_data: &mut Self::Data, _inputs: Self::Inputs) {}
    /// What the final state that is active was given.
    fn ending(&self, _is_active: &dyn Fn(Self::State) -> bool) -> Option<&Self::Ending> {
        None
    }
    /// The notes for the trace, if the chart keeps any.
    #[cfg(feature = "alloc")]
    fn notes(&mut self) -> Option<&mut Notes> {
        None
    }
}

/// The code of a chart that runs under the step algorithm.
pub trait Code: Chart {
    /// The storage of the machine's registers.
    type Store: Store;

    /// The payload that guards and actions read.
    fn bound(&mut self) -> &mut Held<PayloadOf<Self>>;
    /// Takes the payload of the oldest raised event.
    fn raised(&mut self) -> Option<PayloadOf<Self>> {
        None
    }
    /// Takes the payload of a sent event out of its slot.
    fn sent(&mut self, _slot: usize) -> Option<PayloadOf<Self>> {
        None
    }
    /// Puts the payload of a deferred event into a slot.
    fn defer(&mut self, _slot: usize, _payload: PayloadOf<Self>) {}
    /// Computes the first values of variables that read what was not known before. Called when the run starts.
    ///
    /// # Errors
    /// A default has no value.
    fn begin(&mut self, _view: &View<'_>) -> Result<(), Self::Failure> {
        Ok(())
    }
    /// Resets what is kept for one turn.
    fn begin_turn(&mut self, _view: &View<'_>) {}
    /// Stores the answer of a step.
    fn keep(&mut self, _answer: &Self::Answer) {}
    /// Stores the answers of all elements of a step.
    fn keep_all(&mut self, _answers: &Self::Gathered) {}
    /// The guard of a transition.
    ///
    /// # Errors
    /// An expression failed, as in all methods below.
    fn guard(&mut self, _line: TransitionId, _view: &View<'_>) -> Result<bool, Self::Failure> {
        Ok(true)
    }
    /// An alternative of a guard.
    ///
    /// # Errors
    /// As for the guard.
    fn alternative(
        &mut self,
        _line: TransitionId,
        _nth: u32,
        _view: &View<'_>,
    ) -> Result<bool, Self::Failure> {
        Ok(false)
    }
    /// The `if` of a step.
    ///
    /// # Errors
    /// As for a guard.
    fn step_guard(&mut self, _step: StepId, _view: &View<'_>) -> Result<bool, Self::Failure> {
        Ok(true)
    }
    /// The `if` of an `allow` line.
    ///
    /// # Errors
    /// As for a guard.
    fn permission_guard(&mut self, _nth: usize, _view: &View<'_>) -> Result<bool, Self::Failure> {
        Ok(true)
    }
    /// The condition of a `tool` line.
    ///
    /// # Errors
    /// As for a guard.
    fn tool_guard(&mut self, _nth: usize, _view: &View<'_>) -> Result<bool, Self::Failure> {
        Ok(true)
    }
    /// The `ends turn` of a step.
    ///
    /// # Errors
    /// As for a guard.
    fn ends_turn(&mut self, _step: StepId, _view: &View<'_>) -> Result<bool, Self::Failure> {
        Ok(false)
    }
    /// The bound of a deadline: milliseconds, or turns.
    ///
    /// # Errors
    /// As for a guard.
    fn deadline(&mut self, _line: TransitionId, _view: &View<'_>) -> Result<u64, Self::Failure> {
        Ok(u64::MAX)
    }
    /// Stores the arguments of a final state.
    ///
    /// # Errors
    /// As for a guard.
    fn arguments(&mut self, _line: TransitionId, _view: &View<'_>) -> Result<(), Self::Failure> {
        Ok(())
    }
    /// Runs a `code` step.
    ///
    /// # Errors
    /// As for a guard.
    fn code(&mut self, _step: StepId, _view: &View<'_>) -> Result<(), Self::Failure> {
        Ok(())
    }
    /// Runs a block of actions.
    ///
    /// # Errors
    /// As for a guard.
    fn run(
        &mut self,
        _block: Block,
        _view: &View<'_>,
        _outbox: &mut Outbox<'_>,
    ) -> Result<(), Self::Failure> {
        Ok(())
    }
    /// The value of a limit that is computed from params.
    fn limit(&self, _nth: usize) -> u64 {
        0
    }
    /// Evaluates and stores the list of a step with an `each`. Returns its length.
    ///
    /// # Errors
    /// As for a guard.
    fn elements(&mut self, _step: StepId, _view: &View<'_>) -> Result<u32, Self::Failure> {
        Ok(0)
    }
    /// Stores the answer of an element.
    fn element_done(&mut self, _element: Element, _answer: Self::Answer) {}
    /// Takes the answers of all elements.
    fn gathered(&mut self, _step: StepId) -> Option<Self::Gathered> {
        None
    }
    /// Drops the elements of a step and their answers.
    fn forget_elements(&mut self, _step: StepId) {}
    /// The tool calls of models, if the chart keeps any.
    #[cfg(feature = "alloc")]
    fn calls(&mut self) -> Option<&mut Calls> {
        None
    }
    /// Whether an expression reads how often the last call of a tool was repeated.
    #[cfg(feature = "alloc")]
    fn repeated(&self) -> u32 {
        0
    }
    /// The last result, if an expression reads it.
    #[cfg(feature = "alloc")]
    fn last_result(&mut self) -> Option<&mut LastResult> {
        None
    }
    /// Stores what a tool returned to the model.
    #[cfg(feature = "alloc")]
    fn keep_result(&mut self, _choice: Option<ChoiceId>, _result: &Value) {}
    /// The work that loops may still do, if the chart has loops.
    #[cfg(feature = "alloc")]
    fn work(&self) -> Option<&super::Work> {
        None
    }
    /// The events for other charts, if the chart sends any.
    #[cfg(feature = "alloc")]
    fn posts(&mut self) -> Option<&mut Posts> {
        None
    }
}

/// The events that a chart has sent to others.
#[cfg(feature = "alloc")]
#[derive(Debug, Clone, Default)]
pub struct Posts {
    /// Those that the host has not taken yet.
    pub posted: Vec<host::Post>,
    /// The data of those that wait, by slot.
    pub letters: Vec<Vec<Value>>,
}

/// A part of a chart that may fail.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "each is named after what fails")]
pub enum Part {
    Start,
    Guard(TransitionId),
    If(StepId),
    Permission(usize),
    ToolLine(usize),
    End(StepId),
    Bound(TransitionId),
    Arguments(TransitionId),
    Code(StepId),
    Block(Block),
    Prompt(StepId),
    List(StepId),
    Option,
}

#[cfg(feature = "alloc")]
impl Part {
    fn text(self, tables: &Tables) -> String {
        match self {
            Self::Start => "the start".into(),
            Self::Guard(line) => super::guard_of(tables, line),
            Self::If(step) => super::if_of(tables, step),
            Self::Permission(nth) => super::permission_of(tables, nth),
            Self::ToolLine(nth) => super::tool_line_of(tables, nth),
            Self::End(step) => super::end_of(tables, step),
            Self::Bound(line) => super::bound_of(tables, line),
            Self::Arguments(line) => super::arguments_of(tables, line),
            Self::Code(step) => super::code_of(tables, step),
            Self::Block(block) => super::actions_of(tables, block),
            Self::Prompt(step) => super::prompt_of(tables, step),
            Self::List(step) => super::list_of(tables, step),
            Self::Option => "text of an option".into(),
        }
    }
}

/// Why an expression failed.
pub trait Reason {
    /// Notes the reason for the trace, and returns the fault for the step algorithm.
    fn noted<C: Chart>(self, chart: &mut C, part: Part) -> Fault;
    /// The reason as the answer to a host.
    #[cfg(feature = "alloc")]
    fn mismatch(self) -> Mismatch;
}

impl Reason for Fault {
    #[inline(always)]
    fn noted<C: Chart>(self, _: &mut C, _: Part) -> Fault {
        self
    }

    #[cfg(feature = "alloc")]
    fn mismatch(self) -> Mismatch {
        Mismatch("a default has no value".into())
    }
}

#[cfg(feature = "alloc")]
impl Reason for Failure {
    #[cold]
    fn noted<C: Chart>(self, chart: &mut C, part: Part) -> Fault {
        match chart.notes() {
            Some(notes) => super::note(notes, || part.text(C::TABLES), self),
            None => Fault,
        }
    }

    fn mismatch(self) -> Mismatch {
        Mismatch(self.0)
    }
}

/// Evaluates a part of a chart within the work that one evaluation may do, and notes why it failed.
#[inline(always)]
fn evaluated<C: Code, T>(
    chart: &mut C,
    part: Part,
    evaluate: impl FnOnce(&mut C) -> Result<T, C::Failure>,
) -> Result<T, Fault> {
    #[cfg(feature = "alloc")]
    if let Some(work) = chart.work() {
        work.begin();
    }
    evaluate(chart).map_err(|why| why.noted(chart, part))
}

impl<C: Code> Program for C {
    type Store = C::Store;
    type Payload = PayloadOf<C>;
    type Tables = &'static Tables;

    #[cfg(feature = "alloc")]
    #[inline(always)]
    fn refuel(&mut self) {
        if let Some(work) = self.work() {
            work.refuel();
        }
    }

    #[cfg(feature = "alloc")]
    #[inline(always)]
    fn heed(&mut self, sink: &dyn Sink) {
        if let Some(notes) = self.notes() {
            notes.heed(sink);
        }
    }

    #[cfg(not(feature = "alloc"))]
    #[inline(always)]
    fn heed(&mut self, _: &dyn Sink) {}

    fn bind(&mut self, bound: Bound<PayloadOf<C>>) {
        #[cfg(feature = "alloc")]
        keep_call(self, &bound);
        let payload = match bound {
            Bound::Nothing | Bound::Returned(..) | Bound::CallFailed(..) | Bound::Refused(_) => {
                None
            }
            // The `tool` lines of the step read the arguments.
            Bound::Call(_, _, payload) => payload.with_data(),
            Bound::Answer(_, payload) => {
                match &payload {
                    Payload::Answer(answer) => self.keep(answer),
                    Payload::Gathered(answers) => self.keep_all(answers),
                    _ => {}
                }
                payload.with_data()
            }
            Bound::Event(_, payload) | Bound::Reason(_, payload) | Bound::Choice(_, payload) => {
                payload.with_data()
            }
        };
        self.bound().set(payload);
    }

    fn rest(&mut self) {
        // Without an allocator the payload takes no memory of its own.
        if cfg!(feature = "alloc") {
            self.bound().set(None);
        }
    }

    fn dequeue(&mut self) {
        let payload = self.raised().and_then(Payload::with_data);
        self.bound().set(payload);
    }

    fn deliver(&mut self, _event: EventId, slot: usize) {
        let payload = self.sent(slot).and_then(Payload::with_data);
        self.bound().set(payload);
    }

    fn put_back(&mut self, slot: usize) {
        // An event without data has no payload here, and none in its slot.
        if let Some(payload) = self.bound().take() {
            self.defer(slot, payload);
        }
    }

    #[cfg(feature = "alloc")]
    fn post(&mut self, event: EventId, slot: usize, to: Receiver) {
        if let Some(posts) = self.posts() {
            let payload = posts.letters.get_mut(slot).map(core::mem::take).unwrap_or_default();
            posts.posted.push(host::Post { event, to, payload });
        }
    }

    #[cfg(not(feature = "alloc"))]
    fn post(&mut self, _: EventId, _: usize, _: Receiver) {}

    #[cfg(feature = "alloc")]
    fn another_option(&mut self) {
        if let Some(calls) = self.calls() {
            calls.break_streaks();
        }
    }

    #[cfg(feature = "alloc")]
    fn repeated(&self) -> u32 {
        Code::repeated(self)
    }

    #[cfg(feature = "alloc")]
    fn forget_call(&mut self, caller: Caller) {
        if let Some(calls) = self.calls() {
            calls.forget(caller);
        }
    }

    #[cfg(not(feature = "alloc"))]
    fn forget_call(&mut self, _: Caller) {}

    fn begin_turn(&mut self, view: &View<'_>) {
        Code::begin_turn(self, view);
    }

    fn guard(&mut self, line: TransitionId, view: &View<'_>) -> Result<bool, Fault> {
        evaluated(self, Part::Guard(line), |chart| Code::guard(chart, line, view))
    }

    fn held(&mut self, line: TransitionId, view: &View<'_>) -> u64 {
        let all = C::TABLES.transitions[line.index()].alternatives.len;
        crate::program::held(all, |nth| self.alternative(line, nth, view))
    }

    fn step_guard(&mut self, step: StepId, view: &View<'_>) -> Result<bool, Fault> {
        evaluated(self, Part::If(step), |chart| Code::step_guard(chart, step, view))
    }

    fn permission_guard(&mut self, nth: usize, view: &View<'_>) -> Result<bool, Fault> {
        evaluated(self, Part::Permission(nth), |chart| Code::permission_guard(chart, nth, view))
    }

    fn tool_guard(&mut self, nth: usize, view: &View<'_>) -> Result<bool, Fault> {
        evaluated(self, Part::ToolLine(nth), |chart| Code::tool_guard(chart, nth, view))
    }

    fn ends_turn(&mut self, step: StepId, view: &View<'_>) -> Result<bool, Fault> {
        evaluated(self, Part::End(step), |chart| Code::ends_turn(chart, step, view))
    }

    fn deadline(&mut self, line: TransitionId, view: &View<'_>) -> Result<u64, Fault> {
        evaluated(self, Part::Bound(line), |chart| Code::deadline(chart, line, view))
    }

    fn arguments(&mut self, line: TransitionId, view: &View<'_>) -> Result<(), Fault> {
        evaluated(self, Part::Arguments(line), |chart| Code::arguments(chart, line, view))
    }

    fn run(&mut self, block: Block, view: &View<'_>, outbox: &mut Outbox<'_>) -> Result<(), Fault> {
        evaluated(self, Part::Block(block), |chart| Code::run(chart, block, view, outbox))
    }

    fn code(&mut self, step: StepId, view: &View<'_>) -> Result<(), Fault> {
        evaluated(self, Part::Code(step), |chart| Code::code(chart, step, view))
    }

    fn limit(&self, nth: usize) -> u64 {
        Code::limit(self, nth)
    }

    fn elements(
        &mut self,
        step: StepId,
        most: u32,
        view: &View<'_>,
    ) -> Result<u32, Option<PayloadOf<C>>> {
        let size = evaluated(self, Part::List(step), |chart| Code::elements(chart, step, view));
        let size = size.map_err(|_| None)?;
        if size > most {
            Code::forget_elements(self, step);
            #[cfg(feature = "alloc")]
            return Err(Some(Payload::Reason(super::too_many(size, most))));
            #[cfg(not(feature = "alloc"))]
            return Err(None);
        }
        Ok(size)
    }

    fn element_done(&mut self, _step: StepId, element: Element, answer: PayloadOf<C>) {
        if let Payload::Answer(answer) = answer {
            Code::element_done(self, element, answer);
        }
    }

    fn gathered(&mut self, step: StepId, _with_none: bool) -> Option<PayloadOf<C>> {
        Code::gathered(self, step).map(Payload::Gathered)
    }

    fn forget_elements(&mut self, step: StepId) {
        Code::forget_elements(self, step);
    }
}

/// Notes the begin and the end of a model's tool call.
#[cfg(feature = "alloc")]
fn keep_call<C: Code>(chart: &mut C, bound: &Bound<PayloadOf<C>>) {
    let caller = match bound {
        Bound::Call(caller, tool, Payload::Tool(arguments)) => {
            if let Some(calls) = chart.calls() {
                calls.begin(*caller, *tool, arguments.clone());
            }
            return;
        }
        Bound::Returned(caller, ..) | Bound::CallFailed(caller, _) | Bound::Refused(caller) => {
            *caller
        }
        _ => return,
    };
    if let Some(calls) = chart.calls() {
        calls.end(caller);
    }
    match bound {
        Bound::Returned(_, choice, Payload::Tool(values)) => {
            let result = values.first().unwrap_or(&Value::None);
            if let Some(last) = chart.last_result() {
                *last = LastResult::of(super::shown(result));
            }
            chart.keep_result(*choice, result);
        }
        Bound::CallFailed(_, Payload::Reason(why)) => {
            if let Some(last) = chart.last_result() {
                *last = LastResult::failure(why);
            }
        }
        Bound::Refused(_) => {
            if let Some(last) = chart.last_result() {
                *last = LastResult::failure(crate::host::REFUSED);
            }
        }
        _ => {}
    }
}

/// A value of a chart that is known by its name.
#[cfg(feature = "alloc")]
pub trait Field {
    /// The value; `None` if it has none yet.
    fn get(&self) -> Option<Value>;
    /// Replaces the value.
    ///
    /// # Errors
    /// The value does not fit the type.
    fn set(&mut self, value: Value) -> Result<(), Mismatch>;
}

#[cfg(feature = "alloc")]
impl<T: FromValue + IntoValue + Clone> Field for T {
    fn get(&self) -> Option<Value> {
        Some(self.clone().into_value())
    }

    fn set(&mut self, value: Value) -> Result<(), Mismatch> {
        *self = T::from_value(value)?;
        Ok(())
    }
}

/// A value that may not be known yet.
#[cfg(feature = "alloc")]
#[derive(Debug)]
pub struct Late<'t, T>(pub &'t mut Option<T>);

#[cfg(feature = "alloc")]
impl<T: FromValue + IntoValue + Clone> Field for Late<'_, T> {
    fn get(&self) -> Option<Value> {
        self.0.clone().map(IntoValue::into_value)
    }

    fn set(&mut self, value: Value) -> Result<(), Mismatch> {
        *self.0 = Some(T::from_value(value)?);
        Ok(())
    }
}

/// Whatever does something with each value of a chart.
#[cfg(feature = "alloc")]
pub trait FieldVisitor {
    /// A param.
    fn param(&mut self, name: &'static str, value: &mut dyn Field);
    /// An input.
    fn input(&mut self, name: &'static str, value: &mut dyn Field);
    /// A variable.
    fn variable(&mut self, name: &'static str, value: &mut dyn Field);
}

/// What hosts that know a chart by names and values ask.
#[cfg(feature = "alloc")]
pub trait Named: Chart {
    /// Reads the params.
    ///
    /// # Errors
    /// A value is missing or does not fit.
    fn params(given: &mut Given<'_>) -> Result<Self::Params, Mismatch>;
    /// Checks the ranges of params.
    ///
    /// # Errors
    /// A value is out of its range.
    fn check(_params: &Self::Params) -> Result<(), Mismatch> {
        Ok(())
    }
    /// Shows each param, input and variable in declared order.
    fn fields(_data: &mut Self::Data, _fields: &mut dyn FieldVisitor) {}
    /// The arguments of a final state, by name.
    fn result(_ending: &Self::Ending) -> Vec<(String, Value)> {
        Vec::new()
    }
    /// Adds what is kept besides variables. `sends` are the sent events that wait.
    fn save(&self, _data: &mut ProgramData, _sends: &[Sent]) {}
    /// Takes what was kept besides variables.
    ///
    /// # Errors
    /// A value does not fit.
    fn load(&mut self, _data: ProgramData, _sends: &[Sent]) -> Result<(), Unfit> {
        Ok(())
    }
}

/// What hosts ask of a chart with steps, and of one that runs other charts.
#[cfg(feature = "alloc")]
pub trait Steps: Named + Code {
    /// The prompt of a step. `options` are those of a question, one a line.
    ///
    /// # Errors
    /// A placeholder cannot be rendered.
    fn prompt(
        &mut self,
        _key: StepKey,
        _options: Option<&str>,
        _view: &View<'_>,
    ) -> Result<String, Self::Failure> {
        Ok(String::new())
    }
    /// The description of an option.
    ///
    /// # Errors
    /// A placeholder cannot be rendered.
    fn option(&mut self, _choice: ChoiceId, _view: &View<'_>) -> Result<String, Self::Failure> {
        Ok(String::new())
    }
    /// The tool that a `call` step calls, with its arguments.
    ///
    /// # Errors
    /// An argument cannot be computed.
    fn call(
        &mut self,
        _key: StepKey,
        _view: &View<'_>,
    ) -> Result<Option<(ToolId, Vec<Value>)>, Self::Failure> {
        Ok(None)
    }
    /// What a tool, an option and an answer look like to models.
    const WORDS: Words = Words::NONE;
    /// Reads the arguments of a tool.
    ///
    /// # Errors
    /// A value does not fit, or there is no such tool.
    fn tool(tool: ToolId, _values: &mut super::Values) -> Result<Vec<Value>, Mismatch> {
        Err(super::no_row("tool", tool.0))
    }
    /// Reads the result of a tool.
    ///
    /// # Errors
    /// It does not fit, or there is no such tool.
    fn returned(tool: ToolId, _value: Value) -> Result<Value, Mismatch> {
        Err(super::no_row("tool", tool.0))
    }
    /// The params of the chart that a `run` step runs.
    ///
    /// # Errors
    /// A param cannot be computed.
    fn run_params(
        &mut self,
        _key: StepKey,
        _view: &View<'_>,
    ) -> Result<Option<Arguments>, Self::Failure> {
        Ok(None)
    }
    /// The name of the chart that a `run` step runs.
    fn child_name(_step: StepId) -> Option<&'static str> {
        None
    }
    /// Makes the machine of a `run` step, of its params or of a saved one.
    ///
    /// # Errors
    /// The params do not fit, or there is no such step.
    fn begin_child(&mut self, _key: StepKey, _given: &mut Given<'_>) -> Result<(), Unfit> {
        Err(Unfit::Data("this machine cannot run other charts".into()))
    }
    /// The machines of `run` steps, with their keys.
    fn children(&self) -> Vec<(StepKey, &dyn host::Machine)> {
        Vec::new()
    }
    /// Calls `act` with the machine of a `run` step, which has the host meanwhile.
    fn with_child(&mut self, _key: StepKey, _act: &mut dyn FnMut(&mut dyn host::Machine)) -> bool {
        false
    }
    /// Drops the machines of `run` steps whose keys do not pass.
    fn retain_children(&mut self, _is_kept: &dyn Fn(StepKey) -> bool) {}
}

/// Params by name.
#[cfg(feature = "alloc")]
pub type Arguments = Vec<(&'static str, Value)>;

/// What a chart says to models about its steps, options and tools.
#[cfg(feature = "alloc")]
#[derive(Debug, Clone, Copy)]
pub struct Words {
    /// The JSON Schema of the answer of each step; empty if it has none. The lists may be shorter than the tables.
    pub answers: &'static [&'static str],
    /// The JSON Schema of the arguments of each option.
    pub arguments: &'static [&'static str],
    /// The JSON Schema of the arguments of each tool.
    pub tools: &'static [&'static str],
    /// The JSON Schema of the result of each tool.
    pub results: &'static [&'static str],
    /// The description of each tool.
    pub summaries: &'static [&'static str],
    /// The types of the arguments of each option.
    pub option_types: &'static [&'static [&'static str]],
    /// The types of the arguments of each tool.
    pub tool_types: &'static [&'static [&'static str]],
    /// The options without a text of their own, which their tools describe.
    pub silent: &'static [ChoiceId],
    /// The tools that `call` steps call.
    pub called: &'static [(StepId, ToolId)],
    /// Whether a prompt shows the options of its question.
    pub shows_options: bool,
}

#[cfg(feature = "alloc")]
impl Words {
    /// A chart without steps.
    pub const NONE: Self = Self {
        answers: &[],
        arguments: &[],
        tools: &[],
        results: &[],
        summaries: &[],
        option_types: &[],
        tool_types: &[],
        silent: &[],
        called: &[],
        shows_options: false,
    };
}
