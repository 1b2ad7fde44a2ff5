//! The public cases of the SCION test framework, on whole configurations: interpreted, and as generated code.
//!
//! `CHARTC_SCION=DIR` points at another folder of the same layout: then nothing is expected, and what passes is counted.

use crate::batch::driver::{Script, Step};
use crate::batch::{Batch, interpreted};
use chartc::Checked;
use chartc::load::Memory;
use chartc_core::expr::Value;
use chartc_core::machine::Input;
use chartc_core::model::StateKind;
use chartc_core::plan::Plan;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use test_support::project::shared;

/// Cases that need JavaScript.
const REFUSED: &[&str] = &["error/error", "script-src/test3"];
/// Cases whose main block takes a parallel state for a transition's domain; the other block is what W3C's algorithm gives.
const LEGACY: &[&str] = &["more-parallel/test10", "more-parallel/test10b"];

/// A document with what is done to it and where it has to be then.
struct Case {
    name: String,
    checked: Result<Checked, String>,
    script: Script,
    expected: Vec<BTreeSet<String>>,
}

/// How a case ended in one engine.
type Verdict = Result<(), String>;

fn configuration(block: &serde_json::Value, name: &str) -> BTreeSet<String> {
    let states = block[name].as_array().into_iter().flatten();
    states.filter_map(|s| s.as_str().map(str::to_owned)).collect()
}

/// Everything beside the documents that they may include.
fn texts(folder: &Path) -> Memory {
    let entries = std::fs::read_dir(folder).expect("the folder can be read").flatten();
    let text = |entry: std::fs::DirEntry| {
        let text = std::fs::read_to_string(entry.path()).ok()?;
        Some((entry.file_name().to_string_lossy().into_owned(), text))
    };
    Memory(entries.filter_map(text).collect())
}

fn case(folder: &Path, name: &str) -> Case {
    let (part, file) = name.split_once('/').expect("a folder and a file");
    let memory = texts(&folder.join(part));
    let mut done = chartc::check(&[format!("{file}.scxml")], &memory);
    let shown = chartc::report::short(&done.diagnostics, &done.sources);
    let errors = shown.lines().filter(|l| l.contains("error[")).collect::<Vec<_>>().join("\n");
    let checked = done.charts.pop().filter(|c| c.not_yet().is_empty()).ok_or(errors);
    let json = &memory.0[&format!("{file}.json")];
    let json: serde_json::Value = serde_json::from_str(json).expect("the script is JSON");
    let block = if LEGACY.contains(&name) { &json["legacySemantics"] } else { &json };
    let mut script = Script { chart: name.to_owned(), ..Script::default() };
    script.steps.push(Step::Give(0, Input::Start));
    let mut expected = vec![configuration(block, "initialConfiguration")];
    let mut now = 0;
    for event in block["events"].as_array().into_iter().flatten() {
        now += event["after"].as_u64().unwrap_or(0);
        let sent = event["event"]["name"].as_str().expect("events have names");
        let data = &event["event"]["data"];
        let given = checked.as_ref().ok().and_then(|c| {
            let plan = Plan::new(c.chart());
            let id = plan.tables().event_named(sent)?;
            let data: Value = serde_json::from_value(data.clone()).unwrap_or_default();
            Some(Input::Event(id, vec![data; c.chart().events[id.index()].fields.len()]))
        });
        // What no line names changes nothing but the time.
        script.steps.push(Step::Give(now, given.unwrap_or(Input::Tick)));
        expected.push(configuration(event, "nextConfiguration"));
    }
    Case { name: name.to_owned(), checked, script, expected }
}

