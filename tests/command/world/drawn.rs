//! Agents that answer whatever real models have answered: what is done is always one of the four actions, whole, and no scrip is lost.
//!
//! 2,000 turns of 20 agents. `CHARTC_DRAWN_TURNS=100000 cargo test --test command drawn` is the whole campaign.

use super::running::lines;
use super::{chartc, folder};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use test_support::project::{number, root};

const AGENTS: usize = 20;
/// Answers of one agent, after which they begin again.
const ANSWERS: usize = 200;
/// Agents that take part, with the steps at which they ask.
const KINDS: [(&str, &[&str]); 6] = [
    ("alice.yaml", &["propose_action"]),
    ("alpha_2/agent.yaml", &["self_audit", "review_strategy", "decide_action"]),
    ("alpha_2.chart", &["self_audit", "review_strategy", "decide_action"]),
    ("beta_2/agent.yaml", &["strategic_review", "tactical_plan", "decide_action"]),
    ("beta_2.chart", &["strategic_review", "tactical_plan", "decide_action"]),
    ("builder.agent.yaml", &["observe", "ideate", "implement", "test", "reflect", "ship"]),
];

/// Draws of one seed.
struct Draws(u64);

impl Draws {
    fn of<'a>(&mut self, all: &'a [String]) -> &'a str {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        &all[(self.0 >> 33) as usize % all.len()]
    }
}

/// Actions that are possible in the world, some of them with something left out, beside what models have said.
fn actions() -> Vec<String> {
    let mut all = vec![
        json!({"action": "noop"}),
        json!({"action": "read_artifact", "artifact_id": "genesis_ledger"}),
        json!({"action": "read_artifact", "artifact_id": "nothing"}),
        json!({"action": "write_artifact", "artifact_id": "note", "content": "x"}),
        json!({"action": "write_artifact", "artifact_id": "a1", "content": {"working_memory": {"subgoal_done": 1}}}),
        json!({"action": "write_artifact", "artifact_id": "seed", "artifact_type": "chart", "content": "chart Seed { event go  initial a  state a { on go -> b }  final b }"}),
        json!({"action": "invoke_artifact", "artifact_id": "seed", "method": "go", "args": []}),
        json!({"action": "invoke_artifact", "artifact_id": "genesis_ledger", "method": "transfer", "args": ["a2", 7]}),
        json!({"action": "invoke_artifact", "artifact_id": "genesis_ledger", "method": "transfer", "args": {"to": "a3", "amount": 1000}}),
        json!({"action": "invoke_artifact", "artifact_id": "genesis_escrow", "method": "deposit", "args": ["note", 5]}),
        json!({"action": "invoke_artifact", "artifact_id": "genesis_escrow", "method": "purchase", "args": ["note"]}),
        json!({"action": "dance"}),
        json!({"action": 7}),
    ];
    let whole: Vec<Value> =
        all.iter().filter(|one| one.get("artifact_id").is_some()).cloned().collect();
    for one in whole {
        let fields = one.as_object().expect("a mapping");
        for left_out in fields.keys() {
            let mut less = fields.clone();
            less.remove(left_out);
            all.push(Value::Object(less));
            let mut other = fields.clone();
            other.insert(left_out.clone(), json!([1, null]));
            all.push(Value::Object(other));
        }
    }
    all.iter().map(Value::to_string).collect()
}

/// What two real models have answered, or nothing where the file is not there.
fn said() -> Option<Vec<String>> {
    let home =
        std::env::var_os("CHARTC_SHARED").map_or_else(|| root().join("../shared"), PathBuf::from);
    let path = home.join("cases/model/answers.jsonl");
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped, not found: {}", path.display());
        return None;
    };
    let answer = |line: Value| line["answer"].as_str().map(str::to_owned);
    Some(lines(&text).into_iter().filter_map(answer).collect())
}

