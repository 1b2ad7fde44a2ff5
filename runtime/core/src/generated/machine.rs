//! The machine of a generated chart that runs under the step algorithm: its typed interface, and that for hosts that know it by names.

use super::chart::{Code, Part, Payload, PayloadOf, Place, Reason};
use super::{Answers, BadParam, Item, Name};
#[cfg(feature = "alloc")]
use super::{Given, Steps, String, Vec, by_value};
use crate::arena::StateId;
#[cfg(feature = "alloc")]
use crate::arena::{ChoiceId, EventId, StepId, ToolId};
#[cfg(feature = "alloc")]
use crate::expr::{Map, Value};
#[cfg(feature = "alloc")]
use crate::host::{self, Mismatch, Note, Offer, Post, ToolCall};
#[cfg(feature = "alloc")]
use crate::machine::Fault;
use crate::machine::{Input, Instant, Outcome, Receipt, Sink, Status, StepKey};
#[cfg(feature = "alloc")]
use crate::saved::{Saved, Unfit};
use crate::semantics::Stepper;
#[cfg(feature = "alloc")]
use crate::store::Sent;
use crate::store::Store;
#[cfg(feature = "alloc")]
use crate::tables::{LimitsRow, Tables};

/// A machine of a chart. Inputs come from its methods; effects and records go to their `sink`.
pub struct Machine<C: Code> {
    engine: Stepper<C>,
}

impl<C: Code> Machine<C> {
    /// A machine that has not started.
    ///
    /// # Errors
    /// A param out of its range, or a default that has no value.
    pub fn new(params: C::Params, host: C::Host) -> Result<Self, BadParam> {
        Ok(Self::of(C::first(params)?, C::Place::new(host)))
    }

    fn of(data: C::Data, host: C::Place) -> Self {
        let store = C::Store::empty(C::TABLES);
        Self { engine: Stepper::new(C::TABLES, store, C::new(data, host)) }
    }

    /// Enters the initial configuration. Once, first.
    pub fn start(&mut self, now: Instant, sink: &mut dyn Sink) -> Receipt {
        if let Err(why) = self.begin() {
            why.noted(&mut self.engine.program, Part::Start);
            return Receipt::Closed;
        }
        self.engine.handle(Input::Start, now, sink)
    }

    fn begin(&mut self) -> Result<(), C::Failure> {
        if self.engine.has_started() {
            return Ok(());
        }
        self.engine.with_view(StateId(0), |chart, view| chart.begin(view))
    }

    /// The built-in event: a walk over the steps.
    pub fn turn(&mut self, now: Instant, sink: &mut dyn Sink) -> Receipt {
        self.engine.handle(Input::Turn, now, sink)
    }

    /// Lets time pass: due deadlines fire.
    pub fn tick(&mut self, now: Instant, sink: &mut dyn Sink) -> Receipt {
        self.engine.handle(Input::Tick, now, sink)
    }

    /// Ends the run as `canceled`: what is active runs its `exit`.
    pub fn stop(&mut self, now: Instant, sink: &mut dyn Sink) -> Receipt {
        self.engine.handle(Input::Stop, now, sink)
    }

    /// Sends an event.
    pub fn send(&mut self, event: C::Event, now: Instant, sink: &mut dyn Sink) -> Receipt {
        if !event.is_in_range() {
            return Receipt::Refused;
        }
        let id = crate::arena::EventId(event.named().row());
        self.engine.handle(Input::Event(id, Payload::Event(event)), now, sink)
    }

    /// Answers a started step, whose `key` names the same step.
    pub fn answer(
        &mut self,
        key: StepKey,
        answer: C::Answer,
        now: Instant,
        sink: &mut dyn Sink,
    ) -> Receipt {
        // The engine checks the key only, so an answer of another step's type would pass.
        if answer.of() != key.step {
            return Receipt::Refused;
        }
        if !answer.is_in_range() {
            return self.unusable(key, now, sink);
        }
        self.outcome(key, Outcome::Done(Payload::Answer(answer)), now, sink)
    }

    /// Answers a question.
    pub fn choose(
        &mut self,
        key: StepKey,
        choice: C::Choice,
        now: Instant,
        sink: &mut dyn Sink,
    ) -> Receipt {
        if !choice.is_in_range() {
            return self.unusable(key, now, sink);
        }
        let id = crate::arena::ChoiceId(choice.named().row());
        self.outcome(key, Outcome::Choice(id, Payload::Choice(choice)), now, sink)
    }

