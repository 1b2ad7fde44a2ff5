//! Drives a machine by a script and writes down all that can be seen of it.
//!
//! The tests are compiled with this file for the interpreter, and every batch of generated charts is too: both sides are
//! driven and shown by one piece of code, and are compared as texts. It needs chartc-core and `std` alone.

pub(crate) mod kin;
mod script;
pub(crate) mod silent;

#[allow(unused_imports, reason = "scripts are written on one side and read on the other")]
pub(crate) use script::{read, write};

use chartc_core::arena::{ChoiceId, EventId, StateId, ToolId};
use chartc_core::expr::{FromValue, Value};
use chartc_core::family::MemberPath;
use chartc_core::host::{Host, Machine, Mismatch, Offer};
use chartc_core::machine::{Effect, Input, Instant, Record, Sink, StepKey};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::rc::Rc;

/// What is done to a machine.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    /// Gives an input at a time.
    Give(Instant, Input<Vec<Value>>),
    /// Gives an input to the machine of a `run` step.
    Tell(MemberPath, Instant, Input<Vec<Value>>),
    /// Sets an `input` of the chart.
    Set(String, Value),
}

/// One run of one chart.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Script {
    /// Which chart.
    pub(crate) chart: String,
    /// Whether the charts that it runs are run.
    pub(crate) kin: bool,
    /// Its params by name.
    pub(crate) params: Vec<(String, Value)>,
    /// What host functions answer: one of these, by chance; with none, `none`.
    pub(crate) answers: Vec<(String, Vec<Value>)>,
    /// In order.
    pub(crate) steps: Vec<Step>,
}

/// A host whose answers depend on the function, its arguments and the number of the input: they are the same during one
/// input, as those of pure functions are. Some calls fail.
#[derive(Debug, Clone)]
pub(crate) struct Scripted {
    answers: BTreeMap<String, Vec<Value>>,
    /// Number of the input.
    pub(crate) nth: Rc<Cell<u64>>,
}

impl Scripted {
    /// The host of a script.
    pub(crate) fn of(script: &Script) -> Self {
        Self { answers: script.answers.iter().cloned().collect(), nth: Rc::default() }
    }
}

impl Host for Scripted {
    fn call(&mut self, function: &str, arguments: &[Value]) -> Result<Value, String> {
        let seed = hash(&format!("{function}{arguments:?}"), self.nth.get());
        if seed >> 60 == 0 {
            return Err("it did not feel like it".to_owned());
        }
        match self.answers.get(function).map(Vec::as_slice) {
            None | Some([]) => Ok(Value::None),
            Some(values) => Ok(values[(seed >> 20) as usize % values.len()].clone()),
        }
    }
}

/// Whether something is answered.
pub(crate) fn is_answer(step: &Step) -> bool {
    matches!(step, Step::Give(_, Input::Answer(..)))
}

/// A number that hardly any other text has (FNV-1a).
fn hash(text: &str, seed: u64) -> u64 {
    let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325 ^ seed, step)
}

/// Records of one input that are written out: a circle makes thousands that are all alike.
const MOST_RECORDS: usize = 150;

/// What waits for an answer.
#[derive(Debug, Clone)]
pub(crate) struct Open {
    /// Under which key.
    pub(crate) key: StepKey,
    /// The tool, of a call that the model has chosen.
    pub(crate) tool: Option<ToolId>,
    /// The options, of a question.
    pub(crate) offers: Vec<Offer>,
}

/// What a machine told while it handled one input.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log {
    /// In the order they came.
    pub(crate) effects: Vec<Effect>,
    /// In the order they came.
    pub(crate) records: Vec<Record>,
}

impl Sink for Log {
    fn effect(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    fn record(&mut self, record: Record) {
        self.records.push(record);
    }
}

/// Follows a machine: what it has told last, and what it waits for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Follower {
    /// What waits for an answer now.
    pub(crate) open: Vec<Open>,
    /// Events that some active state would handle now.
    pub(crate) enabled: Vec<EventId>,
    /// What was told during the last input.
    pub(crate) log: Log,
    nth: u64,
}

