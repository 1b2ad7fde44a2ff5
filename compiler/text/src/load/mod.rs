//! Reads sources and what they import, each file once.

mod circles;

use crate::diagnostic::Diagnostic;
use crate::front::{self, Link, Nearby, Refusal, Unread};
use crate::rules::{empty_file, refused_file, unreadable_file};
use crate::source::{Source, Sources};
use crate::span::{FileId, Span, Spanned};
use crate::syntax::{self, Item};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Where texts come from: the file system in the command line, memory in tests.
pub trait Loader {
    /// The text at `path`.
    ///
    /// # Errors
    /// Why it could not be read, as shown to the user.
    fn read(&self, path: &str) -> Result<String, String>;

    /// The text at `path`, which another file leads to: as [`Self::read`], but only of a regular file.
    ///
    /// # Errors
    /// Why it could not be read, as shown to the user.
    fn read_linked(&self, path: &str) -> Result<String, String> {
        self.read(path)
    }

    /// The path that `import "name"` in the file `from` means.
    fn resolve(&self, from: &str, name: &str) -> String;

    /// What everything has to lie below that the file `named` imports, directly or not. What two files with one root may import is
    /// the same.
    fn root(&self, named: &str) -> String {
        let _ = named;
        String::new()
    }

    /// Whether the file `named`, or one that it imports, may lead to the one at `path`. A loader without folders permits all that
    /// it has.
    ///
    /// # Errors
    /// Why the file is not read. It has not been opened.
    fn permit(&self, named: &str, path: &str, link: Link) -> Result<(), Unread> {
        let _ = (named, path, link);
        Ok(())
    }

    /// The names of what the folder at `path` holds; `None` where there is no such folder. A loader without folders has none.
    fn list(&self, path: &str) -> Option<Vec<String>> {
        let _ = path;
        None
    }
}

/// Sources with their syntax and who imports whom.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The texts. A file that was asked for and cannot be read has an empty one.
    pub sources: Sources,
    /// The syntax of each, in the same order.
    pub files: Vec<syntax::File>,
    /// The files that were asked for; the others are imported by them.
    pub roots: BTreeSet<FileId>,
    /// For each file, the files it imports or is read together with, directly or not, itself left out.
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

/// Loads `paths` and what they import, each file once, and reads all of it.
pub fn load(paths: &[String], loader: &dyn Loader, diagnostics: &mut Vec<Diagnostic>) -> Loaded {
    let mut loading = Loading::of(loader, paths);
    let mut imports: Imports = BTreeMap::new();
    // A file may be reached from several named ones. It is read once, but each root says anew what may be imported.
    let mut seen: BTreeSet<(String, FileId)> = BTreeSet::new();
    for path in paths {
        loading.from = path;
        let root = loader.root(path);
        let id = loading.named_file(path, diagnostics);
        loading.loaded.roots.insert(id);
        let mut open = vec![id];
        while let Some(file) = open.pop() {
            if !seen.insert((root.clone(), file)) {
                continue;
            }
            let found = loading.imports_of(file, diagnostics);
            open.extend(found.iter().rev().map(|(id, _)| *id));
            let known = imports.entry(file).or_default();
            for import in found {
                if !known.contains(&import) {
                    known.push(import);
                }
            }
        }
    }
    circles::report(&imports, &loading.loaded.sources, diagnostics);
    let mut loaded = loading.loaded;
    loaded.imported = imports.keys().map(|file| (*file, below(*file, &imports))).collect();
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

    fn resolve(&self, from: &str, name: &str) -> String {
        let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut parts: Vec<&str> = Vec::new();
        for part in folder.split('/').chain(name.split('/')) {
            match part {
                "" | "." => {}
                ".." if parts.last().is_some_and(|last| *last != "..") => {
                    parts.pop();
                }
                other => parts.push(other),
            }
        }
        parts.join("/")
    }

    fn list(&self, path: &str) -> Option<Vec<String>> {
        let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
        let mut names: Vec<String> = self
            .0
            .range(prefix.clone()..)
            .map_while(|(name, _)| name.strip_prefix(&prefix))
            .filter_map(|below| below.split('/').next().map(str::to_owned))
            .collect();
        names.dedup();
        (!names.is_empty()).then_some(names)
    }
}

struct Loading<'l> {
    loader: &'l dyn Loader,
    /// The paths that were asked for: whoever names a file permits that it is imported.
    named: BTreeSet<&'l str>,
    /// The one of them that is being loaded with what it imports.
    from: &'l str,
    /// Imports that are reported already.
    reported: BTreeSet<Span>,
    loaded: Loaded,
    /// By path: its id, or why it cannot be read.
    known: BTreeMap<String, Result<FileId, String>>,
    /// What each folder holds that was asked for.
    folders: BTreeMap<String, Option<Arc<BTreeSet<String>>>>,
    /// For each file, the files that its front end has read with it.
    read_with: BTreeMap<FileId, BTreeSet<FileId>>,
}

/// What each file imports, and where it says so.
type Imports = BTreeMap<FileId, Vec<(FileId, Span)>>;

impl<'l> Loading<'l> {
    fn of(loader: &'l dyn Loader, named: &'l [String]) -> Self {
        Self {
            loader,
            named: named.iter().map(String::as_str).collect(),
            from: "",
            reported: BTreeSet::new(),
            loaded: Loaded::default(),
            known: BTreeMap::new(),
            folders: BTreeMap::new(),
            read_with: BTreeMap::new(),
        }
    }

