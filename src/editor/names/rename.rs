//! Renames the thing at an offset, in every file.
//!
//! A new name may be taken, or may be captured by another declaration. Rules for this would be incomplete, so the edits are tried: the
//! edited texts are compiled, every name must mean the same as before, no error may be new, and the charts must be equal up to the
//! name. Renaming the event `go` to `stop` where another event is called `stop`:
//!
//! 1. The edited text is `event stop  event stop …`, in the memory of an [`Edited`] loader.
//! 2. Compiling it gives an error about a duplicate name, which `before` does not have.
//! 3. The result is [`Refusal::Breaks`] with the message and the position of that error.

use super::alike::is_alike;
use super::edits::{Edited, Edits, FileEdits};
use super::refusal::{FilePosition, Note, Refusal, told};
use super::spell::{self, Language};
use super::{Declaration, NameKind, Use, declarations, family, uses_at};
use chartc_check::compile::{Compilation, check_indexed};
use chartc_text::diagnostic::{Diagnostic, Severity, Stage};
use chartc_text::load::Loader;
use chartc_text::span::{FileId, Span};
use std::collections::BTreeSet;

/// The result of a rename.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renaming {
    /// The edits, by file.
    pub edits: Vec<FileEdits>,
    /// The consequences that the edits do not cover.
    pub notes: Vec<Note>,
}

/// The span of the name at an offset and the name without back-quotes, if it can be changed.
///
/// # Errors
/// The reason why it cannot be changed.
pub fn prepare_rename(
    compilation: &Compilation,
    file: FileId,
    offset: usize,
) -> Result<(Span, String), Refusal> {
    let found = RenameTarget::at(compilation, file, offset)?;
    Ok((found.at, found.name))
}

/// Renames the thing at an offset of a file of `compilation`, in the files of the compilation and in the files `others`.
///
/// `loader` returns the texts that were compiled: those that are open in the editor, where there are any.
///
/// # Errors
/// The reason why the name cannot be changed at all, or not to this one.
pub fn rename(
    compilation: &Compilation,
    file: FileId,
    offset: usize,
    new: &str,
    others: &[String],
    loader: &dyn Loader,
) -> Result<Renaming, Refusal> {
    RenameTarget::at(compilation, file, offset)?;
    // Request all files: charts of files that are only imported would not be lowered.
    let parsed = compilation.files.iter().filter(|file| !file.items.is_empty());
    let mut paths: Vec<String> =
        parsed.map(|file| compilation.sources.get(file.id).name.clone()).collect();
    paths.extend(others.iter().cloned());
    let mut seen = BTreeSet::new();
    paths.retain(|path| seen.insert(path.clone()));
    let before = check_indexed(&paths, loader, 0);
    let source = compilation.sources.get(file);
    let same = before.sources.iter().find(|(_, found)| found.name == source.name);
    let Some((file, _)) = same.filter(|(_, found)| found.text == source.text) else {
        return Err(Refusal::Stale(source.name.clone()));
    };
    let found = RenameTarget::at(&before, file, offset)?;
    found.change(&before, new, &paths, loader)
}

/// The thing to rename.
struct RenameTarget {
    at: Span,
    name: String,
    declared: BTreeSet<Declaration>,
}

impl RenameTarget {
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
            let language = Language::from_file_name(&before.sources.get(declared.file).name);
            if let Some(wanted) = spell::refused(new, *kind, language) {
                return Err(Refusal::Spelling(wanted));
            }
        }
        let near = self.near(before);
        let errors = || before.diagnostics.iter().filter(|found| is_error(found));
        let near_errors: Vec<&Diagnostic> =
            errors().filter(|found| near.contains(&found.span.file)).collect();
        if let Some(found) = near_errors.iter().find(|found| found.stage == Stage::Syntax) {
            return Err(Refusal::Syntax(FilePosition::new(before, found.span)));
        }
        let edits = Edits::new(before, family(before, &self.declared), new);
        let after = check_indexed(paths, &Edited::new(before, &edits, loader), 0);
        self.compare(before, &after, &edits, new)?;
        let mut notes: BTreeSet<Note> =
            self.declared.iter().flat_map(|(_, kind)| told(*kind)).copied().collect();
        if !near_errors.is_empty() {
            notes.insert(Note::Faulty);
        }
        Ok(Renaming { edits: edits.by_name(before), notes: notes.into_iter().collect() })
    }

    /// The files that may use the name: those that declare it, and all that import them, directly or not.
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

    /// Checks that everything means the same as before, except for the name.
    fn compare(
        &self,
        before: &Compilation,
        after: &Compilation,
        edits: &Edits,
        new: &str,
    ) -> Result<(), Refusal> {
        // If a use cannot be edited, that is the reason for any difference.
        let unwritten = family(before, &self.declared).find(|one| !one.is_written);
        let or_unwritten = |refusal: Refusal| match unwritten {
            Some(one) => Refusal::Unwritten(FilePosition::new(before, one.at)),
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
            let place = FilePosition::new(after, found.span);
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
            return Err(or_unwritten(Refusal::Captures(FilePosition::new(before, place))));
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
