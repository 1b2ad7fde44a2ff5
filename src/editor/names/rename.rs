//! A new name for what is at a place, in every file.
//!
//! Whether a new name is taken or would be captured somewhere is not guessed: the edits are tried. What they give is compiled, and
//! every name must mean what it did, no error may be new, and the charts must be equal up to the name.

use super::alike::is_alike;
use super::spell::{self, Language};
use super::{Declaration, NameKind, Use, declarations, family, uses_at};
use crate::Compilation;
use crate::diagnostic::{Diagnostic, Severity};
use crate::load::Loader;
use crate::span::{FileId, Span};
use chartc_text::diagnostic::Stage;
use chartc_text::front::{Link, Unread};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;

/// What a rename changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renaming {
    /// The edits, by file.
    pub edits: Vec<FileEdits>,
    /// What it does not change, and somebody should know.
    pub notes: Vec<Note>,
}

/// The edits of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdits {
    /// The name of its source.
    pub file: String,
    /// In order; none overlaps another.
    pub edits: Vec<TextEdit>,
}

/// A part of a text and what replaces it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextEdit {
    /// Bytes.
    pub range: Range<usize>,
    /// The new text.
    pub text: String,
}

/// What a rename leaves to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Note {
    /// Runs that were saved know it by the old name.
    Saved,
    /// Hosts, tools, scripts or models know it by the old name.
    Outside,
    /// There are errors in a file that it may be used in: a name there may have been missed.
    Faulty,
}

impl fmt::Display for Note {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Saved => {
                "saved runs know the old name: for them, write `renamed_from` behind the new one"
            }
            Self::Outside => "hosts, scripts and tools that use the old name are not changed",
            Self::Faulty => {
                "there are errors in files that use it: look whether the old name is left there"
            }
        })
    }
}

/// Why nothing is renamed.
#[derive(Debug, Clone, PartialEq)]
pub enum Refusal {
    /// There is no name that the file declares.
    NoName,
    /// The path of an import.
    Import,
    /// The name is made by the front end of its file, or written with escapes, there.
    Unwritten(Place),
    /// The new name is the old one.
    Same,
    /// The new name is not spelled like a name of its kind, which is spelled like this.
    Spelling(&'static str),
    /// The text of a file is another one than that compiled before.
    Stale(String),
    /// An error of syntax, around which names are not known.
    Syntax(Place),
    /// With the new name there is an error: its message, and its place in the text as it would be.
    Breaks(String, Place),
    /// With the new name, the name there would mean something else.
    Captures(Place),
    /// With the new name, a chart would be another one.
    Changes(String),
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The name of its source.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
}

impl Place {
    fn of(compilation: &Compilation, span: Span) -> Self {
        let source = compilation.sources.get(span.file);
        let position = source.position(span.start);
        Self { file: source.name.clone(), line: position.line, column: position.column }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoName => out.write_str("there is no name here that can be changed"),
            Self::Import => out.write_str("the path of an import changes with its file"),
            Self::Unwritten(place) => {
                write!(
                    out,
                    "the name does not stand in the text as it is at {place}: change it there"
                )
            }
            Self::Same => out.write_str("this is the name that it has"),
            Self::Spelling(wanted) => write!(out, "a name of this kind is {wanted}"),
            Self::Stale(file) => write!(out, "{file} has changed: try again"),
            Self::Syntax(place) => {
                write!(out, "the error at {place} may hide uses of the name: correct it first")
            }
            Self::Breaks(message, place) => write!(out, "{message} ({place}, with the new name)"),
            Self::Captures(place) => {
                write!(out, "with the new name, the name at {place} would mean something else")
            }
            Self::Changes(chart) => write!(out, "`{chart}` would no longer be the same chart"),
        }
    }
}

impl std::error::Error for Refusal {}

/// The name at a place, as it is written without back-quotes, if it can be changed.
///
/// # Errors
/// Why it cannot.
pub fn prepare_rename(
    compilation: &Compilation,
    file: FileId,
    offset: usize,
) -> Result<(Span, String), Refusal> {
    let found = Found::at(compilation, file, offset)?;
    Ok((found.at, found.name))
}

/// Renames what is at a place of a file of `compilation`, in its files and in those at `others`.
///
/// `loader` gives the texts that were compiled: those of an editor, where it has some.
///
/// # Errors
/// Why the name cannot be changed, or not into this one.
pub fn rename(
    compilation: &Compilation,
    file: FileId,
    offset: usize,
    new: &str,
    others: &[String],
    loader: &dyn Loader,
) -> Result<Renaming, Refusal> {
    Found::at(compilation, file, offset)?;
    // All files are requested, so that the charts of imported ones are lowered, too.
    let parsed = compilation.files.iter().filter(|file| !file.items.is_empty());
    let mut paths: Vec<String> =
        parsed.map(|file| compilation.sources.get(file.id).name.clone()).collect();
    paths.extend(others.iter().cloned());
    let mut seen = BTreeSet::new();
    paths.retain(|path| seen.insert(path.clone()));
    let before = crate::check_within(&paths, loader, 0);
    let source = compilation.sources.get(file);
    let same = before.sources.iter().find(|(_, found)| found.name == source.name);
    let Some((file, _)) = same.filter(|(_, found)| found.text == source.text) else {
        return Err(Refusal::Stale(source.name.clone()));
    };
    let found = Found::at(&before, file, offset)?;
    found.change(&before, new, &paths, loader)
}