    /// Enters a text, without syntax.
    fn add(&mut self, path: &str, text: impl Into<String>) -> FileId {
        let id = self.loaded.sources.add(Source::new(path, text));
        self.loaded.files.push(syntax::File::new(id));
        id
    }

    fn named_file(&mut self, path: &str, diagnostics: &mut Vec<Diagnostic>) -> FileId {
        match self.read(path, |loader| loader.read(path), diagnostics) {
            Ok(id) => id,
            Err(why) => {
                let id = self.add(path, "");
                let place = Span::new(id, 0, 0);
                diagnostics.push(unreadable_file::asked_for(path, &why, place));
                id
            }
        }
    }

    fn import(&mut self, path: &str, diagnostics: &mut Vec<Diagnostic>) -> Result<FileId, Unread> {
        if self.named.contains(path) {
            let named = self.read(path, |loader| loader.read(path), diagnostics);
            return named.map_err(Unread::Unreadable);
        }
        Link::Import.permit(path)?;
        self.loader.permit(self.from, path, Link::Import)?;
        self.read(path, |loader| loader.read_linked(path), diagnostics).map_err(Unread::Unreadable)
    }

    fn read(
        &mut self,
        path: &str,
        text: impl FnOnce(&dyn Loader) -> Result<String, String>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<FileId, String> {
        if let Some(known) = self.known.get(path) {
            return known.clone();
        }
        let found = text(self.loader).map(|text| {
            let id = self.add(path, text);
            let source = self.loaded.sources.share(id);
            let mut nearby = Around { loading: self, file: id, from: path };
            let file = front::parse_among(id, &source, &mut nearby, diagnostics);
            let is_agent = path.ends_with(".yaml") || path.ends_with(".yml");
            if file.items.is_empty() && is_blank(&source.text, is_agent) {
                diagnostics.push(empty_file::empty(path, is_agent, Span::new(id, 0, 0)));
            }
            self.loaded.files[id.0 as usize] = file;
            id
        });
        self.known.insert(path.to_owned(), found.clone());
        found
    }

    fn imports_of(
        &mut self,
        file: FileId,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Vec<(FileId, Span)> {
        let from = self.loaded.sources.get(file).name.clone();
        let paths: Vec<Spanned<String>> = self.loaded.files[file.0 as usize]
            .items
            .iter()
            .filter_map(|noted| match &noted.node {
                Item::Import(import) => Some(import.path.clone()),
                Item::Record(_)
                | Item::Enum(_)
                | Item::Function(_)
                | Item::Tool(_)
                | Item::ToolSet(_)
                | Item::Client(_)
                | Item::Component(_)
                | Item::Chart(_)
                | Item::Scenario(_)
                | Item::Bad(_) => None,
            })
            .collect();
        let nowhere = Span::new(file, 0, 0);
        let mut found: Vec<(FileId, Span)> =
            self.read_with.get(&file).into_iter().flatten().map(|id| (*id, nowhere)).collect();
        for Spanned { node: name, span } in paths {
            match self.import(&self.loader.resolve(&from, &name), diagnostics) {
                Ok(id) => found.push((id, span)),
                Err(_) if !self.reported.insert(span) => {}
                Err(Unread::Unreadable(why)) => {
                    diagnostics.push(unreadable_file::imported(&name, &why, span));
                }
                Err(Unread::Refused(Refusal { why, cure })) => {
                    diagnostics.push(refused_file::refused(&name, &why, &cure, span));
                }
            }
        }
        found
    }
}

/// The files around one that is being read.
struct Around<'a, 'l> {
    loading: &'a mut Loading<'l>,
    file: FileId,
    from: &'a str,
}

impl Nearby for Around<'_, '_> {
    fn names(&mut self, folder: &str) -> Option<Arc<BTreeSet<String>>> {
        let Loading { loader, folders, .. } = &mut *self.loading;
        let path = loader.resolve(self.from, folder);
        let read = |path: &String| Some(Arc::new(loader.list(path)?.into_iter().collect()));
        folders.entry(path).or_insert_with_key(read).clone()
    }

    fn read(&mut self, path: &str, link: Link) -> Result<(FileId, Arc<Source>), Unread> {
        let Loading { loader, from, .. } = &*self.loading;
        let path = loader.resolve(self.from, path);
        link.permit(&path)?;
        loader.permit(from, &path, link)?;
        let known = self.loading.known.get(&path).cloned();
        let found = known.unwrap_or_else(|| {
            let text = self.loading.loader.read_linked(&path);
            let found = text.map(|text| self.loading.add(&path, text));
            self.loading.known.insert(path, found.clone());
            found
        });
        let id = found.map_err(Unread::Unreadable)?;
        self.loading.read_with.entry(self.file).or_default().insert(id);
        Ok((id, self.loading.loaded.sources.share(id)))
    }
}

/// Whether there are but blanks and comments in it.
fn is_blank(text: &str, is_agent: bool) -> bool {
    let comments: &[&str] = if is_agent { &["#", "---"] } else { &["//"] };
    let says_nothing = |line: &str| line.is_empty() || comments.iter().any(|c| line.starts_with(c));
    text.lines().map(str::trim).all(says_nothing)
}

/// All that `file` imports, directly or not, itself left out.
fn below(file: FileId, imports: &Imports) -> BTreeSet<FileId> {
    let mut found = BTreeSet::new();
    let mut open = vec![file];
    while let Some(next) = open.pop() {
        for (id, _) in imports.get(&next).into_iter().flatten() {
            if *id != file && found.insert(*id) {
                open.push(*id);
            }
        }
    }
    found
}
