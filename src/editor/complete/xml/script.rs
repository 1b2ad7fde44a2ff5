//! Completes expressions and scripts in SCXML documents.

use super::super::CompletionKind;
use super::super::offer::Offer;
use super::names::Names;
use std::ops::Range;

/// The functions, with their snippets and meanings.
const FUNCTIONS: &[(&str, &str, &str)] = &[
    ("Math.abs", "Math.abs($1)", "without its sign"),
    ("Math.min", "Math.min($1, $2)", "the least"),
    ("Math.max", "Math.max($1, $2)", "the greatest"),
    ("Math.floor", "Math.floor($1)", "the whole number below"),
    ("Math.ceil", "Math.ceil($1)", "the whole number above"),
    ("Math.round", "Math.round($1)", "the nearest whole number"),
    ("Math.trunc", "Math.trunc($1)", "without what is behind the point"),
    ("Math.pow", "Math.pow($1, $2)", "a power"),
    ("Math.sqrt", "Math.sqrt($1)", "the square root"),
    ("Math.PI", "Math.PI", "3.14159…"),
    ("Math.E", "Math.E", "2.71828…"),
    ("String", "String($1)", "as a text"),
    ("Number", "Number($1)", "as a number"),
    ("parseFloat", "parseFloat($1)", "as a number"),
    ("Boolean", "Boolean($1)", "whether it counts as true"),
    ("JSON.stringify", "JSON.stringify($1)", "as JSON"),
    ("Array.isArray", "Array.isArray($1)", "whether it is a list"),
    ("typeof", "typeof ", "its type as a text"),
];

/// The names that the platform defines, with their meanings.
const SYSTEM: &[(&str, &str)] = &[
    ("_event.data", "the data of the event"),
    ("_event.name", "the name of the event"),
    ("_name", "the name of the document"),
    ("_sessionid", "the name of the document"),
    ("true", ""),
    ("false", ""),
    ("null", ""),
    ("undefined", "the same as `null`"),
];

/// The part of a script that is being written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ScriptPart {
    Value,
    /// The left side of an assignment.
    Place,
}

/// Offers what fits at an offset of an expression or a script, and the range to replace.
pub(super) fn offers(
    names: &Names<'_>,
    what: ScriptPart,
    text: &str,
    whole: &Range<usize>,
    offset: usize,
) -> (Vec<Offer>, Range<usize>) {
    let before = &text[whole.start..offset];
    let behind = &text[offset..whole.end];
    if let Some(open) = string(before) {
        let inside = whole.start + open + 1;
        let quote = before[open..].chars().next().unwrap_or('\'');
        let end = behind.find([quote, '\n']).unwrap_or(0);
        let is_in = before[..open].trim_end().strip_suffix('(').is_some_and(|call| {
            call.trim_end().strip_suffix("In").is_some_and(|rest| !rest.ends_with(is_name))
        });
        let found = if is_in { names.active() } else { Vec::new() };
        return (plain(found), inside..offset + end);
    }
    let word = offset - (before.len() - before.trim_end_matches(is_name).len());
    let end = offset + (behind.len() - behind.trim_start_matches(is_name).len());
    let chain = text[whole.start..word].trim_end_matches(|c| is_name(c) || c == '.');
    let chain = &text[whole.start + chain.len()..word];
    let found = match chain.trim_end_matches('.') {
        _ if chain.is_empty() && what == ScriptPart::Place => plain(names.variables()),
        _ if chain.is_empty() => begin(names),
        "_event" => members("_event."),
        "_event.data" => plain(names.data_fields(0)),
        owner @ ("Math" | "JSON" | "Array") => members(&format!("{owner}.")),
        _ => {
            let mut found = vec![Offer::new("length", CompletionKind::Field, 1)];
            found.extend(plain(names.data_fields(0)));
            found
        }
    };
    (found, word..end)
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// The offset of the quote of a string that is still open at the end.
fn string(before: &str) -> Option<usize> {
    let mut open: Option<(usize, char)> = None;
    let mut escaped = false;
    for (at, c) in before.char_indices() {
        match open {
            Some(_) if escaped => escaped = false,
            Some(_) if c == '\\' => escaped = true,
            // Strings end with their line.
            Some((_, quote)) if c == quote || c == '\n' => open = None,
            Some(_) => {}
            None if matches!(c, '"' | '\'') => open = Some((at, c)),
            None => {}
        }
    }
    open.map(|(at, _)| at)
}

/// Offers what an expression may begin with.
fn begin(names: &Names<'_>) -> Vec<Offer> {
    let mut found = plain(names.variables());
    found.push(
        Offer::new("In", CompletionKind::Function, 3)
            .detail("whether a state is active")
            .snippet("In('$1')".to_owned()),
    );
    found.push(Offer::new("_event", CompletionKind::Variable, 4).detail("the event"));
    for (name, detail) in SYSTEM {
        found.push(Offer::new(*name, CompletionKind::Variable, 5).detail(*detail));
    }
    for owner in ["Math", "JSON", "Array"] {
        found.push(Offer::new(owner, CompletionKind::Type, 7));
    }
    for (name, insert, detail) in FUNCTIONS {
        let offer = Offer::new(*name, CompletionKind::Function, 8).detail(*detail);
        found.push(offer.snippet((*insert).to_owned()));
    }
    plain(found)
}

/// Offers the members of an object that the language defines. `owner` ends in a dot.
fn members(owner: &str) -> Vec<Offer> {
    let system = SYSTEM.iter().filter_map(|(name, detail)| {
        let name = name.strip_prefix(owner)?;
        Some(Offer::new(name, CompletionKind::Field, 0).detail(*detail))
    });
    let functions = FUNCTIONS.iter().filter_map(|(name, insert, detail)| {
        let offer = Offer::new(name.strip_prefix(owner)?, CompletionKind::Function, 0);
        Some(offer.detail(*detail).snippet(insert.strip_prefix(owner)?.to_owned()))
    });
    plain(system.chain(functions).collect())
}

/// Makes offers insert their labels as they are: names of documents need no back-quotes.
fn plain(offers: Vec<Offer>) -> Vec<Offer> {
    let one = |offer: Offer| {
        let insert = offer.insert.clone();
        let label = super::Insert::Plain(offer.label.clone());
        Offer { insert: Some(insert.unwrap_or(label)), ..offer }
    };
    offers.into_iter().map(one).collect()
}
