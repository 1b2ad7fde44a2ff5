//! Folds of an XML document: its elements and comments. Unclosed elements do no harm.

use super::FoldKind;
use crate::editor::xml::{Other, read};
use std::ops::Range;

pub(super) fn folds(text: &str) -> Vec<(Range<usize>, FoldKind)> {
    let tree = read(text);
    let elements = tree.elements.iter().filter(|one| one.is_closed);
    let comments = tree.others.iter().filter(|(_, other)| *other == Other::Comment);
    elements
        .map(|one| (one.tag.start..one.end, FoldKind::Region))
        .chain(comments.map(|(span, _)| (span.clone(), FoldKind::Comment)))
        .collect()
}