/// What is to be renamed.
struct Found {
    at: Span,
    name: String,
    declared: BTreeSet<Declaration>,
}

impl Found {
    fn at(compilation: &Compilation, file: FileId, offset: usize) -> Result<Self, Refusal> {
        let uses = uses_at(compilation, file, offset);
        let first = uses.iter().find(|one| one.is_written).ok_or(Refusal::NoName)?;
        if first.kind == NameKind::File {
            return Err(Refusal::Import);
        }
        let text = compilation.sources.get(file).slice(first.at);
        let name = spell::bare(text).to_owned();
        Ok(Self { at: first.at, name, declared: declarations(compilation, uses) })
    }

    fn change(
        &self,
        before: &Compilation,
        new: &str,
        paths: &[String],
        loader: &dyn Loader,
    ) -> Result<Renaming, Refusal> {
        if new == self.name {
            return Err(Refusal::Same);
        }
        for (declared, kind) in &self.declared {
            let language = Language::of(&before.sources.get(declared.file).name);
            if let Some(wanted) = spell::refused(new, *kind, language) {
                return Err(Refusal::Spelling(wanted));
            }
        }
        let near = self.near(before);
        let errors = || before.diagnostics.iter().filter(|found| is_error(found));
        let near_errors: Vec<&Diagnostic> =
            errors().filter(|found| near.contains(&found.span.file)).collect();
        if let Some(found) = near_errors.iter().find(|found| found.stage == Stage::Syntax) {
            return Err(Refusal::Syntax(Place::of(before, found.span)));
        }
        let edits = Edits::of(before, family(before, &self.declared), new);
        let after = crate::check_within(paths, &Edited::of(before, &edits, loader), 0);
        self.compare(before, &after, &edits, new)?;
        let mut notes: BTreeSet<Note> =
            self.declared.iter().flat_map(|(_, kind)| told(*kind)).copied().collect();
        if !near_errors.is_empty() {
            notes.insert(Note::Faulty);
        }
        Ok(Renaming { edits: edits.by_name(before), notes: notes.into_iter().collect() })
    }

    /// The files in which the name may be used: those that declare it, and what imports them.
    fn near(&self, before: &Compilation) -> BTreeSet<FileId> {
        let mut near: BTreeSet<FileId> =
            self.declared.iter().map(|(declared, _)| declared.file).collect();
        let imports = || before.uses.iter().filter(|one| one.kind == NameKind::File);
        loop {
            let known = near.len();
            let more = imports().filter(|one| near.contains(&one.declared.file));
            let more: Vec<FileId> = more.map(|one| one.at.file).collect();
            near.extend(more);
            if near.len() == known {
                return near;
            }
        }
    }

    /// Whether all is as it was, up to the name.
    fn compare(
        &self,
        before: &Compilation,
        after: &Compilation,
        edits: &Edits,
        new: &str,
    ) -> Result<(), Refusal> {
        let unwritten = family(before, &self.declared).find(|one| !one.is_written);
        let or_unwritten = |refusal: Refusal| match unwritten {
            Some(one) => Refusal::Unwritten(Place::of(before, one.at)),
            None => refusal,
        };
        let known: BTreeSet<(&str, Span)> = before
            .diagnostics
            .iter()
            .filter(|found| is_error(found))
            .map(|found| (found.rule.code, edits.moved(found.span)))
            .collect();
        let is_new = |found: &&Diagnostic| !known.contains(&(found.rule.code, found.span));
        if let Some(found) = after.diagnostics.iter().filter(|found| is_error(found)).find(is_new) {
            let place = Place::of(after, found.span);
            return Err(or_unwritten(Refusal::Breaks(found.message.clone(), place)));
        }
        let moved: Vec<Use> = before
            .uses
            .iter()
            .map(|one| Use { at: edits.moved(one.at), declared: edits.moved(one.declared), ..*one })
            .collect();
        if moved != after.uses {
            let other = |(a, b): &(&Use, &Use)| a != b;
            let first =
                before.uses.iter().zip(moved.iter().zip(&after.uses)).find(|(_, p)| other(p));
            let place = first.map_or(self.at, |(one, _)| one.at);
            return Err(or_unwritten(Refusal::Captures(Place::of(before, place))));
        }
        let mut charts = before.lowered.iter().zip(&after.lowered);
        let differs = charts
            .find(|(a, b)| a.whole != b.whole || !is_alike(&a.chart, &b.chart, &self.name, new));
        if let Some((chart, _)) = differs {
            return Err(or_unwritten(Refusal::Changes(chart.chart.name.clone())));
        }
        if before.lowered.len() != after.lowered.len() {
            return Err(or_unwritten(Refusal::Changes(self.name.clone())));
        }
        Ok(())
    }
}

