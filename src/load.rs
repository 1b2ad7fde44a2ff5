//! Reads sources and what they import.

use crate::diagnostic::Diagnostic;
use crate::lint::reported::UNREADABLE;
use crate::source::{Source, Sources};
use crate::span::{FileId, Span};
use std::collections::{BTreeMap, BTreeSet};

/// Where texts come from: the file system in the command line, memory in tests.
pub trait Loader {
    /// The text at `path`.
    ///
    /// # Errors
    /// Why it could not be read, as shown to the user.
    fn read(&self, path: &str) -> Result<String, String>;

    /// The path that `import "name"` in the file `from` means.
    fn resolve(&self, from: &str, name: &str) -> String;
}

/// Sources with who imports whom.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The texts.
    pub sources: Sources,
    /// The files that were asked for; the others are imported by them.
    pub roots: BTreeSet<FileId>,
    /// For each file, the files it imports, directly or not, itself left out.
    pub imported: BTreeMap<FileId, BTreeSet<FileId>>,
}

impl Loaded {
    /// The files that `file` imports, directly or not.
    pub fn imports(&self, file: FileId) -> BTreeSet<FileId> {
        self.imported.get(&file).cloned().unwrap_or_default()
    }

    /// Whether the file was asked for.
    pub fn is_root(&self, file: FileId) -> bool {
        self.roots.contains(&file)
    }
}

/// Loads `paths` and their imports, each file once. A file that cannot be read is an empty source with a finding.
pub fn load(paths: &[String], loader: &dyn Loader, diagnostics: &mut Vec<Diagnostic>) -> Loaded {
    let mut loaded = Loaded::default();
    for path in paths {
        match loader.read(path) {
            Ok(text) => {
                let id = loaded.sources.add(Source::new(path.clone(), text));
                loaded.roots.insert(id);
            }
            Err(why) => {
                let id = loaded.sources.add(Source::new(path.clone(), ""));
                loaded.roots.insert(id);
                let place = Span::new(id, 0, 0);
                diagnostics.push(UNREADABLE.at(place, format!("`{path}` cannot be read: {why}")));
            }
        }
    }
    loaded
}

/// Texts by path, for tests and for callers without files.
#[derive(Debug, Clone, Default)]
pub struct Memory(pub BTreeMap<String, String>);

impl Memory {
    /// A loader of one text.
    pub fn of(path: &str, text: &str) -> Self {
        Self(BTreeMap::from([(path.to_owned(), text.to_owned())]))
    }
}

impl Loader for Memory {
    fn read(&self, path: &str) -> Result<String, String> {
        self.0.get(path).cloned().ok_or_else(|| "there is no such file".to_owned())
    }

    fn resolve(&self, _from: &str, name: &str) -> String {
        name.to_owned()
    }
}
