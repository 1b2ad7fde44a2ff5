//! Applies the fixes of findings to the texts of files.
//!
//! A fix counts only if a new check confirms it: the finding is gone, and no stage up to that of the finding has more errors. So a fix
//! never replaces one error by another.

use crate::compile::{Compilation, check_each, one_by_one};
use crate::front::load::Loader;
use crate::front::{Link, Unread};
use crate::syntax::diagnostic::{Diagnostic, Severity, Stage};
use crate::syntax::source::{FileId, Source, Span};
use std::collections::{BTreeMap, BTreeSet};

/// The result of fixing files.
#[derive(Debug)]
pub struct Fixed {
    /// The new texts of the files that changed, by file name.
    pub texts: BTreeMap<String, String>,
    /// The original texts of all files that were read, by file name.
    pub originals: BTreeMap<String, String>,
    /// The number of findings that were fixed.
    pub count: usize,
    /// The check of the texts after all fixes.
    pub done: Compilation,
}

/// The kinds of fixes to apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Only fixes that are certainly what the author meant.
    Safe,
    /// All fixes, including those that a person should review.
    All,
}

/// Checks the files and fixes what can be fixed in them, until nothing is left to fix. Imported files are not changed unless they are among
/// the files. `states` gives the number of states to explore for each property, by file name; `counts` selects the findings to fix.
pub fn fix(
    paths: &[String],
    loader: &dyn Loader,
    states: &dyn Fn(&str) -> usize,
    extent: Extent,
    counts: &dyn Fn(&Compilation, &Diagnostic) -> bool,
) -> Fixed {
    let mut done = check_each(paths, loader, states, &one_by_one);
    // Later checks read these copies, because standard input can be read only once.
    let read = |(_, source): (_, &Source)| (source.name.clone(), source.text.clone());
    let originals: BTreeMap<String, String> =
        done.sources.iter().filter(|(_, source)| !source.text.is_empty()).map(read).collect();
    let mut edited = Edited { below: loader, originals: &originals, texts: BTreeMap::new() };
    let mut count = 0;
    let mut refused: BTreeSet<PlannedFix> = BTreeSet::new();
    loop {
        let own = |found: &Diagnostic| paths.contains(&done.sources.get(found.span.file).name);
        let wanted = |found: &Diagnostic| own(found) && counts(&done, found);
        let mut batch = changes(&done, extent, &wanted);
        batch.retain(|change| !refused.contains(change));
        let batch = apart(batch);
        if batch.is_empty() {
            break;
        }
        let mut next = attempt(paths, &edited, &done, &batch, states);
        let mut size = batch.len();
        if next.is_none() && batch.len() > 1 {
            // At least one fix of the batch is not confirmed: they are tried one by one, until one is.
            size = 1;
            for change in batch {
                next = attempt(paths, &edited, &done, std::slice::from_ref(&change), states);
                if next.is_some() {
                    break;
                }
                refused.insert(change);
            }
        } else if next.is_none() {
            refused.extend(batch);
        }
        if let Some((texts, after)) = next {
            edited.texts = texts;
            done = after;
            count += size;
        }
    }
    let texts = edited.texts;
    Fixed { texts, originals, count, done }
}

/// The safe fixes of a file that can be applied together: the indices of their findings among the diagnostics, and the edits. Unlike those
/// of [`fix`], they are not confirmed by a new check.
pub fn together(done: &Compilation, file: FileId) -> (Vec<usize>, Vec<(Span, String)>) {
    let batch = apart(changes(done, Extent::Safe, &|found| found.span.file == file));
    let is_made = |found: &Diagnostic| {
        let change = PlannedFix::from_finding(found, done, Extent::Safe);
        found.span.file == file && change.is_some_and(|change| batch.contains(&change))
    };
    let about = done.diagnostics.iter().enumerate().filter(|(_, found)| is_made(found));
    let about = about.map(|(nth, _)| nth).collect();
    let edits = batch.iter().flat_map(|change| &change.edits);
    let edit = |(start, end, text): &(u32, u32, String)| {
        (Span { file, start: *start, end: *end }, text.clone())
    };
    (about, edits.map(edit).collect())
}

/// The fixes of the wanted findings. With [`Extent::Safe`], a file with a syntax error gets only fixes of syntax: names that seem unknown
/// may be declared in the part that could not be read.
fn changes(
    done: &Compilation,
    extent: Extent,
    wanted: &dyn Fn(&Diagnostic) -> bool,
) -> Vec<PlannedFix> {
    let found = done.diagnostics.iter().filter(|found| wanted(found));
    let all = found.filter_map(|found| PlannedFix::from_finding(found, done, extent));
    let is_sure = |change: &PlannedFix| {
        change.stage == Stage::Syntax || extent == Extent::All || !is_unread(done, &change.file)
    };
    all.filter(is_sure).collect()
}

/// Whether a file has an error of syntax, so that names that it declares may be unknown.
fn is_unread(done: &Compilation, file: &str) -> bool {
    done.diagnostics.iter().any(|d| {
        d.rule.stage == Stage::Syntax
            && d.severity == Severity::Error
            && done.sources.get(d.span.file).name == file
    })
}

