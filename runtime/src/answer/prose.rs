//! Which names a text mentions, and whether it takes anything back.

use super::turns::{is_common, is_polite, is_turn};

/// Characters beside those of ASCII that prose may have. In letters of other scripts a word may look like another.
const MARKS: &str = "’‘“”–—…•";

/// Marks that strike a name out, quote it, compare it or are code.
const SIGNS: &str = "?~<>=|^\\{}%";

/// A word in lower case.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    /// One mark, such as `_` or `-`, and no blank stands between it and the word before.
    joined: bool,
}

/// The words of `text`; all but letters, digits and apostrophes separates.
pub(super) fn words(text: &str) -> Vec<Word> {
    let mut found: Vec<Word> = Vec::new();
    let mut between = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let inside = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '’');
        let end = rest.find(|c| !inside(c)).unwrap_or(rest.len());
        let word = rest[..end].trim_matches(['\'', '’']);
        if !word.is_empty() {
            let joined = matches!(between.as_str(), "_" | "-" | "." | "/" | "+" | "@");
            found.push(Word { text: word.to_lowercase(), joined: joined && !found.is_empty() });
            between.clear();
        }
        rest = &rest[end..];
        let gap = rest.find(inside).unwrap_or(rest.len());
        between.push_str(&rest[..gap]);
        rest = &rest[gap..];
    }
    found
}

/// What prose says of some names.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mentions {
    /// Indices of the names mentioned, ascending, each once.
    pub(super) names: Vec<usize>,
    /// A word or mark that negates, opposes, doubts, or makes another word of a name.
    pub(super) turn: Option<String>,
}

/// Finds `names`, each with what its option is described as, in `text` as whole words. The longest goes first; written with blanks it
/// counts for the shorter ones in it, too. A description beside another's name counts as its own name, and right behind
/// its own is not looked into.
pub(super) fn mentions(text: &str, names: &[(&str, &str)]) -> Mentions {
    let described: Vec<Vec<Word>> = names.iter().map(|(_, text)| words(text)).collect();
    let names: Vec<Vec<Word>> = names.iter().map(|(name, _)| words(name)).collect();
    let said = words(text);
    let stands = |at: usize, what: &[Word]| {
        !what.is_empty()
            && said[at..].len() >= what.len()
            && said[at..].iter().zip(what).all(|(a, b)| a.text == b.text)
    };
    let (mut found, mut alike) = (Vec::new(), Vec::new());
    let mut turn = sign(text);
    let (mut at, mut told) = (0, 0);
    while at < said.len() {
        let hits = || names.iter().enumerate().filter(|(_, name)| stands(at, name));
        if let Some((index, name)) = hits().max_by_key(|(i, n)| (n.len(), std::cmp::Reverse(*i))) {
            let end = at + name.len();
            let is_part = said[at].joined || said.get(end).is_some_and(|next| next.joined);
            if is_part || name.iter().all(|word| is_common(&word.text)) {
                turn = turn.or_else(|| Some(said[at].text.clone()));
            }
            found.push(index);
            let is_loose = said[at + 1..end].iter().any(|word| !word.joined);
            told = told.max(end);
            if is_loose {
                found.extend(hits().map(|(index, _)| index));
            }
            at = if is_loose { at + 1 } else { end };
            if told == end && stands(end.min(said.len()), &described[index]) {
                (at, told) = (end + described[index].len(), 0);
            }
            continue;
        }
        let like = described.iter().position(|text| text.len() > 1 && stands(at, text));
        alike.extend(like);
        let next = said.get(at + 1).map_or("", |word| word.text.as_str());
        let turns = is_turn(&said[at].text) && !is_polite(&said[at].text, next);
        if at >= told && turn.is_none() && turns {
            turn = Some(said[at].text.clone());
        }
        at += 1;
    }
    if !found.is_empty() {
        found.append(&mut alike);
    }
    found.sort_unstable();
    found.dedup();
    Mentions { names: found, turn }
}

/// The first mark that no plain sentence has.
fn sign(text: &str) -> Option<String> {
    if text.contains("```") {
        return Some("```".to_owned());
    }
    let is_denied = |(i, _): (usize, &str)| text[i + 1..].starts_with(char::is_alphanumeric);
    if text.match_indices('!').any(is_denied) {
        return Some("!".to_owned());
    }
    let odd = |c: &char| {
        SIGNS.contains(*c)
            || c.is_control() && !c.is_ascii_whitespace()
            || !(c.is_ascii() || MARKS.contains(*c))
    };
    let odd = text.chars().find(odd);
    odd.map(|c| {
        if c.is_control() || !is_visible(c) { c.escape_unicode().to_string() } else { c.into() }
    })
}

fn is_visible(c: char) -> bool {
    c.is_alphanumeric()
        || !matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{ad}')
}

/// What takes back an answer that stands between these texts: in the sentence that leads to it, or anywhere behind it.
pub(super) fn taken_back(before: &str, after: &str) -> Option<String> {
    let start = before.rfind(['.', '!', '?', ';']).map_or(0, |i| i + 1);
    let mut said = words(&before[start..]);
    said.extend(words(after));
    let turn = said.into_iter().find(|word| is_turn(&word.text)).map(|word| word.text);
    turn.or_else(|| after.contains('?').then(|| "?".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, names: &[usize], turn: Option<&str>) {
        let options = ["ship", "pivot", "ship_it_all", "do-not-post", "no"].map(|name| (name, ""));
        let got = mentions(text, &options);
        assert_eq!(
            got,
            Mentions { names: names.to_vec(), turn: turn.map(str::to_owned) },
            "{text}"
        );
    }

    #[test]
    fn whole_words_and_the_longest_name() {
        check("I choose to **ship**.", &[0], None);
        check("I choose ship_it_all", &[2], None);
        check("Ship it all, please", &[0, 2], None);
        check("shipping is worship", &[], None);
        check("ship and pivot and SHIP", &[0, 1], None);
        check("ship_it", &[0], Some("ship"));
        check("pre-ship", &[0], Some("ship"));
    }

    #[test]
    fn words_that_take_it_back() {
        check("I am not going to ship", &[0], Some("not"));
        check("I wouldn't ship", &[0], Some("wouldn't"));
        check("ship?", &[0], Some("?"));
        check("do not post", &[3], None);
        check("there is no doubt", &[4], Some("no"));
        check("I will nоt ship", &[0], Some("о"));
        check("n\u{200b}ot ship", &[0], Some("\\u{200b}"));
        check("~~ship~~", &[0], Some("~"));
    }

    #[test]
    fn a_description_counts_as_its_name() {
        let options = [("ship", "good, not great"), ("pivot", "try something else")];
        let check = |text: &str, names: &[usize], turn: Option<&str>| {
            let turn = turn.map(str::to_owned);
            assert_eq!(
                mentions(text, &options),
                Mentions { names: names.to_vec(), turn },
                "{text}"
            );
        };
        check("ship: good, not great", &[0], None);
        check("ship, to try something else", &[0, 1], Some("else"));
        check("ship, not great", &[0], Some("not"));
    }
}
