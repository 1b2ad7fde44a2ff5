//! Renames the thing at an offset, in every file.
//!
//! A new name may be taken, or may be captured by another declaration. Rules for this would be incomplete, so the edits are tried: the
//! edited texts are compiled, every name must mean the same as before, no error may be new, and the charts must be equal up to the
//! name. Renaming the event `go` to `stop` where another event is called `stop`:
//!
//! 1. The edited text is `event stop  event stop …`, in the memory of an [`Edited`] loader.
//! 2. Compiling it gives an error about a duplicate name, which `before` does not have.
//! 3. The result is [`Refusal::Breaks`] with the message and the position of that error.

use super::{Declaration, Language, NameKind, Use, declarations, family, uses_at};
use crate::ide::names;
use chartc_compiler::compile::{Compilation, check_indexed};
use chartc_compiler::front::load::Loader;
use chartc_compiler::front::{Link, Unread};
use chartc_compiler::syntax::diagnostic::{Diagnostic, Severity, Stage};
use chartc_compiler::syntax::source::{FileId, Span};
use chartc_core::model::{
    Action, Chart, CheckArgument, ChoiceKind, Expr, ExprKind, Field, Local, Observable, StateKind,
    StepKind, StreakOf, Template, TemplatePart, Trigger, TypeKind,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;

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
        let name = names::bare(text).to_owned();
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
            if let Some(wanted) = names::refused(new, *kind, language) {
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

// Compares two charts up to the renaming of one name.

/// Whether `after` is equal to `before`, except that some names `old` may be `new`.
pub(super) fn is_alike(before: &Chart, after: &Chart, old: &str, new: &str) -> bool {
    let (mut before, mut after) = (before.clone(), after.clone());
    // These texts are generated from the guards, which are compared themselves.
    before.alternative_texts.clear();
    after.alternative_texts.clear();
    let mut names: Vec<String> = Vec::new();
    // First collect all names of `before` and clear them, then compare those of `after` one by one: what remains must be equal.
    Names(&mut |name| names.push(std::mem::take(name))).chart(&mut before);
    let mut known = names.iter();
    let mut alike = true;
    let mut compare = |name: &mut String| {
        let known = known.next();
        alike &= known.is_some_and(|known| is_renamed(known, name, old, new));
        name.clear();
    };
    Names(&mut compare).chart(&mut after);
    alike && known.next().is_none() && before == after
}

/// Whether the dotted name `after` is `before`, except that some parts `old` may be `new`.
fn is_renamed(before: &str, after: &str, old: &str, new: &str) -> bool {
    let (mut known, mut found) = (before.split('.'), after.split('.'));
    loop {
        match (known.next(), found.next()) {
            (None, None) => return true,
            (Some(a), Some(b)) if a == b || (a == old && b == new) => {}
            _ => return before == old && after == new,
        }
    }
}

/// Visits every name and text of a chart that may come from a name in its source.
struct Names<'v>(&'v mut dyn FnMut(&mut String));

impl Names<'_> {
    fn chart(&mut self, chart: &mut Chart) {
        (self.0)(&mut chart.name);
        for ty in &mut chart.types {
            (self.0)(&mut ty.name);
            match &mut ty.kind {
                TypeKind::Record(fields) => self.fields(fields),
                TypeKind::Enum(values) => values.iter_mut().for_each(&mut *self.0),
            }
        }
        for variable in &mut chart.variables {
            (self.0)(&mut variable.name);
            self.exprs(&mut variable.default);
        }
        for event in &mut chart.events {
            (self.0)(&mut event.name);
            self.fields(&mut event.fields);
        }
        for function in &mut chart.functions {
            (self.0)(&mut function.name);
            self.fields(&mut function.params);
        }
        for tool in &mut chart.tools {
            (self.0)(&mut tool.name);
            self.fields(&mut tool.params);
        }
        for set in &mut chart.tool_sets {
            (self.0)(&mut set.name);
            set.minus.iter_mut().for_each(&mut *self.0);
        }
        for predicate in &mut chart.predicates {
            (self.0)(&mut predicate.name);
            self.expr(&mut predicate.expr);
        }
        chart.clients.iter_mut().for_each(|client| (self.0)(&mut client.name));
        for component in &mut chart.components {
            (self.0)(&mut component.name);
            component.inserts.iter_mut().for_each(|insert| self.exprs(&mut insert.guard));
            self.text(&mut component.text);
        }
        self.states(chart);
        self.transitions(chart);
        for choice in &mut chart.choices {
            (self.0)(&mut choice.name);
            choice.text.iter_mut().for_each(|text| self.text(text));
            if let ChoiceKind::Option(fields) = &mut choice.kind {
                self.fields(fields);
            }
        }
        self.steps(chart);
        chart.send_ids.iter_mut().for_each(&mut *self.0);
        chart.permissions.iter_mut().for_each(|permission| self.exprs(&mut permission.guard));
        for argument in chart.checks.iter_mut().flat_map(|check| &mut check.arguments) {
            if let CheckArgument::Bound(e, _) | CheckArgument::AtMost(_, e) = argument {
                self.expr(e);
            }
        }
    }

    fn transitions(&mut self, chart: &mut Chart) {
        for line in &mut chart.transitions {
            line.bound.iter_mut().for_each(&mut *self.0);
            if let Trigger::After(e) | Trigger::AfterTurns(e) | Trigger::StepTimeout(_, e) =
                &mut line.trigger
            {
                self.expr(e);
            }
            self.exprs(&mut line.guard);
            line.targets.iter_mut().for_each(|target| self.exprs(&mut target.arguments));
            self.actions(&mut line.actions);
        }
    }

    fn states(&mut self, chart: &mut Chart) {
        for state in &mut chart.states {
            (self.0)(&mut state.name);
            (self.0)(&mut state.path);
            if let StateKind::Final { params, .. } = &mut state.kind {
                self.fields(params);
            }
            for block in state.entry.iter_mut().chain(&mut state.exit) {
                self.actions(block);
            }
            self.actions(&mut state.default_actions);
            state.advice.iter_mut().for_each(|text| self.text(text));
            state.limits.computed.iter_mut().for_each(|limit| self.expr(&mut limit.value));
        }
    }

    fn steps(&mut self, chart: &mut Chart) {
        for step in &mut chart.steps {
            (self.0)(&mut step.name);
            self.exprs(&mut step.guard);
            step.prompt.iter_mut().for_each(|text| self.text(text));
            self.exprs(&mut step.ends_turn);
            self.actions(&mut step.asking);
            for line in &mut step.tool_lines {
                self.exprs(&mut line.guard);
                self.actions(&mut line.calling);
            }
            if let Some(each) = &mut step.each {
                self.local(&mut each.local);
                self.expr(&mut each.list);
            }
            match &mut step.kind {
                StepKind::Code(actions) => self.actions(actions),
                StepKind::Call(_, arguments) => self.exprs(arguments),
                StepKind::Human(text) => self.text(text),
                StepKind::Run(run) => {
                    (self.0)(&mut run.chart);
                    for (name, value) in &mut run.arguments {
                        (self.0)(name);
                        self.expr(value);
                    }
                }
                StepKind::Llm | StepKind::Ask { .. } => {}
            }
        }
    }

    fn fields(&mut self, fields: &mut [Field]) {
        for field in fields {
            (self.0)(&mut field.name);
        }
    }

    fn local(&mut self, local: &mut Local) {
        (self.0)(&mut local.name);
    }

    fn actions(&mut self, actions: &mut [Action]) {
        for action in actions {
            match action {
                Action::Assign(_, value) => self.expr(value),
                Action::If(test, then, otherwise) => {
                    self.expr(test);
                    self.actions(then);
                    self.actions(otherwise);
                }
                Action::For(local, source, body) => {
                    self.local(local);
                    self.expr(source);
                    self.actions(body);
                }
                Action::Do(_, arguments)
                | Action::Raise(_, arguments)
                | Action::Result(_, arguments) => self.exprs(arguments),
                Action::Send { arguments, after, element, .. } => {
                    self.exprs(arguments);
                    self.exprs(after);
                    self.exprs(element.as_deref_mut());
                }
                Action::Cancel(_) => {}
                Action::Log(text) => self.text(text),
            }
        }
    }

    fn text(&mut self, text: &mut Template) {
        for part in &mut text.parts {
            match part {
                TemplatePart::Text(text) => (self.0)(text),
                TemplatePart::Hole { expr, .. } => self.expr(expr),
                TemplatePart::Options | TemplatePart::Bad(_) => {}
            }
        }
    }

    fn exprs<'e>(&mut self, all: impl IntoIterator<Item = &'e mut Expr>) {
        all.into_iter().for_each(|e| self.expr(e));
    }

    fn expr(&mut self, e: &mut Expr) {
        match &mut e.kind {
            ExprKind::Enum(_, name) | ExprKind::Field(_, name) | ExprKind::Unknown(name) => {
                (self.0)(name);
            }
            ExprKind::Record(_, fields) => {
                for (name, _) in fields {
                    (self.0)(name);
                }
            }
            ExprKind::Comprehension { local, .. } => self.local(local),
            ExprKind::Observable(
                Observable::Streak(StreakOf::Argument(_, name)) | Observable::Repeated(_, name),
            ) => (self.0)(name),
            ExprKind::Text(text) => {
                for part in &mut text.parts {
                    if let TemplatePart::Text(text) = part {
                        (self.0)(text);
                    }
                }
            }
            _ => {}
        }
        e.each_part_mut(&mut |part| self.expr(part));
    }
}