    /// Tells that a step or question failed, and why.
    #[cfg(feature = "alloc")]
    pub fn fail(&mut self, key: StepKey, why: &str, now: Instant, sink: &mut dyn Sink) -> Receipt {
        self.outcome(key, Outcome::Failed(Payload::Reason(why.into())), now, sink)
    }

    /// Tells that the model's answer means nothing that was asked for.
    pub fn unusable(&mut self, key: StepKey, now: Instant, sink: &mut dyn Sink) -> Receipt {
        self.outcome(key, Outcome::Unusable, now, sink)
    }

    /// Tells that nobody knows whether the step ran.
    pub fn doubt(&mut self, key: StepKey, now: Instant, sink: &mut dyn Sink) -> Receipt {
        #[cfg(feature = "alloc")]
        let why = Payload::Reason(crate::machine::DOUBT.into());
        #[cfg(not(feature = "alloc"))]
        let why = Payload::Nothing;
        self.outcome(key, Outcome::Doubt(why), now, sink)
    }

    fn outcome(
        &mut self,
        key: StepKey,
        outcome: Outcome<PayloadOf<C>>,
        now: Instant,
        sink: &mut dyn Sink,
    ) -> Receipt {
        self.engine.handle(Input::Answer(key, outcome), now, sink)
    }

    /// Sets inputs; those that are absent keep their values.
    pub fn set_inputs(&mut self, inputs: C::Inputs) {
        C::set_inputs(self.engine.program.data_mut(), inputs);
    }

    /// Params, inputs and variables.
    pub fn data(&self) -> &C::Data {
        self.engine.program.data()
    }

    /// The host.
    pub fn host(&self) -> &C::Host {
        Place::host(self.engine.program.host())
    }

    /// The host, to change.
    pub fn host_mut(&mut self) -> &mut C::Host {
        self.engine.program.place().host_mut()
    }

    /// Whether the state is active.
    pub fn is_in(&self, state: C::State) -> bool {
        self.engine.is_active(StateId(state.row()))
    }

    /// The active states in document order; after the end those of the last configuration.
    pub fn configuration(&self) -> impl Iterator<Item = C::State> + '_ {
        C::State::NAMES.iter().copied().filter(|state| self.is_in(*state))
    }

    /// Whether a turn is being walked.
    pub fn is_walking(&self) -> bool {
        self.engine.is_walking()
    }

    /// The earliest time at which a tick would do something.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.engine.next_deadline()
    }

    /// How a run that has ended is judged.
    pub fn ended(&self) -> Option<Status> {
        self.engine.ended()
    }

    /// What the final state was given.
    pub fn ending(&self) -> Option<&C::Ending> {
        self.engine.program.ending(&|state| self.is_in(state))
    }

    /// The events that some active state would handle now.
    pub fn enabled_events(&mut self) -> impl Iterator<Item = <C::Event as Item>::Name> + use<C> {
        let mut enabled = <C::Event as Item>::Name::NONE;
        let mut places = enabled.as_mut().iter_mut();
        self.engine.enabled_events(&mut |id| {
            if let Some(place) = places.next() {
                *place = Some(<C::Event as Item>::Name::NAMES[id.index()]);
            }
        });
        enabled.into_iter().flatten()
    }

    /// The options of a question that are enabled now, innermost state first.
    pub fn options(
        &mut self,
        key: StepKey,
    ) -> impl Iterator<Item = <C::Choice as Item>::Name> + use<C> {
        let mut enabled = <C::Choice as Item>::Name::NONE;
        let mut last = None;
        let mut places = enabled.as_mut().iter_mut();
        self.engine.options(key, &mut |id, _| {
            let name = Some(<C::Choice as Item>::Name::NAMES[id.index()]);
            if last != name
                && let Some(place) = places.next()
            {
                *place = name;
            }
            last = name;
        });
        enabled.into_iter().flatten()
    }

    /// Reasons of faults and what `log` said, taken away.
    #[cfg(feature = "alloc")]
    pub fn take_notes(&mut self) -> Vec<Note> {
        self.engine.program.notes().map_or_else(Vec::new, super::Notes::take)
    }
}

