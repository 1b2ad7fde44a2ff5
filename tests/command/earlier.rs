//! What earlier versions wrote is read and continued: traces, snapshots, recorded calls, stores, logs of worlds. The files are in
//! `tests/data`, a folder for each format; `make` in it says how they were written.

use crate::run::command::{chartc, folder};
use serde_json::Value;
use std::path::{Path, PathBuf};
use test_support::project::root;

/// Those with a run that stopped in the middle: `phases` ended at once.
fn begun() -> impl Iterator<Item = &'static str> {
    CHARTS.into_iter().filter(|name| *name != "phases")
}

const CHARTS: [&str; 9] = [
    "alpha_2",
    "auction",
    "debate",
    "family",
    "phases",
    "researcher",
    "retrieval",
    "social",
    "support",
];

/// What a run of the chart was given.
fn params(name: &str) -> &'static [&'static str] {
    match name {
        "debate" => &["topic=Tea is better than coffee."],
        "phases" => &["goal=Find out who kept the light."],
        "researcher" => &["question=What does a tram cost?"],
        "retrieval" => &["question=When did the lighthouse get electric light?"],
        "social" => {
            &["name=Mia", r#"interests=["rust","crabs"]"#, "personality=You like short answers."]
        }
        "support" => &["signature=Mia"],
        _ => &[],
    }
}

/// A copy of the files of a format.
fn copied(test: &str) -> PathBuf {
    fn copy(from: &Path, to: &Path) {
        std::fs::create_dir_all(to).expect("the folder is the test's own");
        for entry in std::fs::read_dir(from).expect("the folder is there") {
            let entry = entry.expect("it can be read").path();
            let to = to.join(entry.file_name().expect("it has a name"));
            if entry.is_dir() {
                copy(&entry, &to);
            } else {
                std::fs::copy(&entry, to).expect("it can be copied");
            }
        }
    }
    let folder = folder(&format!("earlier-{test}"));
    copy(&root().join("tests/data/v1"), &folder);
    folder
}

/// What a command prints that succeeds.
fn printed(folder: &Path, arguments: &[&str]) -> String {
    let (code, out, errors) = chartc(folder, arguments);
    assert_eq!(code, 0, "{arguments:?}: {out}{errors}");
    out
}

fn file(kind: &str, name: &str) -> String {
    match kind {
        "charts" => format!("charts/{name}.chart"),
        "script" => format!("script:charts/{name}.script.yaml"),
        "cassettes" => format!("replay:cassettes/{name}"),
        "snapshots" => format!("snapshots/{name}.json"),
        kind => format!("{kind}/{name}.jsonl"),
    }
}

/// The lines of events that a run that was stopped in the middle has not had.
fn rest(folder: &Path, name: &str) -> Vec<String> {
    let read = |ending: &str| {
        std::fs::read_to_string(folder.join(format!("charts/{name}.{ending}.jsonl")))
    };
    let Ok(text) = read("events") else { return vec![r#"{"event": "turn"}"#.to_owned(); 6] };
    let begun = read("half").expect("it has half of the events").lines().count();
    text.lines().skip(begun).map(str::to_owned).collect()
}

#[test]
fn traces_replay_to_the_same_lines() {
    let folder = copied("traces");
    for name in CHARTS {
        let trace = file("traces", name);
        let said = printed(&folder, &["replay", &trace, &file("charts", name)]);
        assert!(said.contains("the same again"), "{said}");
        for view in [
            &["--why"][..],
            &["--summary"],
            &["--summary", "--format", "json"],
            &["--format", "mermaid"],
        ] {
            printed(&folder, &[&["trace", &trace], view].concat());
        }
    }
}

#[test]
fn recorded_calls_answer_as_they_did() {
    let folder = copied("cassettes");
    for name in CHARTS {
        let text = std::fs::read_to_string(folder.join(file("traces", name))).expect("it is there");
        let trace: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect();
        let (chart, calls) = (file("charts", name), file("cassettes", name));
        let functions = format!("charts/{name}.script.yaml");
        let mut arguments =
            vec!["run", &chart, "--llm", &calls, "--clock", "virtual", "--trace", "again.jsonl"];
        arguments.extend(["--functions", &functions]);
        arguments.extend(["--chart", trace[0]["chart"].as_str().expect("it names its chart")]);
        let events = format!("charts/{name}.events.jsonl");
        if folder.join(&events).exists() {
            arguments.extend(["--events", &events]);
        }
        for param in params(name) {
            arguments.extend(["--param", param]);
        }
        printed(&folder, &arguments);
        let again = std::fs::read_to_string(folder.join("again.jsonl")).expect("it was written");
        // A recorded answer comes at once.
        let decided = |text: &str| -> Vec<String> {
            let all = text
                .lines()
                .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
            let decisive = |line: &serde_json::Value| {
                matches!(
                    line["kind"].as_str(),
                    Some("taken" | "answer" | "result" | "entered" | "ended" | "acted")
                )
            };
            all.filter(decisive)
                .map(|line| format!("{} {} {}", line["kind"], line["step"], line["to"]))
                .collect()
        };
        assert!(decided(&text).len() > 5, "{name}: {text}");
        assert_eq!(decided(&again), decided(&text), "{name}");
    }
}

#[test]
fn snapshots_continue() {
    let folder = copied("snapshots");
    let mut told = String::new();
    for name in begun() {
        let (chart, script, snapshot) =
            (file("charts", name), file("script", name), file("snapshots", name));
        let rest = rest(&folder, name).join("\n");
        std::fs::write(folder.join("rest.jsonl"), rest).expect("the folder is the test's own");
        let arguments = [
            "run",
            &chart,
            "--llm",
            &script,
            "--resume",
            &snapshot,
            "--events",
            "rest.jsonl",
            "--turns",
            "30",
        ];
        let (code, out, errors) = chartc(&folder, &arguments);
        told += &format!("# {name}: exit code {code}\n{out}{errors}\n");
    }
    insta::assert_snapshot!("snapshots", told);
}

#[cfg(feature = "sqlite")]
#[test]
fn stored_runs_continue() {
    let folder = copied("stores");
    let store = "stores/begun.db";
    let mut told = String::new();
    for name in begun() {
        for line in rest(&folder, name) {
            let line: serde_json::Value = serde_json::from_str(&line).expect("a line is JSON");
            // What sets inputs comes with an event file alone.
            let event = line["event"].as_str().unwrap_or("turn");
            let data = line.get("data").map_or("{}".to_owned(), ToString::to_string);
            printed(&folder, &["store", store, "send", name, event, &data]);
        }
        let (code, out, errors) = chartc(&folder, &["store", store, "resume", name]);
        told += &format!("# {name}: exit code {code}\n{out}{errors}\n");
    }
    insta::assert_snapshot!("stores", told);
    for store in [store, "stores/whole.db"] {
        printed(&folder, &["store", store, "check"]);
        printed(&folder, &["store", store, "list"]);
    }
}

#[cfg(feature = "sqlite")]
#[test]
fn a_person_answers_the_question_of_a_stored_run() {
    let folder = copied("waiting");
    let store = "stores/waiting.db";
    let list = printed(&folder, &["store", store, "list"]);
    let (_, question) = list.split_once("approve asks ").expect("a question waits");
    let (id, _) = question.split_once(':').expect("it has an id");
    printed(&folder, &["store", store, "reply", "ada", id, "buy"]);
    let out = printed(&folder, &["store", store, "resume", "ada"]);
    assert!(out.contains("working.asking -> working.bought"), "{out}");
}

#[cfg(feature = "sqlite")]
#[test]
fn a_stored_world_continues_as_if_it_had_not_stopped() {
    let folder = copied("world");
    let run = ["run", "ecology", "--ticks", "40", "--seed", "7", "--store", "worlds/begun.db"];
    let continued = printed(&folder, &run);
    let whole = printed(&folder, &["run", "ecology", "--ticks", "40", "--seed", "7"]);
    let last = |text: &str| {
        let last = text.lines().last().expect("it ends");
        let mut last: Value = serde_json::from_str(last).expect("JSON");
        // The store does not have what the world spent before: that version did not count it.
        for name in ["llm_calls", "llm_tokens", "cost"] {
            last.as_object_mut().expect("an object").remove(name).expect("it is counted");
        }
        last
    };
    assert_eq!(last(&continued), last(&whole));
    for view in [&["--summary"][..], &["--distribution"], &["--cascades"], &["--plot"]] {
        printed(&folder, &[&["trace", "worlds/whole.jsonl"], view].concat());
    }
    printed(&folder, &["replay", "worlds/whole.jsonl", "--agent", "farmer_1"]);
}
