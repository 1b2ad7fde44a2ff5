//! The charts, generated and interpreted, and sessions of them.

use chartc::load::Memory;
use chartc_core::expr::{Map, Value};
use chartc_core::host::{Host, Machine};
use chartc_core::interpreter::Interpreter;
use chartc_core::plan::Plan;
use chartc_runtime::clock::Clock;
use chartc_runtime::oracle::{Answer, Asking, Oracle, Question, ready};
use chartc_runtime::{RunError, Session};
use std::sync::{Arc, Mutex, PoisonError};

chartc_core::include_chart!(pub(super) mod tiny);
chartc_core::include_chart!(pub(super) mod asking);
chartc_core::include_chart!(pub(super) mod social);
chartc_core::include_chart!(pub(super) mod waiting);

/// A host that finds nothing relevant and publishes nothing.
pub(super) struct Reader;

impl social::Host for Reader {
    fn relevance(&mut self, _: Option<&social::Post>, _: &[String]) -> Result<f64, String> {
        Ok(0.0)
    }

    fn publish(&mut self, _: &str, _: Option<&social::Post>) -> Result<(), String> {
        Ok(())
    }
}

impl Host for Reader {
    fn call(&mut self, _: &str, _: &[Value]) -> Result<Value, String> {
        Ok(Value::Float(0.0))
    }
}

/// A chart with many agents.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    Tiny,
    Social,
    Asking,
}

impl Which {
    pub(super) fn of(name: &str) -> Option<Self> {
        [Self::Tiny, Self::Social, Self::Asking].into_iter().find(|which| which.name() == name)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Tiny => "tiny",
            Self::Social => "social",
            Self::Asking => "asking",
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::Tiny => include_str!("../../charts/tiny.chart"),
            Self::Social => include_str!("../../../../charts/social.chart"),
            Self::Asking => include_str!("../../charts/asking.chart"),
        }
    }

    /// The event that is sent to each agent.
    pub(super) fn event(self) -> &'static str {
        match self {
            Self::Tiny => "go",
            Self::Social => "start_browsing",
            Self::Asking => "turn",
        }
    }

    /// The plan of its interpreter.
    pub(super) fn plan(self) -> Plan {
        let name = format!("{}.chart", self.name());
        let done =
            chartc::check_within(std::slice::from_ref(&name), &Memory::of(&name, self.text()), 0);
        Plan::new(done.charts[0].chart())
    }

    pub(super) fn params(self, nth: usize) -> Map {
        if self != Self::Social {
            return Map::new();
        }
        let (name, interests, personality) = person(nth);
        let interests = interests.into_iter().map(Value::Text).collect();
        Map::from_iter([
            ("name".to_owned(), Value::Text(name)),
            ("interests".to_owned(), Value::List(interests)),
            ("personality".to_owned(), Value::Text(personality)),
        ])
    }
}

/// The params of an agent of the social chart.
pub(super) fn person(nth: usize) -> (String, Vec<String>, String) {
    let interests = vec!["birds".to_owned(), "maps".to_owned(), "jazz".to_owned()];
    (format!("agent-{nth}"), interests, "You are kind to everybody.".to_owned())
}

pub(super) fn tiny() -> tiny::Machine<()> {
    tiny::Machine::new(tiny::Params::new(), ()).unwrap_or_else(|_| unreachable!("no params"))
}

pub(super) fn waiting() -> waiting::Machine<()> {
    waiting::Machine::new(waiting::Params::new(), ()).unwrap_or_else(|_| unreachable!("no params"))
}

pub(super) fn asking() -> asking::Machine<()> {
    asking::Machine::new(asking::Params::new(), ()).unwrap_or_else(|_| unreachable!("no params"))
}

pub(super) fn social(nth: usize) -> social::Machine<Reader> {
    let (name, interests, personality) = person(nth);
    let params = social::Params::new(name, interests, personality);
    social::Machine::new(params, Reader).unwrap_or_else(|_| unreachable!("they are in range"))
}

pub(super) fn interpreted(which: Which, plan: &Plan, nth: usize) -> Interpreter<Reader> {
    Interpreter::new(plan, Reader, which.params(nth)).unwrap_or_else(|_| unreachable!("they fit"))
}

/// An oracle that gives the same answer to every question.
pub(super) struct Same;

impl Oracle for Same {
    fn ask(&self, _: Arc<Question>) -> Asking {
        ready(Ok(Answer::from("left".to_owned())))
    }

    fn name(&self) -> String {
        "same".into()
    }
}

/// A session without a trace.
pub(super) fn session<M: Machine>(
    machine: M,
    oracle: &Arc<Same>,
    clock: Arc<dyn Clock>,
) -> Session<M, ()> {
    Session::new(machine, oracle.clone(), clock, ())
}

/// Makes the session for a name that ends with the number of the agent.
pub(super) fn made<M: Machine + Send>(
    machine: impl Fn(usize) -> M,
) -> impl Fn(&str, Arc<dyn Clock>) -> Result<Session<M, ()>, RunError> {
    let oracle = Arc::new(Same);
    let first = Mutex::new(None);
    move |name, clock| {
        let nth = name.rsplit('-').next().and_then(|n| n.parse().ok()).unwrap_or_default();
        let new = machine(nth);
        let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
        let first = first.get_or_insert_with(|| session(machine(0), &oracle, clock));
        Ok(first.another(new, ()))
    }
}
