//! Compilations and texts for the tests of editors.

use chartc::Compilation;
use chartc::load::{Loader, Memory};
use chartc::span::FileId;
use chartc_compiler::compile::check_indexed;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the repository.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The files of the repository that the tests of editors read, below `folder`, with the ending `ending`.
pub(crate) fn shipped(folder: &str, ending: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open = vec![root().join(folder)];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(
                fs::read_dir(&path).expect("a folder").map(|entry| entry.expect("an entry").path()),
            );
        } else if path.to_string_lossy().ends_with(ending) {
            let name =
                path.strip_prefix(root()).expect("below the root").to_string_lossy().into_owned();
            found.push((name, fs::read_to_string(&path).expect("a text")));
        }
    }
    found.sort();
    found
}

/// All shipped charts.
pub(crate) fn charts() -> Vec<(String, String)> {
    [shipped("charts", ".chart"), shipped("examples", ".chart")].concat()
}

/// The files of the repository, one of them with another text.
pub(crate) struct Changed<'t> {
    pub(crate) name: &'t str,
    pub(crate) text: &'t str,
}

impl Loader for Changed<'_> {
    fn read(&self, path: &str) -> Result<String, String> {
        if path == self.name {
            return Ok(self.text.to_owned());
        }
        fs::read_to_string(root().join(path)).map_err(|error| error.to_string())
    }

    fn resolve(&self, from: &str, name: &str) -> String {
        Memory::default().resolve(from, name)
    }

    fn list(&self, path: &str) -> Option<Vec<String>> {
        let entries = fs::read_dir(root().join(Path::new(path))).ok()?;
        Some(entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect())
    }
}

/// A file of the repository with this text, compiled with what it imports.
pub(crate) fn compiled(name: &str, text: &str) -> Compilation {
    check_indexed(&[name.to_owned()], &Changed { name, text }, 0)
}

/// A text alone.
pub(crate) fn alone(name: &str, text: &str) -> Compilation {
    check_indexed(&[name.to_owned()], &Memory::of(name, text), 0)
}

/// The first file.
pub(crate) const FIRST: FileId = FileId(0);

/// Broken versions of a text: cut off, without a part, with parts changed. The same each time.
pub(crate) fn broken(text: &str, seed: u64) -> Vec<String> {
    let mut state = seed | 1;
    let mut below = |most: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % most.max(1) as u64) as usize
    };
    let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let mut all = Vec::new();
    for _ in 0..6 {
        let (a, b) = (ends[below(ends.len())], ends[below(ends.len())]);
        let (a, b) = (a.min(b), a.max(b));
        all.push(text[..a].to_owned());
        all.push(format!(
            "{}{}",
            &text[..a],
            &text[b.min(a + 20).max(a)..].trim_start_matches(|c: char| !c.is_ascii())
        ));
        let what = ["{", "}", "\"", "\"\"\"", "`", "(", "é", "\r\n", "//", "->", "\u{feff}", "."]
            [below(12)];
        all.push(format!("{}{what}{}", &text[..a], &text[a..]));
    }
    all
}
