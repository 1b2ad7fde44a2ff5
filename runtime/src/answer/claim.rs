//! Which of some candidates (options, the names of an enum, yes and no, the numbers in a text) prose chooses.
//!
//! A sentence chooses a candidate if all its other words are those of plain choosing sentences. It may deny other candidates
//! (`not spam`, `rather than pivot`) and give a reason. Any other sentence with a candidate in it makes the text unclear, and so does
//! what may take a choice back.

use super::Unusable;
use super::tokens::{Sentence, Token, sentences, words};
use super::words as list;

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

/// A candidate in a sentence.
#[derive(Debug, Clone, Copy)]
struct Hit {
    from: usize,
    to: usize,
    index: usize,
    /// By its description alone.
    is_about: bool,
    /// Where the words begin that deny it.
    denied: Option<usize>,
}

/// What a sentence says.
enum Says {
    Nothing,
    /// `labelled`: it names what it chooses, as in `Answer: …`.
    Chooses {
        index: usize,
        labelled: bool,
        denied: Vec<usize>,
    },
    Denies(Vec<usize>),
    Unclear {
        about: Vec<usize>,
        beside: String,
    },
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
    let said = words(text);
    let is = |(_, one): &(usize, &Candidate)| one.about.len() > 1 && same(&one.about, &said);
    let mut hits = candidates.iter().enumerate().filter(is);
    let (index, _) = hits.next()?;
    hits.next().is_none().then_some(index)
}

fn same(one: &[Token], other: &[Token]) -> bool {
    one.iter().map(|t| &t.text).eq(other.iter().map(|t| &t.text))
}

fn starts_with(tokens: &[Token], spelled: &[Token]) -> bool {
    !spelled.is_empty()
        && tokens.len() >= spelled.len()
        && tokens.iter().zip(spelled).all(|(a, b)| a.is_word && a.text == b.text)
}

/// How many tokens a description takes that stands here, whatever marks are between its words.
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

    /// The candidates in a sentence, in order; written with blanks one counts for the shorter ones in it, too. The second list says
    /// which tokens are a description right behind its own name.
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
        let rather = tokens.iter().position(|token| token.text == "rather");
        for nth in 0..hits.len() {
            let before = nth.checked_sub(1).map(|i| hits[i]);
            hits[nth].denied = denial(tokens, hits[nth], before, rather);
        }
        (hits, told)
    }

    /// A candidate that is described here; how many tokens to go on.
    fn about_at(&self, tokens: &[Token], at: usize, hits: &mut Vec<Hit>) -> usize {
        let lengths = self.candidates.iter().map(|one| about_length(&tokens[at..], &one.about));
        let found = lengths.enumerate().find_map(|(index, length)| Some((index, length?)));
        if let Some((index, length)) = found.filter(|(_, length)| *length > 1) {
            hits.push(Hit { from: at, to: at + length, index, is_about: true, denied: None });
            return length;
        }
        1
    }

    /// The longest candidate that begins here, other than `but`; of equally long ones the first.
    fn spelled(&self, tokens: &[Token], but: Option<usize>) -> Option<(usize, usize)> {
        let all = self.candidates.iter().enumerate().filter(|(i, _)| Some(*i) != but);
        let lengths = all.flat_map(|(index, one)| {
            let found = one.spellings.iter().filter(|s| starts_with(tokens, s));
            found.map(move |s| (index, s.len()))
        });
        lengths.max_by_key(|(index, n)| (*n, std::cmp::Reverse(*index)))
    }

    fn says(&self, sentence: &Sentence) -> Says {
        let tokens = &sentence.tokens;
        let (mut hits, told) = self.hits(tokens);
        let Some(first) = hits.first() else { return Says::Nothing };
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
        if hits.iter().all(|hit| hit.is_about) {
            let all: Vec<Token> = tokens.iter().filter(|t| t.is_word).cloned().collect();
            if !same(&all, &self.candidates[index].about) {
                return unclear(&tokens[hits[0].from].text);
            }
            return Says::Chooses { index, labelled: false, denied };
        }
        match self.core(tokens, &hits, &told, index) {
            Ok(labelled) => Says::Chooses { index, labelled, denied },
            Err(word) => unclear(&word),
        }
    }

    /// Whether a sentence with one candidate chooses it; whether it says what it chooses, as in `Answer: …`.
    fn core(
        &self,
        tokens: &[Token],
        hits: &[Hit],
        told: &[bool],
        index: usize,
    ) -> Result<bool, String> {
        let one = &self.candidates[index];
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
        let start = opening(tokens, first.from)?;
        let (end, is_cause) = reason(tokens, &plain, first.to, one);
        let labelled = self.frame(&plain[start..end], tokens, start == 0)?;
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
        let odd = plain[end..].iter().flatten().find(|t| !t.is_word && t.text == "?");
        match behind.map(|token| &token.text).find(|word| takes_back(word)).or(odd.map(|t| &t.text))
        {
            Some(word) => Err(word.clone()),
            None => Ok(labelled),
        }
    }

    /// Whether all that is left of the part of a sentence that chooses are words of choosing sentences; whether it has a label.
    fn frame(
        &self,
        plain: &[Option<&Token>],
        tokens: &[Token],
        from_start: bool,
    ) -> Result<bool, String> {
        if from_start && asks(tokens) {
            return Err("?".to_owned());
        }
        let mut labelled = false;
        let mut last = "";
        for token in plain {
            let Some(token) = token else {
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
            // `like` alone compares, `right` alone may mock, `have` may be what did not come about.
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
                sentence.word(|word| list::retracts(word))
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
        let denies = self.candidates[index].denies;
        sentence.word(|word| list::doubts(word) || list::negates_around(word) && !denies)
    }
}

/// The word by which a text denies something.
fn denying(all: &[Sentence]) -> &str {
    all.iter().find_map(|sentence| sentence.word(list::negates)).unwrap_or("not")
}

/// Where the words begin that deny a candidate: `not a …`, `rather than …`, `neither … nor …`.
fn denial(tokens: &[Token], hit: Hit, before: Option<Hit>, rather: Option<usize>) -> Option<usize> {
    let mut at = hit.from;
    for _ in 0..8 {
        at = at.checked_sub(1)?;
        if let Some(before) = before.filter(|before| before.to == at + 1 && before.from < hit.from)
        {
            // `neither one nor the other`, `not one or the other`.
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

/// Where the part of a sentence begins that chooses, behind a clause that gives the reason first.
fn opening(tokens: &[Token], hit: usize) -> Result<usize, String> {
    let words = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    if !list::opens(words(0), words(1)) {
        return Ok(0);
    }
    let Some(comma) = tokens[..hit].iter().rposition(|token| token.text == ",") else {
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

/// Where the reason of a choice begins, and whether it is introduced as one.
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

/// Whether a sentence begins like a question.
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

fn is_reason(sentence: &Sentence) -> bool {
    let mut tokens = sentence.tokens.iter();
    tokens.next().is_some_and(|first| list::is_reason(&first.text))
}

/// A word of a sentence before the choice that says that it is not meant.
fn astray(sentence: &Sentence) -> Option<&str> {
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
