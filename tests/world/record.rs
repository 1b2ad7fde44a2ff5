//! Records of agents, which the agents are: whoever rewrites one changes how its agent goes on.

use crate::door::map;
use chartc::chart_compiler::Compiler;
use chartc_core::expr::{Map, Value};
use chartc_core::interpreter::Interpreter;
use chartc_runtime::Session;
use chartc_runtime::agent::{Agent, ArtifactHost, Life, Profile, Record, SharedRecord};
use chartc_runtime::clock::VirtualClock;
use chartc_runtime::oracle::{Asking, Oracle, Question, ready};
use chartc_runtime::trace::Line;
use chartc_world::{Form, NewAgent, Settings, Workshop, World};
use std::sync::{Arc, Mutex};

/// Answers with one action after the other, and keeps what it was asked.
struct Listening {
    asked: Mutex<Vec<Question>>,
    answers: Mutex<Vec<&'static str>>,
}

impl Oracle for Listening {
    fn ask(&self, question: Arc<Question>) -> Asking {
        self.asked.lock().expect("one thread").push(Question::clone(&question));
        let next = self.answers.lock().expect("one thread").remove(0);
        ready(Ok(next.to_owned().into()))
    }

    fn name(&self) -> String {
        "listening".to_owned()
    }
}

const ALICE: &str = "
id: alice
llm_model: gemini/flash
temperature: 0.7
max_tokens: 100
inputs: {mood: calm}
workflow:
  steps:
    - {name: act, type: llm, prompt: '{mood}: {system_prompt}'}
";

/// A chart that takes no instructions as an input.
const BELL: &str = r#"
/// Asks when it is rung.
chart Bell {
  client one { model "gemini:flash"  temperature 0.7 }
  event ring
  initial still
  state still {
    ask how with one on ring else stay { prompt """How? {options}""" }
    may softly "softly" -> still
    may loudly "loudly" -> still
  }
}
"#;

fn world(name: &str, form: Form, text: &str) -> World {
    let world = World::new(Settings::default()).with_workshop(Arc::new(Compiler));
    let family = Compiler.build(name, form, text, &|_| None).expect("it compiles");
    world.permit_models(&["gemini/pro".to_owned()]);
    world
        .add_agent(NewAgent { name: name.to_owned(), family: Some(family), ..NewAgent::default() })
        .expect("the name is free");
    world
}

type Listened = Agent<Interpreter<()>, Vec<Line>>;