// Edits of files, and the texts after the edits.

/// The edits of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdits {
    /// The name of the file.
    pub file: String,
    /// The edits in order. They do not overlap.
    pub edits: Vec<TextEdit>,
}

/// A replacement of a part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextEdit {
    /// The range to replace, in bytes.
    pub range: Range<usize>,
    /// The new text.
    pub text: String,
}

/// The edits of all files, each file's in order.
pub(super) struct Edits {
    all: BTreeMap<FileId, Vec<TextEdit>>,
    /// The end of each edit in the edited text.
    ends: BTreeMap<FileId, Vec<usize>>,
}

impl Edits {
    /// Creates the edits that write the name `new` at all `uses`.
    pub(super) fn new<'u>(
        before: &Compilation,
        uses: impl Iterator<Item = &'u Use>,
        new: &str,
    ) -> Self {
        let mut all: BTreeMap<FileId, Vec<TextEdit>> = BTreeMap::new();
        for one in uses.filter(|one| one.is_written) {
            let language = Language::from_file_name(&before.sources.get(one.at.file).name);
            let range = one.at.start as usize..one.at.end as usize;
            let edits = all.entry(one.at.file).or_default();
            // Several uses may share a span, because a front end may derive them from one word.
            if edits.last().is_none_or(|last| last.range.end <= range.start) {
                edits.push(TextEdit { range, text: names::written(new, one.kind, language) });
            }
        }
        let ends = all.iter().map(|(file, edits)| {
            let (mut done, mut length) = (0, 0);
            let ends = edits.iter().map(|edit| {
                length += edit.range.start - done + edit.text.len();
                done = edit.range.end;
                length
            });
            (*file, ends.collect())
        });
        Self { ends: ends.collect(), all }
    }

    /// Maps a span of the original text to the edited text.
    pub(super) fn moved(&self, span: Span) -> Span {
        let edits = self.all.get(&span.file).map(Vec::as_slice).unwrap_or_default();
        let place = |at: u32, is_end: bool| {
            let at = at as usize;
            let inside =
                |edit: &TextEdit| if is_end { edit.range.start < at } else { edit.range.end <= at };
            let before = edits.partition_point(inside);
            let last = before.checked_sub(1).and_then(|last| edits.get(last));
            let Some(last) = last else { return at as u32 };
            let ends = self.ends.get(&span.file).and_then(|ends| ends.get(before - 1));
            (at.saturating_sub(last.range.end) + ends.copied().unwrap_or_default()) as u32
        };
        Span {
            start: place(span.start, false),
            end: place(span.end, span.end > span.start),
            ..span
        }
    }

    fn applied(&self, file: FileId, text: &str) -> Option<String> {
        let edits = self.all.get(&file)?;
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

    pub(super) fn by_name(self, before: &Compilation) -> Vec<FileEdits> {
        let all = self.all.into_iter();
        all.map(|(file, edits)| FileEdits { file: before.sources.get(file).name.clone(), edits })
            .collect()
    }
}

