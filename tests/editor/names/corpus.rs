//! The charts, agents and SCXML documents of the project, and those of the shared folder where it is found.

use chartc::load::Memory;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Files that are compiled together.
pub(super) struct Set {
    /// What it is called in messages.
    pub(super) name: String,
    /// All texts.
    pub(super) files: Memory,
    /// Those that are requested.
    pub(super) roots: Vec<String>,
}

impl Set {
    /// A file by itself.
    pub(super) fn one(name: &str, file: &str, text: &str) -> Self {
        Self { name: name.to_owned(), files: Memory::of(file, text), roots: vec![file.to_owned()] }
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The texts below a folder, by their paths from `from`; files that are no text are left out.
fn texts(from: &Path, folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let entries = std::fs::read_dir(&folder).into_iter().flatten();
        let mut paths: Vec<PathBuf> =
            entries.map(|entry| entry.expect("the folder is readable").path()).collect();
        paths.sort();
        for path in paths {
            let name =
                path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            if path.is_dir() {
                if name != "target" && !name.starts_with('.') {
                    open.push(path);
                }
            } else if let Ok(text) = std::fs::read_to_string(&path) {
                let below = path.strip_prefix(from).expect("it was found below");
                found.insert(below.to_string_lossy().replace('\\', "/"), text);
            }
        }
    }
    found
}

fn is_chart(path: &str) -> bool {
    let endings = [".chart", "agent.yaml", ".scxml"];
    endings.iter().any(|ending| path.ends_with(ending))
}

/// Each chart of `charts/` and `examples/` by itself, with what it imports.
pub(super) fn shipped() -> Vec<Set> {
    let mut sets = Vec::new();
    for folder in ["charts", "examples"] {
        let files = Memory(texts(root(), &root().join(folder)));
        for path in files.0.keys().filter(|path| is_chart(path)) {
            let (name, roots) = (path.clone(), vec![path.clone()]);
            sets.push(Set { name, files: files.clone(), roots });
        }
    }
    sets
}

/// The examples of the pages of findings and of the documentation.
pub(super) fn pages() -> Vec<Set> {
    let mut sets = Vec::new();
    for folder in ["src/compiler/rules", "docs"] {
        for (path, text) in texts(root(), &root().join(folder)) {
            if path.ends_with(".md") {
                examples(&path, &text, &mut sets);
            }
        }
    }
    sets
}

fn examples(path: &str, text: &str, sets: &mut Vec<Set>) {
    let mut block: Option<(&str, String)> = None;
    for (nth, line) in text.lines().enumerate() {
        match (&mut block, line.strip_prefix("```")) {
            (None, Some("chart" | "chart good" | "chart bad")) => {
                block = Some(("a.chart", String::new()));
            }
            (None, Some("yaml good" | "yaml bad")) => block = Some(("agent.yaml", String::new())),
            (Some((file, text)), Some("")) => {
                sets.push(Set::one(&format!("{path}:{nth}"), file, text));
                block = None;
            }
            (Some((_, text)), _) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, _) => {}
        }
    }
}

/// The files with this ending below a folder of the shared folder, each by itself; none, with a message, where it is not found.
pub(super) fn shared(folder: &str, ending: &str, as_file: &str) -> Vec<Set> {
    let shared = std::env::var_os("CHARTC_SHARED")
        .map_or_else(|| root().join("../shared"), PathBuf::from)
        .join(folder);
    if !shared.is_dir() {
        eprintln!("skipped, not found: {}", shared.display());
        return Vec::new();
    }
    let all = texts(&shared, &shared).into_iter().filter(|(path, _)| path.ends_with(ending));
    all.map(|(path, text)| Set::one(&path, as_file, &text)).collect()
}
