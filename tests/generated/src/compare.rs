//! Runs a chart twice, interpreted and generated, on the same random inputs, and compares all that can be seen.

use crate::answers::{Open, outcome};
use crate::log::Log;
use crate::random::{Random, value};
use chartc_core::arena::{EventId, StateId, StepId, ToolId, TransitionId};
use chartc_core::expr::Value;
use chartc_core::host::{Host, Machine, Mismatch};
use chartc_core::interpreter::Interpreter;
use chartc_core::machine::{Effect, Input, LimitKind, Outcome, Record, StepKey};
use chartc_core::model::{Chart, FunctionKind, StepKind, Type, VariableKind};
use chartc_core::plan::Plan;
use chartc_core::saved::Saved;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Answers every host function from its name, its arguments and how many calls came before; some calls fail.
#[derive(Debug, Clone)]
pub struct Fickle<'c> {
    chart: &'c Arc<Chart>,
    seed: u64,
    calls: u64,
}

impl<'c> Fickle<'c> {
    /// Two with one seed answer alike.
    pub fn new(chart: &'c Arc<Chart>, seed: u64) -> Self {
        Self { chart, seed, calls: 0 }
    }
}

impl Host for Fickle<'_> {
    fn call(&mut self, function: &str, arguments: &[Value]) -> Result<Value, String> {
        self.calls += 1;
        let mut seed = self.seed.wrapping_add(self.calls);
        for byte in format!("{function}{arguments:?}").bytes() {
            seed = (seed ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        let mut random = Random::new(seed);
        if random.one_in(12) {
            return Err("it did not feel like it".to_owned());
        }
        let row = self.chart.functions.iter().find(|f| f.name == function);
        Ok(match row.map(|f| &f.kind) {
            Some(FunctionKind::Pure { result, .. }) => value(&mut random, self.chart, result, 3),
            Some(FunctionKind::Effect) | None => Value::None,
        })
    }
}

/// Lines of the chart that were taken.
pub type Coverage = BTreeSet<u32>;

/// How a generated machine is made: params by name, in declared order, and its host.
pub type Make<'c> =
    dyn Fn(&[(String, Value)], Fickle<'c>) -> Result<Box<dyn Machine + 'c>, String> + 'c;

/// Runs `sequences` random sequences of `length` inputs on both machines.
///
/// # Panics
/// The two differ: says where, with all that happened before.
pub fn compare<'c>(
    chart: &'c Arc<Chart>,
    make: &Make<'c>,
    sequences: u64,
    length: usize,
) -> Coverage {
    let mut coverage = Coverage::new();
    let mut reasons = BTreeSet::new();
    for seed in 0..sequences {
        sequence(chart, make, seed, length, (&mut coverage, &mut reasons));
    }
    for line in chart.alternative_texts.keys() {
        let is_told = reasons.iter().any(|(of, _)| of == line);
        assert!(is_told || !coverage.contains(&line.0), "{}: {line:?} has no reason", chart.name);
    }
    coverage
}

/// Prints how many of the chart's lines were taken, and which not.
///
/// # Panics
/// Some line was not, beside those that are `excused`.
pub fn covered(chart: &Arc<Chart>, coverage: &Coverage, excused: &[u32]) {
    let all = chart.transitions.len();
    println!("{}: {} of {all} transitions taken", chart.name, coverage.len());
    let missing: Vec<String> = (0..all as u32)
        .filter(|line| !coverage.contains(line) && !excused.contains(line))
        .map(|line| {
            let row = &chart.transitions[line as usize];
            format!("{line} of `{}`: {:?}", chart.state(row.source).path, row.trigger)
        })
        .collect();
    assert!(missing.is_empty(), "{}: never taken: {missing:#?}", chart.name);
}

fn sequence<'c>(
    chart: &'c Arc<Chart>,
    make: &Make<'c>,
    seed: u64,
    length: usize,
    (coverage, reasons): (&mut Coverage, &mut BTreeSet<(TransitionId, u64)>),
) {
    let mut random = Random::new(seed);
    let plan = Plan::new(chart);
    let params = params(chart, &mut random);
    let interpreted = Interpreter::new(&plan, Fickle::new(chart, seed), params.clone());
    let generated = make(&params, Fickle::new(chart, seed));
    let (mut interpreted, mut generated) = match (interpreted, generated) {
        (Ok(a), Ok(b)) => (a, b),
        (Err(_), Err(_)) => return,
        (a, b) => panic!(
            "{}, seed {seed}: with {params:?} one starts and the other does not: {:?}, {:?}",
            chart.name,
            a.err(),
            b.err()
        ),
    };
    // Code that needs no allocator keeps no notes.
    let quiet = chart.steps.iter().all(|s| matches!(s.kind, StepKind::Code(_)))
        && chart.variables.iter().all(|v| !matches!(v.ty, Type::Text | Type::Json | Type::List(_)));
    let mut story = vec![format!("{} with {params:?}", chart.name)];
    let mut open: Vec<StepKey> = Vec::new();
    let mut now = 0;
    let mut swaps = Random::new(!seed);
    let mut has_started = false;
    for nth in 0..length {
        let due = interpreted.next_deadline();
        let known: Vec<Open> = open
            .iter()
            .map(|key| {
                // Both are asked, because options ask the host.
                drop(generated.options(*key));
                Open { key: *key, tool: interpreted.calls(*key), offers: interpreted.options(*key) }
            })
            .collect();
        let step = next(chart, &mut random, &known, &mut now, due, nth);
        story.push(format!("at {now}: {step:?}"));
        let a = observe(chart, &mut interpreted, &step, now, &open);
        let b = observe(chart, generated.as_mut(), &step, now, &open);
        for (a, b) in a.seen.iter().zip(&b.seen) {
            if quiet && a.starts_with("notes") {
                continue;
            }
            assert_eq!(
                a,
                b,
                "seed {seed}; interpreted left, generated right; after\n{}",
                story.join("\n")
            );
        }
        assert_eq!(a.seen.len(), b.seen.len(), "seed {seed}; after\n{}", story.join("\n"));
        has_started |= matches!(&step, Step::Start);
        if seed % 8 == 5 && has_started && swaps.one_in(12) {
            // Each goes on from what the other has saved.
            let (of_one, of_other) = (saved(&interpreted), saved(generated.as_ref()));
            let host = || Fickle::new(chart, seed + nth as u64);
            interpreted = Interpreter::resume(&plan, [], host(), &of_other)
                .unwrap_or_else(|why| panic!("seed {seed}: {why}; after\n{}", story.join("\n")));
            generated = make(&params, host()).expect("it was made before");
            let loaded = generated.load(&of_one);
            loaded.unwrap_or_else(|why| panic!("seed {seed}: {why}; after\n{}", story.join("\n")));
            story.push("swapped".to_owned());
        }
        for effect in &a.log.effects {
            match effect {
                Effect::Start(key) | Effect::Ask(key) => open.push(*key),
                // The call is open under the key of the question that has chosen it.
                Effect::Call(key, _) if open.contains(key) => {}
                // A person has approved the call.
                Effect::Call(key, _) => open.push(*key),
                Effect::Cancel(key) => open.retain(|k| k != key),
                Effect::Ended(_) => open.clear(),
            }
        }
        if let Step::Answer(key, _) = &step {
            let goes_on = |effect: &Effect| match effect {
                Effect::Start(k) | Effect::Call(k, _) => k == key,
                Effect::Ask(_) | Effect::Cancel(_) | Effect::Ended(_) => false,
            };
            if !a.log.effects.iter().any(goes_on) {
                open.retain(|k| k != key);
            }
        }
        reasons.extend(a.log.held.iter().copied());
        coverage.extend(a.log.records.iter().filter_map(|record| match record {
            Record::Taken(line) => Some(line.0),
            Record::Event(_)
            | Record::Sent(..)
            | Record::Delivered(_)
            | Record::SendCanceled(_)
            | Record::Posted(..)
            | Record::Undelivered(..)
            | Record::Turn(_)
            | Record::Refused(_)
            | Record::Deferred(_)
            | Record::Recalled(_)
            | Record::Lost(..)
            | Record::Exited(_)
            | Record::Entered(_)
            | Record::Denied(_)
            | Record::Started(_)
            | Record::Skipped(_)
            | Record::Done(_)
            | Record::Chosen(_)
            | Record::Unasked(_)
            | Record::Called(..)
            | Record::Returned(..)
            | Record::CallFailed(..)
            | Record::Forbidden(..)
            | Record::Retried(_)
            | Record::Failed(_)
            | Record::ElementDone(_)
            | Record::ElementLost(_)
            | Record::Fallback(..)
            | Record::Dropped(_)
            | Record::WalkEnded(_)
            | Record::Error(_)
            | Record::Warned(_)
            | Record::TurnEnded(_)
            | Record::Ended(_) => None,
        }));
    }
}

