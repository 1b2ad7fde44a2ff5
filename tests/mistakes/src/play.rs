//! Two charts on the same inputs: whether they differ in what they do.

use crate::random::Random;
use chartc_core::arena::{EventId, StateId};
use chartc_core::expr::Value;
use chartc_core::host::{Host, Machine};
use chartc_core::interpreter::Interpreter;
use chartc_core::machine::{Effect, Input, Outcome, Record, Sink, StepKey};
use chartc_core::model::{
    Chart, ChoiceKind, Field, FunctionKind, StepKind, Type, TypeKind, VariableKind,
};
use chartc_core::plan::Plan;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

/// Runs of each pair.
const RUNS: u64 = 80;
/// Inputs of each run.
const INPUTS: usize = 80;

/// What values are made of.
pub(crate) struct World {
    numbers: Vec<f64>,
    words: Vec<String>,
    times: Vec<u64>,
}

impl World {
    /// From the texts of both: what they compare with has to come up.
    pub(crate) fn of(texts: &[&str]) -> Self {
        let mut numbers = BTreeSet::from([0, 1, 2, 5]);
        let mut words = BTreeSet::from(["a".to_owned(), String::new()]);
        let mut times = BTreeSet::from([1_000, 61_000, 90_000_000]);
        for text in texts {
            let part = |c: char| !(c.is_alphanumeric() || c == '.' || c == '_');
            for word in text.split(part) {
                if let Ok(number) = word.parse::<f64>() {
                    numbers.insert((number * 100.0) as i64 / 100);
                }
                let digits = word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len());
                let unit = match &word[digits..] {
                    "ms" => 1,
                    "s" => 1_000,
                    "m" => 60_000,
                    "h" => 3_600_000,
                    "d" => 86_400_000,
                    _ => continue,
                };
                if let Ok(count) = word[..digits].parse::<u64>() {
                    times.insert(count.saturating_mul(unit));
                }
            }
            words.extend(
                text.split('"')
                    .skip(1)
                    .step_by(2)
                    .filter(|w| w.len() < 12)
                    .take(40)
                    .map(str::to_owned),
            );
        }
        let around = |n: &i64| [*n as f64 - 1.0, *n as f64, *n as f64 + 1.0];
        Self {
            numbers: numbers.iter().filter(|n| n.abs() < 1_000_000).flat_map(around).collect(),
            words: words.into_iter().collect(),
            times: times.into_iter().filter(|t| *t < 1_000_000_000_000).collect(),
        }
    }

    fn value(&self, chart: &Chart, ty: &Type, random: &mut Random, depth: usize) -> Value {
        match ty {
            Type::Bool => Value::Bool(random.chance(50)),
            Type::Int => Value::Int(*random.pick(&self.numbers) as i64),
            Type::Float => Value::Float(*random.pick(&self.numbers)),
            Type::Duration => Value::Duration(*random.pick(&self.times)),
            Type::Text => Value::Text(random.pick(&self.words).clone()),
            Type::Json => match random.below(5) {
                0 => Value::None,
                1 => Value::Bool(random.chance(50)),
                2 => Value::Float(*random.pick(&self.numbers)),
                3 => Value::List(vec![
                    Value::Text(random.pick(&self.words).clone());
                    random.below(4)
                ]),
                _ => Value::Int(*random.pick(&self.numbers) as i64),
            },
            Type::Optional(_) if depth > 3 || random.chance(25) => Value::None,
            Type::Optional(inner) => self.value(chart, inner, random, depth + 1),
            Type::List(_) if depth > 3 => Value::List(Vec::new()),
            Type::List(inner) => {
                let count = random.below(4);
                Value::List(
                    (0..count).map(|_| self.value(chart, inner, random, depth + 1)).collect(),
                )
            }
            Type::Map(_) => Value::Map(chartc_core::expr::Map::new()),
            Type::Named(id) => match &chart.types[id.index()].kind {
                TypeKind::Enum(names) => Value::Text(random.pick(names).clone()),
                TypeKind::Record(fields) => {
                    let mut map = chartc_core::expr::Map::new();
                    for Field { name, ty, .. } in fields {
                        map.insert(name.clone(), self.value(chart, ty, random, depth + 1));
                    }
                    Value::Map(map)
                }
            },
        }
    }
}

/// A host whose functions give the same for the same arguments.
struct Told<'w> {
    chart: &'w Chart,
    world: &'w World,
    seed: u64,
    log: String,
}

