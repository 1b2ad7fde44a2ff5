//! Completes the paths of imports.

use super::CompletionKind;
use super::cursor::Cursor;
use super::offer::Offer;
use crate::load::Loader;
use chartc_text::front::Link;

/// Offers the files that can be imported, and folders.
pub(super) fn offers(cursor: &Cursor<'_>, name: &str, loader: Option<&dyn Loader>) -> Vec<Offer> {
    let Some(loader) = loader else { return Vec::new() };
    let quote = cursor.text[..cursor.start].rfind('"').map_or(cursor.start, |at| at + 1);
    let typed = &cursor.text[quote..cursor.start];
    let folder = loader.resolve(name, if typed.is_empty() { "." } else { typed });
    let own = name.rsplit('/').next().unwrap_or(name);
    let mut found = Vec::new();
    for entry in loader.list(folder.trim_end_matches('/')).unwrap_or_default() {
        if Link::Import.takes(&entry) {
            // A file cannot import itself.
            if !(typed.is_empty() && entry == own) {
                found.push(Offer::new(entry, CompletionKind::File, 0));
            }
        // The loader does not say which entries are folders: names without a dot are taken for them.
        } else if !entry.contains('.') {
            found.push(Offer::new(format!("{entry}/"), CompletionKind::File, 1));
        }
    }
    found
}
