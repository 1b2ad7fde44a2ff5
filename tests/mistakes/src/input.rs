//! The sound sources that mistakes are put into.

use crate::random::Random;
use crate::text::Notation;
use crate::workflow::workflow;
use chartc::Compilation;
use chartc::diagnostic::{Diagnostic, Severity};
use chartc::load::Memory;
use chartc::scenario::failed;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// How many random charts there are.
const RANDOM: usize = 50;

/// A sound source.
pub(crate) struct Input {
    /// Where it comes from.
    pub(crate) name: String,
    /// The path of what is changed, below.
    path: String,
    /// The path of its tests, if it has any.
    tests: Option<String>,
    /// It and what lies around it.
    files: Memory,
    pub(crate) notation: Notation,
}

impl Input {
    pub(crate) fn text(&self) -> &str {
        &self.files.0[&self.path]
    }

    /// What analysis finds in it, or in `text` in its place.
    pub(crate) fn check(&self, text: Option<&str>) -> Compilation {
        self.checked(text, &[&self.path])
    }

    /// What is found with its tests; `None` where it has none.
    pub(crate) fn play(&self, text: Option<&str>) -> Option<Compilation> {
        let mut done = self.checked(text, &[&self.path, self.tests.as_ref()?]);
        done.diagnostics.extend(failed(&done));
        Some(done)
    }

    fn checked(&self, text: Option<&str>, paths: &[&String]) -> Compilation {
        let paths: Vec<String> = paths.iter().map(|path| (*path).clone()).collect();
        match text {
            None => chartc::check(&paths, &self.files),
            Some(text) => {
                let mut files = self.files.clone();
                files.0.insert(self.path.clone(), text.to_owned());
                chartc::check(&paths, &files)
            }
        }
    }

    /// Whether a place is in the text that is changed.
    pub(crate) fn is_here(&self, file: &str) -> bool {
        self.path == file
    }

    /// Whether it has tests.
    pub(crate) fn is_tested(&self) -> bool {
        self.tests.is_some()
    }

    /// Whether nothing but notes is found in it, its tests pass, and a chart of it can run.
    fn is_sound(&self) -> bool {
        let quiet = |done: &Compilation| {
            let is_note = |d: &Diagnostic| d.severity == Severity::Note;
            done.diagnostics.iter().all(is_note)
        };
        let done = self.check(None);
        quiet(&done)
            && done.charts.iter().any(|c| c.not_yet().is_empty())
            && self.play(None).is_none_or(|played| quiet(&played))
    }
}

/// The project's own charts and agents, those of a folder with more, and random ones; only what is sound.
pub(crate) fn inputs(root: &Path, shared: Option<&Path>, seed: u64) -> Vec<Input> {
    let mut found = Vec::new();
    for folder in ["charts", "examples"] {
        for file in files(&root.join(folder), 3) {
            found.extend(read(root, &file));
        }
    }
    for file in files(&root.join("tests/language/fixtures/agents"), 1) {
        found.extend(read(root, &file));
    }
    for file in shared.map(|s| files(&s.join("agent_yaml/files"), 1)).unwrap_or_default() {
        found.extend(read(root, &file));
    }
    found.retain(Input::is_sound);
    let mut made = 0;
    for number in 0.. {
        let (text, tests) =
            workflow(&mut Random::new(seed.wrapping_mul(1000).wrapping_add(number)));
        let mut files = Memory::of("worker.chart", &text);
        files.0.insert("worker.test.chart".into(), tests);
        let input = Input {
            name: format!("random {number}"),
            path: "worker.chart".into(),
            tests: Some("worker.test.chart".into()),
            files,
            notation: Notation::Chart,
        };
        if input.is_sound() {
            found.push(input);
            made += 1;
        }
        if made == RANDOM || number > 20 * RANDOM as u64 {
            break;
        }
    }
    found
}

/// Files below a folder that may be charts or agents, sorted.
fn files(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = std::fs::read_dir(folder) else { return found };
    for path in entries.filter_map(|e| e.ok().map(|e| e.path())) {
        if path.is_dir() && depth > 1 && !path.ends_with("target") {
            found.extend(files(&path, depth - 1));
        } else if path.extension().is_some_and(|e| e == "chart" || e == "yaml") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn read(root: &Path, file: &Path) -> Option<Input> {
    let text = std::fs::read_to_string(file).ok()?;
    let name = file.strip_prefix(root).unwrap_or(file).display().to_string();
    let is_agent = file.extension().is_some_and(|e| e == "yaml");
    if is_agent && (name.ends_with(".script.yaml") || !text.contains("id:")) {
        return None;
    }
    let mut files = BTreeMap::new();
    let own = name.rsplit('/').next()?;
    // An agent keeps its name where its tests import it by that.
    let is_named = !is_agent || own.ends_with("agent.yaml");
    let path = if is_named { own.to_owned() } else { "agent.yaml".to_owned() };
    let stem = own.rsplit_once('.')?.0;
    let tests = format!("{stem}.test.chart");
    if is_named {
        for beside in
            std::fs::read_dir(file.parent()?).ok()?.filter_map(|e| e.ok().map(|e| e.path()))
        {
            if beside.extension().is_some_and(|e| e == "chart")
                && let Some(name) = beside.file_name()
            {
                files.insert(
                    name.to_string_lossy().into_owned(),
                    std::fs::read_to_string(&beside).ok()?,
                );
            }
        }
    }
    files.insert(path.clone(), text);
    let notation = if is_agent { Notation::Yaml } else { Notation::Chart };
    let tests = Some(tests).filter(|tests| files.contains_key(tests));
    Some(Input { name, path, tests, files: Memory(files), notation })
}
