//! What the original engine did with the shared agents, step by step, against what their charts do here.
//!
//! Source: `agent_yaml/traces.jsonl` of the shared folder; only traces without an engine error on the way are compared.

use crate::agent_front::shared;
use chartc::load::Memory;
use chartc_core::drive::{Host, Machine};
use chartc_core::expr::Value;
use chartc_core::interpreter::Interpreter;
use chartc_core::model::{Chart, Failure, FailurePolicy, VariableKind};
use chartc_core::plan::Plan;
use chartc_runtime::Session;
use chartc_runtime::clock::VirtualClock;
use chartc_runtime::oracle::{Answer, Asking, Oracle, OracleError, Question, ready};
use chartc_runtime::trace::{Line, What};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Answers in a circle, one circle for `llm` steps and one for transition steps.
struct Circles {
    transitions: BTreeSet<String>,
    answers: [Vec<Json>; 2],
    used: Mutex<[usize; 2]>,
}

impl Oracle for Circles {
    fn ask(&self, question: Question) -> Asking {
        let kind = usize::from(self.transitions.contains(&question.step));
        let mut used = self.used.lock().expect("one thread");
        let answer = &self.answers[kind][used[kind] % self.answers[kind].len()];
        used[kind] += 1;
        let text = match answer.as_str() {
            None => return ready(Err(OracleError::Connection("LLM down".into()))),
            Some(word) if kind == 1 && question.options.is_empty() => format!("\"{word}\""),
            Some(word) if kind == 1 => word.to_owned(),
            Some("act") => r#"{"reasoning": "r", "action": "query_kernel"}"#.to_owned(),
            Some(word) => format!(r#"{{"reasoning": "r", "action": "{word}"}}"#),
        };
        ready(Ok(Answer::from(text)))
    }

    fn name(&self) -> String {
        "circles".to_owned()
    }
}

struct NoHost;

impl Host for NoHost {
    fn call(&mut self, function: &str, _: &[Value]) -> Result<Value, String> {
        Err(format!("{function} is not here"))
    }
}

fn value(json: &Json) -> Value {
    serde_json::from_value(json.clone()).expect("JSON is a value")
}

/// A step that ended: its name, the state before it, the state after it.
type Ended = (String, String, String);

/// One turn as the trace and as the chart tell it: steps, calls, last action.
#[derive(Debug, PartialEq)]
struct Turn {
    steps: Vec<Ended>,
    calls: u64,
    state: String,
    action: Option<String>,
}

fn told(turn: &Json) -> Turn {
    let text = |v: &Json| v.as_str().unwrap_or_default().to_owned();
    let steps = turn["steps"].as_array().expect("steps");
    Turn {
        steps: steps
            .iter()
            .map(|s| (text(&s["step"]), text(&s["state_before"]), text(&s["state_after"])))
            .collect(),
        calls: turn["llm_calls"].as_u64().expect("a number"),
        state: text(&turn["state_after"]),
        action: turn["action"].as_str().map(str::to_owned),
    }
}

fn done(lines: &[Line], state: &mut String, calls: u32, transitions: &BTreeSet<String>) -> Turn {
    let mut steps: Vec<Ended> = Vec::new();
    let mut action = None;
    for line in lines {
        match &line.what {
            What::Entered { state: entered } if !entered.is_empty() => {
                state.clone_from(entered);
                if let Some(last) = steps.last_mut() {
                    last.2.clone_from(state);
                }
            }
            What::Done { step } => steps.push((step.clone(), state.clone(), state.clone())),
            What::Answer { step, option: Some(_), .. } => {
                steps.push((step.clone(), state.clone(), state.clone()));
            }
            // A transition step whose call failed still decides, by the heuristic; an answer that its map lacks moves nothing.
            What::Failed { step } | What::Fallback { step, .. } if transitions.contains(step) => {
                let ended = (step.clone(), state.clone(), state.clone());
                if steps.last() != Some(&ended) {
                    steps.push(ended);
                }
            }
            What::Answer { step, value: Value::Map(answer), .. } if !transitions.contains(step) => {
                if let Some(Value::Text(word)) = answer.get("action") {
                    action = Some(word.clone());
                }
            }
            _ => {}
        }
    }
    Turn { steps, calls: u64::from(calls), state: state.clone(), action }
}

/// Plays a trace on the chart; what differs, as text.
fn play(chart: &Chart, trace: &Json, transitions: &BTreeSet<String>) -> Option<String> {
    let answers = |key: &str| trace["responses"][key].as_array().expect("answers").clone();
    let oracle = Circles {
        transitions: transitions.clone(),
        answers: [answers("cycle_llm"), answers("cycle_transition")],
        used: Mutex::default(),
    };
    let plan = Plan::new(chart);
    let machine = Interpreter::new(&plan, NoHost, Vec::new()).expect("no params");
    let clock = Arc::new(VirtualClock::new());
    let mut session = Session::new(machine, Arc::new(oracle), clock, Vec::<Line>::new());
    let inputs: BTreeSet<&str> = chart
        .variables
        .iter()
        .filter(|v| matches!(v.kind, VariableKind::Input))
        .map(|v| v.name.as_str())
        .collect();
    for (name, json) in trace["context"].as_object().expect("a context") {
        if inputs.contains(name.as_str()) {
            session.input(name, value(json)).expect("inputs fit");
        }
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(session.start()).expect("no fault of the host");
    let before: BTreeMap<String, Value> = session.machine().variables().into_iter().collect();
    let mut wanted = Vec::new();
    let mut calls = Vec::new();
    let mut sets = Vec::new();
    for turn in trace["turns"].as_array().expect("turns") {
        let report = runtime.block_on(session.turn()).expect("no fault of the host");
        calls.push(report.calls);
        wanted.push(told(turn));
        let now: BTreeMap<String, Value> = session.machine().variables().into_iter().collect();
        let steps = turn["steps"].as_array().expect("steps");
        let set: BTreeMap<&String, &Json> =
            steps.iter().filter_map(|s| s["set"].as_object()).flatten().collect();
        for (name, json) in &set {
            let found = now.get(&format!("{name}_")).or_else(|| now.get(*name));
            if found != Some(&value(json)) {
                sets.push(format!("turn {}: {name} is {found:?}, not {json}", report.turn));
            }
        }
        for (name, value) in now.iter().filter(|(name, value)| before.get(*name) != Some(value)) {
            if !set.contains_key(&name.trim_end_matches('_').to_owned()) {
                sets.push(format!("turn {}: {name} has become {value:?}", report.turn));
            }
        }
    }
    let (_, lines) = session.into_parts();
    let mut found = Vec::new();
    let mut state = String::new();
    for part in lines.split_inclusive(|l| matches!(l.what, What::TurnEnded { .. })) {
        if let Some(calls) = calls.get(found.len()) {
            found.push(done(part, &mut state, *calls, transitions));
        }
    }
    for (i, (found, wanted)) in found.iter().zip(&wanted).enumerate() {
        if found != wanted {
            return Some(format!("turn {}:\n  here     {found:?}\n  original {wanted:?}", i + 1));
        }
    }
    (found.len() != wanted.len() || !sets.is_empty())
        .then(|| format!("{} turns; {}", found.len(), sets.join("\n")))
}

/// The original had no cap of calls, and did not read `error_handling` where these files have it.
fn as_the_original(chart: &mut Chart, transitions: &BTreeSet<String>) {
    chart.calls_per_turn = None;
    for step in chart.steps.iter_mut().filter(|s| !transitions.contains(&s.name)) {
        step.failure = FailurePolicy { retries: 3, then: Failure::Fail };
    }
}

#[test]
fn recorded_traces_of_the_original() {
    let Some(files) = shared() else { return };
    let folder = files[0].parent().and_then(Path::parent).expect("a folder");
    let traces = std::fs::read_to_string(folder.join("traces.jsonl")).expect("the traces");
    let traces: Vec<Json> =
        traces.lines().map(|l| serde_json::from_str(l).expect("JSON")).collect();
    let mut transitions: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for trace in &traces {
        let steps = trace["turns"]
            .as_array()
            .into_iter()
            .flatten()
            .flat_map(|t| t["steps"].as_array().into_iter().flatten());
        let of = transitions.entry(trace["file"].as_str().expect("a file")).or_default();
        of.extend(
            steps
                .filter(|s| s["type"] == "transition")
                .filter_map(|s| s["step"].as_str())
                .map(str::to_owned),
        );
    }
    let mut different = String::new();
    let mut compared = 0;
    for trace in traces.iter().filter(|t| t["clean"] == true) {
        let file = trace["file"].as_str().expect("a file");
        let text = std::fs::read_to_string(folder.join("files").join(format!("{file}.yaml")))
            .expect("an agent");
        let compiled = chartc::check(&["agent.yaml".to_owned()], &Memory::of("agent.yaml", &text));
        let mut chart = compiled.lowered[0].chart.clone();
        as_the_original(&mut chart, &transitions[file]);
        if let Some(why) = play(&chart, trace, &transitions[file]) {
            different += &format!("{file} {} {}: {why}\n", trace["policy"], trace["ctx"]);
        }
        compared += 1;
    }
    assert!(different.is_empty(), "{different}");
    assert_eq!(compared, 98);
}
