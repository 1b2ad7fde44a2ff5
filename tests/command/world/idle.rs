//! What is said of agents that do nothing: why, and how many.

use super::making::{NOOP, doers, logged};
use super::running::{lines, run, traders, with};
use super::{chartc, folder};
use serde_json::Value;
use std::path::Path;

/// Gives an agent of a run file a budget.
fn bound(folder: &Path, agent: &str, budget: &str) {
    let file = folder.join("run.yaml");
    let text = std::fs::read_to_string(&file).expect("a run file");
    let llm = format!("llm: 'script:{agent}.script.yaml'");
    let text = text.replace(&llm, &format!("{llm}, budget: {{{budget}}}"));
    std::fs::write(file, text).expect("a file");
}

fn events<'l>(log: &'l [Value], event: &str) -> Vec<&'l Value> {
    log.iter().filter(|line| line["event"] == event).map(|line| &line["data"]).collect()
}

#[test]
fn an_agent_without_a_budget_is_paused_and_the_run_says_why() {
    let scripts: &[(&str, &[&str])] = &[("ada", &[NOOP]), ("bob", &[NOOP])];
    for end in [["--ticks", "3"], ["--duration", "40"]] {
        let folder = doers("idle", "execution: {delay: 10}", scripts);
        bound(&folder, "bob", "llm_calls: 1");
        let (out, log) = logged(&folder, &end);
        let last = out.last().expect("a line");
        let why = "the budget of `bob` is used up: 1 of 1 llm_calls";
        assert_eq!(last["loops"]["bob"], "paused", "{last}");
        assert_eq!(last["idle"], serde_json::json!({"bob": format!("paused, {why}")}), "{last}");
        let told = events(&log, "paused");
        assert_eq!(told, [&serde_json::json!({"agent": "bob", "why": why})], "once");
        assert_eq!(out[out.len() - 2]["paused"], 1, "{out:?}");
        let (_, text, _) = run(&folder, &[&end[..], &["--format", "text"]].concat());
        assert!(text.contains(&format!("\n  bob is paused: {why}\n")), "{text}");
        assert!(text.contains(", 1 agent paused\n"), "{text}");
        assert!(text.contains(&format!("  bob: doing, 100 scrip, paused, {why}\n")), "{text}");
        assert!(text.contains("  ada: doing, 100 scrip\n"), "{text}");
    }
}

#[test]
fn an_agent_that_has_failed_too_often_is_paused_to_the_end() {
    let folder = traders("idle-failing");
    let script = "answers: {write: {then: repeat, answers: [{fail: server}]}}";
    with(&folder, &[("trader.script.yaml", script)]);
    let (code, out, _) = run(&folder, &["--duration", "100", "--log", "log.jsonl"]);
    assert_eq!(code, Some(0), "{out}");
    let end = lines(&out).pop().expect("a line");
    assert_eq!(end["loops"]["t_1"], "paused", "{end}");
    assert_eq!(end["idle"]["t_1"], "paused, 5 turns in a row have failed", "{end}");
    let log = lines(&std::fs::read_to_string(folder.join("log.jsonl")).expect("a log"));
    assert_eq!(events(&log, "paused").len(), 20);
}

#[test]
fn only_calls_that_were_made_are_counted() {
    let counted = |out: &[Value]| -> u64 {
        out.iter()
            .filter(|line| line["type"] == "tick_summary")
            .filter_map(|line| line["llm_calls"].as_u64())
            .sum()
    };
    let of = |log: &[Value], kind: &str| log.iter().filter(|line| line["kind"] == kind).count();
    let wait = "execution: {ticks: 4, delay: 10, resource_exhaustion_policy: block}
rate_limiting: {window_seconds: 25, resources: {llm_calls: {max_per_window: 1}}}";
    let folder = doers("calls-waiting", wait, &[("ada", &[NOOP])]);
    let (out, log) = logged(&folder, &[]);
    assert_eq!(counted(&out[..1]), 1, "{out:?}");
    assert_eq!(counted(&out) as usize, of(&log, "answer"), "{out:?}");
    // Nobody may be asked.
    let folder = traders("calls-denied");
    let text = std::fs::read_to_string(folder.join("run.yaml")).expect("a run file");
    with(&folder, &[("run.yaml", &text.replace(", llm: 'script:trader.script.yaml'", ""))]);
    let (out, log) = logged(&folder, &["--ticks", "2", "--llm", "deny"]);
    assert!(of(&log, "question") >= 20 && of(&log, "answer") == 0, "{out:?}");
    assert_eq!((counted(&out), &out[2]["llm_calls"]), (0, &0.into()), "{out:?}");
}

#[test]
fn an_auction_without_bids_has_no_winner() {
    let auction = "execution: {delay: 5}
auction: {first_auction_delay_seconds: 3, bidding_window_seconds: 3, period_seconds: 20}";
    let folder = doers("no-bids", auction, &[("ada", &[NOOP])]);
    let (out, log) = logged(&folder, &["--duration", "20"]);
    assert!(!events(&log, "auction_resolved").is_empty());
    let told: Vec<&Value> =
        out.iter().filter_map(|line| line["highlights"].as_array()).flatten().collect();
    assert_eq!(told, ["the auction had no winner"], "{out:?}");
}

