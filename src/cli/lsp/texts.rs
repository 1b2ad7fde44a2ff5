//! The texts that a client has open, and a loader that prefers them to files.

use crate::disk::{Disk, shown, tidy};
use chartc_compiler::front::load::Loader;
use chartc_compiler::front::{Link, Unread};
use chartc_compiler::syntax::source::{Source, Sources, Span};
use gen_lsp_types::{Position, PositionEncodingKind, Range, TextDocumentContentChangeEvent, Uri};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A text that a client has open.
#[derive(Debug, Clone)]
pub(super) struct Open {
    /// The name of the file in the compiler.
    pub(super) name: String,
    /// The text as it is in the editor.
    pub(super) source: Arc<Source>,
    /// The client's version number of the text.
    pub(super) version: i32,
}

/// All open texts, by address.
#[derive(Debug, Clone, Default)]
pub(super) struct Texts {
    open: BTreeMap<Uri, Open>,
}

impl Texts {
    /// Adds a text, or replaces one that is open.
    pub(super) fn open(&mut self, uri: Uri, name: String, text: &str, version: i32) {
        let source = Arc::new(Source::new(name.clone(), tidied(text)));
        self.open.insert(uri, Open { name, source, version });
    }

    /// Removes a text. From now on its file counts.
    pub(super) fn close(&mut self, uri: &Uri) -> Option<Open> {
        self.open.remove(uri)
    }

    /// Applies changes to a text in order: each refers to the result of the one before. Returns whether the text is open.
    pub(super) fn change(
        &mut self,
        uri: &Uri,
        version: i32,
        changes: Vec<TextDocumentContentChangeEvent>,
        encoding: Encoding,
    ) -> bool {
        let Some(open) = self.open.get_mut(uri) else { return false };
        for change in changes {
            let text = match change {
                TextDocumentContentChangeEvent::TextDocumentContentChangePartial(part) => {
                    let start = encoding.offset(&open.source, part.range.start) as usize;
                    let end = encoding.offset(&open.source, part.range.end) as usize;
                    let old = &open.source.text;
                    // The client may send a range that ends before it starts.
                    [&old[..start], &part.text, &old[end.max(start)..]].concat()
                }
                TextDocumentContentChangeEvent::TextDocumentContentChangeWholeDocument(whole) => {
                    tidied(&whole.text).to_owned()
                }
            };
            open.source = Arc::new(Source::new(open.name.clone(), text));
        }
        open.version = version;
        true
    }

    /// The text at an address.
    pub(super) fn get(&self, uri: &Uri) -> Option<&Open> {
        self.open.get(uri)
    }

    /// All texts, by address.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Uri, &Open)> {
        self.open.iter()
    }

    /// The address and the text of a file, by its name.
    pub(super) fn named(&self, name: &str) -> Option<(&Uri, &Open)> {
        self.open.iter().find(|(_, open)| open.name == name)
    }
}