#[cfg(feature = "alloc")]
impl<C: Steps> Machine<C> {
    /// The machine of a child chart, of its params or of a saved one. It has no host of its own.
    ///
    /// # Errors
    /// The params do not fit, or the saved machine is another chart's.
    pub fn lent(given: &mut Given<'_>, host: C::Place) -> Result<Self, Unfit> {
        given.begin(C::TABLES)?;
        let misfit = |Mismatch(why)| Unfit::Data(why);
        let params = C::params(given).map_err(misfit)?;
        if !given.is_saved() {
            C::check(&params).map_err(misfit)?;
        }
        let data = C::first(params).map_err(|why| given.refused(why))?;
        Ok(Self::of(data, host))
    }

    /// The place of the host.
    pub fn host_place(&mut self) -> &mut C::Place {
        self.engine.program.place()
    }

    /// Converts the outcome of a step. An answer that does not fit is unusable.
    fn read(
        &mut self,
        key: StepKey,
        outcome: Outcome<Vec<Value>>,
    ) -> Result<Outcome<PayloadOf<C>>, Mismatch> {
        let Some(row) = C::TABLES.steps.get(key.step.index()) else {
            return Err(super::no_row("step", key.step.0));
        };
        if let Some(tool) = self.engine.calls(key)
            && let Outcome::Done(values) = outcome
        {
            return Ok(match self.returned(tool, super::answer(values)?) {
                Ok(value) => Outcome::Done(Payload::Tool(Vec::from([value]))),
                Err(why) => Outcome::Failed(Payload::Reason(why)),
            });
        }
        if let Outcome::Done(values) = &outcome
            && let Some(tool) = Self::called(key.step)
            && let Err(why) = self.returned(tool, super::answer(values.clone())?)
        {
            let why = Payload::Reason(why);
            // The tool has run: another attempt might repeat its effect.
            let is_free = row.retries_doubt;
            return Ok(if is_free { Outcome::Failed(why) } else { Outcome::Doubt(why) });
        }
        if let Outcome::Call(tool, _) = &outcome
            && let Some(refused) = C::TABLES.refused_call(*tool)
        {
            return Ok(refused);
        }
        let read = match outcome {
            Outcome::Done(values) => match C::Answer::read(key.step, super::answer(values)?) {
                Some(answer) => answer.map(|answer| Outcome::Done(Payload::Answer(answer))),
                None => Ok(Outcome::Done(Payload::Nothing)),
            },
            Outcome::Choice(id, values) => by_value::choice::<C>(id, values)
                .map(|choice| Outcome::Choice(id, Payload::Choice(choice))),
            Outcome::Call(id, values) => by_value::tool::<C>(id, values)
                .map(|arguments| Outcome::Call(id, Payload::Tool(arguments))),
            Outcome::Forbidden(id) => Ok(Outcome::Forbidden(id)),
            Outcome::Failed(values) => Ok(Outcome::Failed(Payload::Reason(super::reason(values)))),
            Outcome::Final(values) => Ok(Outcome::Final(Payload::Reason(super::reason(values)))),
            Outcome::Unusable => Ok(Outcome::Unusable),
            Outcome::Doubt(values) => Ok(Outcome::Doubt(Payload::Reason(super::reason(values)))),
        };
        Ok(match (read, self.engine.program.notes()) {
            (Ok(outcome), _) => outcome,
            (Err(why), Some(notes)) => {
                super::unusable(notes, &row.name, why);
                Outcome::Unusable
            }
            (Err(_), None) => Outcome::Unusable,
        })
    }

    /// The tool that a `call` step calls.
    fn called(step: StepId) -> Option<ToolId> {
        C::WORDS.called.iter().find(|(other, _)| *other == step).map(|(_, tool)| *tool)
    }

    fn returned(&mut self, tool: ToolId, value: Value) -> Result<Value, String> {
        C::returned(tool, value).map_err(|Mismatch(why)| {
            let why = alloc::format!(
                "what `{}` returned does not fit: {why}",
                &*C::TABLES.tools[tool.index()].name
            );
            if let Some(notes) = self.engine.program.notes() {
                notes.add(|| why.clone().into());
            }
            why
        })
    }

    /// The tools of an `llm` step.
    fn tools(&mut self, key: StepKey) -> Vec<Offer> {
        let mut offers = Vec::new();
        self.engine.step_tools(key, &mut |tool| {
            offers.push(Offer {
                choice: Offer::NO_LINE,
                tool: Some(tool),
                name: (&C::TABLES.tools[tool.index()].name).into(),
                text: at(C::WORDS.summaries, tool.index()).into(),
                arguments: by_value::arguments::<C>(tool),
            });
        });
        offers
    }

