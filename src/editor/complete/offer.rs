//! Offers, and how they are ranked.

use super::{Completion, CompletionKind, Insert};
use crate::editor::outline::rank;
use chartc_text::span::Span;
use chartc_text::syntax::{is_lower_snake, is_reserved, is_upper_camel};
use std::collections::BTreeSet;

/// An item that may be offered.
#[derive(Debug, Clone)]
pub(super) struct Offer {
    pub(super) label: String,
    pub(super) kind: CompletionKind,
    pub(super) detail: String,
    pub(super) documentation: String,
    /// The text to insert, if it is not the label.
    pub(super) insert: Option<Insert>,
    /// The rank before matching: the most likely item has the least weight.
    pub(super) weight: u32,
}

impl Offer {
    pub(super) fn new(label: impl Into<String>, kind: CompletionKind, weight: u32) -> Self {
        Self {
            label: label.into(),
            kind,
            detail: String::new(),
            documentation: String::new(),
            insert: None,
            weight,
        }
    }

    #[must_use]
    pub(super) fn detail(self, detail: impl Into<String>) -> Self {
        Self { detail: detail.into(), ..self }
    }

    #[must_use]
    pub(super) fn doc(self, doc: impl Into<String>) -> Self {
        Self { documentation: doc.into(), ..self }
    }

    #[must_use]
    pub(super) fn snippet(self, snippet: String) -> Self {
        Self { insert: Some(Insert::Snippet(snippet)), ..self }
    }
}

/// Selects the offers that match `prefix`, sorts the most likely first, and drops repeated labels.
pub(super) fn ranked(offers: Vec<Offer>, prefix: &str, replaces: Span) -> Vec<Completion> {
    let wanted = prefix.to_lowercase();
    let mut found: Vec<(u8, Offer)> = offers
        .into_iter()
        .filter_map(|offer| {
            // A dotted name is also found by its last part.
            let last = offer.label.rsplit('.').next().unwrap_or_default();
            let fit = [rank(&offer.label, &wanted), rank(last, &wanted).map(|r| r.max(1))];
            // Equal labels count as those that begin with the prefix, so that the weight decides between them.
            Some((fit.into_iter().flatten().min()?.max(1), offer))
        })
        .collect();
    found.sort_by(|(a, x), (b, y)| (a, x.weight).cmp(&(b, y.weight)));
    let mut seen = BTreeSet::new();
    found.retain(|(_, offer)| seen.insert((offer.label.clone(), is_word(offer.kind))));
    found
        .into_iter()
        .enumerate()
        .map(|(nth, (_, offer))| Completion {
            insert: offer.insert.clone().unwrap_or_else(|| Insert::Plain(quoted(&offer))),
            label: offer.label,
            kind: offer.kind,
            detail: offer.detail,
            documentation: offer.documentation,
            replaces,
            sort: nth as u32,
        })
        .collect()
}

/// Whether the kind is not a snippet. A name and a snippet with the same label are both shown.
fn is_word(kind: CompletionKind) -> bool {
    kind != CompletionKind::Snippet
}

/// The label as it is written in a chart: a name that is not an identifier is put in back-quotes.
fn quoted(offer: &Offer) -> String {
    match offer.kind {
        CompletionKind::Keyword
        | CompletionKind::Snippet
        | CompletionKind::Rule
        | CompletionKind::File
        | CompletionKind::Format
        | CompletionKind::Value => offer.label.clone(),
        _ => written(&offer.label),
    }
}

/// A dotted name, with back-quotes where they are needed.
pub(super) fn written(name: &str) -> String {
    let is_bare = |part: &str| {
        let plain = part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let starts = part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        (is_lower_snake(part) || is_upper_camel(part) || plain && starts) && !is_reserved(part)
    };
    if name.split('.').all(is_bare) {
        return name.to_owned();
    }
    let part = |part: &str| {
        if is_bare(part) { part.to_owned() } else { format!("`{}`", part.replace('`', "\\`")) }
    };
    // A name in back-quotes may have blanks and dots of its own.
    if name.contains(' ') {
        format!("`{name}`")
    } else {
        name.split('.').map(part).collect::<Vec<_>>().join(".")
    }
}

/// A call as a snippet, with placeholders for its arguments.
pub(super) fn call(name: &str, arguments: &[&str]) -> String {
    let holes: Vec<String> = arguments
        .iter()
        .enumerate()
        .map(|(nth, name)| format!("${{{}:{}}}", nth + 1, escaped(name)))
        .collect();
    format!("{}({})", escaped(&written(name)), holes.join(", "))
}

/// Escapes text in a snippet.
pub(super) fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('$', "\\$").replace('}', "\\}")
}
