//! Answers that a text offers, as far as its words are certain: lists of which some items are known answers.

use super::commands::{CHOICE, FILLERS, FORMS, REPLY};
use std::collections::BTreeSet;
use std::ops::Range;

/// A text without what authors vary: capitals, and whether a name's parts are joined by `_`, `-` or a space.
pub fn plain(text: &str) -> String {
    text.chars()
        .flat_map(char::to_lowercase)
        .map(|c| if matches!(c, '_' | '-') { ' ' } else { c })
        .collect()
}

/// Whether the name stands in the text as a whole word; both as [`plain`] gives them.
pub fn names(text: &str, name: &str) -> bool {
    let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    text.match_indices(name).any(|(at, _)| {
        !word(text[..at].chars().next_back()) && !word(text[at + name.len()..].chars().next())
    })
}

/// One word of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Item<'t> {
    word: &'t str,
    at: Range<usize>,
    quoted: bool,
}

/// What is known of the answers that a text is about.
#[derive(Debug, Clone)]
pub struct Known {
    /// They, as [`plain`] gives them.
    pub words: BTreeSet<String>,
    /// What they are among all answers.
    pub are: Are,
    /// Whether nothing but texts says which answers there are.
    pub alone: bool,
}

/// What known answers are among all that are understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Are {
    /// All of them.
    All,
    /// Some: others may be understood, too.
    Some,
    /// All values of a part of the answer, such as a field.
    Parts,
}

impl Known {
    fn has(&self, item: &Item<'_>) -> bool {
        self.words.contains(&plain(item.word))
    }

    /// The words of a list that are no answers although the list is one of answers.
    fn missing<'l, 't>(&self, list: &'l List<'t>) -> impl Iterator<Item = &'l Item<'t>> {
        let hits = list.items.iter().filter(|i| self.has(i)).count();
        let others: BTreeSet<String> =
            list.items.iter().filter(|i| !self.has(i)).map(|i| plain(i.word)).collect();
        let commanded = match list.lead {
            Lead::Reply => true,
            Lead::Choice => self.alone,
            Lead::None => false,
        };
        let is_form = || list.items.iter().any(|i| FORMS.contains(&&*plain(i.word)));
        let counts = match self.are {
            Are::All => hits > 0 && hits >= others.len() || commanded && !is_form(),
            Are::Some => false,
            Are::Parts => hits > 1 && hits > others.len(),
        };
        list.items.iter().filter(move |i| counts && !self.has(i))
    }
}

/// Words that the text offers beside known answers, with their places; `last` says that nothing follows the text.
///
/// A list is words between quotation marks joined by commas or `or`; bare words after a colon, `one of`, `either` or a verb that asks
/// for an answer, up to the end of the sentence; words in brackets at the end; lines that begin with a bullet; values of one key in
/// JSON examples. It counts if at least half of its items are known, and in any case behind such a verb or in such brackets.
pub fn offered(text: &str, known: &Known, last: bool) -> Vec<(String, Range<usize>)> {
    let mut lists = Vec::new();
    let mut bullets = Vec::new();
    let mut pairs: Vec<(&str, Vec<Item<'_>>)> = Vec::new();
    let mut start = 0;
    let end = if last { text.trim_end().len() } else { usize::MAX };
    for line in text.split('\n') {
        rows(line, start, end, &mut lists);
        values(line, start, &mut pairs);
        bullet(line, start, &mut bullets, &mut lists);
        start += line.len() + 1;
    }
    lists.extend(bullets.into_iter().map(|items| List::plain(items.unwrap_or_default())));
    lists.extend(pairs.into_iter().map(|(_, items)| List::plain(items)));
    let words = lists.iter().flat_map(|list| known.missing(list));
    let mut found: Vec<(String, Range<usize>)> =
        words.map(|i| (i.word.to_owned(), i.at.clone())).collect();
    found.sort_by(|a, b| (a.1.start, &a.0).cmp(&(b.1.start, &b.0)));
    let mut told = BTreeSet::new();
    found.retain(|(word, _)| told.insert(plain(word)));
    found
}

/// Items, and how the text comes to them.
struct List<'t> {
    items: Vec<Item<'t>>,
    lead: Lead,
}

impl<'t> List<'t> {
    fn plain(items: Vec<Item<'t>>) -> Self {
        Self { items, lead: Lead::None }
    }
}

/// How sure it is that a list is one of answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lead {
    /// Nothing says so.
    None,
    /// A verb such as `choose`, or brackets at the end of the text.
    Choice,
    /// A verb that means nothing else, such as `answer`.
    Reply,
}

