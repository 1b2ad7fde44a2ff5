//! Runs that are run again from their traces.

mod charts;
mod deaf;
pub(super) mod world;

use chartc::Checked;
use chartc_runtime::trace;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use world::{again, charts, record};

/// Runs that are recorded and run again; `CHARTC_REPLAYS` says another number.
const RUNS: u64 = 1000;

#[test]
fn recorded_runs_are_the_same_again() {
    let charts = charts();
    let runs = std::env::var("CHARTC_REPLAYS").ok().and_then(|n| n.parse().ok()).unwrap_or(RUNS);
    let (mut kinds, mut lines, mut answers) = (BTreeMap::new(), 0, 0);
    let (mut places, mut reasons) = (0, 0);
    for seed in 0..runs {
        let checked = &charts[seed as usize % charts.len()];
        let name = &checked.chart().name;
        // Two in nine on a clock that passes by itself.
        let restless = seed % 9 > 6;
        let text = record(checked, seed, restless);
        match again(checked, &text) {
            Ok(done) => {
                assert_eq!(done.lines, text.lines().count(), "{name}, seed {seed}");
                lines += done.lines;
                answers += done.answers;
            }
            Err(why) => panic!("{name}, seed {seed}, restless {restless}: {why}\n{text}"),
        }
        for line in text.lines() {
            let line: Json = serde_json::from_str(line).expect("JSON");
            places += u32::from(line["kind"] == "answer" && line.get("state").is_some());
            reasons += u32::from(line["kind"] == "taken" && line.get("held").is_some());
            let kind = line["kind"].as_str().expect("a kind").to_owned();
            *kinds.entry((kind, line.get("child").is_some())).or_insert(0) += 1;
        }
    }
    assert!(places > 0, "no answer to a question that is open in several regions");
    assert!(reasons > 0, "no line was taken for one of several reasons");
    println!("{runs} runs, {lines} lines, {answers} answers: {kinds:?}");
    // What the runs are about has happened in them, also in charts that are run.
    for kind in [
        "answer",
        "unusable",
        "call_failed",
        "tool_result",
        "tool_failed",
        "cancelled",
        "delivered",
        "input",
        "not_taken",
    ] {
        assert!(kinds.contains_key(&(kind.to_owned(), false)), "no `{kind}` in {kinds:?}");
    }
    for kind in ["run", "answer", "call_failed", "cancelled"] {
        assert!(
            kinds.contains_key(&(kind.to_owned(), true)),
            "no `{kind}` of a child in {kinds:?}"
        );
    }
}

/// What a replay is fed with: another value there is another run, which may be as sound as the first one.
const FED: &[(&str, &str)] = &[
    ("run", "calls_per_turn"),
    ("run", "clock"),
    ("run", "file"),
    ("run", "oracle"),
    ("run", "variables"),
    ("input", "value"),
    ("event", "data"),
    // What the host tries a moment later may be refused then, too.
    ("not_taken", "at_ms"),
    ("not_taken", "data"),
    ("not_taken", "input"),
    ("unusable", "text"),
    ("call_failed", "why"),
    ("call_failed", "retry_after_ms"),
    ("usage", "cost"),
    ("usage", "input_tokens"),
    ("usage", "output_tokens"),
    ("tool_result", "value"),
    ("tool_failed", "why"),
];

/// Another value of the same type.
fn another(value: &Json) -> Json {
    match value {
        Json::Null => Json::Bool(true),
        Json::Bool(b) => Json::Bool(!b),
        Json::Number(n) if n.is_f64() => serde_json::json!(n.as_f64().unwrap_or_default() + 1.0),
        Json::Number(n) => serde_json::json!(n.as_i64().unwrap_or_default() + 1),
        Json::String(text) => Json::String(format!("{text}x")),
        Json::Array(items) => Json::Array(items.iter().cloned().chain([Json::Null]).collect()),
        Json::Object(map) => {
            let mut map = map.clone();
            match map.iter().next().map(|(name, value)| (name.clone(), another(value))) {
                Some((name, value)) => map.insert(name, value),
                None => map.insert("x".into(), Json::Null),
            };
            Json::Object(map)
        }
    }
}

/// Whether a trace in which line `at` is something else is noticed, and not far behind it.
fn is_noticed(checked: &Checked, lines: &[&str], at: usize, with: Option<String>) -> bool {
    let mut changed: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    match with {
        Some(line) => changed[at] = line,
        None => drop(changed.remove(at)),
    }
    let text = changed.join("\n");
    // What is no trace any more is noticed by whoever reads it.
    trace::read(&text).is_err() || again(checked, &text).is_err()
}

#[test]
fn a_change_in_any_kind_of_line_is_noticed() {
    let charts = charts();
    let mut tried: BTreeMap<String, u32> = BTreeMap::new();
    for seed in 0..400 {
        let checked = &charts[seed as usize % charts.len()];
        let text = record(checked, seed, false);
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate().take(lines.len() - 1) {
            let json: Json = serde_json::from_str(line).expect("JSON");
            let kind = json["kind"].as_str().expect("a kind").to_owned();
            let tried = tried.entry(kind.clone()).or_insert(0);
            // The line behind must not be one that the host may have left out as well.
            let next: Json = serde_json::from_str(lines[at + 1]).expect("JSON");
            if *tried == 2 || next["kind"] == "not_taken" {
                continue;
            }
            *tried += 1;
            let place =
                || format!("{}, seed {seed}, line {}: {line}", checked.chart().name, at + 1);
            assert!(is_noticed(checked, &lines, at, None), "left out: {}", place());
            for (field, value) in json.as_object().expect("an object") {
                let is_fed = FED.contains(&(kind.as_str(), field));
                if is_fed {
                    continue;
                }
                let mut changed = json.clone();
                changed[field] = another(value);
                let seen = is_noticed(checked, &lines, at, Some(changed.to_string()));
                assert!(seen, "`{field}`: {}", place());
            }
        }
    }
    println!("{tried:?}");
    // All that runs of these charts have.
    assert!(tried.len() >= 40, "{} kinds: {tried:?}", tried.len());
}