impl Follower {
    /// Does one thing to the machine, and shows all that can be seen afterwards: lines `what: value`.
    pub(crate) fn step(
        &mut self,
        machine: &mut dyn Machine,
        host: &Scripted,
        step: &Step,
    ) -> String {
        self.nth += 1;
        host.nth.set(self.nth);
        self.log = Log::default();
        let mut out = String::new();
        let receipt = match step {
            Step::Give(now, input) => {
                let given = machine.handle(input.clone(), *now, &mut self.log);
                given.map(|receipt| format!("{receipt:?}"))
            }
            Step::Set(name, value) => machine.set_input(name, value.clone()).map(|()| "set".into()),
            Step::Tell(..) => Err(Mismatch("nobody else is there".to_owned())),
        };
        let receipt = receipt.unwrap_or_else(|Mismatch(_)| MISMATCH.to_owned());
        let _ = writeln!(out, "> {}", script::line(step));
        let _ = writeln!(out, "receipt: {receipt}");
        out += &records(&self.log);
        self.enabled = machine.enabled_events();
        out += &shown(machine, &self.enabled);
        self.follow(step);
        for open in &mut self.open {
            out += &waiting(machine, open);
        }
        out
    }

    fn follow(&mut self, step: &Step) {
        if let Step::Give(_, Input::Answer(key, _)) = step {
            let goes_on = self.log.effects.iter().any(|effect| match effect {
                Effect::Start(k) | Effect::Ask(k) | Effect::Call(k, _) => k == key,
                Effect::Cancel(_) | Effect::Ended(_) => false,
            });
            if !goes_on {
                self.open.retain(|open| open.key != *key);
            }
        }
        for effect in &self.log.effects {
            match effect {
                Effect::Start(key) | Effect::Ask(key) => {
                    self.open.retain(|open| open.key != *key);
                    self.open.push(Open { key: *key, tool: None, offers: Vec::new() });
                }
                // The call is open under the key of the question that has chosen it.
                Effect::Call(key, tool) => {
                    match self.open.iter_mut().find(|open| open.key == *key) {
                        Some(open) => open.tool = Some(*tool),
                        // A person has approved the call.
                        None => {
                            self.open.push(Open {
                                key: *key,
                                tool: Some(*tool),
                                offers: Vec::new(),
                            });
                        }
                    }
                }
                Effect::Cancel(key) => self.open.retain(|open| open.key != *key),
                Effect::Ended(_) => self.open.clear(),
            }
        }
    }
}

/// What was told, as far as it is written out.
fn records(log: &Log) -> String {
    let mut out = String::new();
    for record in log.records.iter().take(MOST_RECORDS) {
        let _ = writeln!(out, "record: {record:?}");
    }
    if let Some(more @ [_, ..]) = log.records.get(MOST_RECORDS..) {
        let _ = writeln!(out, "records: {} more, {:x}", more.len(), hash(&format!("{more:?}"), 0));
    }
    for effect in &log.effects {
        let _ = writeln!(out, "effect: {effect:?}");
    }
    out
}

/// All that can be seen of a machine.
fn shown(machine: &mut dyn Machine, enabled: &[EventId]) -> String {
    let mut out = String::new();
    for (name, value) in machine.variables() {
        let _ = writeln!(out, "variable: {name} {value:?}");
    }
    let _ = writeln!(out, "active: {}", active(machine).join(" "));
    let _ = writeln!(out, "events: {enabled:?}");
    let _ = writeln!(out, "deadline: {:?}", machine.next_deadline());
    let _ = writeln!(out, "sends: {:?}", sends(machine));
    let _ = writeln!(out, "walking: {:?}", machine.is_walking());
    let _ = writeln!(out, "result: {:?}", machine.result());
    let _ = writeln!(out, "notes: {:?}", machine.take_notes());
    out
}

/// All that can be seen of what waits for an answer.
fn waiting(machine: &mut dyn Machine, open: &mut Open) -> String {
    let mut out = String::new();
    let key = open.key;
    open.offers = machine.options(key);
    let _ = writeln!(out, "prompt: {key:?} {:?}", machine.prompt(key));
    let _ = writeln!(out, "options: {:?}", open.offers);
    let _ = writeln!(out, "call: {:?}", machine.call(key));
    let _ = writeln!(out, "answer schema: {}", machine.answer_schema(key.step));
    let _ = writeln!(out, "notes: {:?}", machine.take_notes());
    out
}

