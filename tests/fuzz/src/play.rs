//! A sound chart runs: it can be planned and started, and takes a few inputs.

use chartc::Checked;
use chartc_core::arena::EventId;
use chartc_core::expr::Value;
use chartc_core::host::{Host, Machine};
use chartc_core::interpreter::Interpreter;
use chartc_core::machine::{Effect, Input, Outcome, Record, Sink, StepKey};
use chartc_core::model::{Chart, ChoiceKind, Field, StepKind, Type, TypeKind};
use chartc_core::plan::Plan;
use chartc_core::semantics::is_legal;
use std::sync::Arc;

/// Inputs that a machine is given.
const INPUTS: usize = 8;

/// What all of its evaluations together may spend.
const UNITS: u64 = 5_000_000;

/// Numbers that look random and are always the same for the same input.
struct Dice(u64);

impl Dice {
    fn of(data: &[u8]) -> Self {
        let fold = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        Self(data.iter().fold(0xcbf2_9ce4_8422_2325, fold))
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound.max(1)
    }
}

/// A host whose functions answer something or fail.
struct Anyone(Dice);

impl Host for Anyone {
    fn call(&mut self, function: &str, _: &[Value]) -> Result<Value, String> {
        match self.0.below(4) {
            0 => Err(format!("no {function}")),
            1 => Ok(Value::Int(3)),
            2 => Ok(Value::Bool(true)),
            _ => Ok(Value::Text("a".to_owned())),
        }
    }
}

/// Steps that somebody owes an answer.
#[derive(Default)]
struct Open(Vec<StepKey>);

impl Sink for Open {
    fn effect(&mut self, effect: Effect) {
        match effect {
            Effect::Start(key) | Effect::Ask(key) | Effect::Call(key, _) => self.0.push(key),
            Effect::Cancel(key) => self.0.retain(|k| *k != key),
            Effect::Ended(_) => self.0.clear(),
        }
    }

    fn record(&mut self, _: Record) {}
}

/// A value that fits, most of the time.
fn value(chart: &Arc<Chart>, ty: &Type, dice: &mut Dice, depth: usize) -> Value {
    let one = |inner: &Type, dice: &mut Dice| value(chart, inner, dice, depth + 1);
    match ty {
        _ if depth > 4 => Value::None,
        Type::Bool => Value::Bool(dice.below(2) == 0),
        Type::Int => Value::Int([0, 1, -1, 7, i64::MAX][dice.below(5)]),
        Type::Float => Value::Float([0.0, 1.5, -2.25, 1e300][dice.below(4)]),
        Type::Text => Value::Text(["", "a", "é {x}"][dice.below(3)].to_owned()),
        Type::Duration => Value::Duration(1000),
        Type::Json => {
            [Value::None, Value::Int(2), Value::List(vec![Value::None])][dice.below(3)].clone()
        }
        Type::List(inner) => Value::List((0..dice.below(3)).map(|_| one(inner, dice)).collect()),
        Type::Map(inner) => Value::Map([("k".to_owned(), one(inner, dice))].into_iter().collect()),
        Type::Optional(_) if dice.below(2) == 0 => Value::None,
        Type::Optional(inner) => one(inner, dice),
        Type::Named(id) => match &chart.types[id.index()].kind {
            TypeKind::Enum(names) => Value::Text(names.first().cloned().unwrap_or_default()),
            TypeKind::Record(fields) => {
                Value::Map(fields.iter().map(|f| (f.name.clone(), one(&f.ty, dice))).collect())
            }
        },
    }
}

fn values(chart: &Arc<Chart>, fields: &[Field], dice: &mut Dice) -> Vec<Value> {
    fields.iter().map(|f| value(chart, &f.ty, dice, 0)).collect()
}

/// Plans and starts the chart and gives it inputs that hang on `data`; after each it stands in a legal configuration.
pub fn play(sound: &Checked, data: &[u8]) {
    let chart = sound.chart();
    let plan = Plan::new(chart);
    let mut dice = Dice::of(data);
    let params = chart.variables.iter().filter(|_| dice.below(4) == 0);
    let params: Vec<(String, Value)> =
        params.map(|v| (v.name.clone(), value(chart, &v.ty, &mut Dice::of(data), 0))).collect();
    let made = Interpreter::new(&plan, Anyone(Dice::of(data)), params);
    let made = made.or_else(|_| Interpreter::new(&plan, Anyone(Dice::of(data)), []));
    // A param without a default has to be given, and may have bounds.
    let Ok(mut machine) = made else { return };
    // A circle whose lists double may spend a thousand times what one block may.
    machine.allow(UNITS);
    let mut open = Open::default();
    let mut now = 0;
    for nth in 0..INPUTS {
        for variable in &chart.variables {
            if dice.below(4) == 0 {
                let _ = machine.set_input(&variable.name, value(chart, &variable.ty, &mut dice, 0));
            }
        }
        let input = match (nth, dice.below(8)) {
            (0, _) => Input::Start,
            (_, 0..=2) if !open.0.is_empty() => {
                let key = open.0.remove(dice.below(open.0.len()));
                Input::Answer(key, answer(chart, &mut machine, key, &mut dice))
            }
            (_, 0 | 3) => Input::Turn,
            (_, 1 | 4) => {
                now = machine.next_deadline().map_or(now + 1000, |due| due.max(now));
                Input::Tick
            }
            _ if chart.events.is_empty() => Input::Turn,
            _ => {
                let nth = dice.below(chart.events.len());
                let data = values(chart, &chart.events[nth].fields, &mut dice);
                Input::Event(EventId::at(nth), data)
            }
        };
        // What does not fit is refused, and changes nothing; so is a start with an initial value that cannot be computed.
        if machine.handle(input, now, &mut open).is_err() && nth == 0 {
            return;
        }
        let legal =
            machine.ended().is_some() || is_legal(machine.tables(), machine.configuration());
        assert!(legal, "an illegal configuration: {:?}", machine.leaves());
        machine.enabled_events();
    }
    let saved = machine.save().expect("it can be saved");
    let again = Interpreter::resume(&plan, [], Anyone(Dice(1)), &saved);
    assert_eq!(again.map(|m| m.leaves()).ok(), Some(machine.leaves()), "restored elsewhere");
}

fn answer(
    chart: &Arc<Chart>,
    machine: &mut Interpreter<Anyone>,
    key: StepKey,
    dice: &mut Dice,
) -> Outcome<Vec<Value>> {
    let _ = machine.prompt(key);
    let step = &chart.steps[key.step.index()];
    match dice.below(6) {
        0 => return Outcome::Failed(vec![Value::Text("down".to_owned())]),
        1 => return Outcome::Unusable,
        2 if dice.below(2) == 0 => return Outcome::Final(vec![Value::Text("down".to_owned())]),
        2 => return Outcome::Doubt(vec![Value::Text("in doubt".to_owned())]),
        _ => {}
    }
    if let StepKind::Ask { .. } = step.kind {
        let offers = machine.options(key);
        if offers.is_empty() {
            return Outcome::Unusable;
        }
        let offer = &offers[dice.below(offers.len())];
        if let Some(tool) = offer.tool {
            return Outcome::Call(tool, values(chart, &chart.tools[tool.index()].params, dice));
        }
        let data = match &chart.choices[offer.choice.index()].kind {
            ChoiceKind::Option(fields) => values(chart, fields, dice),
            ChoiceKind::Call(..) => Vec::new(),
        };
        return Outcome::Choice(offer.choice, data);
    }
    Outcome::Done(vec![value(chart, &step.returns, dice, 0)])
}
