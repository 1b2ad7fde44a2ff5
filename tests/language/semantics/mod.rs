//! What a chart does, told by chart texts: the interpreter on the step algorithm, without a runtime.

#[macro_use]
mod cases;
mod ahead;
mod asked;
mod bounds;
pub(crate) mod children;
mod content;
mod deferred;
mod each;
mod events;
mod holds;
mod inputs;
mod log;
mod loops;
mod messages;
mod observables;
mod questions;
mod ranges;
mod reasons;
mod sending;
mod sets;
mod snapshots;
mod started;
mod step_tools;
mod tools;
mod turns;
mod walks;
mod words;
mod written;

use chartc::load::Memory;
use chartc_core::arena::{StateId, StepId};
use chartc_core::expr::Value;
use chartc_core::host::{Host, Machine};
use chartc_core::interpreter::Interpreter;
use chartc_core::machine::{Input, Receipt, StepKey};
use chartc_core::model::Chart;
use chartc_core::plan::Plan;
use log::Log;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use words::shown;

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
    chart: &'static Arc<Chart>,
    machine: Interpreter<Notebook>,
    plan: Plan,
    host: Notebook,
    log: Log,
    /// What the machine noted so far.
    notes: Vec<String>,
    /// How many records and effects there were.
    mark: (usize, usize),
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
        let chart: &'static Arc<Chart> = Box::leak(Box::new(checked.chart().clone()));
        let plan: Plan = Plan::new(chart);
        let host = Notebook::default();
        let machine = Interpreter::new(&plan, host.clone(), []).expect("no params");
        let mut sim = Self {
            chart,
            machine,
            plan,
            host,
            log: Log::default(),
            notes: Vec::new(),
            mark: (0, 0),
            now: 0,
            receipt: Receipt::Handled,
        };
        sim.give(Input::Start);
        sim
    }

    fn give(&mut self, input: Input<Vec<Value>>) {
        self.receipt =
            self.machine.handle(input, self.now, &mut self.log).expect("the payload fits");
    }

    /// From here on, effects and records are those of the inputs that follow.
    fn mark(&mut self) {
        self.mark = (self.log.records.len(), self.log.effects.len());
    }

    fn open_keys(&self) -> Vec<StepKey> {
        self.machine.pending()
    }

    /// Goes on with a new machine made from a snapshot that went through JSON.
    fn restart(&mut self) {
        let json = serde_json::to_string(&self.machine.save()).expect("data");
        let snapshot = serde_json::from_str(&json).expect("data");
        self.machine = Interpreter::resume(&self.plan, [], self.host.clone(), &snapshot)
            .expect("of this chart");
    }

    /// Paths of the basic states, in document order.
    fn leaves(&self) -> Vec<String> {
        let path = |id: StateId| self.chart.state(id).path.clone();
        self.machine.leaves().into_iter().map(path).collect()
    }

    fn is_legal(&self) -> bool {
        chartc_core::semantics::is_legal(self.machine.tables(), self.machine.configuration())
    }

    fn var(&self, name: &str) -> String {
        let variables = self.machine.variables();
        shown(&variables.iter().find(|(n, _)| n == name).expect("a variable").1)
    }

    fn names(&self, keys: impl IntoIterator<Item = StepKey>) -> Vec<String> {
        keys.into_iter().map(|k| self.step_name(k.step)).collect()
    }

    /// An element of a step, as `search[1]`.
    fn element(&self, key: StepKey) -> String {
        let name = self.step_name(key.step);
        key.element.map_or(name.clone(), |element| format!("{name}[{}]", element.index()))
    }

    fn step_name(&self, step: StepId) -> String {
        self.chart.steps[step.index()].name.clone()
    }
}
