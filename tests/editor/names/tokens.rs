//! Every name of a chart means something, or is a word of the language.

use super::corpus::{Set, shipped};
use chartc::span::FileId;
use std::collections::{BTreeMap, BTreeSet};

/// The words of the shipped charts that mean no declaration, by what they are.
const WORDS: &[(&str, &str)] = &[
    ("types of the language", "Bool Duration Float Int Json List Map Text"),
    (
        "words that begin a declaration or an item",
        "advice ask call chart check client code component defaults defer do enter enum event exit final fn from history human import initial \
         input limits llm may on parallel param pred prompt run state test tool tools trace type var when",
    ),
    (
        "words inside of declarations, items and lines",
        "a after all any as at before deep done doubt each else entry error exact fail false for idempotent if in into none of only or per \
         reenter retry returns set skip start stay then time timeout to true turn turns up warn with",
    ),
    ("operators", "and div not"),
    ("actions", "cancel log send"),
    (
        "functions of the language",
        "get join len max min replace sort sorted split str streak turns_in unique",
    ),
    (
        "what the machine tells of itself",
        "elapsed elapsed_here fails_here health last_result turns_here",
    ),
    ("options of clients", "input_price max_tokens model output_price temperature"),
    ("limits, and the checks of what is spent", "calls cost"),
    ("events of the machine", "limit stuck"),
    ("checks", "always_reaches at_most ends_within never no_call reaches"),
    ("how a run ends", "canceled ok partial"),
    ("the chart that runs this one", "parent"),
    ("where a prompt shows the options", "options"),
    (
        "words of tests",
        "answers asked asking called contains denied ended expect fails given noop offered result until wait",
    ),
    ("why a call fails", "rate_limited refusal server unreachable unusable"),
];

/// The identifiers of a chart with their places: of its code, and of the placeholders in its texts.
fn identifiers(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut at = 0;
    // Inside a text: its closing quotes, and how many braces are open.
    let mut open: Vec<(&str, usize)> = Vec::new();
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        if let Some((quotes, 0)) = open.last().copied() {
            if rest.starts_with(quotes) {
                open.pop();
                at += quotes.len();
            } else if rest.starts_with("{{") || rest.starts_with("}}") || c == '\\' {
                at += c.len_utf8() + rest.chars().nth(1).map_or(0, char::len_utf8);
            } else {
                if c == '{' {
                    open.pop();
                    open.push((quotes, 1));
                }
                at += c.len_utf8();
            }
            continue;
        }
        if rest.starts_with("//") && open.is_empty() {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if c == '"' {
            let quotes = if rest.starts_with("\"\"\"") { "\"\"\"" } else { "\"" };
            open.push((quotes, 0));
            at += quotes.len();
        } else if c.is_ascii_alphabetic() || c == '_' {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let end = end.unwrap_or(rest.len());
            found.push((at, &rest[..end]));
            at += end;
        } else if c.is_ascii_digit() {
            // With its unit.
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            at += end.unwrap_or(rest.len());
        } else {
            if let Some((_, depth)) = open.last_mut() {
                match c {
                    '{' => *depth += 1,
                    '}' => *depth -= 1,
                    // A format: `{x:.2f}`.
                    ':' if *depth == 1 => {
                        at += rest.find('}').unwrap_or(rest.len() - 1);
                        continue;
                    }
                    _ => {}
                }
            }
            at += c.len_utf8();
        }
    }
    found
}

/// The identifiers that mean nothing, each with where it stands first.
fn unresolved(sets: &[Set]) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for set in sets {
        let done = chartc_compiler::compile::check_indexed(&set.roots, &set.files, 0);
        for root in &set.roots {
            let (file, source) =
                done.sources.iter().find(|(_, source)| source.name == *root).expect("it was read");
            if !root.ends_with(".chart") {
                continue;
            }
            let known: BTreeSet<(FileId, u32, u32)> =
                done.uses.iter().map(|one| (one.at.file, one.at.start, one.at.end)).collect();
            for (at, name) in identifiers(&source.text) {
                let (start, end) = (at as u32, (at + name.len()) as u32);
                let quoted = (file, start.saturating_sub(1), end + 1);
                if !known.contains(&(file, start, end)) && !known.contains(&quoted) {
                    let place = source.position(start);
                    let place = format!("{}:{}:{}", set.name, place.line, place.column);
                    found.entry(name.to_owned()).or_insert(place);
                }
            }
        }
    }
    found
}

#[test]
fn every_name_of_the_shipped_charts_means_something() {
    let found = unresolved(&shipped());
    let known: BTreeMap<&str, &str> =
        WORDS.iter().flat_map(|(kind, words)| words.split(' ').map(|w| (w, *kind))).collect();
    let lost: Vec<_> =
        found.iter().filter(|(name, _)| !known.contains_key(name.as_str())).collect();
    assert!(lost.is_empty(), "these mean nothing: {lost:#?}");
    let needless: Vec<_> = known.keys().filter(|word| !found.contains_key(**word)).collect();
    assert!(needless.is_empty(), "these always mean something: {needless:?}");
}
