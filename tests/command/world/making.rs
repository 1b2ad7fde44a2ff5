//! Agents that agents make, pause and stop, and what they may use.

use super::running::{lines, run, with};
use super::{chartc, folder};
use serde_json::Value;
use std::path::Path;

/// Does one thing in each turn, as its script says.
const DOER: &str = r#"
/// Does one thing a turn.
chart Doer {
  limits { calls 1 per turn }
  defaults { retry 1 then skip }
  initial doing
  state doing { llm act { prompt """What now?""" } }
}
"#;
/// A child that reads something in each of its turns.
const KID: &str = "chart Kid {\\n  param job: Text\\n  param risk: Float in 0..1 = 0.5\\n  limits { calls 1 per turn }\\n  defaults { retry 1 then skip }\\n  initial doing\\n  state doing { llm work { prompt \\\"\\\"\\\"{job}\\\"\\\"\\\" } }\\n}";

/// What children answer: they have the script of their maker.
const CHILDREN: &str = "answers:
  work:
    then: last
    answers: [{action: read_artifact, artifact_id: genesis_ledger}]
";

/// A folder with a doer for each of the scripts, which are lists of JSON actions.
pub(super) fn doers(name: &str, run_file: &str, scripts: &[(&str, &[&str])]) -> std::path::PathBuf {
    let folder = folder(name);
    let mut agents = String::new();
    for (agent, actions) in scripts {
        let answers: Vec<String> =
            actions.iter().map(|action| format!("      - {{{action}}}\n")).collect();
        let script =
            format!("{CHILDREN}  act:\n    then: last\n    answers:\n{}", answers.concat());
        with(&folder, &[(&format!("{agent}.script.yaml"), &script)]);
        agents.push_str(&format!(
            "  - {{file: doer.chart, id: {agent}, llm: 'script:{agent}.script.yaml'}}\n"
        ));
    }
    let run_file = format!("{run_file}\nagents:\n{agents}");
    with(&folder, &[("doer.chart", DOER), ("run.yaml", &run_file)]);
    folder
}

/// An action that invokes a method.
fn call(artifact: &str, method: &str, arguments: &str) -> String {
    format!("action: invoke_artifact, artifact_id: {artifact}, method: {method}, args: {arguments}")
}

fn kid() -> String {
    format!("action: write_artifact, artifact_id: kid, artifact_type: chart, content: \"{KID}\"")
}

pub(super) const NOOP: &str = "action: noop";

/// Runs it; the lines of the output, and the log.
pub(super) fn logged(folder: &Path, args: &[&str]) -> (Vec<Value>, Vec<Value>) {
    let (code, out, err) = run(folder, &[&["--log", "log.jsonl"], args].concat());
    assert_eq!(code, Some(0), "{out}{err}");
    let log = std::fs::read_to_string(folder.join("log.jsonl")).expect("a log");
    (lines(&out), lines(&log))
}

/// What the actions of an agent have failed with, in order; empty where one has not.
fn failures(log: &[Value], agent: &str) -> Vec<String> {
    let acted = log.iter().filter(|line| line["kind"] == "acted" && line["agent"] == agent);
    let told = |line: &Value| match (line["failed"].as_str(), line["why"].as_str()) {
        (Some(failed), Some(why)) => format!("{failed}: {why}"),
        _ => String::new(),
    };
    acted.map(told).collect()
}

/// When the turns of an agent have begun.
fn turns(log: &[Value], agent: &str) -> Vec<u64> {
    let turns = log.iter().filter(|line| line["kind"] == "turn" && line["agent"] == agent);
    turns.filter_map(|line| line["at_ms"].as_u64()).collect()
}

