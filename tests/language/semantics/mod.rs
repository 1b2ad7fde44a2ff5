//! What a chart does, told by chart texts: the interpreter on the step algorithm, without a runtime.

mod ahead;
mod bounds;
pub(crate) mod children;
mod content;
mod each;
mod events;
mod log;
mod loops;
mod observables;
mod questions;
mod reasons;
mod sending;
mod sets;
mod snapshots;
mod step_tools;
mod tools;
mod turns;
mod walks;
mod words;
mod written;

use chartc::load::Memory;
use chartc_core::arena::{ChoiceId, EventId, StepId, ToolId, TransitionId};
use chartc_core::expr::Value;
use chartc_core::host::{Host, Machine};
use chartc_core::interpreter::Interpreter;
use chartc_core::machine::{
    Effect, Element, Input, Outcome, Receipt, Record, Status, StepKey, WalkEnd,
};
use chartc_core::model::{Chart, Trigger};
use chartc_core::plan::Plan;
use log::Log;
use std::cell::RefCell;
use std::rc::Rc;
use words::{error, fell_back, lost, shown};

/// A host whose functions answer `none` and are written down.
#[derive(Clone, Default)]
struct Notebook(Rc<RefCell<Vec<String>>>);

impl Host for Notebook {
    fn call(&mut self, function: &str, arguments: &[Value]) -> Result<Value, String> {
        let arguments: Vec<String> = arguments.iter().map(shown).collect();
        self.0.borrow_mut().push(format!("{function}({})", arguments.join(", ")));
        Ok(Value::None)
    }
}

/// One machine, driven by hand.
struct Sim {
    text: String,
    chart: &'static Chart,
    machine: Interpreter<'static, Notebook>,
    plan: &'static Plan<'static>,
    host: Notebook,
    log: Log,
    now: u64,
    receipt: Receipt,
}

impl Sim {
    /// A started machine at time 0. The chart must be without errors.
    fn of(text: &str) -> Self {
        let compilation = chartc::check(&["t.chart".to_owned()], &Memory::of("t.chart", text));
        let errors: Vec<String> = compilation
            .diagnostics
            .iter()
            .filter(|d| d.severity == chartc::diagnostic::Severity::Error)
            .map(|d| {
                let source = compilation.sources.get(d.span.file);
                format!("{} {}: `{}`", d.rule.code, d.message, source.slice(d.span))
            })
            .collect();
        let [checked] = compilation.charts.as_slice() else { panic!("{errors:#?}\n{text}") };
        let chart: &'static Chart = Box::leak(Box::new(checked.chart().clone()));
        let plan: &'static Plan<'static> = Box::leak(Box::new(Plan::new(chart)));
        let host = Notebook::default();
        let machine = Interpreter::new(plan, host.clone(), []).expect("no params");
        let mut sim = Self {
            text: text.to_owned(),
            chart,
            machine,
            plan,
            host,
            log: Log::default(),
            now: 0,
            receipt: Receipt::Handled,
        };
        sim.give(Input::Start);
        sim
    }

    fn again(&self) -> Self {
        Self::of(&self.text)
    }

    fn give(&mut self, input: Input<Vec<Value>>) -> &mut Self {
        self.receipt =
            self.machine.handle(input, self.now, &mut self.log).expect("the payload fits");
        self
    }

    /// Sends a host event without payload.
    fn send(&mut self, event: &str) -> &mut Self {
        let index = self.chart.events.iter().position(|e| e.name == event);
        self.give(Input::Event(EventId::at(index.expect("declared")), Vec::new()))
    }

    fn turn(&mut self) -> &mut Self {
        self.give(Input::Turn)
    }

    /// Moves the clock and says so to the machine.
    fn at(&mut self, now: u64) -> &mut Self {
        self.now = now;
        self.give(Input::Tick)
    }

    /// Moves the clock without a word.
    fn wait(&mut self, now: u64) -> &mut Self {
        self.now = now;
        self
    }

    fn input(&mut self, name: &str, json: &str) -> &mut Self {
        let value = serde_json::from_str(json).expect("JSON");
        self.machine.set_input(name, value).expect("it fits");
        self
    }

    fn step(&self, name: &str) -> StepId {
        StepId::at(self.chart.steps.iter().position(|s| s.name == name).expect("a step"))
    }

    /// The newest key of a step, open or not.
    fn key(&self, name: &str) -> StepKey {
        let step = self.step(name);
        self.log
            .effects
            .iter()
            .rev()
            .find_map(|effect| match effect {
                Effect::Start(key) | Effect::Ask(key) if key.step == step => Some(*key),
                Effect::Start(_)
                | Effect::Ask(_)
                | Effect::Call(..)
                | Effect::Cancel(_)
                | Effect::Ended(_) => None,
            })
            .expect("started once")
    }

