//! What all engines are to do alike: charts, scripts, and what is done with an agent.

use crate::node::root;
use chartc::load::Memory;
use chartc_core::expr::{Map, Value};
use chartc_core::interpreter::Interpreter;
use chartc_core::model::Chart;
use chartc_core::plan::Plan;
use chartc_runtime::Session;
use chartc_runtime::agents::Event;
use chartc_runtime::clock::Clock;
use chartc_runtime::driver::Driver;
use chartc_runtime::oracle::{Deny, Script};
use chartc_runtime::stepped::Making;
use chartc_runtime::trace::Sink;
use std::sync::Arc;

/// Something done with an agent.
#[derive(Clone)]
pub(crate) enum Act {
    Fire(Event),
    /// Waits until no call is under way.
    Settle,
    /// Waits until the run has ended, whatever time that takes.
    End,
}

/// A chart, what answers it, and what is done with it. The name is the agent's, too.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) plan: Plan,
    params: Map,
    pub(crate) script: String,
    pub(crate) acts: Vec<Act>,
}

impl Case {
    fn new(name: &'static str, chart: &str, script: &str, acts: Vec<Act>) -> Self {
        let plan = Plan::new(&checked(chart));
        Self { name, plan, params: Map::new(), script: script.to_owned(), acts }
    }

    fn shipped(name: &'static str, params: &[(&str, &str)], acts: Vec<Act>) -> Self {
        let read = |ending: &str| {
            let path = root().join("charts").join(format!("{name}.{ending}"));
            std::fs::read_to_string(path).expect("a file we ship")
        };
        let text = |value: &str| Value::Text(value.into());
        let params = params.iter().map(|(name, value)| ((*name).to_owned(), text(value)));
        let params = params.collect();
        Self { params, ..Self::new(name, &read("chart"), &read("script.yaml"), acts) }
    }

    /// Its session; a run that was saved is restored.
    pub(crate) fn session<T: Sink>(
        &self,
        making: &Making<'_>,
        sink: T,
    ) -> Result<Session<Interpreter<Script>, T>, String> {
        let machine = match making.saved {
            Some(saved) => Interpreter::resume(&self.plan, [], Script::empty(), saved.machine())
                .map_err(|why| why.to_string())?,
            None => self.machine(),
        };
        Ok(dressed(machine, making.run, making.clock.clone(), making.driver.clone(), sink))
    }

    /// Its machine, not started.
    pub(crate) fn machine(&self) -> Interpreter<Script> {
        Interpreter::new(&self.plan, Script::empty(), self.params.clone()).expect("its params")
    }
}

/// A session around a machine.
pub(crate) fn dressed<T: Sink>(
    machine: Interpreter<Script>,
    run: &str,
    clock: Arc<dyn Clock>,
    driver: Arc<dyn Driver>,
    sink: T,
) -> Session<Interpreter<Script>, T> {
    Session::new(machine, Arc::new(Deny), clock, sink).with_driver(driver).with_run(run)
}

fn checked(text: &str) -> Arc<Chart> {
    let done = chartc::check(&["test.chart".to_owned()], &Memory::of("test.chart", text));
    let said: Vec<&str> = done.diagnostics.iter().map(|found| found.message.as_str()).collect();
    let checked = done.charts.first().unwrap_or_else(|| panic!("{said:#?}"));
    checked.chart().clone()
}

fn turns(count: u32) -> Vec<Act> {
    let turn = |nth: u32| [Act::Fire(Event::turn(nth.to_string())), Act::Settle];
    (0..count).flat_map(turn).collect()
}

fn fire(id: &str, name: &str, data: &[(&str, &str)]) -> Act {
    let value = |(name, value): &(&str, &str)| ((*name).to_owned(), Value::Text((*value).into()));
    Act::Fire(Event::new(id, name).with(data.iter().map(value).collect()))
}

const SLOW: &str = "
chart Slow {
  event stop(why: Text)
  var said: Text = \"\"
  var times: Int = 0
  initial open
  state open {
    llm think { prompt \"?\"  returns Text into said } -> done
    on stop(why) { times = times + 1  said = why }
    after 1h -> late
  }
  final done
  final late : stuck
}";

const TIMER: &str = "
chart Timer {
  event again
  var said: Text = \"\"
  initial open
  state open {
    llm think { prompt \"?\"  returns Text into said } -> done
    after 300ms -> pausing
  }
  state pausing {
    on again -> pausing
    after 200ms -> late
  }
  final done
  final late : stuck
}";

const FAILING: &str = "
chart Failing {
  var said: Text = \"\"
  initial asking
  state asking {
    llm think { prompt \"?\"  returns Text into said  retry 2 then fail  error -> wrong } -> right
  }
  state right { llm more { prompt \"?\"  returns Text into said  retry 1 then fail  error -> wrong } -> right }
  final wrong
}";

/// All cases.
pub(crate) fn cases() -> Vec<Case> {
    let turn = |id: &str| Act::Fire(Event::turn(id));
    let later = "answers: {think: [{answer: fine, after: 700ms}]}";
    vec![
        Case::shipped("builder", &[("agent_id", "ada")], turns(12)),
        Case::shipped("phases", &[("goal", "owls")], turns(8)),
        Case::new(
            "slow",
            SLOW,
            later,
            vec![
                turn("1"),
                fire("2", "stop", &[("why", "now")]),
                fire("2", "stop", &[("why", "now")]),
                turn("3"),
                fire("4", "stpo", &[]),
                fire("5", "stop", &[]),
                Act::Settle,
                turn("3"),
                turn("3"),
            ],
        ),
        Case::new(
            "timer",
            TIMER,
            "answers: {think: [{answer: too late, after: 10s}]}",
            vec![turn("1"), Act::End, fire("2", "again", &[])],
        ),
        Case::new(
            "failing",
            FAILING,
            "answers: {think: [{fail: connection}, fine], more: [{fail: server}, {fail: server}]}",
            vec![turn("1"), Act::Settle, turn("2"), Act::Settle],
        ),
        Case::new(
            "stopping",
            SLOW,
            "answers: {}",
            vec![turn("1"), Act::Settle, fire("2", "stop", &[("why", "x")])],
        ),
        // No letter of a name is lost on the way.
        Case::new("ä/b c?#%", SLOW, "answers: {think: [fine]}", vec![turn("ö/1"), Act::Settle]),
    ]
}