#[test]
fn an_agent_that_cannot_begin_is_not_made() {
    let spawn = |arguments: &str| call("genesis_ledger", "spawn_principal", arguments);
    let folder = doers(
        "cannot-begin",
        "execution: {ticks: 6}\nresources: {compute: 200}",
        &[(
            "ada",
            &[
                &kid(),
                &spawn("[kid, one, 10]"),
                &spawn("[kid, one, 10, {job: dig, risk: 3.0}]"),
                &spawn("[kid, one, 10, {job: dig, rest: 3}]"),
                &spawn("[kid, one, 10, {job: dig}]"),
                NOOP,
            ],
        )],
    );
    let (out, log) = logged(&folder, &[]);
    let failed = failures(&log, "ada");
    let end = out.last().expect("a line");
    assert_eq!(failed[0], "", "{log:#?}");
    for (failed, wanted) in failed[1..4].iter().zip(["needs `job`", "risk", "has `rest`"]) {
        assert!(failed.contains("intent_rejected") && failed.contains(wanted), "{failed}");
    }
    assert_eq!(failed[4], "");
    assert_eq!(end["balances"]["one"], 10, "{end}");
    assert_eq!(end["balances"]["ada"], 90, "three attempts have moved nothing: {end}");
    assert!(!log.iter().any(|line| line["event"] == "not_spawned"));
}

#[test]
fn agents_are_made_at_a_rate() {
    let spawn = |name: &str| {
        call("genesis_ledger", "spawn_principal", &format!("[kid, {name}, 10, {{job: dig}}]"))
    };
    let folder = doers(
        "spawn-rate",
        "execution: {ticks: 6, delay: 10}
resources: {compute: 200}
rate_limiting: {window_seconds: 25, resources: {spawns: {max_per_window: 1}}}",
        &[("ada", &[&kid(), &spawn("one"), &spawn("two"), &spawn("three"), &spawn("four"), NOOP])],
    );
    let (out, log) = logged(&folder, &[]);
    let failed = failures(&log, "ada");
    let end = out.last().expect("a line");
    // At 10, 20, 30 and 40 seconds: the window of the first ends at 35.
    assert_eq!((failed[1].as_str(), failed[4].as_str()), ("", ""), "{failed:?}");
    for failed in &failed[2..4] {
        assert!(failed.contains("invocation_failed") && failed.contains("`spawns`"), "{failed}");
    }
    let names: Vec<&String> = end["balances"].as_object().expect("balances").keys().collect();
    assert_eq!(names, ["ada", "four", "one", "system"], "{end}");
    assert_eq!(end["balances"]["ada"], 80);
}

#[test]
fn an_owner_pauses_and_resumes_its_agent() {
    let ledger = |method: &str| call("genesis_ledger", method, "[kid_1]");
    let spawn = call("genesis_ledger", "spawn_principal", "[kid, kid_1, 10, {job: dig}]");
    let actions =
        [&kid(), &spawn, NOOP, &ledger("pause_principal"), NOOP, NOOP, &ledger("resume_principal")];
    let folder = doers(
        "pausing",
        "execution: {ticks: 12, delay: 10}\nresources: {compute: 200}",
        &[
            ("ada", &[&actions[..], &[NOOP]].concat()),
            ("bob", &[NOOP, NOOP, NOOP, &ledger("resume_principal"), NOOP]),
        ],
    );
    let (out, log) = logged(&folder, &[]);
    assert_eq!(failures(&log, "ada"), [""; 4], "noop is no action");
    assert!(failures(&log, "bob")[0].contains("permission_denied"), "{:?}", failures(&log, "bob"));
    // Made in the second tick, paused in the fourth, resumed in the seventh.
    let begun = turns(&log, "kid_1");
    assert_eq!(begun, [20_000, 30_000, 70_000, 80_000, 90_000, 100_000, 110_000], "{out:?}");
}

#[test]
fn an_autonomous_agent_stays_paused_until_it_is_resumed() {
    let ledger = |method: &str| call("genesis_ledger", method, "[kid_1]");
    let spawn = call("genesis_ledger", "spawn_principal", "[kid, kid_1, 10, {job: dig}]");
    let pause = ledger("pause_principal");
    let folder = doers(
        "pausing-loops",
        "resources: {compute: 200}\nexecution: {interval: 1}",
        &[("ada", &[&kid(), &spawn, &pause, NOOP, NOOP, NOOP, &ledger("resume_principal"), NOOP])],
    );
    let (_, log) = logged(&folder, &["--duration", "12"]);
    let begun = turns(&log, "kid_1");
    let waits: Vec<u64> = begun.windows(2).map(|two| two[1] - two[0]).collect();
    let long = waits.iter().filter(|wait| **wait >= 3_000).count();
    assert_eq!((long, waits.len() > 3), (1, true), "{begun:?}");
    // Without the pause it goes on all the time.
    let script = folder.join("ada.script.yaml");
    let text = std::fs::read_to_string(&script).expect("a script");
    std::fs::write(&script, text.replace(&format!("{{{pause}}}"), "{action: noop}"))
        .expect("a file");
    let (_, log) = logged(&folder, &["--duration", "12"]);
    assert!(turns(&log, "kid_1").windows(2).all(|two| two[1] - two[0] < 3_000));
}