#[test]
fn many_agents_are_counted_and_some_are_listed() {
    let folder = traders("idle-many");
    let text = std::fs::read_to_string(folder.join("run.yaml")).expect("a run file");
    let text = text.replace("count: 20", "count: 50, budget: {llm_calls: 1}");
    with(&folder, &[("run.yaml", &text)]);
    let (code, out, err) = run(&folder, &["--ticks", "2", "--format", "text"]);
    assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
    let (_, end) = out.split_once("ended after").expect("an end");
    assert!(end.contains("\n  50 agents: 50 paused\n"), "{end}");
    assert_eq!(
        end.lines().filter(|line| line.contains(": ") && line.contains(" scrip")).count(),
        20
    );
    assert!(end.lines().count() < 30 && end.ends_with("--format json lists all agents\n"), "{end}");
}

#[test]
fn an_agent_without_states_has_no_empty_part() {
    let folder = folder("no-states");
    let agent = "id: ada\nworkflow:\n  steps:\n    - {name: think, type: llm, prompt: 'go'}\n";
    with(&folder, &[("agents/ada/agent.yaml", agent)]);
    let (_, out, err) = run(&folder, &["--ticks", "1", "--llm", "first", "--format", "text"]);
    assert!(out.contains("\n  ada: 100 scrip"), "{out}{err}");
}

#[test]
fn an_action_is_logged_with_the_reason_of_the_model() {
    let read = "action: read_artifact, artifact_id: genesis_ledger";
    let act = format!("{read}, reasoning: 'nothing is for sale'");
    let folder = doers("reasons", "execution: {ticks: 1}", &[("ada", &[&act]), ("bob", &[read])]);
    let (_, log) = logged(&folder, &[]);
    let reason = |agent: &str| {
        let of = |line: &&Value| line["kind"] == "acted" && line["agent"] == agent;
        log.iter().find(of).map(|line| line["reasoning"].clone()).expect("an action")
    };
    assert_eq!((reason("ada"), reason("bob")), ("nothing is for sale".into(), Value::Null));
}

#[test]
#[cfg(feature = "sqlite")]
fn a_store_shows_the_loops_of_its_agents_and_what_they_use() {
    let folder = doers("idle-stored", "execution: {}", &[("ada", &[NOOP]), ("bob", &[NOOP])]);
    bound(&folder, "bob", "llm_calls: 1");
    logged(&folder, &["--ticks", "3", "--store", "w.db"]);
    let list = |format: &str| {
        let output = chartc(&folder, &["store", "w.db", "list", "--format", format]).output();
        String::from_utf8(output.expect("it runs").stdout).expect("text")
    };
    let told: Value = serde_json::from_str(&list("json")).expect("JSON");
    let [ada, bob] = &told["each"].as_array().expect("agents")[..] else { panic!("{told}") };
    assert_eq!(
        (&ada["loop"], &ada["turns"], &ada["why"]),
        (&"running".into(), &3.into(), &Value::Null)
    );
    assert_eq!((&bob["loop"], &bob["turns"]), (&"paused".into(), &1.into()), "{bob}");
    assert!(ada["cpu_ms"].as_f64().is_some_and(|used| used > 0.0), "{ada}");
    assert!(
        ada["memory_bytes"].as_u64().is_some_and(|used| cfg!(not(target_os = "linux")) || used > 0),
        "{ada}"
    );
    let text = list("text");
    let rows: Vec<&str> =
        text.lines().skip(1).map(|line| line.split_whitespace().next().unwrap_or("")).collect();
    assert_eq!(rows, ["agent", "bob", "ada"], "{text}");
    assert!(text.contains("the budget of `bob` is used up"), "{text}");
}

/// The settings of a run file for charts that have none of their own: how long a state may last, and how much of the past is kept.
#[test]
fn a_run_file_bounds_turns_in_a_state_and_the_history() {
    let folder = folder("statechart-bounds");
    let chart = "chart Slow {
      trace 9
      var n: Int = 0
      initial work
      state work { code go { n = n + 1 }  on turn if n < 0 -> done  on error.stuck.timeout -> late }
      state late { code go_on { n = n + 1 }  on turn if n < 0 -> done  after 9 turns -> done }
      final done
    }";
    let write = |statechart: &str| {
        std::fs::write(folder.join("slow.chart"), chart).expect("a file");
        let agents = "agents: [{file: slow.chart, id: ada}]\n";
        std::fs::write(folder.join("run.yaml"), format!("{agents}{statechart}")).expect("a file");
    };
    let at = |ticks: &str| {
        let (code, out, err) = run(&folder, &["--ticks", ticks]);
        assert_eq!(code, Some(0), "{out}{err}");
        lines(&out).pop().expect("a line")["states"]["ada"].clone()
    };
    write("statechart: {default_timeout_ticks: 3, max_history_depth: 2}\n");
    assert_eq!(at("2"), serde_json::json!(["work"]));
    assert_eq!(at("3"), serde_json::json!(["late"]));
    // A state with a deadline of its own is not bounded.
    assert_eq!(at("8"), serde_json::json!(["late"]));
    write("");
    assert_eq!(at("8"), serde_json::json!(["work"]));
}