    /// The oldest open key of a step, or of one of its elements, `search[1]`.
    fn open_key(&self, name: &str) -> StepKey {
        let (name, element) = match name.split_once('[') {
            Some((name, nth)) => (name, nth.trim_end_matches(']').parse::<u32>().ok()),
            None => (name, None),
        };
        let step = self.step(name);
        let is_meant = |k: &&StepKey| {
            k.step == step && element.is_none_or(|nth| k.element == Some(Element::at(nth)))
        };
        *self.open_keys().iter().find(is_meant).expect("open")
    }

    fn open_keys(&self) -> Vec<StepKey> {
        self.machine.pending()
    }

    fn answer(&mut self, key: StepKey, outcome: Outcome<Vec<Value>>) -> &mut Self {
        self.give(Input::Answer(key, outcome))
    }

    fn done(&mut self, step: &str, json: &str) -> &mut Self {
        let value = serde_json::from_str(json).expect("JSON");
        self.answer(self.open_key(step), Outcome::Done(vec![value]))
    }

    fn late(&mut self, step: &str, json: &str) -> &mut Self {
        let value = serde_json::from_str(json).expect("JSON");
        self.answer(self.key(step), Outcome::Done(vec![value]))
    }

    fn fail(&mut self, step: &str) -> &mut Self {
        self.answer(self.open_key(step), Outcome::Failed(vec![Value::Text("no answer".into())]))
    }

    fn unusable(&mut self, step: &str) -> &mut Self {
        self.answer(self.open_key(step), Outcome::Unusable)
    }

    fn choice(&self, name: &str) -> ChoiceId {
        ChoiceId::at(self.chart.choices.iter().position(|c| c.name == name).expect("an option"))
    }

    fn choose(&mut self, step: &str, option: &str) -> &mut Self {
        let choice = self.choice(option);
        self.answer(self.open_key(step), Outcome::Choice(choice, Vec::new()))
    }

    /// Answers a question with a tool, whose arguments are JSON.
    fn call(&mut self, step: &str, tool: &str, arguments: &[&str]) -> &mut Self {
        let index = self.chart.tools.iter().position(|t| t.name == tool).expect("a tool");
        let read = |json: &&str| serde_json::from_str(json).expect("JSON");
        let outcome = Outcome::Call(ToolId::at(index), arguments.iter().map(read).collect());
        self.answer(self.open_key(step), outcome)
    }

    fn late_choice(&mut self, step: &str, option: &str) -> &mut Self {
        let choice = self.choice(option);
        self.answer(self.key(step), Outcome::Choice(choice, Vec::new()))
    }

    /// Goes on with a new machine made from a snapshot that went through JSON.
    fn restart_from_snapshot(&mut self) {
        let json = serde_json::to_string(&self.machine.save()).expect("data");
        let snapshot = serde_json::from_str(&json).expect("data");
        self.machine = Interpreter::resume(self.plan, &[], self.host.clone(), &snapshot)
            .expect("of this chart");
    }

    /// Paths of the basic states, in document order.
    fn leaves(&self) -> Vec<String> {
        let path = |id: chartc_core::arena::StateId| self.chart.state(id).path.clone();
        self.machine.leaves().into_iter().map(path).collect()
    }

    fn is_legal(&self) -> bool {
        chartc_core::semantics::is_legal(self.machine.tables(), self.machine.configuration())
    }

    fn var(&self, name: &str) -> String {
        let variables = self.machine.variables();
        shown(&variables.iter().find(|(n, _)| n == name).expect("a variable").1)
    }

    /// Sent events that wait.
    fn sends(&self) -> Vec<String> {
        let name = |event: EventId| &self.chart.events[event.index()].name;
        let sends = self.machine.sends();
        sends.iter().map(|sent| format!("{} at {}", name(sent.event), sent.due)).collect()
    }

    fn machine_notes(&mut self) -> Vec<String> {
        self.machine.take_notes().into_iter().map(|note| note.text).collect()
    }

    fn result(&self) -> Vec<String> {
        self.machine.result().iter().map(|(n, v)| format!("{n}={}", shown(v))).collect()
    }

    fn calls(&self) -> Vec<String> {
        self.host.0.borrow().clone()
    }

    fn names(&self, keys: impl IntoIterator<Item = StepKey>) -> Vec<String> {
        keys.into_iter().map(|k| self.step_name(k.step)).collect()
    }

    fn step_name(&self, step: StepId) -> String {
        self.chart.steps[step.index()].name.clone()
    }

    /// Started and not ended.
    fn open(&self) -> Vec<String> {
        self.names(self.open_keys())
    }

    fn canceled(&self) -> Vec<String> {
        let keys = self.log.effects.iter().filter_map(|effect| match effect {
            Effect::Cancel(key) => Some(*key),
            Effect::Start(_) | Effect::Ask(_) | Effect::Call(..) | Effect::Ended(_) => None,
        });
        self.names(keys)
    }

