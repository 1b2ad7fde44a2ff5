//! Which of some candidates (options, the names of an enum, yes and no, the numbers in a text) prose chooses.
//!
//! A sentence chooses a candidate if all its other words are those of plain choosing sentences. It may deny other candidates
//! (`not spam`, `rather than pivot`) and give a reason. Any other sentence with a candidate in it makes the text unclear, and so does
//! what may take a choice back.

mod hits;
mod sentence;

use super::Unusable;
use super::tokens::{Sentence, Token, sentences, tokens, words};
use super::words as list;
use hits::{same, starts_with};
use sentence::{Says, is_plain, is_reason};

/// Something that may be chosen.
#[derive(Debug, Default)]
pub(super) struct Candidate {
    /// For messages.
    pub(super) name: String,
    /// Each of them stands for it.
    spellings: Vec<Vec<Token>>,
    /// Its description.
    about: Vec<Token>,
    /// Its name is a word that stands in any prose.
    is_common: bool,
    /// It is a `no`: a negation in its reason agrees with it.
    pub(super) denies: bool,
    /// Only the end of its sentence, a mark or a reason may follow it.
    pub(super) stands_alone: bool,
    /// It is a number: others may stand in the reason for it.
    pub(super) counts: bool,
}

impl Candidate {
    /// One with a name and a description.
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

    /// One that any of these words stands for.
    pub(super) fn spelled(name: &str, spellings: &[&str]) -> Self {
        let spellings = spellings.iter().map(|text| words(text)).collect();
        Self { name: name.to_owned(), spellings, ..Self::default() }
    }
}

/// The one of `candidates` that `text` chooses. `extra` are further words that a choosing sentence may have.
///
/// # Errors
/// None is chosen, or more than one may be.
pub(super) fn claim(
    text: &str,
    candidates: &[Candidate],
    extra: &[String],
) -> Result<usize, Unusable> {
    let reader = Reader { candidates, extra };
    if text.contains("```") && !candidates.is_empty() {
        return Err(reader.fenced(text));
    }
    let all = sentences(text);
    let said: Vec<Says> = all.iter().map(|sentence| reader.says(sentence)).collect();
    reader.decide(&all, &said)
}

/// The candidate whose description `text` is, if it is one's alone.
pub(super) fn described(text: &str, candidates: &[Candidate]) -> Option<usize> {
    let said = tokens(text);
    if !is_plain(&said) {
        return None;
    }
    let said: Vec<Token> = said.into_iter().filter(|token| token.is_word).collect();
    let is = |(_, one): &(usize, &Candidate)| one.about.len() > 1 && same(&one.about, &said);
    let mut hits = candidates.iter().enumerate().filter(is);
    let (index, _) = hits.next()?;
    hits.next().is_none().then_some(index)
}

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

    /// What stands in or beside a fence is code, or the fence's language.
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

    fn decide(&self, all: &[Sentence], said: &[Says]) -> Result<usize, Unusable> {
        let mut chosen: Option<usize> = None;
        let (mut first, mut last, mut decisive) = (0, 0, false);
        let mut denies: Vec<usize> = Vec::new();
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
        if denies.contains(&index) {
            return Err(self.beside(index, denying(all)));
        }
        let explained = (last..all.len()).find(|nth| *nth > last && is_reason(&all[*nth]));
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
        for (nth, sentence) in all.iter().enumerate() {
            if !matches!(said[nth], Says::Nothing) || is_closing(sentence) {
                continue;
            }
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

    /// A word that may turn what stands beside the sentence into its contrary.
    fn turn<'s>(&self, sentence: &'s Sentence, index: usize) -> Option<&'s str> {
        if let Some(odd) = sentence.tokens.iter().find(|token| token.is_odd()) {
            return Some(&odd.text);
        }
        let denies = self.candidates[index].denies;
        sentence.word(|word| list::doubts(word) || list::negates_around(word) && !denies)
    }
}

/// The word by which a text denies something.
fn denying(all: &[Sentence]) -> &str {
    all.iter().find_map(|sentence| sentence.word(list::negates)).unwrap_or("not")
}

/// Whether a sentence only offers more: `Let me know if …`.
fn is_closing(sentence: &Sentence) -> bool {
    let words: Vec<&str> = sentence.tokens.iter().take(3).map(|t| t.text.as_str()).collect();
    matches!(
        words.as_slice(),
        ["let", "me", "know"] | ["feel", "free", _] | ["i", "hope", _] | ["hope", "this", _]
    )
}

/// What takes back an answer that stands between these texts: in the sentence that leads to it, or anywhere behind it.
pub(super) fn taken_back(before: &str, after: &str) -> Option<String> {
    let leading = sentences(before);
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

/// The first of `candidates` that `text` has in it, in whatever way, other than `but`.
pub(super) fn mentioned(text: &str, candidates: &[Candidate], but: usize) -> Option<usize> {
    let reader = Reader { candidates, extra: &[] };
    let all = sentences(text);
    let hits = all.iter().flat_map(|sentence| reader.hits(&sentence.tokens).0);
    hits.map(|hit| hit.index).find(|index| *index != but)
}

/// The word by which the speaker of `text` declines a candidate: `I do not approve`, `Do not ship`. What others did not do is a reason.
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

/// A word of a sentence before the choice that says that it is not meant.
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

/// Whether the word says that what follows is not said in earnest. `g` is the end of `e.g.`.
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
