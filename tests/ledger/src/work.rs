//! One process: goes on with all agents until each has had its turns.

use chartc::load::Memory;
use chartc_core::expr::{Map, Value};
use chartc_core::host::{Host, ToolCall};
use chartc_core::interpreter::Interpreter;
use chartc_core::machine::Receipt;
use chartc_core::plan::Plan;
use chartc_runtime::Session;
use chartc_runtime::agents::{Engine, Event, Quiet};
use chartc_runtime::clock::{Clock, RealClock};
use chartc_runtime::driver::{CallId, Driver};
use chartc_runtime::oracle::{Answer, Asking, Deny, Question};
use chartc_runtime::tools::{Calling, NoTools, Tools};
use chartc_store::{Options, Safety, Sqlite, Store, Worker};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// Each turn of a buyer is one call: it is answered, or in doubt, which the chart counts.
const CHART: &str = "
chart Buyer {
  var answers: Int = 0
  var doubts: Int = 0
  var last: Text = \"\"
  initial buying
  state buying {
    llm buy {
      prompt \"Buy: {last}\"
      returns Text into last
      done  -> buying { answers = answers + 1 }
      doubt -> buying { doubts = doubts + 1 }
    }
  }
}
";

/// Bytes of each line in the book of what was paid.
pub(crate) const BYTES: u64 = 64;

struct Deaf;

impl Host for Deaf {
    fn call(&mut self, function: &str, _: &[Value]) -> Result<Value, String> {
        Err(format!("no host function `{function}`"))
    }
}

/// The world: writes down each call before anything else, and answers after a while. It cannot tell what became of a call.
struct Paid(File);

impl Driver for Paid {
    fn ask(&self, id: &CallId, _: Arc<Question>) -> Asking {
        let name = id.to_string();
        let line = format!("{name:<width$}\n", width = BYTES as usize - 1);
        (&self.0).write_all(line.as_bytes()).expect("the book takes it");
        let takes = line.bytes().fold(0_u64, |all, byte| (all * 31 + u64::from(byte)) % 20);
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(takes)).await;
            Ok(Answer::from(format!("\"{name}\"")))
        })
    }

    fn call(&self, _: &CallId, call: ToolCall) -> Calling {
        NoTools.call(call)
    }

    fn name(&self) -> String {
        "paid".into()
    }
}

pub(crate) fn work(folder: &Path, agents: u32, turns: u32) -> ExitCode {
    let done = chartc::check_within(&["b.chart".to_owned()], &Memory::of("b.chart", CHART), 0);
    let chart = done.charts[0].chart().clone();
    let plan = &Plan::new(&chart);
    let book = OpenOptions::new().create(true).append(true).open(folder.join("paid"));
    let store = Store::own(&folder.join("runs.db"), Safety::Full).expect("a store");
    let clock: Arc<dyn Clock> =
        Arc::new(RealClock::starting_at(store.moment(None, true).expect("it")));
    let options = Options {
        make: Box::new(move |making| {
            let machine = match making.saved {
                Some(saved) => Interpreter::resume(plan, [], Deaf, saved.machine())
                    .map_err(|why| why.to_string())?,
                None => Interpreter::new(plan, Deaf, Map::new()).map_err(|why| why.to_string())?,
            };
            let session = Session::new(machine, Arc::new(Deny), making.clock, making.journal);
            Ok(session.with_driver(making.driver).with_run(making.run))
        }),
        driver: Arc::new(Paid(book.expect("the book"))),
        clock,
        is_real: true,
        replies: false,
        workers: 64,
        show: Box::new(|_, _| Ok(())),
        after: Box::new(|_, _| Ok(())),
        given: String::new(),
        service: None,
    };
    let (engine, mut worker) = Worker::new(store, options);
    worker.load_all().expect("as it was written");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    runtime.expect("a runtime").block_on(async {
        let (worked, ()) = tokio::join!(worker.work(), host(engine, agents, turns));
        worked.expect("a disk");
    });
    ExitCode::SUCCESS
}

/// Gives each agent the turns that it has not had.
async fn host(engine: Sqlite, agents: u32, turns: u32) {
    engine.quiet().await;
    let mut had = Vec::new();
    for agent in 0..agents {
        let state = engine.read(&name(agent)).await.expect("it runs");
        had.push(state.map_or(0, |state| state.turns));
    }
    for turn in 1..=turns {
        for agent in (0..agents).filter(|agent| had[*agent as usize] < turn) {
            let event = Event::turn(turn.to_string());
            let reply = engine.fire(&name(agent), event).await.expect("a turn");
            assert_eq!(reply.receipt, Receipt::Handled, "agent {agent}, turn {turn}");
        }
        engine.quiet().await;
    }
}

fn name(agent: u32) -> String {
    format!("agent-{agent}")
}