    /// Every attempt at a step so far, `code` included.
    fn started(&self) -> Vec<String> {
        let keys = self.log.records.iter().filter_map(|record| match record {
            Record::Started(key) => Some(*key),
            _ => None,
        });
        self.names(keys)
    }

    fn options(&mut self, step: &str) -> Vec<String> {
        let key = self.open_key(step);
        self.machine.options(key).into_iter().map(|offer| offer.name.into_owned()).collect()
    }

    fn enabled_events(&mut self) -> Vec<String> {
        let events = self.machine.enabled_events();
        events.iter().map(|e| self.chart.events[e.index()].name.clone()).collect()
    }

    fn ended(&self) -> Option<&'static str> {
        self.machine.ended().map(Status::word)
    }

    fn is_walking(&self) -> bool {
        self.machine.is_walking()
    }

    fn turns(&self) -> u32 {
        self.machine.turns()
    }

    fn next_deadline(&self) -> Option<u64> {
        self.machine.next_deadline()
    }

    fn receipt(&self) -> String {
        format!("{:?}", self.receipt)
    }

    /// The records so far, a line each.
    fn trace(&self) -> String {
        let lines: Vec<String> = self.log.records.iter().map(|r| self.tell(*r)).collect();
        lines.join("\n")
    }

    fn tell(&self, record: Record) -> String {
        let event = |e: EventId| self.chart.events[e.index()].name.clone();
        let choice = |c: ChoiceId| self.chart.choices[c.index()].name.clone();
        let tool = |t: ToolId| self.chart.tools[t.index()].name.clone();
        match record {
            Record::Event(e) => format!("event {}", event(e)),
            Record::Sent(e, due) => format!("sent {} due {due}", event(e)),
            Record::Delivered(e) => format!("delivered {}", event(e)),
            Record::SendCanceled(e) => format!("canceled {}", event(e)),
            Record::Posted(e, to) => format!("posted {} {to:?}", event(e)),
            Record::Undelivered(e, to) => format!("undelivered {} {to:?}", event(e)),
            Record::Turn(n) => format!("turn {n}"),
            Record::Refused(e) => format!("refused {}", event(e)),
            Record::Lost(t, loss) => format!("lost {}: {}", self.line(t), lost(loss)),
            Record::Taken(t) => format!("taken {}", self.line(t)),
            Record::Exited(s) => format!("exited {}", self.chart.state(s).path),
            Record::Entered(s) => format!("entered {}", self.chart.state(s).path),
            Record::Denied(t) => format!("denied {}", self.line(t)),
            Record::Started(k) => format!("started {}", self.element(k)),
            Record::Skipped(s) => format!("skipped {}", self.step_name(s)),
            Record::Done(s) => format!("done {}", self.step_name(s)),
            Record::Chosen(c) => format!("chosen {}", choice(c)),
            Record::Unasked(c) => format!("unasked {}", choice(c)),
            Record::Called(_, Some(c), t) => format!("called {} by {}", tool(t), choice(c)),
            Record::Called(_, None, t) => format!("called {}", tool(t)),
            Record::Returned(_, t) => format!("returned {}", tool(t)),
            Record::CallFailed(_, t) => format!("call failed {}", tool(t)),
            Record::Forbidden(_, t) => format!("forbidden {}", tool(t)),
            Record::Retried(k) => format!("retried {}", self.step_name(k.step)),
            Record::ElementDone(k) => format!("done {}", self.element(k)),
            Record::ElementLost(k) => format!("lost {}", self.element(k)),
            Record::Failed(s) => format!("failed {}", self.step_name(s)),
            Record::Fallback(s, why) => {
                format!("fallback {}: {}", self.step_name(s), fell_back(why))
            }
            Record::Dropped(k) => format!("dropped {}", self.step_name(k.step)),
            Record::WalkEnded(WalkEnd::Calls(_)) => "walk ended: calls".to_owned(),
            Record::WalkEnded(why) => format!("walk ended: {why:?}"),
            Record::Error(kind) => format!("error {}", error(kind)),
            Record::Warned(kind) => format!("warned {kind:?}"),
            Record::TurnEnded(n) => format!("turn {n} ended"),
            Record::Ended(status) => format!("ended {}", status.word()),
        }
    }

    fn line(&self, id: TransitionId) -> String {
        let line = self.chart.transition(id);
        let targets: Vec<&str> =
            line.targets.iter().map(|t| self.chart.state(t.state).path.as_str()).collect();
        let word = match &line.trigger {
            Trigger::When => "when",
            Trigger::Choice(_) => "may",
            Trigger::After(_) | Trigger::AfterTurns(_) => "after",
            _ => "on",
        };
        format!("{word} {} -> {}", self.chart.state(line.source).path, targets.join(", "))
    }
}