    fn describe(&mut self, key: StepKey, offer: &mut Offer) {
        let choice = &C::TABLES.choices[offer.choice.index()];
        let name = offer.tool.map_or(&choice.name, |tool| &C::TABLES.tools[tool.index()].name);
        offer.name = name.into();
        let summary = offer.tool.map_or("", |tool| at(C::WORDS.summaries, tool.index()));
        offer.text = if !summary.is_empty() && C::WORDS.silent.contains(&offer.choice) {
            summary.into()
        } else {
            let id = offer.choice;
            let text = self.engine.with_view(key.leaf, |chart, view| {
                let text = chart.option(id, view);
                text.map_err(|why| why.noted(chart, Part::Option))
            });
            text.unwrap_or_else(|Fault| {
                if let Some(notes) = self.engine.program.notes() {
                    super::offered(notes, C::TABLES, id);
                }
                String::new()
            })
            .into()
        };
        offer.arguments = match offer.tool {
            Some(tool) => by_value::arguments::<C>(tool),
            None => {
                let names = choice.fields.of(&C::TABLES.name_pool).iter();
                let types = C::WORDS.option_types.get(offer.choice.index()).copied();
                let types = types.unwrap_or_default();
                names.zip(types).map(|(name, ty)| (name.into(), (*ty).into())).collect()
            }
        };
    }
}

