//! Loads sources and their imports, each file once.

use super::{Link, Nearby, Refusal, Unread};
use crate::rules::{empty_file, import_cycle, refused_file, unreadable_file};
use crate::syntax::diagnostic::Diagnostic;
use crate::syntax::source::{FileId, Source, Sources, Span, Spanned};
use crate::{front, syntax};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The source of texts: the file system on the command line, memory in tests.
pub trait Loader {
    /// Reads the text at `path`.
    ///
    /// # Errors
    /// The reason why it could not be read, as shown to the user.
    fn read(&self, path: &str) -> Result<String, String>;

    /// Reads the text at `path`, to which another file leads: like [`Self::read`], but only from regular files.
    ///
    /// # Errors
    /// The reason why it could not be read, as shown to the user.
    fn read_linked(&self, path: &str) -> Result<String, String> {
        self.read(path)
    }

    /// Resolves `import "name"` in the file `from` to a path.
    fn resolve(&self, from: &str, name: &str) -> String;

    /// The folder that must contain every file that the file `named` imports, directly or not. Files with the same root may
    /// import the same files.
    fn root(&self, named: &str) -> String {
        let _ = named;
        String::new()
    }

    /// Whether the file `named`, or a file that it imports, may lead to the file at `path`. A loader without folders permits all
    /// files.
    ///
    /// # Errors
    /// The reason why the file may not be read. It has not been opened.
    fn permit(&self, named: &str, path: &str, link: Link) -> Result<(), Unread> {
        let _ = (named, path, link);
        Ok(())
    }

    /// The names of the entries of the folder at `path`; `None` if there is none. A loader without folders always returns `None`.
    fn list(&self, path: &str) -> Option<Vec<String>> {
        let _ = path;
        None
    }
}

/// Sources with their syntax and imports.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The texts. A requested file that cannot be read has an empty text.
    pub sources: Sources,
    /// The syntax of each source, in the same order.
    pub files: Vec<syntax::File>,
    /// The files that were requested. All others are imported by them.
    pub roots: BTreeSet<FileId>,
    /// For each file, the files that it imports or is combined with, directly or not, without itself.
    pub imported: BTreeMap<FileId, BTreeSet<FileId>>,
    /// For each file, the targets of its own imports, each with the place of the path. For files that its front end combined with it,
    /// the place is empty, at the start of the file.
    pub links: BTreeMap<FileId, Vec<(FileId, Span)>>,
}

impl Loaded {
    /// The files that `file` imports, directly or not.
    pub fn imports(&self, file: FileId) -> BTreeSet<FileId> {
        self.imported.get(&file).cloned().unwrap_or_default()
    }

    /// Whether the file was requested.
    pub fn is_root(&self, file: FileId) -> bool {
        self.roots.contains(&file)
    }
}

/// Loads and parses `paths` and their imports, each file once.
pub fn load(paths: &[String], loader: &dyn Loader, diagnostics: &mut Vec<Diagnostic>) -> Loaded {
    let mut loading = Loading::new(loader, paths);
    let mut imports: Imports = BTreeMap::new();
    // Several requested files may lead to one file. It is read once, but each root decides anew what it may import.
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
    report(&imports, &loading.loaded.sources, diagnostics);
    let mut loaded = loading.loaded;
    loaded.imported = imports.keys().map(|file| (*file, below(*file, &imports))).collect();
    loaded.links = imports;
    loaded
}

/// Texts by path, for tests and for callers without files.
#[derive(Debug, Clone, Default)]
pub struct Memory(pub BTreeMap<String, String>);

impl Memory {
    /// Creates a loader of a single text.
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
    /// The requested paths, which files may import without further permission.
    named: BTreeSet<&'l str>,
    /// The requested path that is being loaded with its imports.
    from: &'l str,
    /// The places of imports that are already reported.
    reported: BTreeSet<Span>,
    loaded: Loaded,
    /// By path, the id of the file or the reason why it cannot be read.
    known: BTreeMap<String, Result<FileId, String>>,
    /// By path, the entries of each folder that has been listed.
    folders: BTreeMap<String, Option<Arc<BTreeSet<String>>>>,
    /// For each file, the files that its front end combined with it.
    read_with: BTreeMap<FileId, BTreeSet<FileId>>,
}

/// The imports of each file, with their spans.
type Imports = BTreeMap<FileId, Vec<(FileId, Span)>>;

impl<'l> Loading<'l> {
    fn new(loader: &'l dyn Loader, named: &'l [String]) -> Self {
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

    /// Adds a source, with empty syntax.
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
        let paths: Vec<Spanned<String>> =
            self.loaded.files[file.0 as usize].imports().cloned().collect();
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

/// The [`Nearby`] of the file that is being parsed.
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

/// Whether a text consists of blanks and comments.
fn is_blank(text: &str, is_agent: bool) -> bool {
    let comments: &[&str] = if is_agent { &["#", "---"] } else { &["//"] };
    let says_nothing = |line: &str| line.is_empty() || comments.iter().any(|c| line.starts_with(c));
    text.lines().map(str::trim).all(says_nothing)
}

/// All files that `file` imports, directly or not, without itself.
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

// Reports import cycles.

/// Reports each import that closes a cycle. Uses an explicit stack, as chains may be long.
fn report(imports: &Imports, sources: &Sources, diagnostics: &mut Vec<Diagnostic>) {
    let mut done: BTreeSet<FileId> = BTreeSet::new();
    for start in imports.keys() {
        // The path from `start`: each file, with the index of the next of its imports to visit.
        let mut way = if done.contains(start) { Vec::new() } else { vec![(*start, 0)] };
        let mut on_way = BTreeSet::from([*start]);
        while let Some((file, at)) = way.last_mut() {
            let (file, index) = (*file, *at);
            *at += 1;
            match imports.get(&file).and_then(|all| all.get(index)) {
                Some((next, span)) if on_way.contains(next) => {
                    let first = way.iter().position(|(id, _)| id == next).unwrap_or(0);
                    let cycle = &way[first..];
                    diagnostics.push(finding(cycle, *next, *span, imports, sources));
                }
                Some((next, _)) if !done.contains(next) => {
                    on_way.insert(*next);
                    way.push((*next, 0));
                }
                Some(_) => {}
                None => {
                    done.insert(file);
                    on_way.remove(&file);
                    way.pop();
                }
            }
        }
    }
}

fn finding(
    cycle: &[(FileId, usize)],
    next: FileId,
    span: Span,
    imports: &Imports,
    sources: &Sources,
) -> Diagnostic {
    let names: Vec<&str> = cycle
        .iter()
        .map(|(id, _)| *id)
        .chain([next])
        .map(|id| sources.get(id).name.as_str())
        .collect();
    let mut found = import_cycle::cycle(&names, span);
    // The other imports of the cycle, which lead back to this one.
    for (id, at) in cycle.iter().take(cycle.len() - 1) {
        if let Some((_, back)) = imports.get(id).and_then(|all| all.get(at - 1)) {
            found = found.related(*back, "and this import leads back");
        }
    }
    found
}