const QUOTES: &[(&str, &str)] =
    &[("**", "**"), ("\"", "\""), ("'", "'"), ("`", "`"), ("“", "”"), ("‘", "’")];

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-')
}

/// The word that the text begins with, between quotation marks or bare, and what it takes up.
fn word(text: &str, at: usize) -> Option<(Item<'_>, usize)> {
    for (open, close) in QUOTES {
        if let Some(rest) = text.strip_prefix(open) {
            let end = rest.find(|c| !is_name(c))?;
            let inner = &rest[..end];
            let closed = rest[end..].starts_with(close);
            let from = at + open.len();
            let item = Item { word: inner, at: from..from + end, quoted: true };
            return (closed && end > 0).then_some((item, open.len() + end + close.len()));
        }
    }
    let end = text.find(|c| !is_name(c)).unwrap_or(text.len());
    let begins = text.starts_with(char::is_alphabetic);
    let item = Item { word: &text[..end], at: at..at + end, quoted: false };
    (end > 0 && begins).then_some((item, end))
}

/// How much of the text joins two items of a list; none if it does not.
fn joint(text: &str) -> Option<usize> {
    let mut rest = text.trim_start_matches(' ');
    let mut joined = false;
    if let Some(after) = rest.strip_prefix([',', '/', '|', ';']) {
        rest = after.trim_start_matches(' ');
        joined = true;
    }
    for and in ["or ", "and ", "OR "] {
        if let Some(after) = rest.strip_prefix(and)
            && (joined || rest.len() < text.len())
        {
            rest = after.trim_start_matches(' ');
            joined = true;
        }
    }
    for article in ["a ", "an ", "the "] {
        rest = rest.strip_prefix(article).filter(|_| joined).unwrap_or(rest);
    }
    joined.then_some(text.len() - rest.len())
}

/// Whether bare words that follow are a list of answers, and how sure that is.
fn leads(before: &str) -> Option<Lead> {
    let before = before.trim_end().to_lowercase();
    let rest = before.trim_end_matches([':', ' ']);
    let mut words = rest.rsplit(|c: char| !c.is_alphanumeric()).take(6);
    match words.find(|word| !FILLERS.contains(word) && !word.is_empty()) {
        Some(verb) if REPLY.contains(&verb) => return Some(Lead::Reply),
        Some(verb) if CHOICE.contains(&verb) => return Some(Lead::Choice),
        Some(_) | None => {}
    }
    let listed = ["one of", "either"].iter().any(|w| before.ends_with(w)) || before.ends_with(':');
    listed.then_some(Lead::None)
}

/// Lists inside of one line; `end` is where the text ends, blanks left out.
fn rows<'t>(line: &'t str, start: usize, end: usize, lists: &mut Vec<List<'t>>) {
    let mut at = 0;
    while at < line.len() {
        let inside = line[..at].chars().next_back().is_some_and(is_name);
        let first = if inside { None } else { word(&line[at..], start + at) };
        let Some((item, length)) = first else {
            at += line[at..].chars().next().map_or(1, char::len_utf8);
            continue;
        };
        let (begin, quoted) = (at, item.quoted);
        let mut items = vec![item];
        at += length;
        let mut only_or = true;
        while let Some(gap) = joint(&line[at..]) {
            let Some((next, length)) = word(&line[at + gap..], start + at + gap) else { break };
            if next.quoted != quoted {
                break;
            }
            only_or &= !line[at..at + gap].contains("and");
            items.push(next);
            at += gap + length;
        }
        if items.len() < 2 {
            continue;
        }
        let rest = line[at..].trim_start();
        let ends = rest.chars().next().is_none_or(|c| ".;)]}\"'`!?".contains(c));
        let closes = line[..begin].ends_with(['(', '['])
            && rest.starts_with([')', ']'])
            && start + line.len() - rest[1..].trim_start_matches(['.', '?', ':', '!']).len() >= end;
        // Not each word of a sentence that says `and` is an answer by itself.
        let lead = if closes { Some(Lead::Choice) } else { leads(&line[..begin]) };
        let lead = lead.map(|lead| if only_or && ends { lead } else { Lead::None });
        if quoted || (ends && lead.is_some()) {
            lists.push(List { items, lead: lead.unwrap_or(Lead::None) });
        }
    }
}