/// Removes a byte order mark, as reading a file does.
fn tidied(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// A loader that reads open texts from the editor and other files from disk.
pub(super) struct Overlay {
    disk: Disk,
    texts: BTreeMap<String, Arc<Source>>,
}

impl Overlay {
    /// Creates a loader with the texts that are open now.
    ///
    /// # Errors
    /// The reason why the open folder cannot be used.
    pub(super) fn new(texts: &Texts, places: &Places) -> Result<Self, String> {
        let disk = Disk::for_commands(places.folder().to_owned(), None)?;
        let texts = texts.iter().map(|(_, open)| (open.name.clone(), Arc::clone(&open.source)));
        Ok(Self { disk, texts: texts.collect() })
    }
}

impl Loader for Overlay {
    fn read(&self, path: &str) -> Result<String, String> {
        match self.texts.get(path) {
            Some(source) => Ok(source.text.clone()),
            None => self.disk.read_linked(path),
        }
    }

    fn read_linked(&self, path: &str) -> Result<String, String> {
        self.read(path)
    }

    fn resolve(&self, from: &str, name: &str) -> String {
        self.disk.resolve(from, name)
    }

    fn root(&self, named: &str) -> String {
        self.disk.root(named)
    }

    fn permit(&self, named: &str, path: &str, link: Link) -> Result<(), Unread> {
        match self.disk.permit(named, path, link) {
            // A text that was never saved has no file.
            Err(Unread::Unreadable(_)) if self.texts.contains_key(path) => Ok(()),
            permitted => permitted,
        }
    }

    fn list(&self, path: &str) -> Option<Vec<String>> {
        self.disk.list(path)
    }
}

// Converts between the names of files in the compiler and the addresses that a client has for them.

/// The folder that a client has open. Names of files below it are relative to it.
#[derive(Debug, Clone)]
pub(super) struct Places {
    folder: PathBuf,
}

/// The prefix of the name of a text that is in no file.
const UNTITLED: &str = "untitled:";

impl Places {
    /// Creates the mapping for a client with this open folder.
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder: tidy(&folder) }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The name of the file at an address. A text that is in no file gets a name that is not a path, with an extension for its language.
    pub(super) fn name(&self, uri: &Uri, language: &str) -> String {
        match (uri.scheme(), uri.to_file_path()) {
            ("file", Ok(path)) => {
                let path = tidy(&path);
                shown(path.strip_prefix(&self.folder).unwrap_or(&path))
            }
            _ => {
                let end = match language {
                    "yaml" | "agent-yaml" => "/agent.yaml",
                    "xml" | "scxml" => ".scxml",
                    _ => ".chart",
                };
                format!("{UNTITLED}{}{end}", uri.path().trim_start_matches('/'))
            }
        }
    }

    /// The address of a file that is not open; `None` for a text that is in no file.
    pub(super) fn uri(&self, name: &str) -> Option<Uri> {
        if name.starts_with(UNTITLED) {
            return None;
        }
        Uri::from_file_path(tidy(&self.folder.join(name))).ok()
    }
}

// Converts byte offsets to positions of the protocol: lines from 0, and columns in UTF-8, UTF-16 or UTF-32 code units.

/// The unit in which a client counts columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Encoding {
    /// Bytes.
    Utf8,
    /// The unit of clients that do not name one.
    #[default]
    Utf16,
    /// Unicode code points.
    Utf32,
}

impl Encoding {
    /// Selects the unit. Bytes are preferred, because they need no counting.
    pub(super) fn agreed(offered: &[PositionEncodingKind]) -> Self {
        if offered.contains(&PositionEncodingKind::UTF8) {
            Self::Utf8
        } else if offered.contains(&PositionEncodingKind::UTF32)
            && !offered.contains(&PositionEncodingKind::UTF16)
        {
            Self::Utf32
        } else {
            Self::Utf16
        }
    }

    /// The name of the unit in the protocol.
    pub(super) fn name(self) -> PositionEncodingKind {
        match self {
            Self::Utf8 => PositionEncodingKind::UTF8,
            Self::Utf16 => PositionEncodingKind::UTF16,
            Self::Utf32 => PositionEncodingKind::UTF32,
        }
    }

    /// The length of a text in this unit.
    pub(super) fn length(self, text: &str) -> u32 {
        match self {
            Self::Utf8 => text.len() as u32,
            // Most lines are ASCII, where bytes and UTF-16 units agree.
            Self::Utf16 if text.is_ascii() => text.len() as u32,
            Self::Utf16 => text.encode_utf16().count() as u32,
            Self::Utf32 => text.chars().count() as u32,
        }
    }

    /// The byte offset after `units` units of a text. A position inside a character maps to its start, one behind the end of the text to
    /// its end.
    fn bytes(self, text: &str, units: u32) -> usize {
        let mut left = units;
        for (at, character) in text.char_indices() {
            let wide = match self {
                Self::Utf8 => character.len_utf8(),
                Self::Utf16 => character.len_utf16(),
                Self::Utf32 => 1,
            } as u32;
            if left < wide {
                return at;
            }
            left -= wide;
        }
        text.len()
    }