impl Host for Told<'_> {
    fn call(&mut self, function: &str, arguments: &[Value]) -> Result<Value, String> {
        let Some(row) = self.chart.functions.iter().find(|f| f.name == function) else {
            return Err("no such function".into());
        };
        match &row.kind {
            FunctionKind::Effect => {
                let _ = write!(self.log, " {function}{arguments:?}");
                Ok(Value::None)
            }
            FunctionKind::Pure { result, .. } => {
                let text = format!("{function}{arguments:?}");
                let hash = text
                    .bytes()
                    .fold(self.seed, |h, b| h.wrapping_mul(0x0100_0000_01B3) ^ u64::from(b));
                Ok(self.world.value(self.chart, result, &mut Random::new(hash), 0))
            }
        }
    }
}

#[derive(Default)]
struct Log {
    effects: Vec<Effect>,
    records: Vec<Record>,
}

impl Sink for Log {
    fn effect(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    fn record(&mut self, record: Record) {
        self.records.push(record);
    }
}

/// Whether the two do not do the same on some inputs that were tried.
pub(crate) fn differ(one: &Arc<Chart>, other: &Arc<Chart>, world: &World, seed: u64) -> bool {
    if surface(one) != surface(other) {
        return true;
    }
    let (first, second) = (Plan::new(one), Plan::new(other));
    (0..RUNS).any(|run| {
        let seed = seed.wrapping_mul(997).wrapping_add(run);
        let lines = play(&first, one, one, world, seed);
        lines != play(&second, other, one, world, seed)
    })
}

/// What a host sees of a chart before it runs.
fn surface(chart: &Chart) -> String {
    let events: Vec<_> = chart.events.iter().map(|e| (&e.name, e.fields.len())).collect();
    let params: Vec<_> = chart
        .variables
        .iter()
        .filter(|v| !matches!(v.kind, VariableKind::Var { .. }))
        .map(|v| (&v.name, &v.default))
        .collect();
    let clients: Vec<_> =
        chart.clients.iter().map(|c| (&c.name, &c.model, c.timeout, c.retry)).collect();
    format!("{events:?}{params:?}{clients:?}{:?}", chart.checks.len())
}

/// What a chart does, line by line, by names. Values are made by the types of `model`, the same for both.
fn play(plan: &Plan, chart: &Chart, model: &Chart, world: &World, seed: u64) -> Vec<String> {
    let mut random = Random::new(seed);
    let mut params = Vec::new();
    let mut inputs = Vec::new();
    for variable in &model.variables {
        match &variable.kind {
            VariableKind::Param { range } => {
                if variable.default.is_some() && random.chance(60) {
                    continue;
                }
                let value = match range {
                    Some((Value::Int(low), Value::Int(high))) => Value::Int(
                        low + random.below((high - low + 1).clamp(1, 1000) as usize) as i64,
                    ),
                    Some((low, _)) => low.clone(),
                    None => world.value(model, &variable.ty, &mut random, 0),
                };
                params.push((variable.name.clone(), value));
            }
            VariableKind::Input => inputs.push((variable.name.clone(), variable.ty.clone())),
            VariableKind::Var { .. } | VariableKind::Asked => {}
        }
    }
    let host = Told { chart: model, world, seed, log: String::new() };
    let mut machine = match Interpreter::new(plan, host, params) {
        Ok(machine) => machine,
        Err(why) => return vec![format!("{why:?}")],
    };
    let mut lines = Vec::new();
    let mut open: Vec<StepKey> = Vec::new();
    let mut now = 0;
    // Each run leaves some things out, so that others come up often.
    let events: Vec<usize> = (0..model.events.len()).filter(|_| random.chance(50)).collect();
    let (ticks, failures) = (random.chance(40), random.chance(40));
    for step in 0..INPUTS {
        for (name, ty) in &inputs {
            if random.chance(40) {
                let value = world.value(model, ty, &mut random, 0);
                let _ = machine.set_input(name, value);
            }
        }
        let choice = random.below(10);
        let input = match choice {
            _ if step == 0 => Input::Start,
            0..=6 if !open.is_empty() => {
                let key = open.remove(random.below(open.len()));
                answer(&mut machine, chart, model, key, world, failures, &mut random)
            }
            7 if ticks => {
                now += *random.pick(&world.times);
                Input::Tick
            }
            0 | 5 | 6 if !events.is_empty() => {
                let event = *random.pick(&events);
                let fields = &model.events[event].fields;
                let payload =
                    fields.iter().map(|f| world.value(model, &f.ty, &mut random, 0)).collect();
                Input::Event(EventId::at(event), payload)
            }
            _ => Input::Turn,
        };
        let mut log = Log::default();
        let receipt = machine.handle(input, now, &mut log);
        lines.push(line(&mut machine, chart, &receipt.map_err(|m| m.0), &log));
        for effect in &log.effects {
            match effect {
                Effect::Start(key) | Effect::Ask(key) | Effect::Call(key, _) => open.push(*key),
                Effect::Cancel(key) => open.retain(|k| k != key),
                Effect::Ended(_) => return lines,
            }
        }
    }
    lines
}

fn answer(
    machine: &mut Interpreter<Told<'_>>,
    chart: &Chart,
    model: &Chart,
    key: StepKey,
    world: &World,
    failures: bool,
    random: &mut Random,
) -> Input<Vec<Value>> {
    let step = &chart.steps[key.step.index()];
    let luck = if failures { random.below(12) } else { 2 };
    if luck == 0 {
        return Input::Answer(key, Outcome::Failed(vec![Value::Text("down".into())]));
    }
    if matches!(step.kind, StepKind::Ask { .. }) && machine.calls(key).is_none() {
        let offers = machine.options(key);
        if luck == 1 || offers.is_empty() {
            return Input::Answer(key, Outcome::Unusable);
        }
        let offer = random.pick(&offers).clone();
        if let Some(tool) = offer.tool {
            let fields = &chart.tools[tool.index()].params;
            let payload = fields.iter().map(|f| world.value(model, &f.ty, random, 0)).collect();
            return Input::Answer(key, Outcome::Call(tool, payload));
        }
        let fields = match &chart.choices[offer.choice.index()].kind {
            ChoiceKind::Option(fields) => &fields[..],
            ChoiceKind::Call(..) => &[],
        };
        let payload = fields.iter().map(|f| world.value(model, &f.ty, random, 0)).collect();
        return Input::Answer(key, Outcome::Choice(offer.choice, payload));
    }
    let ty = match (machine.calls(key), &step.kind) {
        (Some(tool), _) => chart.tools[tool.index()].result.clone(),
        (None, StepKind::Call(tool, _)) => chart.tools[tool.index()].result.clone(),
        (
            None,
            StepKind::Llm
            | StepKind::Ask { .. }
            | StepKind::Human(_)
            | StepKind::Run(..)
            | StepKind::Code(_),
        ) => step.returns.clone(),
    };
    let value = world.value(chart, &ty, random, 0);
    Input::Answer(key, Outcome::Done(vec![value]))
}

/// What an input did: by the names of states, steps and events, with prompts, options and data.
fn line(
    machine: &mut Interpreter<Told<'_>>,
    chart: &Chart,
    receipt: &Result<chartc_core::machine::Receipt, String>,
    log: &Log,
) -> String {
    let path = |s: &StateId| chart.state(*s).path.clone();
    let mut out = format!("{receipt:?}");
    for record in log.records.iter().take(400) {
        let _ = match record {
            Record::Entered(s) => write!(out, " +{}", path(s)),
            Record::Exited(s) => write!(out, " -{}", path(s)),
            Record::Sent(e, at) => write!(out, " sent {} {at}", chart.events[e.index()].name),
            Record::Posted(e, _) => write!(out, " posted {}", chart.events[e.index()].name),
            Record::Denied(_) => write!(out, " denied"),
            Record::Error(kind) => write!(out, " {kind:?}"),
            Record::Warned(kind) => write!(out, " warned {kind:?}"),
            Record::Fallback(_, why) => write!(out, " {why:?}"),
            Record::WalkEnded(_) => write!(out, " walk ended"),
            Record::Ended(status) => write!(out, " ended {status:?}"),
            Record::Event(_)
            | Record::Delivered(_)
            | Record::Undelivered(..)
            | Record::Deferred(_)
            | Record::Recalled(_)
            | Record::SendCanceled(_)
            | Record::Turn(_)
            | Record::Refused(_)
            | Record::Lost(..)
            | Record::Taken(_)
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
            | Record::Dropped(_)
            | Record::TurnEnded(_) => Ok(()),
        };
    }
    for effect in &log.effects {
        match effect {
            Effect::Start(key) | Effect::Ask(key) => {
                let prompt = machine.prompt(*key).map_err(|_| "fault");
                let names: Vec<String> =
                    machine.options(*key).into_iter().map(|o| o.name.into_owned()).collect();
                let step = &chart.steps[key.step.index()];
                let _ = write!(
                    out,
                    " {} {prompt:?} {names:?} {:?} {:?}",
                    step.name,
                    step.returns,
                    step.client.is_some()
                );
            }
            Effect::Call(key, tool) => {
                let _ = write!(
                    out,
                    " {} calls {}",
                    chart.steps[key.step.index()].name,
                    chart.tools[tool.index()].name
                );
            }
            Effect::Cancel(key) => {
                let _ = write!(out, " cancel {}", chart.steps[key.step.index()].name);
            }
            Effect::Ended(_) => {
                let _ = write!(out, " {:?}", machine.result());
            }
        }
    }
    let _ = write!(out, " {:?} {:?}", machine.variables(), machine.take_notes());
    out.push_str(&machine.with_host(|h| std::mem::take(&mut h.log)));
    out
}