#[test]
fn agents_do_only_whole_actions_whatever_a_model_says() {
    let Some(answers) = said() else { return };
    let possible = actions();
    let turns = number("CHARTC_DRAWN_TURNS", 2_000_usize);
    let folder = folder("drawn");
    let mut draws = Draws(7);
    let alice = "id: alice\nstarting_scrip: 100\nrag: {enabled: true, limit: 5, query_template: \"Current context. What should I do?\"}\n";
    std::fs::write(folder.join("alice.yaml"), alice).expect("a file");
    let mut agents = Vec::new();
    for number in 1..=AGENTS {
        let (kind, steps) = KINDS[number % KINDS.len()];
        let script: BTreeMap<&str, Value> = steps
            .iter()
            .map(|step| {
                // Half of the agents also choose what is possible here.
                let pool = |nth: usize| {
                    if number.is_multiple_of(2) && nth.is_multiple_of(2) {
                        &possible
                    } else {
                        &answers
                    }
                };
                let drawn = (0..ANSWERS).map(|nth| json!({"text": draws.of(pool(nth))}));
                (*step, json!({"then": "repeat", "answers": drawn.collect::<Vec<_>>()}))
            })
            .collect();
        let name = format!("{number}.script.yaml");
        std::fs::write(folder.join(&name), json!({"answers": script}).to_string()).expect("a file");
        let file =
            if kind == "alice.yaml" { folder.join(kind) } else { root().join("charts").join(kind) };
        agents.push(
            json!({"file": file, "id": format!("a{number}"), "llm": format!("script:{name}")}),
        );
    }
    let run = json!({
        "execution": {"ticks": turns.div_ceil(AGENTS), "delay": 1, "max_consecutive_errors": 1_000_000},
        "resources": {"disk": 20_000, "spawn": {"max_depth": 0}},
        "agents": agents,
    });
    std::fs::write(folder.join("run.yaml"), run.to_string()).expect("a file");
    let args = ["run", ".", "--format", "json", "--log", "log.jsonl", "--root", "/"];
    let output = chartc(&folder, &args).output().expect("it runs");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), errors.as_str()), (Some(0), ""));
    let end = lines(&String::from_utf8_lossy(&output.stdout)).pop().expect("a last line");
    let balances = end["balances"].as_object().expect("balances");
    let scrip: i64 = balances.values().filter_map(Value::as_i64).sum();
    assert_eq!(scrip, 100 * AGENTS as i64, "{end}");
    let (mut taken, mut done, mut refused) = (0, BTreeMap::new(), BTreeMap::new());
    let log = std::fs::File::open(folder.join("log.jsonl")).expect("a log");
    for line in std::io::BufRead::lines(std::io::BufReader::new(log)) {
        let line: Value = serde_json::from_str(&line.expect("text")).expect("JSON");
        taken += usize::from(line["kind"] == "turn");
        if line["kind"] != "acted" && line["kind"] != "not_acted" {
            continue;
        }
        let failed = line["failed"].as_str().unwrap_or_default();
        if !failed.is_empty() {
            assert!(!line["why"].as_str().unwrap_or_default().is_empty(), "no reason: {line}");
            *refused.entry(failed.to_owned()).or_insert(0) += 1;
            continue;
        }
        let action = line["action"].as_str().unwrap_or_default();
        let needs: &[&str] = match action {
            "read_artifact" => &["artifact_id"],
            "write_artifact" => &["artifact_id", "content"],
            "invoke_artifact" => &["artifact_id", "method"],
            other => panic!("`{other}` is no action: {line}"),
        };
        for field in needs {
            assert!(!line["arguments"][field].is_null(), "without {field}: {line}");
        }
        *done.entry(action.to_owned()).or_insert(0) += 1;
    }
    println!("{taken} turns; done: {done:?}; refused: {refused:?}");
    assert!(taken >= turns, "{taken}");
    assert_eq!(done.len(), 3, "each of the actions is done: {done:?}");
    for failure in ["intent_rejected", "not_found", "permission_denied", "insufficient_scrip"] {
        assert!(refused.contains_key(failure), "{failure}: {refused:?}");
    }
}

