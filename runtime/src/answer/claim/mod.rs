//! Finds the candidate that prose chooses. Candidates are options, the names of an enum, yes and no, or the numbers in a text.
//!
//! A sentence chooses a candidate if all its other words are frame words of choosing sentences. It may also deny other candidates
//! (`not spam`, `rather than pivot`) and give a reason. Any other sentence with a candidate makes the text unclear, and so does a word
//! that may take the choice back. With the candidates `spam` and `ham`:
//!
//! ```text
//! This is spam, because it sells pills.     chooses `spam`; what follows `because` is the reason
//! It is not ham. The category is spam.      denies `ham`, chooses `spam`
//! Spam is a canned meat.                    unclear: `canned` is no frame word
//! I'd say spam. Wait, the sender is known.  taken back by `wait`
//! ```

mod hits;
mod sentence;

use super::Unusable;
use super::tokens::{Sentence, Token, sentences, tokens, words};
use super::words as list;
use hits::{same, starts_with};
use sentence::{Says, is_plain, is_reason};

/// An alternative that a text may choose.
#[derive(Debug, Default)]
pub(super) struct Candidate {
    /// The name, for messages.
    pub(super) name: String,
    /// The spellings of the name, as words. Each of them counts as a mention.
    spellings: Vec<Vec<Token>>,
    /// The words of the description.
    about: Vec<Token>,
    /// Whether the name is so common in prose that a mention does not choose it.
    is_common: bool,
    /// Whether this candidate is a `no`: a negation in its reason agrees with it.
    pub(super) denies: bool,
    /// Whether only the end of the sentence, a mark or a reason may follow the candidate.
    pub(super) stands_alone: bool,
    /// Whether this candidate is a number: the reason for it may contain other numbers.
    pub(super) counts: bool,
}

impl Candidate {
    /// Creates a candidate with a name and a description.
    pub(super) fn new(name: &str, about: &str) -> Self {
        let spelled = words(name);
        let is_common = spelled.iter().all(|word| list::is_common(&word.text));
        Self {
            name: name.to_owned(),
            about: words(about),
            is_common,
            spellings: vec![spelled],
            ..Self::default()
        }
    }

    /// Creates a candidate with several spellings.
    pub(super) fn spelled(name: &str, spellings: &[&str]) -> Self {
        let spellings = spellings.iter().map(|text| words(text)).collect();
        Self { name: name.to_owned(), spellings, ..Self::default() }
    }
}

/// Finds the candidate that `text` chooses. `extra` are additional frame words.
///
/// # Errors
/// No candidate is chosen, or several may be.
pub(super) fn claim(
    text: &str,
    candidates: &[Candidate],
    extra: &[String],
) -> Result<usize, Unusable> {
    let reader = Reader { candidates, extra };
    // Code in a fence, or the language after its mark, may contain any word.
    if text.contains("```") && !candidates.is_empty() {
        return Err(reader.fenced(text));
    }
    let all = sentences(text);
    let said: Vec<Says> = all.iter().map(|sentence| reader.says(sentence)).collect();
    reader.decide(&all, &said)
}

/// The candidate whose description is exactly `text`, if there is only one.
pub(super) fn described(text: &str, candidates: &[Candidate]) -> Option<usize> {
    let said = tokens(text);
    if !is_plain(&said) {
        return None;
    }
    let said: Vec<Token> = said.into_iter().filter(|token| token.is_word).collect();
    // A description of a single word is too common to choose by.
    let is = |(_, one): &(usize, &Candidate)| one.about.len() > 1 && same(&one.about, &said);
    let mut hits = candidates.iter().enumerate().filter(is);
    let (index, _) = hits.next()?;
    hits.next().is_none().then_some(index)
}

/// Reads sentences with respect to the candidates of one question.
struct Reader<'c> {
    candidates: &'c [Candidate],
    extra: &'c [String],
}

