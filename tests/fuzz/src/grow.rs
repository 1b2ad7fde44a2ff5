//! Charts from bytes: each byte picks a production of [`grammar`](super::grammar), so that a changed byte changes a part of the
//! chart and most charts are well-formed.

use super::declared::{INSIDE, OUTSIDE, PLACES};
use super::grammar::{RULES, START};

/// Bytes after which rules take their first production.
const LONGEST: usize = 6_000;
/// Rules in rules, likewise.
const DEEPEST: usize = 24;

/// The chart that these bytes mean.
pub fn grow(data: &[u8]) -> String {
    let mut growing = Growing { data, text: String::new() };
    growing.rule(START, 0);
    let text = declared(&growing.text, PLACES.1, INSIDE);
    declared(&text, PLACES.0, OUTSIDE)
}

/// The text with what it names declared at this place.
fn declared(text: &str, place: char, rows: &[(&str, &str)]) -> String {
    let Some((before, behind)) = text.split_once(place) else { return text.to_owned() };
    let mut used: Vec<&str> = Vec::new();
    for (name, declaration) in rows.iter().rev() {
        if [before, behind].iter().chain(&used).any(|text| text.contains(name)) {
            used.push(declaration);
        }
    }
    used.reverse();
    format!("{before}{}\n{behind}", used.join("\n"))
}

struct Growing<'d> {
    data: &'d [u8],
    text: String,
}

impl Growing<'_> {
    fn rule(&mut self, name: &str, depth: usize) {
        let Some((_, all)) = RULES.iter().find(|(rule, _)| *rule == name) else {
            panic!("no rule `{name}`");
        };
        let mut nth = 0;
        if all.len() > 1 && depth < DEEPEST && self.text.len() < LONGEST {
            let (first, rest) = self.data.split_first().unwrap_or((&0, &[]));
            self.data = rest;
            nth = usize::from(*first) % all.len();
        }
        self.write(all[nth], depth);
    }

    fn write(&mut self, production: &str, depth: usize) {
        let mut parts = production.split('$');
        self.text.push_str(parts.next().unwrap_or_default());
        for part in parts {
            let end = part.find(|c: char| c != '_' && !c.is_ascii_lowercase());
            let (name, rest) = part.split_at(end.unwrap_or(part.len()));
            self.rule(name, depth + 1);
            self.text.push_str(rest);
        }
    }
}