/// A loader that returns the edited texts.
pub(super) struct Edited<'l> {
    texts: BTreeMap<String, String>,
    loader: &'l dyn Loader,
}

impl<'l> Edited<'l> {
    pub(super) fn new(before: &Compilation, edits: &Edits, loader: &'l dyn Loader) -> Self {
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

// The reasons why a name cannot be changed, and the consequences of a rename outside of the files.

/// A consequence of a rename outside of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Note {
    /// Saved runs contain the old name.
    Saved,
    /// Hosts, tools, scripts or models may use the old name.
    Outside,
    /// A file that may use the name has errors, so a use may have been missed.
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

/// The reason why a name cannot be changed.
#[derive(Debug, Clone, PartialEq)]
pub enum Refusal {
    /// There is no name at the offset that a file declares.
    NoName,
    /// The name is the path of an import.
    Import,
    /// At this position the name is not written as it is: the front end derived it, or it contains escapes.
    Unwritten(FilePosition),
    /// The new name is equal to the old one.
    Same,
    /// The new name does not have the form of names of its kind, which this describes.
    Spelling(&'static str),
    /// The text of this file differs from the one that was compiled.
    Stale(String),
    /// There is a syntax error, and names near it are not known.
    Syntax(FilePosition),
    /// The new name causes an error: its message, and its position in the edited text.
    Breaks(String, FilePosition),
    /// With the new name, the name at this position would mean something else.
    Captures(FilePosition),
    /// With the new name, this chart would be a different one.
    Changes(String),
}

/// A position in a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FilePosition {
    /// The name of the file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
}

impl FilePosition {
    pub(super) fn new(compilation: &Compilation, span: Span) -> Self {
        let source = compilation.sources.get(span.file);
        let position = source.position(span.start);
        Self { file: source.name.clone(), line: position.line, column: position.column }
    }
}

impl fmt::Display for FilePosition {
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

/// The consequences of renaming something of this kind.
pub(super) const fn told(kind: NameKind) -> &'static [Note] {
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
        _ => &[],
    }
}