impl Reader<'_> {
    fn name(&self, index: usize) -> &str {
        &self.candidates[index].name
    }

    fn both(&self, one: usize, other: usize) -> Unusable {
        Unusable::ambiguous(format!(
            "both `{}` and `{}` are named",
            self.name(one),
            self.name(other)
        ))
    }

    fn beside(&self, index: usize, word: &str) -> Unusable {
        let name = self.name(index);
        Unusable::ambiguous(format!("`{name}` is named beside `{word}`, which may take it back"))
    }

    fn none() -> Unusable {
        Unusable::none("no option is named")
    }

    /// The error for a text with a code fence: a name in the code, or after the fence as its language, chooses nothing.
    fn fenced(&self, text: &str) -> Unusable {
        let said = words(text);
        let is_there = |one: &Candidate| {
            one.spellings.iter().any(|s| (0..said.len()).any(|at| starts_with(&said[at..], s)))
        };
        match self.candidates.iter().position(is_there) {
            Some(index) => self.beside(index, "```"),
            None => Self::none(),
        }
    }

    /// Combines what the sentences say into a choice.
    fn decide(&self, all: &[Sentence], said: &[Says]) -> Result<usize, Unusable> {
        let mut chosen: Option<usize> = None;
        let (mut first, mut last, mut decisive) = (0, 0, false);
        let mut denies: Vec<usize> = Vec::new();
        // First pass: all sentences that choose must choose the same candidate.
        for (nth, says) in said.iter().enumerate() {
            match says {
                Says::Chooses { index, labelled, denied } => {
                    if let Some(other) = chosen.filter(|other| other != index) {
                        return Err(self.both(other, *index));
                    }
                    if chosen.is_none() {
                        first = nth;
                    }
                    (chosen, last, decisive) = (Some(*index), nth, *labelled);
                    denies.extend(denied);
                }
                Says::Denies(denied) => denies.extend(denied),
                Says::Nothing | Says::Unclear { .. } => {}
            }
        }
        let unclear = said.iter().enumerate().filter_map(|(nth, says)| match says {
            Says::Unclear { about, beside } => Some((nth, about, beside)),
            Says::Nothing | Says::Chooses { .. } | Says::Denies(_) => None,
        });
        let Some(index) = chosen else {
            let mut names: Vec<usize> = Vec::new();
            let mut word = None;
            for (_, about, beside) in unclear {
                names.extend(about);
                word = word.or(Some(beside));
            }
            names.extend(&denies);
            names.sort_unstable();
            names.dedup();
            return Err(match (names.as_slice(), word) {
                ([], _) => Self::none(),
                ([one], Some(word)) => self.beside(*one, word),
                ([one], None) => self.beside(*one, denying(all)),
                ([one, other, ..], _) => self.both(*one, *other),
            });
        };
        // `It is spam. It is not spam.` has no meaning.
        if denies.contains(&index) {
            return Err(self.beside(index, denying(all)));
        }
        // From a sentence `Reason: …` on, everything explains the choice.
        let explained = (last..all.len()).find(|nth| *nth > last && is_reason(&all[*nth]));
        // Second pass: an unclear sentence must agree with the choice, be overruled by a later labelled choice, or be part of the reason.
        for (nth, about, beside) in unclear {
            let is_agreed =
                about.iter().all(|other| *other == index) && self.turn(&all[nth], index).is_none();
            let is_overruled = decisive
                && nth < last
                && !(about.contains(&index)
                    && self.turn(&all[nth], index).is_some()
                    && !all[nth].is_question);
            let is_in_reason =
                explained.is_some_and(|from| nth >= from) && about.iter().all(|o| *o == index);
            if !is_agreed && !is_overruled && !is_in_reason {
                return Err(match about.iter().find(|other| **other != index) {
                    Some(other) => self.both(index, *other),
                    None => self.beside(index, beside),
                });
            }
        }
        // Third pass: sentences without any candidate may still take the choice back.
        for (nth, sentence) in all.iter().enumerate() {
            if !matches!(said[nth], Says::Nothing) || is_closing(sentence) {
                continue;
            }
            // Before the choice, only words that reject it in advance count; after it, any contrast or negation.
            let word = if nth < first || nth < last && !decisive {
                astray(sentence)
            } else if nth < last {
                None
            } else if explained.is_some_and(|from| nth >= from) {
                sentence.word(list::retracts)
            } else if sentence.is_question {
                Some("?")
            } else {
                self.turn(sentence, index)
            };
            if let Some(word) = word {
                return Err(self.beside(index, word));
            }
        }
        Ok(index)
    }

    /// The word of a sentence that may turn the choice into its opposite.
    fn turn<'s>(&self, sentence: &'s Sentence, index: usize) -> Option<&'s str> {
        if let Some(odd) = sentence.tokens.iter().find(|token| token.is_odd()) {
            return Some(&odd.text);
        }
        let denies = self.candidates[index].denies;
        sentence.word(|word| list::doubts(word) || list::negates_around(word) && !denies)
    }
}

