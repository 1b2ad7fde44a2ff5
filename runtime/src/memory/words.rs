//! Splits texts into the words by which memories are indexed and searched.

use std::collections::BTreeSet;

/// The maximum number of different words of a query. The others are ignored, which bounds the time of a search.
pub const MOST_WORDS: usize = 256;

/// The maximum length of a word, in characters. The rest of a longer one, which is no word of a language, is ignored.
const LONGEST: usize = 64;

/// The words of a text in order, in lower case: runs of letters and digits. In scripts without spaces, each character is a word.
///
/// Words contain no other characters, so they have no special meaning in the query language of a database.
pub fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric()).flat_map(Run::new).filter(|word| !word.is_empty())
}

/// The different words of a query in order, at most [`MOST_WORDS`].
pub fn query_words(query: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    words(query).filter(|word| seen.insert(word.clone())).take(MOST_WORDS).collect()
}

/// An iterator that splits a run of letters and digits into words.
struct Run<'t> {
    rest: &'t str,
}

impl<'t> Run<'t> {
    const fn new(rest: &'t str) -> Self {
        Self { rest }
    }
}

impl Iterator for Run<'_> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let first = self.rest.chars().next()?;
        let end = if is_word_by_itself(first) {
            first.len_utf8()
        } else {
            self.rest.find(is_word_by_itself).unwrap_or(self.rest.len())
        };
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        // The lower case of some capitals has combining marks (`İ` becomes `i̇`), which are neither letters nor digits.
        let small = word.chars().take(LONGEST).flat_map(char::to_lowercase);
        Some(small.filter(|c| c.is_alphanumeric()).collect())
    }
}

/// Whether a character belongs to a script without spaces between words: Han, Hiragana, Katakana, Thai, Lao, Khmer, Burmese.
const fn is_word_by_itself(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}'
        | '\u{1000}'..='\u{109f}'
        | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}
