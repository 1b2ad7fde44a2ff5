//! A host and a sink that write what a run does into one list, so that the effects are in their places.

use crate::interpreter::Log;
use chartc_core::arena::{EventId, FunctionId};
use chartc_core::expr::Value;
use chartc_core::host::Host;
use chartc_core::machine::{Effect, Record, Sink};
use chartc_core::model::{Chart, FunctionKind, StepKind, Subject, Trigger};
use std::cell::{Cell, RefCell};
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
