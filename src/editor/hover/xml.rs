//! What an element or an attribute of SCXML is for.

use crate::editor::xml::{Place, read};
use chartc_text::front::scxml::elements::named;
use std::ops::Range;

/// The word at an offset, and what it is for.
pub(super) fn word(text: &str, offset: usize) -> Option<(Range<usize>, &'static str)> {
    let tree = read(text);
    let bare = |span: &Range<usize>| text[span.clone()].rsplit(':').next().unwrap_or_default();
    match tree.place(text, offset) {
        Place::Name(nth) => {
            let name = &tree.elements[nth].name;
            Some((name.clone(), named(bare(name))?.doc))
        }
        Place::Closing(name) => Some((name.clone(), named(bare(&name))?.doc)),
        Place::Attribute(nth, name) => {
            let tag = named(bare(&tree.elements[nth].name))?;
            Some((name.clone(), tag.attribute(&text[name])?.doc))
        }
        Place::Value(..) | Place::NoValue(..) | Place::Inside(_) | Place::Nothing => None,
    }
}