#[test]
fn what_a_stopped_agent_has_chosen_is_not_done() {
    let spawn = call("genesis_ledger", "spawn_principal", "[kid, kid_1, 10, {job: dig}]");
    let pay = call("genesis_ledger", "transfer", "[ada, 1]");
    let mut paid = Vec::new();
    for seed in ["1", "2", "3", "4", "5", "6", "7", "8"] {
        let folder = doers(
            "stopping",
            "execution: {ticks: 4}\nresources: {compute: 200}",
            &[(
                "ada",
                &[&kid(), &spawn, &call("genesis_ledger", "stop_principal", "[kid_1]"), &pay],
            )],
        );
        let (_, log) = logged(&folder, &["--seed", seed]);
        assert_eq!(turns(&log, "kid_1"), [30_000], "seed {seed}");
        let position = |agent: &str| {
            log.iter().rposition(|line| {
                line["kind"] == "acted" && line["agent"] == agent && line["at_ms"] == 30_000
            })
        };
        let (ada, kid) = (position("ada").expect("it stops its child"), position("kid_1"));
        assert!(kid.is_none_or(|kid| kid < ada), "seed {seed}: it has acted after it was stopped");
        paid.push(kid.is_some());
    }
    assert!(paid.contains(&true) && paid.contains(&false), "both orders: {paid:?}");
}

#[test]
fn a_continued_world_tells_of_agents_that_were_stopped_before() {
    let spawn = call("genesis_ledger", "spawn_principal", "[kid, kid_1, 10, {job: dig}]");
    let stop = call("genesis_ledger", "stop_principal", "[kid_1]");
    let folder = doers(
        "stopped-before",
        "execution: {ticks: 8}\nresources: {compute: 200}",
        &[("ada", &[&kid(), &spawn, &stop, NOOP])],
    );
    let (undisturbed, _) = logged(&folder, &[]);
    let end = undisturbed.last().expect("a last line");
    assert_eq!(end["loops"]["kid_1"], "stopped", "{end}");
    assert_eq!(end["states"]["kid_1"], serde_json::json!(["doing"]), "{end}");
    for ticks in ["3", "5", "5", "8"] {
        let (out, _) = logged(&folder, &["--store", "w.db", "--ticks", ticks]);
        let last = out.last().expect("a last line");
        assert_eq!(last["loops"]["kid_1"], "stopped", "{ticks}: {last}");
        if ticks == "8" {
            assert_eq!(last, end);
        }
    }
}

#[test]
fn a_child_uses_the_windows_of_its_maker() {
    let spawn = |nth: u32| {
        let args = format!("[kid, kid_{nth}, 10, {{job: dig}}]");
        call("genesis_ledger", "spawn_principal", &args)
    };
    let folder = doers(
        "one-window",
        "execution: {ticks: 12, resource_exhaustion_policy: skip}
resources: {compute: 200}
rate_limiting: {window_seconds: 60, resources: {llm_calls: {max_per_window: 6}}}",
        &[("ada", &[&kid(), &spawn(1), &spawn(2), NOOP]), ("bob", &[NOOP])],
    );
    let (_, log) = logged(&folder, &[]);
    let calls = |name: &str| {
        let is = |line: &&Value| line["kind"] == "answer" && line["agent"] == name;
        log.iter().filter(is).filter_map(|line| line["at_ms"].as_u64()).collect::<Vec<_>>()
    };
    let mut family: Vec<u64> = ["ada", "kid_1", "kid_2"].into_iter().flat_map(calls).collect();
    family.sort_unstable();
    assert!(!calls("kid_1").is_empty() && !calls("kid_2").is_empty(), "{family:?}");
    let most = |calls: &[u64]| {
        calls.iter().map(|at| calls.iter().filter(|c| (*at..at + 60_000).contains(c)).count()).max()
    };
    assert_eq!(most(&family), Some(6), "{family:?}");
    assert_eq!(most(&calls("bob")), Some(4), "another agent has its own: {:?}", calls("bob"));
}