/// Compares the basic states after each step with what is expected.
fn verdict(case: &Case, chart: &Checked, text: &str) -> Verdict {
    let chart = chart.chart();
    let basic: BTreeMap<&str, &str> = chart
        .states
        .iter()
        .filter(|s| matches!(s.kind, StateKind::Atomic | StateKind::Final { .. }))
        .map(|s| (s.path.as_str(), s.name.as_str()))
        .collect();
    let seen: Vec<BTreeSet<String>> = text
        .lines()
        .filter_map(|line| line.strip_prefix("active: "))
        .map(|line| {
            line.split(' ').filter_map(|path| basic.get(path)).map(|n| (*n).to_owned()).collect()
        })
        .collect();
    if seen.len() != case.expected.len() {
        return Err(format!("{} configurations, not {}: {text}", seen.len(), case.expected.len()));
    }
    for (nth, (seen, expected)) in seen.iter().zip(&case.expected).enumerate() {
        if seen != expected {
            return Err(format!("after input {nth}: {seen:?}, not {expected:?}"));
        }
    }
    Ok(())
}

/// All cases of a folder, by name.
fn cases(folder: &Path) -> Vec<Case> {
    let mut names = Vec::new();
    for part in std::fs::read_dir(folder).expect("the folder can be read").flatten() {
        let Ok(files) = std::fs::read_dir(part.path()) else { continue };
        for file in files.flatten().map(|f| f.file_name().to_string_lossy().into_owned()) {
            let Some(stem) = file.strip_suffix(".scxml") else { continue };
            if part.path().join(format!("{stem}.json")).is_file() {
                names.push(format!("{}/{stem}", part.file_name().to_string_lossy()));
            }
        }
    }
    names.sort();
    names.iter().map(|name| case(folder, name)).collect()
}

fn folder() -> Option<PathBuf> {
    let given = std::env::var_os("CHARTC_SCION").map(PathBuf::from);
    given.or_else(|| shared().map(|s| s.join("conformance/scion")).filter(|f| f.is_dir()))
}

#[test]
fn interpreted_and_generated() {
    let Some(folder) = folder() else {
        println!("skipped: the cases are not found");
        return;
    };
    let cases = cases(&folder);
    let mut batch = Batch::default();
    let (mut refused, mut failed) = (BTreeMap::new(), BTreeMap::new());
    let mut ready: Vec<(&Case, &Checked)> = Vec::new();
    for case in &cases {
        match &case.checked {
            Err(why) => _ = refused.insert(case.name.clone(), why.clone()),
            Ok(checked) => match batch.add(&case.name, checked) {
                Ok(()) => ready.push((case, checked)),
                Err(why) => _ = refused.insert(case.name.clone(), why),
            },
        }
    }
    let scripts: Vec<Script> = ready.iter().map(|(case, _)| case.script.clone()).collect();
    let texts: Vec<String> = (ready.iter())
        .map(|(case, checked)| interpreted(&Plan::new(checked.chart()), &case.script))
        .collect();
    let programs = batch.build("conformance");
    let generated = programs.run("cases", &scripts);
    for (((case, checked), one), other) in ready.iter().zip(&texts).zip(&generated) {
        for (engine, text) in [("interpreted", one), ("generated", other)] {
            if let Err(why) = verdict(case, checked, text) {
                let all: &mut String = failed.entry(case.name.clone()).or_default();
                *all += &format!("{engine}, {why}\n");
            }
        }
    }
    let mut table: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    for case in &cases {
        let row = table.entry(case.name.split('/').next().unwrap_or_default()).or_default();
        let nth = if refused.contains_key(&case.name) {
            2
        } else {
            usize::from(failed.contains_key(&case.name))
        };
        row[nth] += 1;
    }
    println!("{:<36} passed failed refused", "folder");
    for (part, [passed, failed, refused]) in &table {
        println!("{part:<36} {passed:>6} {failed:>6} {refused:>7}");
    }
    let passed = cases.len() - refused.len() - failed.len();
    println!("{passed} passed, {} failed, {} refused", failed.len(), refused.len());
    for (name, why) in &failed {
        println!("failed {name}: {why}");
    }
    for (name, why) in &refused {
        println!("refused {name}: {why}");
    }
    if std::env::var_os("CHARTC_SCION").is_none() {
        assert!(failed.is_empty(), "{failed:#?}");
        assert!(refused.keys().eq(REFUSED), "{refused:#?}");
        assert!(passed >= 123, "only {} cases are found", cases.len());
        let differences = programs.differences("cases", &scripts, &texts);
        assert!(differences.is_empty(), "{differences:#?}");
    }
}