/// Alpha and beta, each as an agent.yaml and as a chart, in 30 ticks of a world.
#[test]
fn agents_that_watch_themselves_work_on_what_the_world_supplies() {
    let folder = folder("viable");
    let read = |id: &str| json!({"action": "read_artifact", "artifact_id": id});
    let write = |id: &str| json!({"action": "write_artifact", "artifact_id": id, "content": "x"});
    let memory = json!({"working_memory": {"strategic_goal": "Win", "current_subgoal": "Trade"}});
    let again = |answers: Value| json!({"then": "repeat", "answers": answers});
    let noop = json!({"action": "noop"});
    let acts = [
        read("none"),
        read("none"),
        read("none"),
        write("$agent_a"),
        read("genesis_ledger"),
        noop.clone(),
    ];
    let alpha = json!({"answers": {
        "self_audit": again(json!([noop])),
        "review_strategy": again(json!(["trade", "learn", "build"])),
        "decide_action": {"then": "last", "answers": acts},
    }});
    let plan = json!({"action": "write_artifact", "artifact_id": "$agent", "content": memory});
    let beta = json!({"answers": {
        "strategic_review": again(json!([noop])),
        "tactical_plan": {"then": "last", "answers": [plan, noop]},
        "decide_action": again(json!([read("genesis_ledger")])),
    }});
    std::fs::write(folder.join("alpha.yaml"), alpha.to_string()).expect("a file");
    std::fs::write(folder.join("beta.yaml"), beta.to_string()).expect("a file");
    let charts = root().join("charts");
    let agent = |id: &str, file: &str, script: &str| json!({"id": id, "file": charts.join(file), "llm": format!("script:{script}.yaml")});
    let run = json!({"execution": {"ticks": 30, "delay": 1}, "agents": [
        agent("alpha_y", "alpha_2/agent.yaml", "alpha"),
        agent("alpha_c", "alpha_2.chart", "alpha"),
        agent("beta_y", "beta_2/agent.yaml", "beta"),
        agent("beta_c", "beta_2.chart", "beta"),
    ]});
    std::fs::write(folder.join("run.yaml"), run.to_string()).expect("a file");
    let args = ["run", ".", "--format", "json", "--log", "log.jsonl", "--root", "/"];
    let output = chartc(&folder, &args).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let log = lines(&std::fs::read_to_string(folder.join("log.jsonl")).expect("a log"));
    let mut asked: BTreeMap<(String, String), Vec<u64>> = BTreeMap::new();
    let mut turns: BTreeMap<String, u64> = BTreeMap::new();
    for line in &log {
        let agent = line["agent"].as_str().unwrap_or_default().to_owned();
        if line["kind"] == "turn" {
            turns.insert(agent, line["turn"].as_u64().expect("a number"));
        } else if line["kind"] == "question" {
            let turn = turns.get(&agent).copied().unwrap_or(0);
            let step = line["step"].as_str().unwrap_or_default().to_owned();
            asked.entry((agent, step)).or_default().push(turn);
        }
    }
    let at = |agent: &str, step: &str| {
        asked.get(&(agent.to_owned(), step.to_owned())).cloned().unwrap_or_default()
    };
    for form in ["alpha_y", "alpha_c"] {
        assert_eq!(at(form, "self_audit"), [4], "{form}: once, after three failures");
        assert_eq!(at(form, "review_strategy"), [5], "{form}");
    }
    for form in ["beta_y", "beta_c"] {
        assert_eq!(at(form, "strategic_review"), [10, 20, 30], "{form}");
    }
    // The goals that were written are those of the next turn.
    let told = log.iter().any(|line| {
        line["agent"] == "beta_c" && line["name"] == "strategic_goal" && line["value"] == "Win"
    });
    assert!(told, "the working memory is read back");
}