/// The agent of a world with one, and who answers it.
fn agent(
    name: &str,
    (form, text): (Form, &str),
    world: &World,
    answers: &[&'static str],
) -> (Listened, Arc<Listening>) {
    let family = Compiler.build(name, form, text, &|_| None).expect("it compiles");
    let answers = Mutex::new(answers.to_vec());
    let oracle = Arc::new(Listening { asked: Mutex::default(), answers });
    let machine = Interpreter::new(&family.plans[0], (), []).expect("it has no params");
    let session = Session::new(machine, oracle.clone(), Arc::new(VirtualClock::new()), Vec::new());
    let profile = Profile::of(family.root()).expect("it says nothing wrong");
    let life = Life::new(world.shared(), SharedRecord::new(Record::new(name)), profile);
    (Agent::new(session, Some(life)), oracle)
}

fn record(world: &World, name: &str) -> Map {
    match world.artifact(name).map(|artifact| artifact.content) {
        Some(Value::Map(record)) => record,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "current_thread")]
async fn an_agent_is_what_its_record_says() {
    let world = world("alice", Form::Agent, ALICE);
    let first = map(
        r#"{"system_prompt": "", "llm_model": "gemini:flash", "temperature": 0.7, "max_tokens": 100}"#,
    );
    assert_eq!(record(&world, "alice"), first, "what nobody has written yet");
    let answers = [
        r#"{"action": "write_artifact", "artifact_id": "alice", "content": {"system_prompt": "Sell lamps.", "llm_model": "gemini/pro", "temperature": 0.2, "inputs": {"mood": "bold"}}}"#,
        r#"{"action": "write_artifact", "artifact_id": "alice", "content": {"temperature": "hot"}}"#,
        r#"{"action": "write_artifact", "artifact_id": "alice", "content": {"llm_model": "openai/gpt"}}"#,
        r#"{"action": "write_artifact", "artifact_id": "alice", "content": {"working_memory": {"goal": "gold"}}}"#,
        r#"{"action": "write_artifact", "artifact_id": "alice", "content": "{\"inputs\": {\"mood\": \"shy\"}, \"temperature\": null, \"max_tokens\": 9}"}"#,
        r#"{"action": "noop"}"#,
    ];
    let (mut alice, oracle) = agent("alice", (Form::Agent, ALICE), &world, &answers);
    for _ in &answers {
        alice.turn().await.expect("it goes on");
    }
    let asked = oracle.asked.lock().expect("one thread");
    let seen: Vec<_> = asked
        .iter()
        .map(|q| (q.prompt.trim(), &*q.model.model, q.model.temperature, q.model.max_tokens))
        .collect();
    let rewritten = ("bold: Sell lamps.", "gemini:pro", Some(0.2), Some(100));
    assert_eq!(
        seen,
        [
            ("calm:", "gemini:flash", Some(0.7), Some(100)),
            rewritten,
            // What is refused changes nothing, and a record of working memory alone keeps the settings.
            rewritten,
            rewritten,
            rewritten,
            ("shy: Sell lamps.", "gemini:pro", Some(0.7), Some(9)),
        ]
    );
    let failures: Vec<String> = alice
        .record()
        .expect("it acts in a world")
        .failures
        .iter()
        .map(|entry| entry.result.clone())
        .collect();
    assert_eq!(
        failures,
        [
            "intent_rejected: the record of `alice` stays as it was: `temperature` of a record is a number from 0 to 2, not Text",
            "intent_rejected: the record of `alice` stays as it was: `openai:gpt` is no model that the agent may choose; it may choose gemini:flash, gemini:pro",
        ]
        .map(|why| chartc_runtime::agent::cut(why, 120).to_owned() + &match why.len() - chartc_runtime::agent::cut(why, 120).len() {
            0 => String::new(),
            more => format!("… ({more} more bytes)"),
        })
    );
}

#[tokio::test(flavor = "current_thread")]
async fn a_chart_without_that_input_is_told_at_the_beginning_of_its_prompts() {
    let world = world("bell", Form::Chart, BELL);
    let content = Value::Map(map(r#"{"system_prompt": "Be loud.", "temperature": 0}"#));
    let action =
        chartc_runtime::agent::Action::Write { artifact: "bell".into(), ty: None, content };
    let (mut bell, oracle) = agent("bell", (Form::Chart, BELL), &world, &["loudly", "loudly"]);
    bell.enter().expect("it starts");
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    let mut ring = || {
        bell.post_event("ring", Map::new()).expect("it is declared");
        bell.work(0, &mut cx).expect("it asks");
    };
    ring();
    world.act("bell", &action).await.expect("its own");
    ring();
    let asked = oracle.asked.lock().expect("one thread");
    let seen: Vec<_> = asked.iter().map(|q| (q.prompt.as_str(), q.model.temperature)).collect();
    assert_eq!(
        seen,
        [
            ("How? - softly: softly\n- loudly: loudly", Some(0.7)),
            ("Be loud.\n\nHow? - softly: softly\n- loudly: loudly", Some(0.0))
        ]
    );
}

#[test]
fn what_a_record_says_is_kept_with_the_world() {
    let first = world("alice", Form::Agent, ALICE);
    let content = Value::Map(map(r#"{"system_prompt": "Sell lamps.", "llm_model": "gemini/pro"}"#));
    crate::door::act(
        &first,
        "alice",
        &chartc_runtime::agent::Action::Write { artifact: "alice".into(), ty: None, content },
    )
    .expect("its own");
    let second = world("alice", Form::Agent, ALICE);
    second.load(&first.save()).expect("it is the same world");
    assert_eq!(record(&second, "alice"), record(&first, "alice"));
    let why = crate::door::write(&second, "alice", "alice", "", "gold").expect_err("no mapping");
    assert!(why.starts_with("intent_rejected: the record of `alice` is a mapping"), "{why}");
    let content = Value::Map(map(r#"{"llm_model": "gemini/pro", "inputs": {"balance": 9}}"#));
    let why = crate::door::act(
        &second,
        "alice",
        &chartc_runtime::agent::Action::Write { artifact: "alice".into(), ty: None, content },
    )
    .expect_err("the world says that");
    assert!(why.contains("`inputs.balance` is no input"), "{why}");
}
