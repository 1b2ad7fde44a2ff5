//! The segments of dotted names.

use chartc_text::span::{Ident, Span};
use std::collections::HashMap;

/// The segments of dotted names: for each prefix, the place of its last segment in the first name that begins with it.
#[derive(Default)]
pub(super) struct Segments(HashMap<String, Span>);

impl Segments {
    /// Adds a declared name. Returns, for each of its segments, the place where that prefix is declared.
    pub(super) fn declare(&mut self, names: &[Ident]) -> Vec<Span> {
        let mut means = Vec::new();
        prefixes(names, |prefix, at| {
            means.push(*self.0.entry(prefix.to_owned()).or_insert(at));
        });
        means
    }

    /// Returns, for each segment of a name, the place where that prefix is declared, up to the first unknown segment.
    pub(super) fn find(&self, names: &[Ident]) -> Vec<Span> {
        let mut means = Vec::new();
        prefixes(names, |prefix, _| means.extend(self.0.get(prefix)));
        means
    }
}

fn prefixes(names: &[Ident], mut visit: impl FnMut(&str, Span)) {
    let [first, rest @ ..] = names else { return };
    visit(&first.node, first.span);
    let mut prefix = String::new();
    for name in rest {
        if prefix.is_empty() {
            prefix.push_str(&first.node);
        }
        prefix.push('.');
        prefix.push_str(&name.node);
        visit(&prefix, name.span);
    }
}
