//! Ticks and loops: who runs, in which order, and that threads change nothing.

use super::{chartc, folder};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// Writes something into the world, pays somebody, and rests.
const TRADER: &str = r#"
/// Trades.
chart Trader {
  param agent_id: Text
  param rest: Int = 2
  input balance: Int = 0
  initial writing
  state writing { llm write { prompt """{agent_id} has {balance}.""" } -> paying }
  state paying { llm pay { prompt """Pay.""" } -> resting }
  state resting { after rest turns -> writing }
}
"#;
const SCRIPT: &str = "
answers:
  write:
    then: repeat
    answers:
      - {answer: {action: write_artifact, artifact_id: $agent_note, content: one}, after: 3s}
      - {answer: {action: write_artifact, artifact_id: $agent_note, content: two}, after: 1s}
  pay:
    then: repeat
    answers:
      - {action: invoke_artifact, artifact_id: genesis_ledger, method: transfer, args: [t_1, 1]}
      - {action: invoke_artifact, artifact_id: genesis_ledger, method: transfer, args: [t_2, 2]}
";
const RUN: &str = "
execution: {ticks: 12}
agents: [{file: trader.chart, id: t, count: 20, llm: 'script:trader.script.yaml'}]
";

pub(super) fn with(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        if let Some(parent) = folder.join(name).parent() {
            std::fs::create_dir_all(parent).expect("a folder");
        }
        std::fs::write(folder.join(name), text).expect("a file");
    }
}

