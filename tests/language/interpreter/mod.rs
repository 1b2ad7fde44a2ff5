//! The interpreter: data, expressions and prompts of a running chart.

mod data;
mod prompts;
mod saved;

use chartc::Compilation;
use chartc_core::arena::{ChoiceId, EventId, StateId};
use chartc_core::expr::Value;
use chartc_core::host::{Host, Machine, Mismatch};
use chartc_core::interpreter::Interpreter;
use chartc_core::machine::{Effect, Input, Outcome, Receipt, Record, Sink, StepKey};
use chartc_core::model::Chart;
use chartc_core::plan::Plan;
use std::sync::Arc;

/// The only chart of a text without findings that forbid running it.
pub(crate) fn chart(text: &str) -> Arc<Chart> {
    let compilation: Compilation = crate::lower::check(text);
    let found = chartc::report::short(&compilation.diagnostics, &compilation.sources);
    assert_eq!(compilation.charts.len(), 1, "{found}");
    compilation.charts[0].chart().clone()
}

/// Answers `double(n)` and notes the effects `tell(text)`; everything else fails.
#[derive(Default)]
pub(crate) struct Doubling {
    pub(crate) told: Vec<Value>,
}

impl Host for Doubling {
    fn call(&mut self, function: &str, arguments: &[Value]) -> Result<Value, String> {
        match (function, arguments) {
            ("double", [Value::Int(n)]) => Ok(Value::Int(2 * n)),
            ("tell", [value]) => {
                self.told.push(value.clone());
                Ok(Value::None)
            }
            _ => Err(format!("no function {function}")),
        }
    }
}

/// Effects and records of the last input.
#[derive(Default)]
pub(crate) struct Log {
    pub(crate) effects: Vec<Effect>,
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

/// A machine with its last log.
pub(crate) struct Run {
    pub(crate) machine: Interpreter<Doubling>,
    pub(crate) log: Log,
}

pub(crate) fn start(plan: &Plan, params: &[(&str, Value)]) -> Run {
    let mut run = create(plan, params).expect("params that fit");
    run.give(Input::Start, 0);
    run
}

pub(crate) fn create(plan: &Plan, params: &[(&str, Value)]) -> Result<Run, Mismatch> {
    let params = params.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
    let machine = Interpreter::new(plan, Doubling::default(), params)?;
    Ok(Run { machine, log: Log::default() })
}

pub(crate) fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

impl Run {
    pub(crate) fn give(&mut self, input: Input<Vec<Value>>, now: u64) -> Receipt {
        self.try_give(input, now).expect("an input that fits")
    }

    pub(crate) fn try_give(
        &mut self,
        input: Input<Vec<Value>>,
        now: u64,
    ) -> Result<Receipt, Mismatch> {
        self.log = Log::default();
        self.machine.handle(input, now, &mut self.log)
    }

    pub(crate) fn event(&mut self, name: &str, payload: Vec<Value>) -> Result<Receipt, Mismatch> {
        let id = self.machine.tables().events.iter().position(|e| e.name == name);
        self.try_give(Input::Event(EventId::at(id.expect("a declared event")), payload), 0)
    }

    /// The step or question that was started last.
    pub(crate) fn open(&self) -> StepKey {
        let last = self.log.effects.iter().rev().find_map(|effect| match effect {
            Effect::Start(key) | Effect::Ask(key) | Effect::Call(key, _) => Some(*key),
            Effect::Cancel(_) | Effect::Ended(_) => None,
        });
        last.expect("something was started")
    }

    pub(crate) fn answer(&mut self, key: StepKey, value: Value) -> Receipt {
        self.give(Input::Answer(key, Outcome::Done(vec![value])), 0)
    }

    pub(crate) fn choose(&mut self, key: StepKey, name: &str, payload: Vec<Value>) -> Receipt {
        let id = self.machine.tables().choices.iter().position(|c| c.name == name);
        let choice = ChoiceId::at(id.expect("a declared option"));
        self.give(Input::Answer(key, Outcome::Choice(choice, payload)), 0)
    }

    /// Paths of the active leaves.
    pub(crate) fn at(&self) -> Vec<String> {
        let tables = self.machine.tables();
        let leaves = (1..tables.states.len())
            .map(StateId::at)
            .filter(|id| self.machine.is_active(*id) && tables.state(*id).end.0 == id.0 + 1);
        leaves.map(|id| tables.state(id).path.to_string()).collect()
    }

    pub(crate) fn variable(&self, name: &str) -> Value {
        let all = self.machine.variables();
        all.into_iter().find(|(n, _)| n == name).expect("a declared variable").1
    }
}
