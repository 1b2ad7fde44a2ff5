//! The names of states in the text: their own names where Mermaid accepts them.

use chartc_core::arena::StateId;
use chartc_core::model::Chart;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum length of a name, in bytes, that is used unchanged.
const LONG: usize = 40;

/// Words of Mermaid's grammar, and names with a meaning in JavaScript.
const WORDS: &[&str] = &[
    "acc",
    "as",
    "class",
    "classdef",
    "click",
    "constructor",
    "default",
    "direction",
    "end",
    "hide",
    "href",
    "left",
    "note",
    "of",
    "prototype",
    "right",
    "root",
    "scale",
    "state",
    "style",
    "tostring",
    "valueof",
    "hasownproperty",
    "acctitle",
    "accdescr",
    "statediagram",
];

/// Finds a unique name for every state: its own, else its path, else a number.
pub(super) fn names(chart: &Chart) -> Vec<String> {
    let mut count: BTreeMap<&str, u32> = BTreeMap::new();
    for state in chart.states.iter().skip(1) {
        *count.entry(&state.name).or_default() += 1;
    }
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let mut names = Vec::with_capacity(chart.states.len());
    for id in chart.state_ids() {
        let state = chart.state(id);
        let own = (count.get(state.name.as_str()) == Some(&1)).then(|| state.name.clone());
        let long = || {
            let is_short = state.path.len() <= LONG;
            let path = if is_short { state.path.replace('.', "_") } else { String::new() };
            (!count.contains_key(path.as_str())).then_some(path)
        };
        let name = own
            .or_else(long)
            .filter(|name| id.0 > 0 && is_plain(name) && !taken.contains(name))
            .unwrap_or_else(|| numbered("s", id));
        taken.insert(name.clone());
        names.push(name);
    }
    names
}

/// A name that consists of letters and a state's number. No state has such a name as its own.
pub(super) fn numbered(letters: &str, id: StateId) -> String {
    format!("{letters}{}", id.0)
}

fn is_plain(name: &str) -> bool {
    let head = name.chars().next().is_some_and(|c| c.is_ascii_alphabetic());
    let all = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let lower = name.to_ascii_lowercase();
    let letters = lower.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_numbered = letters.len() < lower.len() && letters.len() < 7 && !letters.contains('_');
    let is_mermaids = lower.ends_with("_start") || lower.ends_with("_end");
    head && all
        && name.len() <= LONG
        && !is_numbered
        && !is_mermaids
        && !WORDS.contains(&lower.as_str())
}
