//! The examples of many agents, as their pages show them.

use super::running::lines;
use super::{chartc, folder};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use test_support::project::{number, root};

/// Runs an example; the lines of its output, and the log.
fn run(name: &str, args: &[&str]) -> (Vec<Value>, Vec<Value>) {
    into(Path::new("examples").join(name).as_path(), name, args)
}

/// The same for any folder, with a name of its own for the log.
fn into(folder: &Path, log: &str, args: &[&str]) -> (Vec<Value>, Vec<Value>) {
    let log = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{log}.jsonl"));
    let shown = log.display().to_string();
    let folder = folder.display().to_string();
    let mut command = chartc(root(), &["run", &folder, "--format", "json", "--log", &shown]);
    let output = command.args(args).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let log = lines(&std::fs::read_to_string(&log).expect("a log"));
    (lines(&String::from_utf8_lossy(&output.stdout)), log)
}

fn happened(log: &[Value], event: &str) -> usize {
    log.iter().filter(|line| line["kind"] == "world" && line["event"] == event).count()
}

/// All 200 ticks with `CHARTC_ECOLOGY_TICKS=200`.
#[test]
fn the_ecology_has_agents_that_write_agents_and_auctions() {
    let ticks = number("CHARTC_ECOLOGY_TICKS", 50_usize);
    let (out, log) = run("ecology", &["--ticks", &ticks.to_string()]);
    let end = out.last().expect("a line");
    assert_eq!(out.len(), ticks + 1);
    assert_eq!(end["states"].as_object().map(serde_json::Map::len), Some(30), "{end}");
    assert_eq!(happened(&log, "spawned"), 2);
    assert_eq!(happened(&log, "rejected"), 2, "each smith makes one mistake");
    assert_eq!(happened(&log, "auction_resolved"), ticks / 20);
    let sold = happened(&log, "sold");
    assert!(sold > ticks / 4, "{sold}");
    let minted: i64 = log
        .iter()
        .filter(|line| line["event"] == "auction_scored")
        .filter_map(|line| line["data"]["minted"].as_i64())
        .sum();
    assert!(minted > 0);
    // A helper has moved because a smith has told it to.
    let told = log
        .iter()
        .filter(|line| line["agent"] == "smith_1_helper" && line["by"]["agent"] == "smith_1");
    assert!(told.count() > ticks / 20);
}

/// A smaller feed. All of it with `CHARTC_FEED_AGENTS=1000 CHARTC_FEED_ROUNDS=50`.
#[test]
fn in_the_feed_every_state_is_visited_and_the_model_is_asked() {
    let rounds = number("CHARTC_FEED_ROUNDS", 20_u32).to_string();
    let agents = number("CHARTC_FEED_AGENTS", 100_u64);
    let small = folder("feed");
    for file in std::fs::read_dir(root().join("examples/feed")).expect("an example") {
        let file = file.expect("a file");
        let text = std::fs::read_to_string(file.path()).expect("a text");
        let text = text.replace("count: 250", &format!("count: {}", agents / 4));
        std::fs::write(small.join(file.file_name()), text).expect("a file");
    }
    let (out, log) = into(&small, "feed", &["--ticks", &rounds]);
    let entered: BTreeSet<&str> = log
        .iter()
        .filter(|line| line["kind"] == "entered")
        .filter_map(|line| line["state"].as_str())
        .collect();
    let all = [
        "",
        "active",
        "active.composing",
        "active.engaging",
        "active.engaging.like",
        "active.engaging.reply",
        "active.engaging.reshare",
        "active.evaluating",
        "active.resting",
        "active.scrolling",
        "idle",
    ];
    assert_eq!(entered, BTreeSet::from(all));
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    for summary in &out[..out.len() - 1] {
        for name in [
            "agents_active",
            "actions_executed",
            "llm_calls",
            "total_llm_tokens",
            "total_scrip_transferred",
            "artifacts_created",
        ] {
            *sums.entry(name).or_default() += summary[name].as_u64().expect(name);
        }
    }
    assert!(sums.values().all(|sum| *sum > 0), "{sums:?}");
    let last = &out[out.len() - 2]["states"]["Person"];
    let there: u64 = last.as_object().expect("states").values().filter_map(Value::as_u64).sum();
    assert_eq!(there, agents, "{last}");
}

#[test]
fn an_agent_of_the_ecology_is_replayed_from_the_log_alone() {
    into(Path::new("examples/ecology"), "replayed", &["--ticks", "30"]);
    let log = Path::new(env!("CARGO_TARGET_TMPDIR")).join("replayed.jsonl");
    let shown = log.display().to_string();
    for agent in ["farmer_3", "smith_1"] {
        let output =
            chartc(root(), &["replay", &shown, "--agent", agent]).output().expect("it runs");
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{agent}: {told}{output:?}");
        assert!(told.contains("the same again"), "{agent}: {told}");
    }
}