/// A fix of one finding. It has the name of its file, because a new check may give files other ids.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct PlannedFix {
    file: String,
    edits: Vec<(u32, u32, String)>,
    code: &'static str,
    message: String,
    stage: Stage,
    severity: Severity,
}

impl PlannedFix {
    fn from_finding(found: &Diagnostic, done: &Compilation, extent: Extent) -> Option<Self> {
        let fix = found.fix.as_ref().filter(|fix| fix.is_safe || extent == Extent::All)?;
        let is_here = |(span, _): &(Span, String)| span.file == found.span.file;
        // A planned fix edits only the file of its finding.
        if !fix.edits.iter().all(is_here) {
            return None;
        }
        let mut edits: Vec<_> =
            fix.edits.iter().map(|(span, text)| (span.start, span.end, text.clone())).collect();
        edits.sort_by_key(|(start, end, _)| (*start, *end));
        Some(Self {
            file: done.sources.get(found.span.file).name.clone(),
            edits,
            code: found.rule.code,
            message: found.message.clone(),
            stage: found.rule.stage,
            severity: found.severity,
        })
    }

    /// The start and the end of the text that the fix changes, as byte offsets.
    fn range(&self) -> (u32, u32) {
        let first = self.edits.first().map_or(0, |(start, ..)| *start);
        (first, self.edits.iter().map(|(_, end, _)| *end).max().unwrap_or(first))
    }
}

/// Selects the fixes that can be applied at the same time: of those that overlap or touch, the first.
fn apart(mut changes: Vec<PlannedFix>) -> Vec<PlannedFix> {
    changes.sort_by(|a, b| (&a.file, a.range()).cmp(&(&b.file, b.range())));
    let mut kept: Vec<PlannedFix> = Vec::new();
    for change in changes {
        let follows = kept
            .last()
            .is_none_or(|last| last.file != change.file || last.range().1 < change.range().0);
        if follows {
            kept.push(change);
        }
    }
    kept
}

/// Applies the fixes and checks again. `None` if the new check does not confirm them.
fn attempt(
    paths: &[String],
    edited: &Edited<'_>,
    before: &Compilation,
    batch: &[PlannedFix],
    states: &dyn Fn(&str) -> usize,
) -> Option<(BTreeMap<String, String>, Compilation)> {
    let mut texts = edited.texts.clone();
    // From the last to the first, so that the offsets of the others stay valid.
    for change in batch.iter().rev() {
        let name = &change.file;
        let source = before.sources.iter().find(|(_, source)| source.name == *name)?.1;
        let text = texts.entry(name.clone()).or_insert_with(|| source.text.clone());
        for (start, end, new) in change.edits.iter().rev() {
            text.replace_range(*start as usize..*end as usize, new);
        }
    }
    let next = Edited { texts, ..*edited };
    let after = check_each(paths, &next, states, &one_by_one);
    is_better(before, &after, batch).then_some((next.texts, after))
}

/// Whether there are fewer findings equal to each one of the batch, and no stage up to the last one of the batch has more errors.
fn is_better(before: &Compilation, after: &Compilation, batch: &[PlannedFix]) -> bool {
    let equal = |done: &Compilation, change: &PlannedFix| {
        let is = |d: &&Diagnostic| {
            d.rule.code == change.code
                && d.message == change.message
                && done.sources.get(d.span.file).name == change.file
        };
        done.diagnostics.iter().filter(is).count()
    };
    let last = batch.iter().map(|change| change.stage).max();
    let errors = |done: &Compilation| {
        let counts = |d: &&Diagnostic| d.severity == Severity::Error && Some(d.rule.stage) <= last;
        done.diagnostics.iter().filter(counts).count()
    };
    // If the batch fixes errors, at least one error has to be gone.
    let fixed = batch.iter().filter(|change| change.severity == Severity::Error).count();
    let is_gone = |change: &PlannedFix| equal(after, change) < equal(before, change);
    batch.iter().all(is_gone) && errors(after) + fixed.min(1) <= errors(before)
}

/// A loader that returns edited texts, or the originals that were read before, and asks another loader for everything else.
struct Edited<'l> {
    below: &'l dyn Loader,
    originals: &'l BTreeMap<String, String>,
    texts: BTreeMap<String, String>,
}

impl Edited<'_> {
    fn own(&self, path: &str) -> Option<String> {
        self.texts.get(path).or_else(|| self.originals.get(path)).cloned()
    }
}

impl Loader for Edited<'_> {
    fn read(&self, path: &str) -> Result<String, String> {
        self.own(path).map_or_else(|| self.below.read(path), Ok)
    }

    fn read_linked(&self, path: &str) -> Result<String, String> {
        self.own(path).map_or_else(|| self.below.read_linked(path), Ok)
    }

    fn resolve(&self, from: &str, name: &str) -> String {
        self.below.resolve(from, name)
    }

    fn root(&self, named: &str) -> String {
        self.below.root(named)
    }

    fn permit(&self, named: &str, path: &str, link: Link) -> Result<(), Unread> {
        self.below.permit(named, path, link)
    }

    fn list(&self, path: &str) -> Option<Vec<String>> {
        self.below.list(path)
    }
}
