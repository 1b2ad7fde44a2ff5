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

use super::words::{Sentence, Token, sentences, tokens, words};
use super::{Unusable, words as list};

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

/// The candidate that a text chooses.
#[derive(Clone, Copy)]
struct Choice {
    index: usize,
    /// The first and the last sentence that choose it.
    first: usize,
    last: usize,
    /// Whether the last of these sentences has a label, as in `Answer: …`.
    decisive: bool,
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
        let mut denies: Vec<usize> = Vec::new();
        let Some(choice) = self.choice(said, &mut denies)? else {
            return Err(self.unchosen(all, said, &denies));
        };
        // `It is spam. It is not spam.` has no meaning.
        if denies.contains(&choice.index) {
            return Err(self.beside(choice.index, denying(all)));
        }
        // From a sentence `Reason: …` on, everything explains the choice.
        let explained =
            (choice.last..all.len()).find(|nth| *nth > choice.last && is_reason(&all[*nth]));
        self.check_unclear(all, said, &choice, explained)?;
        self.check_others(all, said, &choice, explained)?;
        Ok(choice.index)
    }

    /// The candidate that all choosing sentences choose. Adds the candidates that sentences deny to `denies`.
    fn choice(&self, said: &[Says], denies: &mut Vec<usize>) -> Result<Option<Choice>, Unusable> {
        let mut chosen: Option<Choice> = None;
        for (nth, says) in said.iter().enumerate() {
            match says {
                Says::Chooses { index, labelled, denied } => {
                    if let Some(other) = chosen.as_ref().filter(|other| other.index != *index) {
                        return Err(self.both(other.index, *index));
                    }
                    let first = chosen.map_or(nth, |choice| choice.first);
                    chosen = Some(Choice { index: *index, first, last: nth, decisive: *labelled });
                    denies.extend(denied);
                }
                Says::Denies(denied) => denies.extend(denied),
                Says::Nothing | Says::Unclear { .. } => {}
            }
        }
        Ok(chosen)
    }

    /// The error for a text in which no sentence chooses.
    fn unchosen(&self, all: &[Sentence], said: &[Says], denies: &[usize]) -> Unusable {
        let mut names: Vec<usize> = Vec::new();
        let mut word = None;
        for (_, about, beside) in unclear(said) {
            names.extend(about);
            word = word.or(Some(beside));
        }
        names.extend(denies);
        names.sort_unstable();
        names.dedup();
        match (names.as_slice(), word) {
            ([], _) => Self::none(),
            ([one], Some(word)) => self.beside(*one, word),
            ([one], None) => self.beside(*one, denying(all)),
            ([one, other, ..], _) => self.both(*one, *other),
        }
    }

    /// Checks the unclear sentences: each must agree with the choice, be overruled by a later labelled choice, or be part
    /// of the reason, which begins with the sentence `explained`.
    fn check_unclear(
        &self,
        all: &[Sentence],
        said: &[Says],
        choice: &Choice,
        explained: Option<usize>,
    ) -> Result<(), Unusable> {
        let Choice { index, last, decisive, .. } = *choice;
        for (nth, about, beside) in unclear(said) {
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
        Ok(())
    }

    /// Checks the sentences without any candidate, which may still take the choice back.
    fn check_others(
        &self,
        all: &[Sentence],
        said: &[Says],
        choice: &Choice,
        explained: Option<usize>,
    ) -> Result<(), Unusable> {
        let Choice { index, first, last, decisive } = *choice;
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
        Ok(())
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

/// The unclear sentences: the number of each, the candidates in it, and the word that makes it unclear.
fn unclear(said: &[Says]) -> impl Iterator<Item = (usize, &Vec<usize>, &String)> {
    said.iter().enumerate().filter_map(|(nth, says)| match says {
        Says::Unclear { about, beside } => Some((nth, about, beside)),
        Says::Nothing | Says::Chooses { .. } | Says::Denies(_) => None,
    })
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

// Finds the candidates in a sentence, and whether the sentence denies them.

/// An occurrence of a candidate in a sentence: the tokens `from..to`.
#[derive(Debug, Clone, Copy)]
struct Hit {
    from: usize,
    to: usize,
    index: usize,
    /// Whether the description occurs instead of the name.
    is_about: bool,
    /// The position of the first word that denies the candidate, as in `not`; `None` if it is not denied.
    denied: Option<usize>,
}

fn same(one: &[Token], other: &[Token]) -> bool {
    one.iter().map(|t| &t.text).eq(other.iter().map(|t| &t.text))
}

fn starts_with(tokens: &[Token], spelled: &[Token]) -> bool {
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
    fn hits(&self, tokens: &[Token]) -> (Vec<Hit>, Vec<bool>) {
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

// Classifies single sentences by what they say about the candidates.

/// The meaning of a sentence with respect to the candidates.
enum Says {
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
    fn says(&self, sentence: &Sentence) -> Says {
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
        match taking_back(&plain[end..], is_cause, one) {
            Some(word) => Err(word.to_owned()),
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

/// The word behind the choosing part of a sentence that takes the choice back. `is_cause` tells that a word such as
/// `because` precedes.
fn taking_back<'t>(rest: &[Option<&'t Token>], is_cause: bool, one: &Candidate) -> Option<&'t str> {
    let mut words = rest.iter().flatten().filter(|token| token.is_word);
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
    let odd = rest.iter().flatten().find(is_odd);
    words.find(|word| takes_back(&word.text)).or(odd).map(|token| token.text.as_str())
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
fn is_plain(tokens: &[Token]) -> bool {
    let plain = |text: &str| matches!(text, "," | ":" | "-" | "(" | ")" | "/");
    tokens.iter().all(|token| token.is_word || plain(&token.text))
}

/// Whether a sentence begins with the label of a reason: `Reason: …`.
fn is_reason(sentence: &Sentence) -> bool {
    let mut tokens = sentence.tokens.iter();
    tokens.next().is_some_and(|first| list::is_reason(&first.text))
}
