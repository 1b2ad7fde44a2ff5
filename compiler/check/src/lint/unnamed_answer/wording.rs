//! Recognizes lists of answers in a text: lists in which some items are known answers.

use crate::lint::unnamed_answer::commands::{FORMS, Lead, leads, negated};
use std::collections::BTreeSet;
use std::ops::Range;

/// Normalizes spelling: lower case, and a space for the `_` and `-` that join the parts of a name.
pub(super) fn plain(text: &str) -> String {
    text.chars()
        .flat_map(char::to_lowercase)
        .map(|c| if matches!(c, '_' | '-') { ' ' } else { c })
        .collect()
}

/// Whether the text contains the name as a whole word; both normalized by [`plain`].
pub(super) fn names(text: &str, name: &str) -> bool {
    let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    text.match_indices(name).any(|(at, _)| {
        !word(text[..at].chars().next_back()) && !word(text[at + name.len()..].chars().next())
    })
}

/// One word of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ListedWord<'t> {
    word: &'t str,
    at: Range<usize>,
    quoted: bool,
}

/// The known answers of the question to which a text belongs.
#[derive(Debug, Clone)]
pub(super) struct KnownAnswers {
    /// The answers, normalized by [`plain`].
    pub words: BTreeSet<String>,
    /// Their share in all answers.
    pub are: Are,
    /// Whether the answers are named only in the text of the prompt.
    pub alone: bool,
}

/// The share of the known answers in all answers that the step handles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Are {
    /// The known answers are all answers.
    All,
    /// Some: others may be handled, too.
    Some,
    /// All values of a part of the answer, such as a field.
    Parts,
}

impl KnownAnswers {
    fn has(&self, item: &ListedWord<'_>) -> bool {
        self.words.contains(&plain(item.word))
    }

    /// The words of a list of answers that are not known; none if the list is not one of answers.
    fn missing<'l, 't>(&self, list: &'l List<'t>) -> impl Iterator<Item = &'l ListedWord<'t>> {
        let hits = list.items.iter().filter(|i| self.has(i)).count();
        let others: BTreeSet<String> =
            list.items.iter().filter(|i| !self.has(i)).map(|i| plain(i.word)).collect();
        let about =
            || hits > 0 || others.iter().any(|word| self.words.iter().any(|w| is_slip(word, w)));
        let commanded = match list.lead {
            Lead::Reply => true,
            Lead::Choice if list.items.iter().all(|i| i.quoted) => self.alone,
            Lead::Choice => self.alone && about(),
            Lead::Aside | Lead::None => false,
        };
        // A form of answering is no answer: `briefly`, `kindly or firmly`.
        let is_form = || {
            list.items.iter().any(|i| FORMS.contains(&&*plain(i.word)))
                || list.items.iter().all(|i| i.word.ends_with("ly"))
        };
        let counts = match self.are {
            Are::All if list.lead == Lead::Aside => hits > 1 && hits > others.len(),
            Are::All => hits > 0 && hits >= others.len() || commanded && !is_form(),
            Are::Some => false,
            Are::Parts => hits > 1 && hits > others.len(),
        };
        list.items.iter().filter(move |i| counts && !self.has(i))
    }
}

/// A word with its byte range in a text.
pub(super) type Placed = (String, Range<usize>);

/// The words that the text offers besides known answers, by list; `last` tells that nothing follows the text.
///
/// A list is: quoted words joined by commas or `or`; unquoted words after a colon, `one of`, `either` or a verb that asks for an
/// answer, up to the end of the sentence; words in final brackets; bulleted lines; or values of one key in JSON examples. It
/// counts if at least half of its items are known; always after a verb that tells to answer; and after another verb or in
/// brackets if at least one item is known or nearly so. Lists that a sentence forbids do not count.
pub(super) fn offered(text: &str, known: &KnownAnswers, last: bool) -> Vec<Vec<Placed>> {
    let mut lists = Vec::new();
    let mut bullets = Vec::new();
    let mut pairs: Vec<(&str, Vec<ListedWord<'_>>)> = Vec::new();
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
    let words = |list| -> Vec<Placed> {
        known.missing(list).map(|i| (i.word.to_owned(), i.at.clone())).collect()
    };
    let mut found: Vec<Vec<Placed>> = lists.iter().map(words).collect();
    found.sort_by_key(|list| list.first().map(|(_, at)| at.start));
    let mut told = BTreeSet::new();
    for list in &mut found {
        list.retain(|(word, _)| told.insert(plain(word)));
    }
    found.retain(|list| !list.is_empty());
    found
}

/// Whether two words of at least three letters differ by one edit: an insertion, deletion, substitution or transposition.
fn is_slip(one: &str, other: &str) -> bool {
    one.chars().count().min(other.chars().count()) > 2 && strsim::osa_distance(one, other) == 1
}

/// The items of a list, and how the text introduces them.
struct List<'t> {
    items: Vec<ListedWord<'t>>,
    lead: Lead,
}

