//! Finds the candidates in a sentence, and whether the sentence denies them.

use super::Reader;
use crate::answer::tokens::Token;
use crate::answer::words as list;

/// An occurrence of a candidate in a sentence: the tokens `from..to`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hit {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) index: usize,
    /// Whether the description occurs instead of the name.
    pub(super) is_about: bool,
    /// The position of the first word that denies the candidate, as in `not`; `None` if it is not denied.
    pub(super) denied: Option<usize>,
}

pub(super) fn same(one: &[Token], other: &[Token]) -> bool {
    one.iter().map(|t| &t.text).eq(other.iter().map(|t| &t.text))
}

pub(super) fn starts_with(tokens: &[Token], spelled: &[Token]) -> bool {
    !spelled.is_empty()
        && tokens.len() >= spelled.len()
        && tokens.iter().zip(spelled).all(|(a, b)| a.is_word && a.text == b.text)
}

/// The number of tokens that a description takes at the start of `tokens`, ignoring marks between its words; `None` if it is not there.
fn about_length(tokens: &[Token], about: &[Token]) -> Option<usize> {
    let mut at = 0;
    for word in about {
        while tokens.get(at).is_some_and(|token| !token.is_word && at > 0) {
            at += 1;
        }
        if tokens.get(at).is_none_or(|token| token.text != word.text) {
            return None;
        }
        at += 1;
    }
    (at > 0).then_some(at)
}

impl Reader<'_> {
    /// The occurrences of candidates in a sentence, in order. Within a name of several separate words, shorter candidates count, too. The
    /// second list marks the tokens of descriptions that directly follow their own names.
    pub(super) fn hits(&self, tokens: &[Token]) -> (Vec<Hit>, Vec<bool>) {
        let mut hits: Vec<Hit> = Vec::new();
        let mut told = vec![false; tokens.len()];
        let mut at = 0;
        while at < tokens.len() {
            let Some((index, length)) = self.spelled(&tokens[at..], None) else {
                at += self.about_at(tokens, at, &mut hits);
                continue;
            };
            let to = at + length;
            let hit = Hit { from: at, to, index, is_about: false, denied: None };
            hits.push(hit);
            // `not spam` contains the candidate `spam`, if both exist; in `not-spam`, the joined words are one name.
            if tokens[at + 1..to].iter().any(|token| !token.joined) {
                let inner =
                    (at..to).filter_map(|p| Some((p, self.spelled(&tokens[p..], Some(index))?)));
                hits.extend(inner.map(|(from, (index, n))| Hit {
                    from,
                    to: from + n,
                    index,
                    ..hit
                }));
            }
            let behind = (to..tokens.len()).find(|i| tokens[*i].is_word).unwrap_or(to);
            at = to;
            if let Some(length) = about_length(&tokens[behind..], &self.candidates[index].about) {
                at = behind + length;
                told[behind..at].fill(true);
            }
        }
        // `rather` applies to every `than …` after it: `rather ship than pivot`.
        let rather = tokens.iter().position(|token| token.text == "rather");
        for nth in 0..hits.len() {
            let before = nth.checked_sub(1).map(|i| hits[i]);
            hits[nth].denied = denial(tokens, hits[nth], before, rather);
        }
        (hits, told)
    }

    /// Adds the candidate whose description begins at `at`, if any. Returns the number of tokens to skip.
    fn about_at(&self, tokens: &[Token], at: usize, hits: &mut Vec<Hit>) -> usize {
        let lengths = self.candidates.iter().map(|one| about_length(&tokens[at..], &one.about));
        let found = lengths.enumerate().find_map(|(index, length)| Some((index, length?)));
        if let Some((index, length)) = found.filter(|(_, length)| *length > 1) {
            hits.push(Hit { from: at, to: at + length, index, is_about: true, denied: None });
            return length;
        }
        1
    }

    /// The longest candidate whose name begins here, other than `but`, and its length. Of equally long ones, the first.
    fn spelled(&self, tokens: &[Token], but: Option<usize>) -> Option<(usize, usize)> {
        let all = self.candidates.iter().enumerate().filter(|(i, _)| Some(*i) != but);
        let lengths = all.flat_map(|(index, one)| {
            let found = one.spellings.iter().filter(|s| starts_with(tokens, s));
            found.map(move |s| (index, s.len()))
        });
        lengths.max_by_key(|(index, n)| (*n, std::cmp::Reverse(*index)))
    }
}

/// The position of the words that deny a candidate: `not a …`, `rather than …`, `neither … nor …`.
fn denial(tokens: &[Token], hit: Hit, before: Option<Hit>, rather: Option<usize>) -> Option<usize> {
    let mut at = hit.from;
    // A negation reaches over at most eight words.
    for _ in 0..8 {
        at = at.checked_sub(1)?;
        if let Some(before) = before.filter(|before| before.to == at + 1 && before.from < hit.from)
        {
            // `neither one nor the other`, `not one or the other`: a denial extends to the next candidate.
            return before.denied.map(|_| before.to);
        }
        let token = &tokens[at];
        if !token.is_word {
            return None;
        }
        let word = token.text.as_str();
        if list::negates(word) {
            return Some(at);
        }
        match word {
            "than" if rather.is_some_and(|rather| rather < at) => return Some(at),
            "of" if at > 0 && tokens[at - 1].text == "instead" => return Some(at - 1),
            "or" => {}
            _ if list::is_light(word) => {}
            _ => return None,
        }
    }
    None
}