/// What a machine saves, as it comes back from a file.
fn saved(machine: &dyn Machine) -> Saved {
    let saved = machine.save().expect("it can be saved");
    let text = serde_json::to_string(&saved).expect("it is data");
    let read: Saved = serde_json::from_str(&text).expect("it is read as written");
    assert_eq!(serde_json::to_string(&read).expect("it is data"), text);
    read
}

fn params(chart: &Arc<Chart>, random: &mut Random) -> Vec<(String, Value)> {
    let mut out = Vec::new();
    for row in &chart.variables {
        let VariableKind::Param { range } = &row.kind else { continue };
        if row.default.is_some() && random.one_in(2) {
            continue;
        }
        let value = match range {
            Some((Value::Int(low), Value::Int(high))) if random.one_in(8) => {
                Value::Int(if random.one_in(2) { low - 1 } else { high + 1 })
            }
            Some((Value::Int(low), Value::Int(high))) => {
                Value::Int(low + (random.number() % (high - low + 1).unsigned_abs()) as i64)
            }
            Some((Value::Float(low), Value::Float(high))) => {
                Value::Float(low + (high - low) * (random.number() % 1001) as f64 / 1000.0)
            }
            Some(_) | None => value(random, chart, &row.ty, 3),
        };
        out.push((row.name.clone(), value));
    }
    out
}

