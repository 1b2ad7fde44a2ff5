//! What a turn costs beside the model: sessions with a scripted model, beside a plain loop that formats the same strings.

use chartc::load::Memory;
use chartc_core::expr::{Map, Value};
use chartc_core::host::{Host, Machine};
use chartc_core::interpreter::Interpreter;
use chartc_core::machine::{Effect, Input, Outcome, Record, Sink};
use chartc_core::model::Chart;
use chartc_core::plan::Plan;
use chartc_runtime::Session;
use chartc_runtime::clock::VirtualClock;
use chartc_runtime::oracle::{Answer, Asking, Oracle, Question, ready};
use chartc_runtime::trace::Line;
use std::fmt::Write;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

const TURNS: u32 = 20_000;
const ROUNDS: usize = 9;

/// Code and lines, no model.
const CODE: &str = "
chart Code {
  var n: Int = 0
  initial a
  state a { code count { n = n + 1 } -> b }
  state b { code back { n = n + 2 } -> a }
}
";

/// A question a turn, whose prompt is one word.
const ASK: &str = "
chart Ask {
  initial a
  state a { ask go on turn always else stay { prompt \"Now?\" }  may left -> b  may right -> b }
  state b { ask on_ on turn always else stay { prompt \"Now?\" }  may left -> a  may right -> a }
}
";

struct Deaf;

impl Host for Deaf {
    fn call(&mut self, function: &str, _: &[Value]) -> Result<Value, String> {
        Err(format!("no host function `{function}`"))
    }
}

/// Says the same to every question.
struct Same(&'static str);

impl Oracle for Same {
    fn ask(&self, _: Arc<Question>) -> Asking {
        ready(Ok(Answer::from(self.0.to_owned())))
    }

    fn name(&self) -> String {
        "same".into()
    }
}

/// Answers questions at once, below any session.
#[derive(Default)]
struct Open(Option<chartc_core::machine::StepKey>);

impl Sink for Open {
    fn effect(&mut self, effect: Effect) {
        if let Effect::Start(key) | Effect::Ask(key) = effect {
            self.0 = Some(key);
        }
    }

    fn record(&mut self, _: Record) {}
}

pub(crate) fn run(agent: &str) {
    let code = checked("a.chart", CODE);
    let ask = checked("a.chart", ASK);
    let agent = checked("agent.yaml", agent);
    println!("{:<44} {:>9} {:>12}", "one turn", "ns", "turns/s");
    let row = |what: &str, nanoseconds: f64| {
        println!("{what:<44} {nanoseconds:>9.0} {:>12.0}", 1e9 / nanoseconds);
        nanoseconds
    };
    row("code, the machine alone", best(|| machine_alone(&code)));
    row("code, a session", best(|| session(&code, "left", ())));
    row("a question of one word, the machine alone", best(|| machine_alone(&ask)));
    row("a question of one word, a session", best(|| session(&ask, "left", ())));
    let (act, noop) =
        (r#"{"reasoning": "r", "action": "act"}"#, r#"{"reasoning": "r", "action": "noop"}"#);
    let of_agent = row("an agent.yaml, a session", best(|| session(&agent, noop, ())));
    row("an agent.yaml whose turn ends by its action", best(|| session(&agent, act, ())));
    row(
        "an agent.yaml, a session with its trace",
        best(|| session(&agent, noop, Vec::<Line>::new())),
    );
    let plain = row("a plain loop: the same strings, the same JSON", best(|| plain_loop(noop)));
    println!("the agent.yaml beside the plain loop: {:.1} times", of_agent / plain);
}

/// Nanoseconds a turn, the best of some rounds.
fn best(mut round: impl FnMut()) -> f64 {
    let one = |round: &mut dyn FnMut()| {
        let start = Instant::now();
        round();
        start.elapsed().as_nanos() as f64 / f64::from(TURNS)
    };
    (0..ROUNDS).map(|_| one(&mut round)).fold(f64::INFINITY, f64::min)
}

fn checked(name: &str, text: &str) -> Arc<Chart> {
    let done = chartc::check_within(&[name.to_owned()], &Memory::of(name, text), 0);
    done.charts[0].chart().clone()
}

fn machine_alone(chart: &Arc<Chart>) {
    let plan = Plan::new(chart);
    let mut machine = Interpreter::new(&plan, Deaf, Map::new()).expect("no params");
    let mut open = Open::default();
    machine.handle(Input::Start, 0, &mut open).expect("it starts");
    for _ in 0..TURNS {
        machine.handle(Input::Turn, 0, &mut open).expect("a turn");
        while let Some(key) = open.0.take() {
            black_box(machine.prompt(key).expect("a prompt"));
            let choice = machine.options(key)[0].choice;
            let answer = Input::Answer(key, Outcome::Choice(choice, Vec::new()));
            machine.handle(answer, 0, &mut open).expect("an answer");
        }
    }
}

fn session<T: chartc_runtime::trace::Sink>(chart: &Arc<Chart>, answer: &'static str, sink: T) {
    let plan = Plan::new(chart);
    let machine = Interpreter::new(&plan, Deaf, Map::new()).expect("no params");
    let clock = Arc::new(VirtualClock::new());
    let mut session = Session::new(machine, Arc::new(Same(answer)), clock, sink);
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        for _ in 0..TURNS {
            session.turn().await.expect("no fault of the host");
        }
    });
    assert_eq!(session.turns(), TURNS);
}

/// What an agent without a runtime would do: fill in the prompt of the step that its state has, read the answer as JSON, go on.
fn plain_loop(answer: &str) {
    let (mut state, mut balance, mut taken) = (0_usize, 100.0_f64, 0_i64);
    for _ in 0..TURNS {
        let mut prompt = String::new();
        let (name, nothing) = (black_box("builder"), black_box("nothing"));
        let rate = f64::from(3_u8) / (taken as f64).max(1.0);
        let pivot = taken < 0 && rate < 0.3;
        match state {
            0 => write!(
                prompt,
                "=== GOAL: Maximize scrip ===\nYou are {name}. Balance: {balance:.0}\nLast result: {nothing}\n"
            ),
            1 => write!(prompt, "What is worth building, {name}?"),
            2 => write!(prompt, "Build it, {name}."),
            _ => write!(prompt, "Try it, {name}: {rate:.0}"),
        }
        .expect("a string takes all");
        black_box(&prompt);
        let said: serde_json::Value = serde_json::from_str(black_box(answer)).expect("JSON");
        if said["action"] == "noop" && !pivot {
            state = (state + 1) % 4;
        }
        taken += 1;
        balance = black_box(balance);
    }
}