#[test]
fn each_agent_has_the_disk_and_the_compute_that_the_run_file_says() {
    let write = "action: write_artifact, artifact_id: $agent_note, content: 'more than ten bytes'";
    let quotas = call("genesis_rights_registry", "quotas", "[]");
    let folder = doers(
        "quotas",
        "execution: {ticks: 3}\nresources: {disk: {ada: 500}, compute: {bob: 7}}",
        &[("ada", &[write, &quotas]), ("bob", &[write, &quotas])],
    );
    let (_, log) = logged(&folder, &[]);
    let told = |agent: &str| {
        let of = |line: &&Value| line["kind"] == "acted" && line["agent"] == agent;
        log.iter().rfind(of).map(|line| line["value"].clone()).expect("an action")
    };
    let of = |agent: &str| {
        let told = told(agent);
        (told["disk_quota"].clone(), told["compute_quota"].clone())
    };
    assert_eq!(of("ada"), (500.into(), 1000.into()), "{}", told("ada"));
    assert_eq!(of("bob"), (1_000_000.into(), 7.into()), "{}", told("bob"));
    for (world, is_fine) in [
        ("balances: {ada: 30}\ndisk: {ada: 500}", true),
        ("balances: {ada: 31}", true),
        ("disk: {ada: 501}", false),
    ] {
        with(&folder, &[("world.yaml", world)]);
        let text = std::fs::read_to_string(folder.join("run.yaml")).expect("a run file");
        with(&folder, &[("rich.yaml", &format!("balances: {{ada: 30}}\n{text}"))]);
        let (code, out, err) = run(&folder, &["--config", "rich.yaml", "--world", "world.yaml"]);
        assert_eq!(code, Some(if is_fine { 0 } else { 2 }), "{world}: {err}");
        assert!(is_fine || err.contains("`ada` is one thing in the run file"), "{err}");
        assert!(!is_fine || lines(&out).last().expect("a line")["balances"]["ada"] == 30, "{out}");
    }
    for (key, name) in [("disk", "adda"), ("compute", "bobb")] {
        let run_file = std::fs::read_to_string(folder.join("run.yaml")).expect("a run file");
        let wrong = run_file.replace("compute: {bob: 7}", "compute: {bob: 7}, spawn: {cost: 1}");
        let wrong = wrong.replace(
            if key == "disk" { "{ada: 500}" } else { "{bob: 7}" },
            &format!("{{{name}: 5}}"),
        );
        std::fs::write(folder.join("other.yaml"), wrong).expect("a file");
        let (code, _, err) = run(&folder, &["--config", "other.yaml"]);
        assert_eq!(code, Some(2), "{err}");
        assert!(
            err.contains(&format!("`resources.{key}`")) && err.contains("did you mean"),
            "{err}"
        );
    }
}

#[test]
fn an_agent_without_room_in_its_window_goes_on_and_one_without_a_budget_does_not() {
    for policy in ["block", "skip"] {
        let folder = doers(
            "wakes",
            &format!(
                "execution: {{resource_exhaustion_policy: {policy}}}
rate_limiting: {{window_seconds: 10, resources: {{actions: {{max_per_window: 2}}}}}}"
            ),
            &[("ada", &[NOOP]), ("bob", &[NOOP])],
        );
        let text = std::fs::read_to_string(folder.join("run.yaml")).expect("a run file");
        let bob = "llm: 'script:bob.script.yaml'";
        let text = text.replace(bob, &format!("{bob}, budget: {{llm_calls: 3}}"));
        std::fs::write(folder.join("run.yaml"), text).expect("a file");
        let (_, log) = logged(&folder, &["--duration", "35"]);
        let ada = turns(&log, "ada");
        assert_eq!(ada, [0, 1_000, 10_000, 11_000, 20_000, 21_000, 30_000, 31_000], "{policy}");
        assert_eq!(turns(&log, "bob"), [0, 1_000, 10_000], "{policy}");
    }
}