fn is_error(found: &Diagnostic) -> bool {
    found.severity == Severity::Error
}

/// Who else knows names of a kind.
const fn told(kind: NameKind) -> &'static [Note] {
    match kind {
        NameKind::State => &[Note::Saved],
        NameKind::Step | NameKind::Variable => &[Note::Saved, Note::Outside],
        NameKind::Chart
        | NameKind::Field
        | NameKind::Value
        | NameKind::Event
        | NameKind::Function
        | NameKind::Tool
        | NameKind::Client
        | NameKind::Choice
        | NameKind::Param => &[Note::Outside],
        NameKind::File
        | NameKind::Type
        | NameKind::ToolSet
        | NameKind::Component
        | NameKind::Predicate
        | NameKind::Local
        | NameKind::SendId => &[],
    }
}

/// Edits by file, each file's in order.
struct Edits(BTreeMap<FileId, Vec<TextEdit>>);

impl Edits {
    /// The edits that write a name wherever it stands.
    fn of<'u>(before: &Compilation, uses: impl Iterator<Item = &'u Use>, new: &str) -> Self {
        let mut all: BTreeMap<FileId, Vec<TextEdit>> = BTreeMap::new();
        for one in uses.filter(|one| one.is_written) {
            let language = Language::of(&before.sources.get(one.at.file).name);
            let range = one.at.start as usize..one.at.end as usize;
            let edits = all.entry(one.at.file).or_default();
            if edits.last().is_none_or(|last| last.range.end <= range.start) {
                edits.push(TextEdit { range, text: spell::written(new, one.kind, language) });
            }
        }
        Self(all)
    }

    /// A span of the text as it was, in the text as it will be.
    fn moved(&self, span: Span) -> Span {
        let edits = self.0.get(&span.file).map(Vec::as_slice).unwrap_or_default();
        let place = |at: u32, is_end: bool| {
            let at = at as usize;
            let inside =
                |edit: &TextEdit| if is_end { edit.range.start < at } else { edit.range.end <= at };
            let before = edits.partition_point(inside);
            let (mut added, mut removed) = (0, 0);
            for edit in &edits[..before] {
                added += edit.text.len();
                removed += edit.range.len();
            }
            (at + added - removed) as u32
        };
        Span {
            start: place(span.start, false),
            end: place(span.end, span.end > span.start),
            ..span
        }
    }

    fn applied(&self, file: FileId, text: &str) -> Option<String> {
        let edits = self.0.get(&file)?;
        let mut out = String::new();
        let mut done = 0;
        for edit in edits {
            out.push_str(text.get(done..edit.range.start)?);
            out.push_str(&edit.text);
            done = edit.range.end;
        }
        out.push_str(text.get(done..)?);
        Some(out)
    }

    fn by_name(self, before: &Compilation) -> Vec<FileEdits> {
        let all = self.0.into_iter();
        all.map(|(file, edits)| FileEdits { file: before.sources.get(file).name.clone(), edits })
            .collect()
    }
}

/// A loader of the texts as they will be.
struct Edited<'l> {
    texts: BTreeMap<String, String>,
    loader: &'l dyn Loader,
}

impl<'l> Edited<'l> {
    fn of(before: &Compilation, edits: &Edits, loader: &'l dyn Loader) -> Self {
        let sources = before.sources.iter();
        let texts = sources
            .filter_map(|(id, source)| {
                Some((source.name.clone(), edits.applied(id, &source.text)?))
            })
            .collect();
        Self { texts, loader }
    }
}

impl Loader for Edited<'_> {
    fn read(&self, path: &str) -> Result<String, String> {
        self.texts.get(path).map_or_else(|| self.loader.read(path), |text| Ok(text.clone()))
    }

    fn read_linked(&self, path: &str) -> Result<String, String> {
        self.texts.get(path).map_or_else(|| self.loader.read_linked(path), |text| Ok(text.clone()))
    }

    fn resolve(&self, from: &str, name: &str) -> String {
        self.loader.resolve(from, name)
    }

    fn root(&self, named: &str) -> String {
        self.loader.root(named)
    }

    fn permit(&self, named: &str, path: &str, link: Link) -> Result<(), Unread> {
        self.loader.permit(named, path, link)
    }

    fn list(&self, path: &str) -> Option<Vec<String>> {
        self.loader.list(path)
    }
}