/// What can be seen of a machine before it is started, the same for all its runs.
pub(crate) fn fixed(machine: &dyn Machine) -> String {
    let tables = machine.tables();
    let mut out = format!("chart: {} {:#x}\n", tables.name, tables.hash);
    for state in &tables.states {
        let _ = writeln!(out, "state: {:?} {:?}", state.path, state.kind);
    }
    for tool in 0..tables.tools.len() {
        let _ = writeln!(out, "tool schema: {}", machine.tool_schema(ToolId::at(tool)));
    }
    for choice in 0..tables.choices.len() {
        let _ = writeln!(out, "argument schema: {}", machine.argument_schema(ChoiceId::at(choice)));
    }
    out
}

/// What was sent and did not come yet: which event, when it is due, under which id.
fn sends(machine: &dyn Machine) -> Vec<(u32, Instant, Option<u32>)> {
    machine.sends().iter().map(|one| (one.event.0, one.due, one.id.map(|id| id.0))).collect()
}

/// Paths of the active states, the root as `.`.
pub(crate) fn active(machine: &dyn Machine) -> Vec<String> {
    let tables = machine.tables();
    let all = tables.states.iter().enumerate();
    let active = all.filter(|(i, _)| machine.is_active(StateId::at(*i)));
    active.map(|(_, s)| if s.path.is_empty() { ".".into() } else { s.path.to_string() }).collect()
}

/// What came of a script: the text of every step, the first of them about the machine as it was made.
pub(crate) type Made<'m> = Result<Box<dyn Machine + 'm>, String>;

/// As [`Made`], for a run that nobody listens to.
pub(crate) type Unheard<'m> = Result<Box<dyn silent::Silent + 'm>, String>;

/// Runs a script to its end.
pub(crate) fn run<'m>(script: &Script, make: impl FnOnce(Scripted) -> Made<'m>) -> String {
    let host = Scripted::of(script);
    let Ok(mut machine) = make(host.clone()) else { return UNMADE.to_owned() };
    let mut follower = Follower::default();
    let mut out = fixed(machine.as_ref());
    if script.kin {
        let mut kin = kin::Kin::of(kin::Boxed(machine));
        return script.steps.iter().fold(out, |out, step| out + &kin.step(&host, step));
    }
    for step in &script.steps {
        out += &follower.step(machine.as_mut(), &host, step);
    }
    out
}

/// The main function of a batch: reads scripts from standard input, makes their machines with `make` (`None` for a chart
/// that is not of this batch) and writes what came of each; then runs each again with that of `unheard`, and says where
/// it went on otherwise.
pub(crate) fn serve(
    make: &dyn Fn(&Script, Scripted) -> Option<Made<'static>>,
    unheard: &dyn Fn(&Script, Scripted) -> Option<Unheard<'static>>,
) {
    let text = std::io::read_to_string(std::io::stdin()).expect("scripts are text");
    for script in read(&text).expect("scripts are written by the tests") {
        println!("{HEAD}{}", script.chart);
        let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut out =
                run(&script, |host| make(&script, host).unwrap_or(Err("no such chart".to_owned())));
            let host = Scripted::of(&script);
            if !script.kin
                && let Some(Ok(mut machine)) = unheard(&script, host.clone())
                && let Some(why) = silent::difference(&script, &host, &out, machine.as_mut())
            {
                let _ = writeln!(out, "silent: {why}");
            }
            out
        }));
        print!("{}", ran.unwrap_or_else(|_| "it panicked\n".to_owned()));
    }
}

/// The receipt of data that do not fit.
const MISMATCH: &str = "it does not fit";

/// What comes of a script whose params do not fit.
pub(crate) const UNMADE: &str = "it cannot be made\n";

/// The beginning of the line before what came of a script.
pub(crate) const HEAD: &str = "chart ";

/// The param of a script, of whatever type the chart wants.
pub(crate) fn param<T: FromValue>(script: &Script, name: &str) -> Option<T> {
    let (_, value) = script.params.iter().find(|(n, _)| n == name)?;
    Some(T::from_value(value.clone()).expect("params are of their types"))
}

/// As [`param`], for one without default.
pub(crate) fn needed<T: FromValue>(script: &Script, name: &str) -> T {
    param(script, name).expect("params without default are given")
}