#[test]
fn the_log_of_a_run_that_does_not_begin_is_left_alone() {
    let folder = doers("log-kept", "execution: {ticks: 1}", &[("ada", &[NOOP])]);
    logged(&folder, &[]);
    let before = std::fs::read_to_string(folder.join("log.jsonl")).expect("a log");
    with(&folder, &[("ada.script.yaml", "answers: [")]);
    let (code, _, err) = run(&folder, &["--log", "log.jsonl"]);
    assert_eq!(code, Some(2), "{err}");
    assert_eq!(std::fs::read_to_string(folder.join("log.jsonl")).expect("a log"), before);
}

#[test]
#[cfg(feature = "sqlite")]
fn a_worker_pool_has_its_store_beside_the_run_file() {
    let folder = doers(
        "pool",
        "execution: {use_worker_pool: true, worker_pool: {num_workers: 2, state_db_path: pool.db}}",
        &[("ada", &[NOOP])],
    );
    let (out, _) = logged(&folder, &["--ticks", "2"]);
    assert!(folder.join("pool.db").is_file());
    let (again, _) = logged(&folder, &["--ticks", "2"]);
    assert_eq!((out.len(), again.len()), (3, 1), "the run has ended already");
    assert_eq!(out.last(), again.last());
    let output = chartc(&folder, &["store", "pool.db", "list"]).output().expect("it runs");
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && told.contains("2 ticks"), "{told}{output:?}");
}

/// The page has a table of keys for each of two sections, and a run file takes each of them.
#[test]
fn a_run_file_takes_the_keys_that_its_page_tells() {
    let page = test_support::project::read("docs/world.md");
    for (section, heading) in [
        ("resources", "The section `resources` of a run file"),
        ("auction", "The section `auction` of a run file"),
    ] {
        let (_, table) = page.split_once(heading).expect(heading);
        let rows = table.lines().skip_while(|line| !line.starts_with("| `"));
        let keys: Vec<&str> = rows
            .take_while(|line| line.starts_with("| `"))
            .filter_map(|line| line.split('`').nth(1))
            .collect();
        assert!(keys.len() > 8, "{section}: {keys:?}");
        for key in keys {
            let value = match key {
                "scoring" => "script:scores.yaml",
                "spawn" => "{max_depth: 2}",
                "period_seconds" => "60",
                "shared_working_memory" => "true",
                _ => "20",
            };
            let text = format!("{section}: {{{key}: {value}}}\n");
            let read = chartc_world::RunFile::parse(&text);
            assert!(read.is_ok(), "{text}: {read:?}");
        }
    }
}

#[test]
fn a_winner_that_nobody_scores_earns_the_default_score() {
    let folder = folder("default-score");
    let script = "
answers:
  act:
    then: last
    answers:
      - {action: write_artifact, artifact_id: tool, content: a pump}
      - {action: invoke_artifact, artifact_id: genesis_mint, method: submit, args: [tool, 5]}
      - {action: noop}
";
    let run_file = "
execution: {delay: 1}
auction: {first_auction_delay_seconds: 3, bidding_window_seconds: 3, period_seconds: 20, default_score: 42, scrip_per_point: 2}
agents: [{file: one.chart, id: ada, llm: 'script:one.yaml'}]
";
    let chart = "/// Acts.\nchart One {\n  initial a\n  state a { llm act { prompt \"\"\"Go.\"\"\" } }\n}\n";
    with(&folder, &[("one.chart", chart), ("one.yaml", script), ("run.yaml", run_file)]);
    let (code, out, err) = run(&folder, &["--ticks", "12"]);
    assert_eq!(code, Some(0), "{err}");
    // The price is shared among all agents: the only one has it back.
    assert_eq!(lines(&out).pop().expect("a line")["balances"]["ada"], 100 + 2 * 42, "{out}");
}