    /// The position of a byte offset.
    pub(super) fn position(self, source: &Source, offset: u32) -> Position {
        let offset = (offset as usize).min(source.text.len());
        let line = source.line_of(offset as u32);
        let start = source.line(line).start;
        // An offset between `\r` and `\n` counts as the end of the line.
        let before = source.text.get(start..offset).unwrap_or_default();
        Position { line: line as u32 - 1, character: self.length(before) }
    }

    /// The byte offset of a position. One behind the end of its line maps to the end of the line.
    pub(super) fn offset(self, source: &Source, place: Position) -> u32 {
        let line = source.line((place.line as usize).saturating_add(1));
        let text = &source.text[line.clone()];
        (line.start + self.bytes(text, place.character)) as u32
    }

    /// The range of a span.
    pub(super) fn range(self, sources: &Sources, span: Span) -> Range {
        self.range_in(sources.get(span.file), span)
    }

    /// The range of a span of `source`.
    pub(super) fn range_in(self, source: &Source, span: Span) -> Range {
        Range {
            start: self.position(source, span.start),
            end: self.position(source, span.end.max(span.start)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_addresses() {
        let places = Places::new(PathBuf::from("/home/an na/p"));
        for (uri, name) in [
            ("file:///home/an%20na/p/a/b.chart", "a/b.chart"),
            ("file:///home/an na/p/ü.chart", "ü.chart"),
            ("file:///home/c.chart", "/home/c.chart"),
        ] {
            let uri: Uri = uri.parse().expect("an address");
            assert_eq!(places.name(&uri, "chart"), name);
            assert_eq!(places.uri(name).expect("an address"), uri);
        }
        let untitled: Uri = "untitled:Untitled-1".parse().expect("an address");
        assert_eq!(places.name(&untitled, "chart"), "untitled:Untitled-1.chart");
        assert_eq!(places.name(&untitled, "yaml"), "untitled:Untitled-1/agent.yaml");
        assert_eq!(places.uri("untitled:Untitled-1.chart"), None);
    }
}

#[cfg(test)]
mod position_tests {
    use super::*;

    #[test]
    fn every_place_comes_back() {
        let source = Source::new("a", "x😀é\r\n\n  \"é😀\" y\u{301}z\n");
        for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
            for (offset, character) in source.text.char_indices() {
                if character == '\n' && source.text[..offset].ends_with('\r') {
                    continue;
                }
                let place = encoding.position(&source, offset as u32);
                assert_eq!(encoding.offset(&source, place), offset as u32, "{encoding:?} {offset}");
            }
        }
        let place = |encoding: Encoding| encoding.position(&source, 5).character;
        assert_eq!([Encoding::Utf8, Encoding::Utf16, Encoding::Utf32].map(place), [5, 3, 2]);
    }

    #[test]
    fn places_that_are_not_there() {
        let source = Source::new("a", "é😀\nab");
        let at = |line, character| {
            Encoding::Utf16.offset(&source, Position { line, character }) as usize
        };
        assert_eq!(at(0, 99), 6, "behind a line");
        assert_eq!(at(0, 2), 2, "between two halves of a character");
        assert_eq!(at(1, u32::MAX), 9);
        assert_eq!(at(u32::MAX, 3), 9, "behind the text");
    }

    #[test]
    fn bytes_are_preferred() {
        let all = [PositionEncodingKind::UTF16, PositionEncodingKind::UTF8];
        assert_eq!(Encoding::agreed(&all), Encoding::Utf8);
        assert_eq!(Encoding::agreed(&[PositionEncodingKind::UTF32]), Encoding::Utf32);
        assert_eq!(Encoding::agreed(&[]), Encoding::Utf16);
    }
}
