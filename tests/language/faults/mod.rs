//! Faults as authors make them, each beside the sound twin that it was made from, as chart and as agent.
//!
//! A `.twins` file has a section a fault: `== name (chart): C0302`, then the source with a mark before each line: a blank, where both
//! have it; `-`, where only the faulty one; `+`, where only the sound one; `!`, where both, and the finding of the faulty one may be
//! there. The code must be found on a line marked `-` or `!`, and nothing at all in the sound twin.

use chartc::Compilation;
use chartc::load::Memory;
use std::collections::{BTreeMap, BTreeSet};
use test_support::project::{files, read};

/// One section.
struct Twins {
    name: String,
    code: String,
    path: &'static str,
    faulty: String,
    sound: String,
    /// The lines of the faulty one where the finding may be, from 1.
    places: BTreeSet<usize>,
}

fn twins(text: &str) -> Vec<Twins> {
    text.split("\n== ").skip(1).map(section).collect()
}

fn section(text: &str) -> Twins {
    let (head, body) = text.split_once('\n').expect("the source is below the head");
    let (name, code) = head.split_once("): ").expect("`name (format): code`");
    let (name, format) = name.split_once(" (").expect("`name (format): code`");
    let path = match format {
        "chart" => "a.chart",
        "agent" => "agent.yaml",
        other => panic!("no format `{other}`"),
    };
    let (mut faulty, mut sound, mut places) = (String::new(), String::new(), BTreeSet::new());
    for line in body.trim_end().lines() {
        let (mark, rest) = line.split_at(line.len().min(1));
        if mark != "+" {
            faulty.push_str(rest);
            faulty.push('\n');
            if matches!(mark, "-" | "!") {
                places.insert(faulty.matches('\n').count());
            }
        }
        if mark != "-" {
            sound.push_str(rest);
            sound.push('\n');
        }
    }
    let (name, code) = (name.to_owned(), code.to_owned());
    Twins { name, code, path, faulty, sound, places }
}

fn all() -> Vec<Twins> {
    let found: Vec<Twins> = files("tests/language/faults", ".twins")
        .iter()
        .flat_map(|f| twins(&format!("\n{}", read(f))))
        .collect();
    assert!(!found.is_empty(), "there are twins");
    found
}

fn check(path: &str, text: &str) -> (Compilation, Vec<(usize, String)>) {
    let done = chartc::check(&[path.to_owned()], &Memory::of(path, text));
    let line = |d: &chartc::diagnostic::Diagnostic| {
        let at = done.sources.get(d.span.file).position(d.span.start).line;
        (at, format!("{} {}", d.rule.code, d.message))
    };
    let found = done.diagnostics.iter().map(line).collect();
    (done, found)
}

#[test]
fn each_fault_is_found_at_its_line() {
    let mut missing = String::new();
    for Twins { name, code, path, faulty, places, .. } in all() {
        let (_, found) = check(path, &faulty);
        let there =
            found.iter().any(|(line, words)| words.starts_with(&code) && places.contains(line));
        if !there {
            missing += &format!("{name} ({path}): no {code} on {places:?}, but {found:#?}\n");
        }
    }
    assert!(missing.is_empty(), "{missing}");
}

#[test]
fn nothing_is_found_in_a_sound_twin() {
    for Twins { name, path, sound, .. } in all() {
        let (done, found) = check(path, &sound);
        assert!(found.is_empty(), "{name} ({path}): {found:#?}\n{sound}");
        assert!(!done.charts.is_empty(), "{name} ({path}) cannot run");
    }
}

#[test]
fn each_fault_stands_in_both_formats() {
    let mut formats: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for Twins { name, path, .. } in all() {
        assert!(
            formats.entry(name.clone()).or_default().insert(path),
            "{name} ({path}) is there twice"
        );
    }
    for (name, paths) in &formats {
        assert_eq!(paths.len(), 2, "{name} is there as {paths:?} only");
    }
    assert!(formats.len() >= 24, "only {} faults", formats.len());
}