/// The word by which a text denies a candidate.
fn denying(all: &[Sentence]) -> &str {
    all.iter().find_map(|sentence| sentence.word(list::negates)).unwrap_or("not")
}

/// Whether a sentence only offers further help: `Let me know if …`.
fn is_closing(sentence: &Sentence) -> bool {
    let words: Vec<&str> = sentence.tokens.iter().take(3).map(|t| t.text.as_str()).collect();
    matches!(
        words.as_slice(),
        ["let", "me", "know"] | ["feel", "free", _] | ["i", "hope", _] | ["hope", "this", _]
    )
}

/// The word that takes back an answer between these texts: in the sentence that introduces it, or anywhere after it.
pub(super) fn taken_back(before: &str, after: &str) -> Option<String> {
    let leading = sentences(before);
    // Only a sentence that runs into the answer can change its meaning, as in `not {…}`.
    let leading = leading.last().filter(|s| {
        !before.trim_end().ends_with(['.', '!', '?', ';']) || s.word(|word| word == "g").is_some()
    });
    let turns = |word: &str| {
        list::negates(word)
            || matches!(word, "or" | "rather" | "instead" | "sorry" | "unable" | "refuse" | "avoid")
    };
    let led = leading.and_then(|s| s.word(is_framing).or_else(|| s.word(turns)));
    let retracts = |word: &str| turns(word) || list::retracts(word) || word == "but";
    let followed = sentences(after).into_iter().filter(|s| !is_closing(s)).find_map(|s| {
        let asks = s.is_question.then(|| "?".to_owned());
        s.word(retracts).map(str::to_owned).or(asks)
    });
    led.map(str::to_owned).or(followed)
}

/// The first candidate other than `but` that `text` mentions in any way.
pub(super) fn mentioned(text: &str, candidates: &[Candidate], but: usize) -> Option<usize> {
    let reader = Reader { candidates, extra: &[] };
    let all = sentences(text);
    let hits = all.iter().flat_map(|sentence| reader.hits(&sentence.tokens).0);
    hits.map(|hit| hit.index).find(|index| *index != but)
}

/// The word by which the author of `text` declines a candidate: `I do not approve`, `Do not ship`. What others did not do is only a
/// reason.
pub(super) fn refused(text: &str, candidates: &[Candidate], index: usize) -> Option<String> {
    let reader = Reader { candidates, extra: &[] };
    sentences(text).iter().find_map(|sentence| {
        let tokens = &sentence.tokens;
        let (hits, _) = reader.hits(tokens);
        let from = hits.iter().filter(|hit| hit.index == index).find_map(|hit| hit.denied)?;
        let is_verb = |token: &Token| {
            matches!(
                token.text.as_str(),
                "do" | "does" | "would" | "will" | "can" | "could" | "should" | "must"
            )
        };
        let start = tokens[..from].iter().rposition(|token| !is_verb(token)).map(|at| &tokens[at]);
        let by_speaker = start.is_none_or(|token| {
            !token.is_word || matches!(token.text.as_str(), "i" | "we" | "you" | "so" | "please")
        });
        by_speaker.then(|| tokens[from].text.clone())
    })
}

/// The word of a sentence before the choice that shows that it is not the author's own choice.
fn astray(sentence: &Sentence) -> Option<&str> {
    if let Some(odd) = sentence.tokens.iter().find(|token| token.is_odd()) {
        return Some(&odd.text);
    }
    let by_speaker =
        |word: &str| matches!(word, "i" | "we" | "me" | "you" | "i'm" | "i've" | "don't" | "never");
    sentence.word(is_framing).or_else(|| {
        sentence.word(by_speaker)?;
        sentence.word(|word| list::doubts(word) || list::negates_around(word))
    })
}

/// Whether the word marks what follows as an example, a condition or otherwise not meant. `g` is the end of `e.g.`.
fn is_framing(word: &str) -> bool {
    matches!(
        word,
        "example"
            | "suppose"
            | "imagine"
            | "pretend"
            | "hypothetically"
            | "opposite"
            | "joke"
            | "wrong"
            | "avoid"
            | "incorrect"
            | "don't"
            | "never"
            | "if"
            | "format"
            | "schema"
            | "ignore"
            | "disregard"
            | "eg"
            | "g"
    )
}
