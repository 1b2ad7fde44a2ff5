//! What an engine for `agent.yaml` did with agents, step by step, against what their charts do here: steps run and skipped, states,
//! decisions, moves, variables set, actions, calls, success.
//!
//! A folder holds `files/NAME.yaml` and `traces.jsonl`, a run a line; only those that are `clean`, without an engine error on the way,
//! are compared. One such folder is committed; `CHARTC_AGENT_YAML=DIR` names another.

use chartc::load::Memory;
use chartc_core::expr::Value;
use chartc_core::host::{Host, Machine};
use chartc_core::interpreter::Interpreter;
use chartc_core::model::{Chart, Failure, FailurePolicy, Retry, VariableKind};
use chartc_core::plan::Plan;
use chartc_runtime::Session;
use chartc_runtime::clock::VirtualClock;
use chartc_runtime::oracle::{Answer, Asking, Oracle, OracleError, Question, ready};
use chartc_runtime::trace::{Line, What};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};
use test_support::project::{root, shared_agents};

/// Answers in a circle, one circle for `llm` steps and one for transition steps.
struct Circles {
    transitions: BTreeSet<String>,
    answers: [Vec<Json>; 2],
    used: Mutex<[usize; 2]>,
}

impl Oracle for Circles {
    fn ask(&self, question: Arc<Question>) -> Asking {
        let kind = usize::from(self.transitions.contains(&*question.step));
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

/// A step that ran: its name, the state before it and after it, what was decided, where it was to lead and whether it did.
#[derive(Debug, Clone, PartialEq)]
struct Ran {
    step: String,
    before: String,
    after: String,
    decision: Option<String>,
    moved: Option<(String, bool)>,
}

/// One turn as the trace and as the chart tell it: steps that ran, all others being skipped or not come to, and the rest.
#[derive(Debug, PartialEq)]
struct Turn {
    steps: Vec<Ran>,
    before: String,
    after: String,
    calls: u64,
    action: Option<String>,
    success: bool,
}

fn told(turn: &Json) -> Turn {
    let text = |v: &Json| v.as_str().unwrap_or_default().to_owned();
    let ran = |s: &Json| Ran {
        step: text(&s["step"]),
        before: text(&s["state_before"]),
        after: text(&s["state_after"]),
        decision: s["decision"].as_str().map(str::to_owned),
        moved: s["transition"]["to"].as_str().map(|to| {
            (to.to_owned(), s["transition"]["success"].as_bool().expect("it did or did not"))
        }),
    };
    Turn {
        steps: turn["steps"].as_array().expect("steps").iter().map(ran).collect(),
        before: text(&turn["state_before"]),
        after: text(&turn["state_after"]),
        calls: turn["llm_calls"].as_u64().expect("a number"),
        action: turn["action"].as_str().map(str::to_owned),
        success: turn["success"].as_bool().expect("it did or did not"),
    }
}

/// What an agent's file says of its transition steps: the state that each decision leads to.
type Maps = BTreeMap<String, BTreeMap<String, String>>;

/// The steps of an agent's file whose `type` is `transition`.
fn transition_steps(text: &str) -> Vec<Json> {
    let file: Json = serde_yaml::from_str(text).expect("an agent is YAML");
    let steps = file["workflow"]["steps"].as_array().into_iter().flatten();
    steps.filter(|s| s["type"] == "transition").cloned().collect()
}

/// The variables that hold what `transition_source` has decided, by step.
fn sources(text: &str) -> BTreeMap<String, String> {
    let steps = transition_steps(text).into_iter().filter(|s| s["transition_source"].is_object());
    let name = |s: &Json| s["name"].as_str().expect("a step has a name").to_owned();
    steps.map(|s| (name(&s), format!("{}_decision", name(&s)))).collect()
}

fn maps(text: &str) -> Maps {
    let transition = transition_steps(text).into_iter();
    let word = |v: &Json| v.as_str().map_or_else(|| v.to_string(), str::to_owned);
    transition
        .map(|s| {
            let map = s["transition_map"].as_object().into_iter().flatten();
            (word(&s["name"]), map.map(|(k, v)| (k.clone(), word(v))).collect())
        })
        .collect()
}

/// The turn that these lines of a trace tell.
fn done(lines: &[Line], state: &mut String, maps: &Maps) -> Turn {
    let before = state.clone();
    let mut steps: Vec<Ran> = Vec::new();
    let (mut action, mut success) = (None, true);
    let ran = |step: &String, state: &String, decision| Ran {
        step: step.clone(),
        before: state.clone(),
        after: state.clone(),
        decision,
        moved: None,
    };
    for line in lines {
        match &line.what {
            What::Entered { state: entered } if !entered.is_empty() => {
                state.clone_from(entered);
                if let Some(last) = steps.last_mut() {
                    last.after.clone_from(state);
                    last.moved = Some((state.clone(), true));
                }
            }
            What::Denied { line } => {
                if let (Some(last), Some(to)) = (steps.last_mut(), line.targets.first()) {
                    last.moved = Some((to.clone(), false));
                }
            }
            What::Done { step, .. } => steps.push(ran(step, state, None)),
            What::Answer { step, option: Some(decision), .. } => {
                steps.push(ran(step, state, Some(decision.clone())));
            }
            // An answer that the map lacks is the decision and moves nothing; without a map, it changes nothing.
            What::Unusable { step, text, .. } if maps.contains_key(step) => {
                steps.push(ran(step, state, Some(text.trim_matches('"').to_owned())));
            }
            // A transition step whose call failed still decides, by the heuristic.
            What::CallFailed { step, .. } if maps.contains_key(step) => {
                steps.push(ran(step, state, None));
            }
            What::Failed { step, .. } if !maps.contains_key(step) => success = false,
            What::Answer { value: Value::Map(answer), .. } => {
                if let Some(Value::Text(word)) = answer.get("action") {
                    action = Some(word.clone());
                }
            }
            _ => {}
        }
    }
    // The heuristic's decision is known by where it leads.
    for step in steps.iter_mut().filter(|s| s.decision.is_none()) {
        let map = maps.get(&step.step);
        let to = step.moved.as_ref().map(|(to, _)| to);
        step.decision =
            map.and_then(|map| map.iter().find(|(_, t)| Some(*t) == to)).map(|(d, _)| d.clone());
    }
    Turn { steps, before, after: state.clone(), calls: 0, action, success }
}

/// Plays a trace on the chart; what differs, as text.
fn play(
    chart: &Arc<Chart>,
    trace: &Json,
    maps: &Maps,
    sources: &BTreeMap<String, String>,
) -> Option<String> {
    let answers = |key: &str| trace["responses"][key].as_array().expect("answers").clone();
    let oracle = Circles {
        transitions: maps.keys().cloned().collect(),
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
    let mut reports = Vec::new();
    let mut sets = Vec::new();
    let mut decided: Vec<BTreeMap<String, String>> = Vec::new();
    for turn in trace["turns"].as_array().expect("turns") {
        let report = runtime.block_on(session.turn()).expect("no fault of the host");
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
        let decision = |(step, variable): (&String, &String)| match now.get(variable) {
            Some(Value::Text(text)) => Some((step.clone(), text.clone())),
            _ => None,
        };
        let found: BTreeMap<String, String> = sources.iter().filter_map(decision).collect();
        decided.push(found);
        for (name, value) in now.iter().filter(|(name, value)| before.get(*name) != Some(value)) {
            if sources.values().any(|variable| variable == name) {
                continue;
            }
            if !set.contains_key(&name.trim_end_matches('_').to_owned()) {
                sets.push(format!("turn {}: {name} has become {value:?}", report.turn));
            }
        }
        reports.push(report);
    }
    let (_, lines) = session.into_parts();
    let mut found = Vec::new();
    let mut state = String::new();
    let from =
        lines.iter().position(|l| matches!(l.what, What::Turn { .. })).unwrap_or(lines.len());
    done(&lines[..from], &mut state, maps);
    for part in lines[from..].split_inclusive(|l| matches!(l.what, What::TurnEnded { .. })) {
        if let Some(report) = reports.get(found.len()) {
            let mut turn = done(part, &mut state, maps);
            // What a function has decided is in its variable, whether a key maps it or not.
            for ran in &mut turn.steps {
                if let Some(decision) = decided[found.len()].get(&ran.step) {
                    ran.decision = Some(decision.clone());
                }
            }
            turn.calls = u64::from(report.calls);
            turn.success &= report.failed.is_none();
            found.push(turn);
        }
    }
    for (i, (found, wanted)) in found.iter_mut().zip(&wanted).enumerate() {
        // Without a map and without an answer there is no decision here: none would change anything.
        for (ran, wanted) in found.steps.iter_mut().zip(&wanted.steps) {
            if ran.decision.is_none() && maps.get(&ran.step).is_some_and(BTreeMap::is_empty) {
                ran.decision.clone_from(&wanted.decision);
            }
        }
        if found != wanted {
            return Some(format!("turn {}:\n  here     {found:?}\n  original {wanted:?}", i + 1));
        }
    }
    (found.len() != wanted.len() || !sets.is_empty())
        .then(|| format!("{} turns; {}", found.len(), sets.join("\n")))
}

/// The original had no cap of calls, and did not read `error_handling` where these files have it.
fn as_the_original(chart: &mut Chart, maps: &Maps) {
    chart.calls_per_turn = None;
    for step in chart.steps.iter_mut().filter(|s| !maps.contains_key(&s.name)) {
        step.failure = FailurePolicy { retry: Retry::times(3), then: Failure::Fail };
    }
}

/// How many clean traces a folder has, and of each that differs the first difference.
fn compared(folder: &Path) -> (usize, Vec<String>) {
    let traces = std::fs::read_to_string(folder.join("traces.jsonl")).expect("the traces");
    let mut different = Vec::new();
    let mut count = 0;
    for line in traces.lines().filter(|line| !line.trim().is_empty()) {
        let trace: Json = serde_json::from_str(line).expect("JSON");
        if trace["clean"] != true {
            continue;
        }
        let file = trace["file"].as_str().expect("a file");
        let text = std::fs::read_to_string(folder.join("files").join(format!("{file}.yaml")))
            .expect("an agent");
        let compiled = chartc::check(&["agent.yaml".to_owned()], &Memory::of("agent.yaml", &text));
        let maps = maps(&text);
        let mut chart = compiled.lowered[0].chart.clone();
        as_the_original(Arc::make_mut(&mut chart), &maps);
        if let Some(why) = play(&chart, &trace, &maps, &sources(&text)) {
            different.push(format!("{file} {} {}: {why}", trace["policy"], trace["ctx"]));
        }
        count += 1;
    }
    (count, different)
}

#[test]
fn the_committed_agents_do_what_their_traces_say() {
    let (count, different) = compared(&root().join("tests/language/fixtures/agent_yaml"));
    assert!(different.is_empty(), "{}", different.join("\n"));
    assert_eq!(count, 15);
}

#[test]
fn recorded_traces_of_the_original() {
    let named = std::env::var_os("CHARTC_AGENT_YAML").map(std::path::PathBuf::from);
    let is_named = named.is_some();
    let all = || Some(shared_agents()?[0].parent().and_then(Path::parent)?.to_owned());
    let Some(folder) = named.or_else(all) else { return };
    let (count, different) = compared(&folder);
    println!("{} of {count} clean traces reproduced", count - different.len());
    assert!(different.is_empty(), "{}", different.join("\n"));
    assert!(is_named || count == 98, "{count} traces are clean");
}
