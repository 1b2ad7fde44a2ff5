//! Edits of files, and the texts after the edits.

use super::Use;
use super::spell::{self, Language};
use chartc_check::compile::Compilation;
use chartc_text::front::{Link, Unread};
use chartc_text::load::Loader;
use chartc_text::span::{FileId, Span};
use std::collections::BTreeMap;
use std::ops::Range;

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
                edits.push(TextEdit { range, text: spell::written(new, one.kind, language) });
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
