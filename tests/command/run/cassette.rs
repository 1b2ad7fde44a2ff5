//! Recorded calls: runs that are the same with nobody asked, and what is said where they are not.

use super::command::{chartc, folder};
use super::replay::world::{charts, record_around};
use super::root;
use chartc_runtime::cassette::{CassetteSink, Entry, Recorder, Replaying};
use chartc_runtime::clock::Clock;
use chartc_runtime::driver::{Driver, Parts};
use chartc_runtime::journal::{FromJournal, Journaled};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Files in memory.
#[derive(Clone, Default)]
struct Files(Arc<Mutex<BTreeMap<String, String>>>);

impl CassetteSink for Files {
    fn put(&self, name: &str, text: &str) -> Result<(), String> {
        assert!(Entry::is_file(name), "{name}");
        let before = self.0.lock().expect("one thread").insert(name.to_owned(), text.to_owned());
        assert_eq!(before, None, "{name} is written once");
        Ok(())
    }
}

#[test]
fn recorded_calls_give_the_same_runs() {
    let charts = charts();
    let (mut calls, mut given_up, mut tools) = (0, 0, 0);
    for seed in 0..400 {
        let checked = &charts[seed as usize % charts.len()];
        let files = Files::default();
        let recording = |driver: Arc<dyn Driver>, clock: &Arc<dyn Clock>| -> Arc<dyn Driver> {
            let recorder = Arc::new(Recorder::new(Box::new(files.clone()), clock.clone()));
            Arc::new(Journaled::new(recorder, driver))
        };
        let first = record_around(checked, seed, false, recording);
        let files = files.0.lock().expect("one thread");
        let entries: Vec<Entry> = files
            .iter()
            .map(|(name, text)| {
                let entry = Entry::read(text).unwrap_or_else(|why| panic!("{why}: {text}"));
                assert_eq!((&entry.file(), &entry.text()), (name, text));
                entry
            })
            .collect();
        calls += entries.len();
        tools += files.keys().filter(|name| name.starts_with("tool.")).count();
        given_up += files.values().filter(|text| text.contains("\"given_up\": true")).count();
        let replaying = |_: Arc<dyn Driver>, clock: &Arc<dyn Clock>| -> Arc<dyn Driver> {
            let replaying = Replaying::new("memory", entries, clock.clone());
            let replaying = Arc::new(FromJournal(replaying));
            Arc::new(Parts { oracle: replaying.clone(), people: None, tools: replaying })
        };
        let again = record_around(checked, seed, false, replaying);
        let again = again.replace("\"oracle\":\"replay:memory\"", "\"oracle\":\"chance\"");
        assert!(first == again, "{}, seed {seed}:\n{first}\n{again}", checked.chart().name);
    }
    println!("{calls} calls, {tools} of tools, {given_up} given up");
    assert!(calls > 2000 && given_up > 10 && tools > 10, "{calls} {given_up} {tools}");
}

const RUN: [&str; 9] = [
    "run",
    "support.chart",
    "--events",
    "support.events.jsonl",
    "--param",
    "signature=R",
    "--functions",
    "support.script.yaml",
    "--llm",
];

/// A folder with a chart that we ship and the calls of its run.
fn recorded(name: &str) -> PathBuf {
    let folder = folder(&format!("cassette-{name}"));
    for file in ["support.chart", "support.script.yaml", "support.events.jsonl"] {
        std::fs::copy(root().join("charts").join(file), folder.join(file))
            .expect("charts can be copied");
    }
    let more = ["script:support.script.yaml", "--record", "calls", "--trace", "first.jsonl"];
    // Twice: calls of the run before are taken away, other files are not.
    for _ in 0..2 {
        let (code, _, errors) = chartc(&folder, &[&RUN[..], &more].concat());
        assert_eq!((code, errors.as_str()), (0, ""));
        std::fs::write(folder.join("calls/notes.json"), "{}").expect("a folder of its own");
    }
    folder
}

fn again(folder: &Path) -> (i32, String, String) {
    chartc(folder, &[&RUN[..], &["replay:calls", "--trace", "second.jsonl"]].concat())
}

fn calls(folder: &Path, start: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder.join("calls")).expect("it was made");
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    let is_it =
        |path: &PathBuf| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(start));
    let mut paths: Vec<PathBuf> = paths.filter(is_it).collect();
    paths.sort();
    paths
}

#[test]
fn a_run_from_its_calls_alone() {
    let folder = recorded("same");
    assert!(
        calls(&folder, "notes").len() == 1
            && calls(&folder, "").iter().all(|p| !p.ends_with(".part"))
    );
    let (code, _, errors) = again(&folder);
    assert_eq!((code, errors.as_str()), (0, ""));
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("it was written");
    let second = read("second.jsonl").replace("replay:calls", "script:support.script.yaml");
    assert_eq!(read("first.jsonl"), second);
    let one = &calls(&folder, "step.satisfied.")[0];
    insta::assert_snapshot!("recorded_call", std::fs::read_to_string(one).expect("it is there"));
    // An answer may be edited: the run is another then.
    for path in calls(&folder, "step.approve.") {
        let text = std::fs::read_to_string(&path).expect("it is there");
        std::fs::write(&path, text.replace("\"text\": \"send\"", "\"text\": \"nonsense\""))
            .expect("as before");
    }
    let (code, out, errors) = again(&folder);
    assert!(
        code == 1 && format!("{out}{errors}").contains("step `approve`"),
        "{code} {out}{errors}"
    );
}

