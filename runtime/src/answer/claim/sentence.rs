//! Classifies single sentences by what they say about the candidates.

use super::hits::{Hit, same};
use super::{Candidate, Reader};
use crate::answer::tokens::{Sentence, Token};
use crate::answer::words as list;

/// The meaning of a sentence with respect to the candidates.
pub(super) enum Says {
    /// The sentence mentions no candidate.
    Nothing,
    /// The sentence chooses the candidate `index`, and denies others. `labelled`: it names what it chooses, as in `Answer: …`.
    Chooses { index: usize, labelled: bool, denied: Vec<usize> },
    /// The sentence only denies candidates.
    Denies(Vec<usize>),
    /// The sentence mentions candidates, but not in the form of a choice. `beside` is the word that makes it unclear.
    Unclear { about: Vec<usize>, beside: String },
}

impl Reader<'_> {
    /// Classifies a sentence.
    pub(super) fn says(&self, sentence: &Sentence) -> Says {
        let tokens = &sentence.tokens;
        let (mut hits, told) = self.hits(tokens);
        let Some(first) = hits.first() else { return Says::Nothing };
        // The numbers of a reason are not candidates: `7, because 3 of 10 failed`.
        if self.candidates[first.index].counts {
            if is_reason(sentence) {
                return Says::Nothing;
            }
            let all: Vec<Option<&Token>> = tokens.iter().map(Some).collect();
            let (end, is_cause) = reason(tokens, &all, first.to, &self.candidates[first.index]);
            hits.retain(|hit| !is_cause || hit.from < end);
        }
        let denied: Vec<usize> =
            hits.iter().filter(|h| h.denied.is_some()).map(|h| h.index).collect();
        let mut about: Vec<usize> =
            hits.iter().filter(|h| h.denied.is_none()).map(|h| h.index).collect();
        about.dedup();
        let Some(index) = about.first().copied() else { return Says::Denies(denied) };
        let unclear =
            |beside: &str| Says::Unclear { about: about.clone(), beside: beside.to_owned() };
        if about.iter().any(|other| *other != index) {
            return unclear("or");
        }
        if sentence.is_question {
            return unclear("?");
        }
        // A description chooses only if it is the whole sentence.
        if hits.iter().all(|hit| hit.is_about) {
            let all: Vec<Token> = tokens.iter().filter(|t| t.is_word).cloned().collect();
            if !same(&all, &self.candidates[index].about) || !is_plain(tokens) {
                return unclear(&tokens[hits[0].from].text);
            }
            return Says::Chooses { index, labelled: false, denied };
        }
        match self.core(tokens, &hits, &told, index) {
            Ok(labelled) => Says::Chooses { index, labelled, denied },
            Err(word) => unclear(&word),
        }
    }

    /// Whether a sentence with one candidate chooses it. Returns whether it has a label, as in `Answer: …`; the error is the word that
    /// makes it unclear.
    fn core(
        &self,
        tokens: &[Token],
        hits: &[Hit],
        told: &[bool],
        index: usize,
    ) -> Result<bool, String> {
        let one = &self.candidates[index];
        // `None` takes the place of tokens that are accounted for: candidates, their descriptions and denials.
        let mut plain: Vec<Option<&Token>> = tokens.iter().map(Some).collect();
        for (token, told) in plain.iter_mut().zip(told) {
            if *told {
                *token = None;
            }
        }
        for hit in hits {
            let from = hit.denied.unwrap_or(hit.from);
            plain[from..hit.to].fill(None);
            let next = tokens.get(hit.to);
            let is_part = tokens[hit.from].joined
                || next.is_some_and(|next| next.joined && next.text != "related");
            if hit.denied.is_none() && (is_part || one.is_common) {
                return Err(tokens[hit.from].text.clone());
            }
            if tokens[..from].last().is_some_and(|t| t.text == "rather") {
                plain[from - 1] = None;
            }
        }
        if one.denies && tokens.iter().any(|token| token.text == "ahead") {
            // `No, go ahead` may mean yes.
            return Err("ahead".to_owned());
        }
        let is_named = |hit: &&Hit| hit.denied.is_none() && !hit.is_about;
        let Some(first) = hits.iter().find(is_named) else { return Err(String::new()) };
        if let Some(at) = number(tokens, first.from, index) {
            plain[at] = None;
        }
        let start = opening(tokens, first.from)?;
        let (end, is_cause) = reason(tokens, &plain, first.to, one);
        let labelled = self.frame(&plain[start..end], tokens, start == 0)?;
        // `Yes please` is yes; `no problem` is not no.
        if one.stands_alone
            && let Some(next) = tokens.get(first.to).filter(|next| next.is_word)
            && end > first.to
            && !matches!(next.text.as_str(), "please" | "thanks")
        {
            return Err(next.text.clone());
        }
        let behind = plain[end..].iter().flatten().filter(|token| token.is_word);
        let takes_back = |word: &str| {
            if is_cause {
                list::retracts(word) || matches!(word, "but" | "however" | "or")
            } else {
                list::doubts(word) || list::negates_around(word) && !one.denies
            }
        };
        let is_odd = |token: &&&Token| {
            token.is_odd() || !token.is_word && (token.text == "?" || !token.text.is_ascii())
        };
        let odd = plain[end..].iter().flatten().find(is_odd);
        match behind.map(|token| &token.text).find(|word| takes_back(word)).or(odd.map(|t| &t.text))
        {
            Some(word) => Err(word.clone()),
            None => Ok(labelled),
        }
    }

    /// Whether the choosing part of a sentence consists of frame words only. Returns whether it has a label; the error is the first other
    /// word.
    fn frame(
        &self,
        plain: &[Option<&Token>],
        tokens: &[Token],
        from_start: bool,
    ) -> Result<bool, String> {
        // `Is it spam` is a question also without its mark.
        if from_start && asks(tokens) {
            return Err("?".to_owned());
        }
        let mut labelled = false;
        let mut last = "";
        for token in plain {
            let Some(token) = token else {
                // `most close` is a degree, not a choice.
                if last == "most" {
                    return Err(last.to_owned());
                }
                last = "";
                continue;
            };
            let word = token.text.as_str();
            if !token.is_word {
                if matches!(word, "," | ":" | "-" | "(" | ")") {
                    continue;
                }
                return Err(word.to_owned());
            }
            let is_degree = matches!(
                word,
                "likely" | "appropriate" | "suitable" | "definitely" | "certainly" | "correct"
            );
            if last == "most" && !is_degree || !self.is_frame(word, last) {
                return Err(word.to_owned());
            }
            labelled |= list::is_label(word);
            last = word;
        }
        Ok(labelled)
    }

    fn is_frame(&self, word: &str, last: &str) -> bool {
        match word {
            // `like` alone compares, `right` alone may be ironic, and `have` may belong to something that did not happen.
            "like" => matches!(last, "would" | "i'd" | "we'd" | "looks" | "sounds" | "seems"),
            "right" => last == "the",
            "have" => matches!(last, "i" | "we"),
            "likely" => last == "most",
            "want" | "think" | "decide" | "say" if last == "you" => false,
            "about" => {
                matches!(last, "is" | "it's") && !self.candidates.iter().any(|one| one.counts)
            }
            "ahead" => last == "go",
            "first" => last.is_empty(),
            "your" => true,
            "choice" | "decision" | "call" | "option" | "pick" if last == "your" => false,
            _ => list::is_frame(word) || self.extra.iter().any(|extra| extra == word),
        }
    }
}