/// What is done to both machines.
#[derive(Debug, Clone)]
enum Step {
    Start,
    Turn,
    Tick,
    Event(EventId, Vec<Value>),
    Answer(StepKey, Outcome<Vec<Value>>),
    Exhausted(StepKey, LimitKind),
    Warn(LimitKind),
    Input(String, Value),
}

fn next(
    chart: &Arc<Chart>,
    random: &mut Random,
    open: &[Open],
    now: &mut u64,
    deadline: Option<u64>,
    nth: usize,
) -> Step {
    let inputs: Vec<_> = chart.variables.iter().filter(|v| v.kind == VariableKind::Input).collect();
    // Inputs come before the start now and then, and late in their first turn.
    if !inputs.is_empty() && random.one_in(if nth < 4 { 2 } else { 6 }) {
        let row = inputs[random.below(inputs.len())];
        let ty = if random.one_in(10) { &Type::Json } else { &row.ty };
        return Step::Input(row.name.clone(), value(random, chart, ty, 3));
    }
    if nth == 0 || (nth < 6 && random.one_in(3)) {
        return Step::Start;
    }
    *now += random.number() % 3000;
    let due = deadline.filter(|d| *d > *now && *d < *now + 1_000_000);
    if let Some(due) = due
        && random.one_in(4)
    {
        *now = due;
    }
    if !open.is_empty() && !random.one_in(4) {
        let one = &open[random.below(open.len())];
        let mut key = one.key;
        if random.one_in(25) {
            key.attempt += 1;
        }
        if nth % 37 == 36 {
            return Step::Exhausted(key, counted(nth));
        }
        return Step::Answer(key, outcome(chart, random, one));
    }
    match random.below(10) {
        0..4 if !chart.events.is_empty() => {
            let id = random.below(chart.events.len());
            let fields = chart.events[id].fields.iter();
            let mut payload: Vec<Value> = fields.map(|f| value(random, chart, &f.ty, 3)).collect();
            if random.one_in(30) {
                payload.pop();
            }
            Step::Event(EventId::at(id), payload)
        }
        4..6 => Step::Tick,
        6 if nth % 4 == 3 => Step::Warn(counted(nth)),
        _ => Step::Turn,
    }
}

