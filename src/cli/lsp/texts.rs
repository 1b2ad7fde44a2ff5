//! The texts that a client has open, and a loader that prefers them to files.

use super::places::Places;
use super::position::Encoding;
use crate::disk::Disk;
use chartc_text::front::{Link, Unread};
use chartc_text::load::Loader;
use chartc_text::source::Source;
use gen_lsp_types::{TextDocumentContentChangeEvent, Uri};
use std::collections::BTreeMap;
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