/// Exit code, output, errors.
pub(super) fn run(folder: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let output = chartc(folder, &["run", "."]).args(args).output().expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

pub(super) fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

pub(super) fn traders(name: &str) -> std::path::PathBuf {
    let folder = folder(name);
    with(&folder, &[("trader.chart", TRADER), ("trader.script.yaml", SCRIPT), ("run.yaml", RUN)]);
    folder
}

#[test]
fn one_seed_is_one_run_on_any_number_of_threads() {
    let folder = traders("threads");
    let mut runs = Vec::new();
    for (seed, workers) in [("1", "1"), ("1", "8"), ("1", "3"), ("2", "8")] {
        let args = ["--seed", seed, "--workers", workers, "--log", "log.jsonl"];
        let (code, out, err) = run(&folder, &args);
        assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
        runs.push((out, std::fs::read_to_string(folder.join("log.jsonl")).expect("a log")));
    }
    assert!(runs[0].1.lines().count() > 1000, "{}", runs[0].0);
    assert!(runs[0] == runs[1] && runs[0] == runs[2], "threads change nothing");
    assert_ne!(runs[0].1, runs[3].1, "another seed is another order");
}

#[test]
fn each_tick_is_summed_up() {
    let folder = traders("summary");
    let (code, out, err) = run(&folder, &["--ticks", "3"]);
    assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
    let all = lines(&out);
    let words: Vec<&str> = all.iter().filter_map(|line| line["type"].as_str()).collect();
    assert_eq!(words, ["tick_summary", "tick_summary", "tick_summary", "end"]);
    // Both steps run in the first turn; of two actions the last one is done.
    let first = &all[0];
    assert_eq!(first["agents_active"], 20, "{first}");
    assert_eq!(first["actions_executed"], 20, "{first}");
    let moved = all.iter().filter_map(|line| line["total_scrip_transferred"].as_u64());
    assert!(moved.sum::<u64>() > 0, "{out}");
    let balances = all[3]["balances"].as_object().expect("balances");
    let sum: i64 = balances.values().filter_map(Value::as_i64).sum();
    assert_eq!(sum, 20 * 100, "scrip only moves");
    assert_eq!(all[3]["states"]["t_7"], serde_json::json!(["resting"]), "{}", all[3]);
}

#[test]
fn autonomous_agents_act_at_their_own_pace_until_the_end() {
    let folder = traders("autonomous");
    let (code, out, err) = run(&folder, &["--duration", "40", "--log", "log.jsonl"]);
    assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
    let all = lines(&out);
    let end = all.last().expect("a line");
    let most = all.iter().filter_map(|line| line["agents_active"].as_u64()).max();
    assert_eq!(most, Some(20), "each counts once, however often it acts");
    // Turns that have begun are finished.
    let now = end["now_ms"].as_u64().expect("a time");
    assert!((40_000..43_001).contains(&now), "{end}");
    let states: BTreeSet<&str> =
        end["loops"].as_object().expect("loops").values().filter_map(Value::as_str).collect();
    assert_eq!(states, BTreeSet::from(["stopped"]));
    let log = std::fs::read_to_string(folder.join("log.jsonl")).expect("a log");
    let acted = lines(&log).iter().filter(|line| line["kind"] == "acted").count();
    assert!(acted > 100, "{acted}");
}

#[test]
fn without_loops_of_their_own_agents_tick_for_the_duration() {
    let folder = traders("no-loops");
    let wanted = "execution: {use_autonomous_loops: false, duration: 50, delay: 20}";
    with(&folder, &[("run.yaml", &RUN.replace("execution: {ticks: 12}", wanted))]);
    let (code, out, err) = run(&folder, &[]);
    assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
    let all = lines(&out);
    let times: Vec<u64> = all.iter().filter_map(|line| line["now_ms"].as_u64()).collect();
    assert_eq!(times, [20_000, 40_000, 60_000, 60_000], "three ticks and the end");
    let end = all.last().expect("a line");
    assert_eq!(end["loops"]["t_1"], "running", "it is between two turns: {end}");
}

#[test]
fn agents_that_fail_rest_longer_each_time_and_are_paused() {
    let folder = traders("failing");
    with(
        &folder,
        &[("trader.script.yaml", "answers: {write: {then: repeat, answers: [{fail: server}]}}")],
    );
    let (code, out, _) = run(&folder, &["--duration", "100", "--log", "log.jsonl"]);
    assert_eq!(code, Some(0), "{out}");
    let log = std::fs::read_to_string(folder.join("log.jsonl")).expect("a log");
    let turns: Vec<u64> = lines(&log)
        .iter()
        .filter(|line| line["kind"] == "turn" && line["agent"] == "t_1")
        .filter_map(|line| line["at_ms"].as_u64())
        .collect();
    assert_eq!(turns.len(), 5, "{turns:?}");
    let waits: Vec<u64> = turns.windows(2).map(|two| two[1] - two[0]).collect();
    assert!(waits.is_sorted() && waits[0] < waits[3], "{waits:?}");
}

#[test]
fn a_folder_runs_what_no_other_chart_runs_and_leaves_tests_and_disabled_agents_out() {
    let folder = folder("found");
    with(
        &folder,
        &[
            (
                "one.chart",
                "chart Outer {\n  initial a\n  state a { run inner Inner }\n}\n\nchart Inner {\n  initial a\n  final a\n}\n",
            ),
            ("one.test.chart", "test \"x\" of Outer {\n  start\n}\n"),
            (
                "agents/ada/agent.yaml",
                "id: ada\nworkflow:\n  steps:\n    - {name: think, type: llm, prompt: 'go'}\n",
            ),
            (
                "agents/bob/agent.yaml",
                "id: bob\nenabled: false\nworkflow:\n  steps:\n    - {name: think, type: llm, prompt: 'go'}\n",
            ),
        ],
    );
    let (_, out, err) = run(&folder, &["--ticks", "1", "--llm", "first"]);
    let all = lines(&out);
    let end = all.last().unwrap_or_else(|| panic!("{err}"));
    let names: Vec<&String> = end["states"].as_object().expect("states").keys().collect();
    assert_eq!(names, ["Outer", "ada"], "{end}");
}

#[test]
fn what_cannot_run_is_refused_with_its_place() {
    for (run_file, args, wanted) in [
        (
            "agents: [{file: trader.chart, id: x}, {file: trader.chart, id: x}]",
            &[][..],
            "`agents[2]` has the id `x`, which another agent has",
        ),
        ("agents: [{file: trader.chrt}]", &[], "there is no file trader.chrt"),
        ("agents: [{file: trader.chart, chart: Tradr}]", &[], "did you mean `Trader`?"),
        ("execution: {tick: 3}", &[], "`execution.tick` is unknown"),
        ("balances: {trader: 3}", &[], "did you mean `Trader`?"),
        (RUN, &["--turns", "3"], "`--turns` has no meaning for many agents"),
        (RUN, &["--duration=-1"], "--duration"),
        ("agents: [{file: trader.chart}]", &["--llm", "human"], "answers one agent, not many"),
    ] {
        let folder = traders("refused");
        with(&folder, &[("run.yaml", run_file)]);
        let (code, out, err) = run(&folder, args);
        assert_eq!(code, Some(2), "{run_file}: {out}{err}");
        assert!(err.contains(wanted), "{run_file}: {err}");
    }
    let folder = traders("nowhere");
    for (name, wanted) in [
        ("nowhere", "there is no folder nowhere"),
        ("trader.chart", "`--ticks` is for many agents, and trader.chart is one file"),
    ] {
        let output = chartc(&folder, &["run", name, "--ticks", "3"]).output().expect("it runs");
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && err.contains(wanted), "{name}: {err}");
    }
}

