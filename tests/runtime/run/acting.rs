//! Agents in code: what a turn has chosen, and a run that stops in the middle of one.

use super::{chart, named};
use chartc_core::expr::Value;
use chartc_core::host::Host;
use chartc_core::interpreter::Interpreter;
use chartc_core::model::Chart;
use chartc_core::plan::Plan;
use chartc_runtime::agent::{Agent, ArtifactHost, Artifacts, Life, Profile, Record, SharedRecord};
use chartc_runtime::clock::VirtualClock;
use chartc_runtime::driver::{Free, Parts};
use chartc_runtime::oracle::{Asking, Oracle, Question, Script};
use chartc_runtime::trace::{Line, What};
use chartc_runtime::{Saved, Session};
use chartc_world::{NewAgent, Settings, World};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};

const WORLD: &str = "
balances: {ada: 10}
disk: 100
artifacts:
  shop: {content: gold, methods: {open: [true, false], price: {cases: [{given: [2], result: 7}]}}}
";

/// The world of ada alone.
fn world() -> Arc<dyn ArtifactHost> {
    let world = World::parse(WORLD, Settings::default()).expect("a world");
    world.add_agent(NewAgent { name: "ada".into(), ..NewAgent::default() }).expect("she is new");
    world.alone()
}

/// A chart's agent in a world, with answers of a script, or from somebody else.
struct Stage {
    chart: Arc<Chart>,
    world: Arc<dyn ArtifactHost>,
    record: SharedRecord,
    script: Script,
}

impl Stage {
    fn new(text: &str, answers: &str) -> Self {
        let clock = Arc::new(VirtualClock::new());
        Self {
            chart: chart(text),
            world: world(),
            record: SharedRecord::new(Record::new("ada")),
            script: Script::parse("script", answers, clock).expect("a script"),
        }
    }

    fn host(&self) -> Artifacts<Script> {
        let (world, record) = (self.world.clone(), self.record.clone());
        Artifacts::new(world, record, &[&self.chart], self.script.clone()).expect("one chart")
    }

    fn agent(
        &self,
        machine: Interpreter<Artifacts<Script>>,
        oracle: Arc<dyn Oracle>,
        at: u64,
    ) -> Agent<Interpreter<Artifacts<Script>>, Vec<Line>> {
        let clock = Arc::new(VirtualClock::starting_at(at));
        let driver = Arc::new(Free(Parts::of(oracle.clone())));
        let session = Session::new(machine, oracle, clock, Vec::new()).with_driver(driver);
        let profile = Profile::of(&self.chart).expect("nothing is said of working memory");
        let life = Life::new(self.world.clone(), self.record.clone(), profile);
        Agent::new(session, Some(life))
    }

    /// Runs turns; the lines of the trace.
    fn run(&self, turns: u32) -> Vec<Line> {
        let plan = Plan::new(&self.chart);
        let machine = Interpreter::new(&plan, self.host(), []).expect("no params");
        let mut agent = self.agent(machine, Arc::new(self.script.clone()), 0);
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        for _ in 0..turns {
            runtime.block_on(agent.turn()).expect("no fault of the host");
        }
        agent.into_session().into_parts().1
    }
}

/// What was done, what was not, and what the host says of it.
fn deeds(lines: &[Line]) -> Vec<String> {
    let tell = |line: &Line| match &line.what {
        What::Acted { step, action, arguments, value, failed, .. } => {
            let json = |value: &Value| serde_json::to_string(value).expect("JSON");
            Some(format!("{step}: {action} {} {}{failed}", json(arguments), json(value)))
        }
        What::NotActed { step, failed, why } => Some(format!("{step}: no action, {failed}: {why}")),
        What::HostNote { text, .. } => Some(text.clone()),
        _ => None,
    };
    lines.iter().filter_map(tell).collect()
}

const TWO: &str = r#"
chart Two {
  input last_action_result: Text = ""
  limits { calls 9 per turn }
  initial a
  state a {
    llm first { prompt "{last_action_result}" }
    llm second { prompt "{last_action_result}"  retry 0 then fail }
  }
}
"#;

#[test]
fn of_several_actions_the_last_is_done() {
    let answers = "answers:
  first: {then: repeat, answers: [{action: read_artifact, artifact_id: shop, colour: red}]}
  second:
    - {reasoning: r, action: read_artifact, artifact_id: none}
    - {action: noop}
    - {fail: connection}
    - {action: [read_artifact]}
    - {reasoning: I forgot}
    - [1]
";
    let lines = Stage::new(TWO, answers).run(6);
    assert_eq!(
        deeds(&lines),
        [
            "`read_artifact` of step `first` is not done: a later step has chosen another action",
            r#"second: read_artifact {"artifact_id":"none"} nullnot_found"#,
            "of `read_artifact` nothing was made of colour",
            r#"first: read_artifact {"artifact_id":"shop","colour":"red"} "gold""#,
            "`read_artifact` of step `first` is not done: the turn has failed",
            "second: no action, llm_error: connection lost: dropped",
            "`read_artifact` of step `first` is not done: a later step has chosen another action",
            "second: read_artifact {} nullintent_rejected",
            // An answer without an action is no `noop`.
            "`read_artifact` of step `first` is not done: the turn has failed",
            "second: no action, intent_rejected: an object with `reasoning` and `action` is wanted",
            "`read_artifact` of step `first` is not done: the turn has failed",
            "second: no action, intent_rejected: an object with `reasoning` and `action` is wanted",
        ]
    );
}