/// What a host counts.
fn counted(nth: usize) -> LimitKind {
    if nth % 8 < 4 { LimitKind::Tokens } else { LimitKind::Cost }
}

/// All that can be seen of a machine after one input.
struct Seen {
    log: Log,
    seen: Vec<String>,
}

fn observe(
    chart: &Arc<Chart>,
    machine: &mut dyn Machine,
    step: &Step,
    now: u64,
    open: &[StepKey],
) -> Seen {
    let mut log = Log::default();
    let fits = |result: Result<_, Mismatch>| match result {
        Ok(receipt) => format!("{receipt:?}"),
        Err(_) => "it does not fit".to_owned(),
    };
    let mut handle = |input| fits(machine.handle(input, now, &mut log));
    let receipt = match step.clone() {
        Step::Start => handle(Input::Start),
        Step::Turn => handle(Input::Turn),
        Step::Tick => handle(Input::Tick),
        Step::Event(id, payload) => handle(Input::Event(id, payload)),
        Step::Answer(key, outcome) => handle(Input::Answer(key, outcome)),
        Step::Exhausted(key, kind) => handle(Input::Exhausted(key, kind)),
        Step::Warn(kind) => handle(Input::Warn(kind)),
        Step::Input(name, value) => {
            let result = machine.set_input(&name, value);
            if result.is_ok() { "set".to_owned() } else { "it does not fit".to_owned() }
        }
    };
    let mut seen = vec![
        format!("receipt {receipt}"),
        format!("records {:?}", log.records),
        format!("held {:?}", log.held),
        format!("effects {:?}", log.effects),
        format!("variables {:?}", machine.variables()),
        format!("active {:?}", active(chart, machine)),
        format!("events {:?}", machine.enabled_events()),
        format!("deadline {:?}", machine.next_deadline()),
        format!("sends {:?}", machine.sends()),
        format!("walking {:?}", machine.is_walking()),
        format!("result {:?}", machine.result()),
        format!("notes {:?}", machine.take_notes()),
    ];
    let started = log.effects.iter().filter_map(|effect| match effect {
        Effect::Start(key) | Effect::Ask(key) | Effect::Call(key, _) => Some(*key),
        Effect::Cancel(_) | Effect::Ended(_) => None,
    });
    for key in open.iter().copied().chain(started) {
        seen.push(format!("prompt of {key:?}: {:?}", machine.prompt(key)));
        seen.push(format!("options of {key:?}: {:?}", machine.options(key)));
        seen.push(format!("schema {}", machine.answer_schema(key.step)));
        seen.push(format!("call of {key:?}: {:?}", machine.call(key)));
    }
    seen.push(format!("notes {:?}", machine.take_notes()));
    for tool in 0..machine.tables().tools.len() {
        seen.push(format!("tool {}", machine.tool_schema(ToolId::at(tool))));
    }
    seen.push(format!("rows {}", machine.tables().states.len() + steps(machine)));
    Seen { log, seen }
}

fn active<'c>(chart: &'c Arc<Chart>, machine: &dyn Machine) -> Vec<&'c str> {
    let all = chart.states.iter().enumerate();
    all.filter(|(i, _)| machine.is_active(StateId::at(*i))).map(|(_, s)| s.path.as_str()).collect()
}

fn steps(machine: &dyn Machine) -> usize {
    let tables = machine.tables();
    (0..tables.steps.len()).filter(|i| tables.steps[StepId::at(*i).index()].guard).count()
}