#[test]
fn the_call_that_the_docs_show_can_be_read() {
    let blocks =
        test_support::project::blocks(&test_support::project::read("docs/running.md"), "text");
    let calls: Vec<_> = blocks.iter().filter(|(_, text)| text.contains("after_ms")).collect();
    assert_eq!(calls.len(), 1);
    let entry = Entry::read(&calls[0].1).expect("a recorded call");
    assert_eq!(entry.request.name(), "classify");
}

#[test]
fn what_was_not_recorded_is_not_answered() {
    let folder = recorded("miss");
    let path = folder.join("support.chart");
    let chart = std::fs::read_to_string(&path).expect("it is there");
    let changed = chart.replace("The customer:", "Our customer:");
    assert_ne!(chart, changed);
    std::fs::write(&path, changed).expect("as before");
    let (code, _, errors) = again(&folder);
    assert_eq!(code, 1);
    insta::assert_snapshot!("miss", errors);
    std::fs::write(&path, chart).expect("as before");
    for path in calls(&folder, "step.classify.") {
        std::fs::remove_file(path).expect("it is there");
    }
    let (code, _, errors) = again(&folder);
    assert!(code == 1 && errors.contains("has no call of step `classify` at all"), "{errors}");
    // What was asked is part of the name.
    let one = &calls(&folder, "step.write.")[0];
    let text = std::fs::read_to_string(one).expect("it is there");
    std::fs::write(one, text.replacen("\"llm\"", "\"ask\"", 1)).expect("as before");
    let (code, _, errors) = again(&folder);
    assert!(code == 2 && errors.contains("the question differs from the recorded one"), "{errors}");
    std::fs::write(one, text.replacen("\"v\": 1", "\"v\": 8", 1)).expect("as before");
    let (code, _, errors) = again(&folder);
    assert!(code == 2 && errors.contains("version 8 of recorded calls"), "{errors}");
    std::fs::remove_dir_all(folder.join("calls")).expect("it is there");
    let (code, _, errors) = again(&folder);
    assert!(code == 2 && errors.contains("there is no folder calls"), "{errors}");
}

/// Grades texts, two of which are the same and are asked about in the same words.
const GRADES: &str = r#"
chart Grades {
  var all: List(Text) = []
  initial grading
  state grading {
    llm grade each text in ["same", "same", "other"] {
      prompt "What of {text}?"  returns Text into all  3 at a time  retry 1
      done -> graded(all)  error -> lost
    }
  }
  final graded(all: List(Text))
  final lost : error
}
"#;

#[test]
fn answers_belong_to_their_elements_in_whatever_order_they_are_asked_for() {
    let folder = folder("cassette-each");
    let write = |text: &str| std::fs::write(folder.join("grades.chart"), text).expect("its own");
    write(GRADES);
    let script = "answers: {grade: [{fail: server, after: 1s}, {answer: second, after: 3s}, {answer: third, after: 2s}, {answer: first, after: 1s}]}";
    std::fs::write(folder.join("script.yaml"), script).expect("its own");
    let run = |more: &[&str]| {
        let (code, out, errors) =
            chartc(&folder, &[&["run", "grades.chart", "--turns", "1"], more].concat());
        assert_eq!((code, errors.as_str()), (0, ""), "{out}");
        let (_, result) = out.rsplit_once("\n{").expect("what the final state was given");
        format!("{{{}", result.trim_end())
    };
    let whole = r#"{"all":["first","second","third"]}"#;
    let recorded =
        run(&["--llm", "script:script.yaml", "--record", "calls", "--trace", "first.jsonl"]);
    assert_eq!(recorded, whole);
    assert_eq!(calls(&folder, "step.grade.").len(), 4);
    let replays = || run(&["--llm", "replay:calls", "--trace", "second.jsonl"]);
    assert_eq!(replays(), whole);
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("it was written");
    assert_eq!(
        read("first.jsonl"),
        read("second.jsonl").replace("replay:calls", "script:script.yaml")
    );
    // One after another: the first element is asked for a second time before the second one.
    write(&GRADES.replace("3 at a time", "1 at a time"));
    assert_eq!(replays(), whole);
    // What is the same under another number is found, too.
    write(&GRADES.replace(r#"["same", "same", "other"]"#, r#"["other", "same", "same"]"#));
    assert_eq!(replays(), r#"{"all":["third","second","first"]}"#);
}