impl<'t> List<'t> {
    fn plain(items: Vec<ListedWord<'t>>) -> Self {
        Self { items, lead: Lead::None }
    }
}

const QUOTES: &[(&str, &str)] =
    &[("**", "**"), ("\"", "\""), ("'", "'"), ("`", "`"), ("“", "”"), ("‘", "’")];

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-')
}

/// The word with which the text begins, quoted or not, and its length with the quotation marks. `at` is the offset of the text.
fn word(text: &str, at: usize) -> Option<(ListedWord<'_>, usize)> {
    for (open, close) in QUOTES {
        if let Some(rest) = text.strip_prefix(open) {
            let end = rest.find(|c| !is_name(c))?;
            let inner = &rest[..end];
            let closed = rest[end..].starts_with(close);
            let from = at + open.len();
            let item = ListedWord { word: inner, at: from..from + end, quoted: true };
            return (closed && end > 0).then_some((item, open.len() + end + close.len()));
        }
    }
    let end = text.find(|c| !is_name(c)).unwrap_or(text.len());
    let begins = text.starts_with(char::is_alphabetic);
    let item = ListedWord { word: &text[..end], at: at..at + end, quoted: false };
    (end > 0 && begins).then_some((item, end))
}

/// The length of the separator between two items of a list with which the text begins; `None` without one.
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

/// Whether a question mark precedes the final bracket of the text.
fn asks(before: &str) -> bool {
    before.trim_end_matches(['(', '[', ' ']).ends_with('?')
}

/// Collects the lists within one line; `end` is the end of the text without trailing blanks.
fn rows<'t>(line: &'t str, start: usize, end: usize, lists: &mut Vec<List<'t>>) {
    let mut at = 0;
    while at < line.len() {
        // A word begins only where the previous character belongs to none.
        let inside = line[..at].chars().next_back().is_some_and(is_name);
        let first = if inside { None } else { word(&line[at..], start + at) };
        let Some((item, length)) = first else {
            at += line[at..].chars().next().map_or(1, char::len_utf8);
            continue;
        };
        let (begin, quoted) = (at, item.quoted);
        let mut items = vec![item];
        at += length;
        let (mut only_or, mut says_or) = (true, false);
        while let Some(gap) = joint(&line[at..]) {
            let Some((next, length)) = word(&line[at + gap..], start + at + gap) else { break };
            // A list does not mix quoted and unquoted words.
            if next.quoted != quoted {
                break;
            }
            let between = line[at..at + gap].to_lowercase();
            only_or &= !between.contains("and");
            says_or |= between.contains(['/', '|']) || between.contains("or ");
            items.push(next);
            at += gap + length;
        }
        if items.len() < 2 || negated(&line[..begin]) {
            continue;
        }
        let rest = line[at..].trim_start();
        let ends = rest.chars().next().is_none_or(|c| ".;)]}\"'`!?".contains(c));
        let bracketed = line[..begin].ends_with(['(', '[']) && rest.starts_with([')', ']']);
        let closes = bracketed
            && start + line.len() - rest[1..].trim_start_matches(['.', '?', ':', '!']).len() >= end;
        let lead = match closes {
            // `Is it so? (yes/no)` asks for one of the words.
            true if says_or && asks(&line[..begin]) => Some(Lead::Reply),
            true => Some(Lead::Choice),
            false if bracketed => Some(Lead::Aside),
            false => leads(&line[..begin], says_or),
        };
        // The items of a sentence with `and` are not alternatives.
        let lead =
            lead.map(|lead| if only_or && ends || lead == Lead::Aside { lead } else { Lead::None });
        if quoted || (ends && lead.is_some()) {
            lists.push(List { items, lead: lead.unwrap_or(Lead::None) });
        }
    }
}

/// Collects the values of `"key": "value"` in an example; a value may list the answers, as in `"a|b"`.
fn values<'t>(line: &'t str, start: usize, pairs: &mut Vec<(&'t str, Vec<ListedWord<'t>>)>) {
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

/// Collects bulleted lines; a line of another kind ends the list. `None` is a list with an item that is not a word.
fn bullet<'t>(
    line: &'t str,
    start: usize,
    open: &mut Vec<Option<Vec<ListedWord<'t>>>>,
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
mod tests;