#[cfg(feature = "alloc")]
fn at(texts: &[&'static str], row: usize) -> &'static str {
    texts.get(row).copied().unwrap_or_default()
}

#[cfg(feature = "alloc")]
impl<C: Steps> host::Machine for Machine<C> {
    fn tables(&self) -> &Tables {
        C::TABLES
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
        if let Some(posts) = self.engine.program.posts() {
            posts.posted.clear();
        }
        let input = match input {
            Input::Start => {
                self.begin().map_err(Reason::mismatch)?;
                Input::Start
            }
            Input::Turn => Input::Turn,
            Input::Tick => Input::Tick,
            Input::Stop => Input::Stop,
            Input::Exhausted(key, kind) => Input::Exhausted(key, kind),
            Input::Unmade(key) => Input::Unmade(key),
            Input::Warn(kind) => Input::Warn(kind),
            Input::Charge(key, charge) => Input::Charge(key, charge),
            Input::Event(id, values) => {
                Input::Event(id, Payload::Event(by_value::event::<C>(id, values)?))
            }
            Input::Answer(key, outcome) => Input::Answer(key, self.read(key, outcome)?),
        };
        Ok(self.engine.handle(input, now, sink))
    }

    fn set_input(&mut self, name: &str, value: Value) -> Result<(), Mismatch> {
        by_value::set_input::<C>(self.engine.program.data_mut(), name, value)
    }

    fn prompt(&mut self, key: StepKey) -> Result<String, Fault> {
        let row = &C::TABLES.steps[key.step.index()];
        let asks = matches!(row.kind, crate::tables::StepRowKind::Ask { .. });
        let options = (asks && C::WORDS.shows_options)
            .then(|| host::listed(&host::Machine::options(self, key)));
        self.engine.with_view(key.leaf, |chart, view| {
            let prompt = chart.prompt(key, options.as_deref(), view);
            prompt.map_err(|why| why.noted(chart, Part::Prompt(key.step)))
        })
    }

    fn options(&mut self, key: StepKey) -> Vec<Offer> {
        if self.engine.has_tools(key.step) {
            return self.tools(key);
        }
        let mut offers = Vec::new();
        self.engine.options(key, &mut |choice, tool| super::add_offer(&mut offers, choice, tool));
        // The engine is borrowed while it lists the options, so their texts are evaluated afterwards.
        for offer in &mut offers {
            self.describe(key, offer);
        }
        offers
    }

    fn answer_schema(&self, step: StepId) -> String {
        at(C::WORDS.answers, step.index()).into()
    }

    fn argument_schema(&self, choice: ChoiceId) -> String {
        at(C::WORDS.arguments, choice.index()).into()
    }

    fn tool_schema(&self, tool: ToolId) -> String {
        at(C::WORDS.tools, tool.index()).into()
    }

    fn call(&mut self, key: StepKey) -> Result<ToolCall, Fault> {
        let (tool, arguments) = match self.engine.wants(key) {
            Some(tool) => {
                let caller = self.engine.caller(key);
                let calls = self.engine.program.calls();
                let call = calls.and_then(|calls| calls.open(caller));
                (tool, call.map(|call| call.arguments.clone()).unwrap_or_default())
            }
            None => {
                let call = self.engine.with_view(key.leaf, |chart, view| {
                    let call = chart.call(key, view);
                    call.map_err(|why| why.noted(chart, Part::Code(key.step)))
                });
                call?.ok_or(Fault)?
            }
        };
        Ok(super::tool_call(C::TABLES, tool, arguments, at(C::WORDS.results, tool.index())))
    }

    fn is_active(&self, state: StateId) -> bool {
        self.engine.is_active(state)
    }

    fn enabled_events(&mut self) -> Vec<EventId> {
        let mut enabled = Vec::new();
        self.engine.enabled_events(&mut |id| enabled.push(id));
        enabled
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.engine.next_deadline()
    }

    fn sends(&self) -> Vec<Sent> {
        self.engine.sends().to_vec()
    }

    fn take_posted(&mut self) -> Vec<Post> {
        let posts = self.engine.program.posts();
        posts.map_or_else(Vec::new, |posts| core::mem::take(&mut posts.posted))
    }

    fn is_walking(&self) -> bool {
        self.engine.is_walking()
    }

    fn variables(&self) -> Vec<(String, Value)> {
        by_value::variables::<C>(self.engine.program.data())
    }

    fn result(&self) -> Vec<(String, Value)> {
        self.ending().map_or_else(Vec::new, C::result)
    }

    fn take_notes(&mut self) -> Vec<Note> {
        Self::take_notes(self)
    }

    fn begin_child(&mut self, key: StepKey) -> Result<(), Mismatch> {
        let Some(name) = C::child_name(key.step) else {
            return Err(Mismatch("no `run` step has this key".into()));
        };
        let given = self.engine.with_view(key.leaf, |chart, view| {
            let given = chart.run_params(key, view);
            given.map_err(|why| why.noted(chart, Part::Code(key.step)))
        });
        let Ok(Some(given)) = given else { return Err(super::no_params(name)) };
        // A machine with the same key is replaced.
        self.end_child(key);
        let made = self.engine.program.begin_child(key, &mut Given::of(given));
        made.map_err(|why| match why {
            Unfit::Data(why) => Mismatch(why),
            other => Mismatch(alloc::format!("{other}")),
        })
    }

    fn children(&self) -> Vec<StepKey> {
        self.engine.program.children().into_iter().map(|(key, _)| key).collect()
    }

    fn child(&self, key: StepKey) -> Option<&dyn host::Machine> {
        let mut children = self.engine.program.children().into_iter();
        children.find(|(other, _)| *other == key).map(|(_, child)| child)
    }

    fn with_child(&mut self, key: StepKey, act: &mut dyn FnMut(&mut dyn host::Machine)) -> bool {
        self.engine.program.with_child(key, act)
    }

    fn end_child(&mut self, key: StepKey) {
        self.engine.program.retain_children(&|other| other != key);
    }

    fn save(&self) -> Option<Saved> {
        let chart = &self.engine.program;
        let mut data = by_value::saved::<C>(chart.data(), self.engine.has_started());
        chart.save(&mut data, self.engine.sends());
        Some(Saved::of(C::TABLES, &self.engine.snapshot(), &data))
    }

    fn load(&mut self, saved: &Saved) -> Result<(), Unfit> {
        let (registers, mut given) = saved.parts(C::TABLES)?;
        let data = by_value::loaded::<C>(saved, &mut given)?;
        self.engine.restore(&registers)?;
        *self.engine.program.data_mut() = data;
        self.engine.program.retain_children(&|_| false);
        let sends = self.engine.sends().to_vec();
        self.engine.program.load(given, &sends)?;
        self.engine.program.bound().set(None);
        self.engine.arm_added(&registers);
        Ok(())
    }

    fn place_child(&mut self, key: StepKey, saved: &Saved) -> Result<(), Unfit> {
        if C::child_name(key.step).is_none() {
            return Err(Unfit::OtherChart(saved.chart().into()));
        }
        self.engine.program.begin_child(key, &mut Given::saved(saved))
    }
}

#[cfg(feature = "alloc")]
impl<C: Steps> host::Typed for Machine<C> {
    type State = C::State;
    type Event = C::Event;
    const STATES: &'static [C::State] = C::State::NAMES;

    fn row_of(state: C::State) -> StateId {
        StateId(state.row())
    }

    fn data_of(event: C::Event) -> (&'static str, Map) {
        by_value::data_of::<C>(event)
    }
}
