//! Describes elements and attributes of SCXML.

use crate::editor::xml::{XmlPosition, read};
use chartc_text::front::scxml::elements::named;
use std::ops::Range;

/// The name of the element or attribute at an offset, and its description.
pub(super) fn word(text: &str, offset: usize) -> Option<(Range<usize>, &'static str)> {
    let tree = read(text);
    let bare = |span: &Range<usize>| text[span.clone()].rsplit(':').next().unwrap_or_default();
    match tree.place(text, offset) {
        XmlPosition::Name(nth) => {
            let name = &tree.elements[nth].name;
            Some((name.clone(), named(bare(name))?.doc))
        }
        XmlPosition::Closing(name) => Some((name.clone(), named(bare(&name))?.doc)),
        XmlPosition::Attribute(nth, name) => {
            let tag = named(bare(&tree.elements[nth].name))?;
            Some((name.clone(), tag.attribute(&text[name])?.doc))
        }
        _ => None,
    }
}