/// The position of the candidate's number before its name, as in `Option 2: pivot`. It must be the number of its place in the list.
fn number(tokens: &[Token], hit: usize, index: usize) -> Option<usize> {
    let at = tokens[..hit].iter().rposition(|token| token.is_word)?;
    let is_labelled = at > 0 && list::is_label(&tokens[at - 1].text);
    (is_labelled && tokens[at].text == (index + 1).to_string()).then_some(at)
}

/// The start of the choosing part of a sentence, after a clause that gives the reason first. The error is a word that makes it unclear.
fn opening(tokens: &[Token], hit: usize) -> Result<usize, String> {
    let words = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    if !list::opens(words(0), words(1)) {
        return Ok(0);
    }
    let Some(comma) =
        tokens[..hit].iter().rposition(|token| matches!(token.text.as_str(), "," | ":"))
    else {
        return Ok(0);
    };
    let turns = |t: &&Token| {
        t.is_word
            && (list::retracts(&t.text)
                || matches!(
                    t.text.as_str(),
                    "but" | "nothing" | "chance" | "time" | "permission" | "opportunity"
                ))
    };
    match tokens[..comma].iter().find(turns) {
        Some(token) => Err(token.text.clone()),
        None => Ok(comma + 1),
    }
}

/// The position at which the reason for a choice begins, and whether a word such as `because` introduces it.
fn reason(
    tokens: &[Token],
    plain: &[Option<&Token>],
    from: usize,
    one: &Candidate,
) -> (usize, bool) {
    let word = tokens.get(from).map_or("", |token| token.text.as_str());
    if one.stands_alone && matches!(word, "it" | "i" | "that" | "this" | "we" | "they" | "there") {
        // `Yes it is`.
        return (from, false);
    }
    for at in from..tokens.len() {
        let Some(token) = plain[at] else { continue };
        let next = tokens.get(at + 1).map_or("", |token| token.text.as_str());
        match token.text.as_str() {
            "because" | "since" | "due" => return (at, true),
            "as" if list::begins_a_reason(next) => return (at, true),
            "(" | ":" | "-" => return (at, false),
            "," if plain.get(at + 1).is_some_and(Option::is_some)
                && list::begins_a_reason(next)
                && !(one.denies && next == "go") =>
            {
                return (at, matches!(next, "because" | "since" | "as"));
            }
            _ => {}
        }
    }
    (tokens.len(), false)
}

/// Whether a sentence begins like a question: `Is it …`, `Should we …`.
fn asks(tokens: &[Token]) -> bool {
    let mut words = tokens.iter().filter(|token| token.is_word).map(|token| token.text.as_str());
    let first = words.next().unwrap_or_default();
    let second = words.next().unwrap_or_default();
    matches!(
        first,
        "is" | "are" | "am" | "would" | "should" | "will" | "shall" | "do" | "does" | "must"
    ) && matches!(
        second,
        "i" | "we" | "it" | "this" | "that" | "you" | "the" | "these" | "there" | "one"
    )
}

/// Whether the marks among the words are only those of plain sentences.
pub(super) fn is_plain(tokens: &[Token]) -> bool {
    let plain = |text: &str| matches!(text, "," | ":" | "-" | "(" | ")" | "/");
    tokens.iter().all(|token| token.is_word || plain(&token.text))
}

/// Whether a sentence begins with the label of a reason: `Reason: …`.
pub(super) fn is_reason(sentence: &Sentence) -> bool {
    let mut tokens = sentence.tokens.iter();
    tokens.next().is_some_and(|first| list::is_reason(&first.text))
}