#[test]
fn a_step_without_a_model_that_fails_has_a_name_too() {
    let text = r#"
chart Code {
  input recent_failures: List(Json) = []
  fn gone() -> Int
  var n: Int = 0
  initial a
  state a { code compute { n = gone() + len(recent_failures) }  llm look { prompt "?" } }
}
"#;
    let lines = Stage::new(text, "answers: {look: []}").run(2);
    assert_eq!(deeds(&lines), ["compute: no action, step_failed: step `compute` failed"; 2]);
    let told = lines.iter().filter(|line| matches!(&line.what, What::Input { .. })).count();
    assert_eq!(told, 1, "the second turn is told of the first");
}

/// Answers the first step, and never the second.
struct Slow(Script);

impl Oracle for Slow {
    fn ask(&self, question: Arc<Question>) -> Asking {
        if question.step == "second" {
            return Box::pin(std::future::pending());
        }
        self.0.ask(question)
    }

    fn name(&self) -> String {
        "slow".into()
    }
}

#[test]
fn a_turn_that_is_left_in_the_middle_is_done_to_its_end_later() {
    let answers = "answers:
  first: [{action: write_artifact, artifact_id: plan, content: sell}, {action: noop}]
  second: {then: repeat, answers: [{action: noop}]}
";
    let stage = Stage::new(TWO, answers);
    let plan = Plan::new(&stage.chart);
    let machine = Interpreter::new(&plan, stage.host(), []).expect("no params");
    let mut agent = stage.agent(machine, Arc::new(Slow(stage.script.clone())), 0);
    let waits = pin!(agent.turn()).as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(waits.is_pending());
    let text = agent.save().expect("it runs").text().expect("JSON");
    assert_eq!(stage.world.view("ada").own, [], "nothing is done in the middle of a turn");

    let saved = Saved::read(&text).expect("a snapshot");
    let again = Stage::new(
        TWO,
        &answers.replace("{action: write_artifact, artifact_id: plan, content: sell}, ", ""),
    );
    let plan = Plan::new(&again.chart);
    let machine = Interpreter::resume(&plan, [], again.host(), saved.machine()).expect("its chart");
    let mut agent = again.agent(machine, Arc::new(again.script.clone()), saved.now());
    agent.take_back(&saved).expect("its agent");
    agent.resume(&saved).expect("it goes on");
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(agent.turn()).expect("no fault of the host");
    let lines = agent.into_session().into_parts().1;
    assert_eq!(
        deeds(&lines),
        [r#"first: write_artifact {"artifact_id":"plan","content":"sell"} null"#]
    );
    let told = lines.iter().find_map(|line| match &line.what {
        What::Input { value, .. } => Some(value.clone()),
        _ => None,
    });
    assert_eq!(told, Some(Value::Text("SUCCESS: plan is made, 4 bytes".into())));
    assert_eq!(again.record.with(|record| record.taken), 1);
}

#[test]
fn functions_with_a_method_go_to_the_world_and_others_beside() {
    let stage = Stage::new(
        r#"
chart Host {
  fn is_open() -> Bool from "shop" "open" else false
  fn cost(n: Int) -> Int from "shop" "price"
  fn other(n: Int) -> Int
  initial a
  state a { on turn if is_open() and cost(2) == 7 and other(3) == 4 -> b }
  state b { on turn -> a }
}
"#,
        "functions: {other: 4, is_open: false, cost: 1}",
    );
    let mut host = stage.host();
    assert_eq!(host.call("is_open", &[]), Ok(Value::Bool(true)));
    assert_eq!(host.call("cost", &[Value::Int(2)]), Ok(Value::Int(7)));
    assert_eq!(host.call("other", &[Value::Int(1)]), Ok(Value::Int(4)));
    let why = host.call("cost", &[Value::Int(3)]).expect_err("no case");
    assert!(why.starts_with("invocation_failed: `price` of `shop`"), "{why}");
    assert!(host.call("gone", &[]).is_err());
}

#[test]
fn a_function_is_one_method_in_a_whole_family() {
    let one = |method: &str| {
        named(
            "a.chart",
            &format!(
                "chart A {{\n  fn f() -> Bool{method}\n  initial a\n  state a {{ on turn if f() -> b }}\n  state b {{ on turn -> a }}\n}}\n"
            ),
        )
    };
    let charts =
        [r#" from "shop" "open""#, r#" from "shop" "open""#, r#" from "shop" "price""#, ""]
            .map(one);
    let family = |a: usize, b: usize| {
        let world = world();
        let charts = [&*charts[a], &*charts[b]];
        let made = Artifacts::new(world, SharedRecord::default(), &charts, Script::empty());
        made.err().map(|why| why.to_string())
    };
    assert_eq!(family(0, 1), None);
    let why = family(0, 2).expect("another method");
    assert!(
        why.starts_with("`f` is the method `open` of `shop` in one chart and another thing"),
        "{why}"
    );
    assert!(family(3, 0).is_some_and(|why| why.contains("`open` of `shop`")), "a method and none");
    assert_eq!(family(3, 3), None);
}

#[test]
fn an_input_of_another_type_is_told_with_its_cure() {
    let stage = Stage::new(
        "chart C {\n  input balance: Text = \"\"\n  initial a\n  state a { llm x { prompt \"{balance}\" } }\n}\n",
        "answers: {x: [noop]}",
    );
    let plan = Plan::new(&stage.chart);
    let machine = Interpreter::new(&plan, stage.host(), []).expect("no params");
    let mut agent = stage.agent(machine, Arc::new(stage.script.clone()), 0);
    let why = agent.before_turn().expect_err("a text is no number").to_string();
    assert_eq!(
        why,
        "input `balance`: expected Text, found Int; the agent's record sets it: declare it so, or give it a value"
    );
    agent.input("balance", Value::Text("much".into())).expect("a text");
    agent.before_turn().expect("the host has given it");
}