/// Three places can say what an agent has at the beginning.
#[test]
fn the_run_file_goes_before_the_world_and_that_before_the_agents_own_file() {
    let folder = folder("balances");
    let agent = |id: &str| {
        format!(
            "id: {id}\nstarting_scrip: 7\nworkflow:\n  steps:\n    - {{name: think, type: llm, prompt: go}}\n"
        )
    };
    let names = ["ada", "bob", "cy", "di"];
    for name in names {
        with(&folder, &[(&format!("{name}.agent.yaml"), &agent(name))]);
    }
    let entries: String =
        names.iter().map(|name| format!("  - {{file: {name}.agent.yaml}}\n")).collect();
    let run_file = format!("balances: {{ada: 50, di: 3}}\nagents:\n{entries}");
    with(
        &folder,
        &[("run.yaml", &run_file), ("world.yaml", "balances: {ada: 20, bob: 30, di: 9}\n")],
    );
    let (code, out, err) =
        run(&folder, &["--ticks", "1", "--world", "world.yaml", "--llm", "deny"]);
    assert_eq!(code, Some(0), "{out}{err}");
    let end = lines(&out).pop().expect("a last line");
    let of = |name: &str| end["balances"][name].as_i64();
    assert_eq!(names.map(of), [Some(50), Some(30), Some(7), Some(3)], "{end}");
}

#[test]
fn what_the_run_file_says_of_all_charts_holds_where_they_say_nothing() {
    let folder = folder("statechart");
    let chart = r#"
/// Waits, and asks.
chart Waiter {
  param default_timeout_ticks: Int = 50
  defaults { retry 1 then skip }
  initial waiting
  state waiting { after default_timeout_ticks turns -> asking }
  state asking { llm ask { prompt """Well?""" } }
}
"#;
    let run_file = "
statechart: {default_timeout_ticks: 2, oracle_enabled: false}
agents:
  - {file: waiter.chart, id: soon}
  - {file: waiter.chart, id: late, params: {default_timeout_ticks: 40}}
";
    with(&folder, &[("waiter.chart", chart), ("run.yaml", run_file)]);
    let args = ["--ticks", "4", "--llm", "first", "--log", "log.jsonl"];
    let failed = |folder: &Path| {
        let (code, out, err) = run(folder, &args);
        assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
        let end = lines(&out).pop().expect("a line");
        assert_eq!(end["states"], serde_json::json!({"late": ["waiting"], "soon": ["asking"]}));
        let log = std::fs::read_to_string(folder.join("log.jsonl")).expect("a log");
        lines(&log).iter().filter(|line| line["kind"] == "call_failed").count()
    };
    assert!(failed(&folder) > 0, "no model is asked");
    let on = run_file.replace("oracle_enabled: false", "oracle_enabled: true");
    with(&folder, &[("run.yaml", &on)]);
    assert_eq!(failed(&folder), 0);
}