/// `"key": "value"` of an example; a value may list the answers, as in `"a|b"`.
fn values<'t>(line: &'t str, start: usize, pairs: &mut Vec<(&'t str, Vec<Item<'t>>)>) {
    for (colon, _) in line.match_indices("\":") {
        let Some(open) = line[..colon].rfind('"') else { continue };
        let key = &line[open + 1..colon];
        let after = &line[colon + 2..];
        let gap = after.len() - after.trim_start().len();
        let Some(rest) = after.trim_start().strip_prefix('"') else { continue };
        let Some(end) = rest.find('"') else { continue };
        let mut from = start + colon + 2 + gap + 1;
        let mut items = Vec::new();
        for part in rest[..end].split('|') {
            let lead = part.len() - part.trim_start().len();
            let text = part.trim();
            if let Some((item, length)) = word(text, from + lead)
                && length == text.len()
            {
                items.push(item);
            }
            from += part.len() + 1;
        }
        match pairs.iter_mut().find(|(k, _)| *k == key) {
            Some((_, all)) => all.extend(items),
            None => pairs.push((key, items)),
        }
    }
}

/// Gathers lines that begin with a bullet; a list ends at a line of another kind. `None` is a list with an item that is no word.
fn bullet<'t>(
    line: &'t str,
    start: usize,
    open: &mut Vec<Option<Vec<Item<'t>>>>,
    lists: &mut Vec<List<'t>>,
) {
    let text = line.trim_start();
    let indent = line.len() - text.len();
    let digits = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let mark = if digits.len() < text.len() && digits.starts_with(['.', ')']) {
        text.len() - digits.len() + 1
    } else {
        ["-", "* ", "•"].iter().find(|m| text.starts_with(**m)).map_or(0, |m| m.len())
    };
    if mark == 0 {
        if !text.is_empty() && indent == 0 {
            lists.extend(open.drain(..).flatten().map(List::plain));
        }
        return;
    }
    if open.is_empty() {
        open.push(Some(Vec::new()));
    }
    let rest = text[mark..].trim_start();
    let at = start + line.len() - rest.len();
    let item = word(rest, at).filter(|(item, length)| {
        let after = rest[*length..].trim_start();
        let ends = after.is_empty() || after.starts_with([':', '-', '–', '—', '(', '=']);
        ends && (item.quoted || !after.starts_with(':') || !after[1..].trim().is_empty())
    });
    for list in open.iter_mut() {
        match (&mut *list, &item) {
            (Some(items), Some((item, _))) => items.push(item.clone()),
            (Some(_), None) | (None, _) => *list = None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, words: &[&str]) {
        let known = ["continue", "pivot", "ship it"].map(str::to_owned).into();
        let known = Known { words: known, are: Are::All, alone: true };
        let found = offered(text, &known, true);
        assert_eq!(found.iter().map(|(w, _)| w.as_str()).collect::<Vec<_>>(), words, "{text}");
        for (word, at) in found {
            assert_eq!(text[at], word);
        }
    }

    #[test]
    fn lists_with_an_unknown_answer() {
        check("Answer with one of: continue, pivot, stop", &["stop"]);
        check("Answer one of: continue, stop.", &["stop"]);
        check("Say 'continue' or 'stop', not 'maybe'.", &["stop"]);
        check("Answer:\n- \"continue\"\n- \"stop\": give up\nThen wait.", &["stop"]);
        check("1. **continue** - go on\n2. **stop** - give up", &["stop"]);
        check("{\"decision\": \"continue|pivot|stop\"}", &["stop"]);
        check(
            "{\"decision\": \"continue\"} or {\"decision\": \"stop\", \"why\": \"x\"}",
            &["stop"],
        );
        check("Choose either pivot or halt", &["halt"]);
    }

    #[test]
    fn lists_behind_a_verb_or_in_final_brackets() {
        check("Is it done? Answer yes, partially or no.", &["yes", "partially", "no"]);
        check("Answer with exactly one word: yes or no.", &["yes", "no"]);
        check("Respond with a yes or a no", &["yes", "no"]);
        check("Say \"go\" or \"halt\".", &["go", "halt"]);
        check("Choose between red and blue.", &[]);
        check("Are you done? (yes/no)", &["yes", "no"]);
        check("Are you done (yes/no) with it?", &[]);
        check("Respond with JSON or text.", &[]);
        check("Answer yes or no, then explain why.", &[]);
        check("Answer with an apple or a continue.", &["apple"]);
    }

    #[test]
    fn lists_of_known_answers() {
        check("Answer with one of: continue, pivot, ship_it", &[]);
        check("- 'continue'\n- 'ship-it'\n", &[]);
    }

    #[test]
    fn prose_is_no_list() {
        check("Look at balance, tools and friends, then continue, or pivot and rest.", &[]);
        check("Whenever \"market\" closes, continue.", &[]);
        check("Facts:\n- balance: 3\n- a longer line\n- continue: yes\n", &[]);
        check("Think: alone, together or never. Then answer continue or pivot.", &[]);
        check("one of: red, green, continue", &[]);
        check("don't continue, it's over", &[]);
    }
}
