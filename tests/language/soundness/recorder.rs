//! Random charts with effects, and a host and a sink that write what a run does into one list, so that the effects are in their places.

use super::random::Random;
use crate::interpreter::Log;
use chartc_core::arena::{EventId, FunctionId};
use chartc_core::expr::Value;
use chartc_core::host::Host;
use chartc_core::machine::{Effect, Record, Sink};
use chartc_core::model::{Chart, FunctionKind, StepKind, Subject, Trigger};
use std::cell::{Cell, RefCell};
use std::fmt::Write;
use std::rc::Rc;
use std::sync::Arc;

/// Both the host and the sink of a machine.
#[derive(Clone)]
pub(crate) struct Recorder {
    chart: Arc<Chart>,
    /// What was done since this was last taken, in order.
    pub(crate) done: Rc<RefCell<Vec<Subject>>>,
    /// Whether effects succeed; and what functions return.
    pub(crate) works: Rc<Cell<bool>>,
    /// The records and effects.
    pub(crate) log: Rc<RefCell<Log>>,
    /// The event from outside that is being handled.
    event: Option<EventId>,
}

impl Recorder {
    pub(crate) fn new(chart: &Arc<Chart>) -> Self {
        Self {
            chart: chart.clone(),
            done: Rc::default(),
            works: Rc::default(),
            log: Rc::default(),
            event: None,
        }
    }
}

impl Host for Recorder {
    fn call(&mut self, name: &str, _: &[Value]) -> Result<Value, String> {
        let functions = &self.chart.functions;
        let nth = functions.iter().position(|row| row.name == name).expect("a declared function");
        if functions[nth].kind != FunctionKind::Effect {
            return Ok(Value::Bool(self.works.get()));
        }
        self.done.borrow_mut().push(Subject::Effect(FunctionId::at(nth)));
        if self.works.get() { Ok(Value::None) } else { Err("it is down".into()) }
    }
}

impl Sink for Recorder {
    fn effect(&mut self, effect: Effect) {
        self.log.borrow_mut().effect(effect);
    }

    fn record(&mut self, record: Record) {
        let chart = &self.chart;
        let done = match record {
            Record::Entered(state) => Some(Subject::State(state)),
            Record::Called(.., tool) => Some(Subject::Tool(tool)),
            Record::Started(key) => match chart.steps[key.step.index()].kind {
                StepKind::Call(tool, _) => Some(Subject::Tool(tool)),
                _ => None,
            },
            Record::Done(step) => Some(Subject::Step(step)),
            Record::Chosen(choice) | Record::Unasked(choice) => {
                Some(Subject::Option(chart.choices[choice.index()].name.clone()))
            }
            Record::Event(event) | Record::Delivered(event) => {
                self.event = Some(event);
                None
            }
            Record::Taken(line) => match &chart.transition(line).trigger {
                Trigger::Event(events) if events.len() == 1 => Some(Subject::Event(events[0])),
                Trigger::Event(events) => {
                    self.event.filter(|event| events.contains(event)).map(Subject::Event)
                }
                Trigger::AnyEvent | Trigger::AnyOccurrence => self.event.map(Subject::Event),
                _ => None,
            },
            _ => None,
        };
        self.done.borrow_mut().extend(done);
        self.log.borrow_mut().record(record);
    }
}

/// The chart with calls of the effects `pay` and `note` in its blocks.
pub(crate) fn with_effects(random: &mut Random, text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let call = *random.pick(&["pay()", "pay()", "note()", "note()  pay()"]);
        let first = line.split_whitespace().next().unwrap_or_default();
        let is_line =
            matches!(first, "on" | "when" | "after" | "may") && !line.contains("on limit");
        let is_state = matches!(first, "state" | "parallel") && line.ends_with('{');
        if is_line && random.below(3) == 0 {
            let _ = match (line.strip_suffix(" }"), line.contains(" { ")) {
                (Some(block), true) => writeln!(out, "{block}  {call} }}"),
                _ if line.contains(" -> ") => writeln!(out, "{line} {{ {call} }}"),
                _ => writeln!(out, "{line}"),
            };
        } else if is_state && random.below(4) == 0 {
            let block = match random.below(6) {
                0 => "enter { for i in [1, 2] { pay() } }".to_owned(),
                1 => "enter { if n < 2 { note() } else { pay() } }".to_owned(),
                2 | 3 => format!("exit {{ {call} }}"),
                _ => format!("enter {{ {call} }}"),
            };
            let _ = writeln!(out, "{line}\n      {block}");
        } else if matches!(first, "initial" | "history") && random.below(4) == 0 {
            let _ = writeln!(out, "{line} {{ {call} }}");
        } else {
            let _ = writeln!(out, "{line}");
        }
    }
    out.replacen("chart T {", "chart T {\n  do pay()\n  do note()", 1)
}
