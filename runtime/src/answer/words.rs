//! The word lists that decide whether prose chooses something. A sentence chooses an option only if all of its other words are frame
//! words ([`is_frame`]); the other lists decide which words around it take the choice back.

/// Words of sentences that choose: `I would go with …`, `the best option is …`.
#[rustfmt::skip]
const FRAME: &[&str] = &[
    "i", "i'm", "i'd", "i'll", "i've", "we", "we'll", "we'd", "my", "our", "me", "us", "it",
    "it's", "its", "this", "that", "that's", "these", "the", "a", "an", "one", "to", "be", "is",
    "am", "are", "as", "of", "for", "with", "in", "on", "into", "under", "will", "would",
    "should", "must", "shall", "do", "does", "let", "let's", "you", "choose", "chose", "choosing",
    "pick", "picked", "picking", "select", "selecting", "go", "going", "opt", "vote", "settle",
    "decide", "decided", "say", "call", "rate", "rated", "give", "assign", "assigned", "mark",
    "classify", "classified", "categorize", "categorized", "categorise", "categorised", "labeled",
    "labelled", "recommend", "suggest", "think", "feel", "believe", "consider", "considered", "want",
    "conclude", "judge", "prefer", "take", "looks", "seems", "appears", "sounds", "falls",
    "belongs", "fits", "clear", "clearly", "definitely", "certainly", "obviously", "absolutely",
    "surely", "indeed", "simply", "just", "therefore", "thus", "hence", "so", "and", "finally",
    "overall", "now", "here", "please", "pls", "thanks", "suggested", "recommended", "reviewed",
    "checked", "yes", "ok", "okay", "sure", "well", "best", "correct", "appropriate", "suitable",
    "most", "chosen", "selected", "only", "there", "points", "point", "stars", "days", "hours",
    "minutes", "words", "times", "items", "euros", "dollars", "related", "good", "great", "fine",
    "perfect", "enough",
];

/// Nouns for what is chosen, also as labels: `Category: …`.
#[rustfmt::skip]
const LABELS: &[&str] = &[
    "answer", "choice", "option", "decision", "category", "label", "class", "classification",
    "type", "kind", "topic", "intent", "sentiment", "mood", "priority", "severity", "urgency",
    "level", "rating", "score", "grade", "verdict", "result", "conclusion", "recommendation",
    "selection", "action", "step", "status", "output", "response", "opinion", "view", "final",
    "next", "value", "probability", "number", "amount", "count", "total", "antwort", "kategorie",
    "entscheidung", "ergebnis", "réponse", "catégorie", "respuesta", "categoría", "risposta",
];

/// Nouns for what the model was asked to judge.
#[rustfmt::skip]
const SUBJECTS: &[&str] = &[
    "text", "message", "email", "mail", "ticket", "issue", "problem", "question", "request",
    "review", "case", "work", "passage", "document", "article", "post", "customer's",
];

/// Labels of reasons.
#[rustfmt::skip]
const REASONS: &[&str] = &[
    "reason", "reasons", "reasoning", "explanation", "rationale", "justification", "why",
    "because", "begründung",
];

/// Words that begin a clause with the reason before the choice: `Based on the text, …`.
#[rustfmt::skip]
const OPENERS: &[&str] =
    &[
    "based", "given", "since", "because", "as", "considering", "after", "looking", "according",
];

/// Words that begin a reason after a comma, without a label: `spam, because …`.
#[rustfmt::skip]
const BEGINNINGS: &[&str] = &[
    "it", "it's", "the", "this", "that", "that's", "all", "there", "they", "i", "we", "he", "she",
    "everything", "which", "where", "please", "thanks", "thank", "go", "too", "both", "as",
    "because", "since", "not",
];

/// Words that take back an answer before them, even within a reason.
#[rustfmt::skip]
const RETRACTIONS: &[&str] = &[
    "if", "unless", "until", "till", "except", "instead", "actually", "wait", "scratch",
    "kidding", "joking", "joke", "assuming", "ignore", "disregard", "sarcasm", "sarcastic",
    "ironic", "irony", "opposite", "nevermind", "whether", "hypothetically", "mistake", "wrong",
    "oops", "lie", "otherwise", "example", "second",
];

/// Words that contrast or doubt.
#[rustfmt::skip]
const DOUBTS: &[&str] = &[
    "but", "however", "although", "though", "rather", "or", "maybe", "perhaps", "possibly",
    "probably", "likely", "unlikely", "unsure", "uncertain", "doubt", "doubts", "guess",
    "suppose", "imagine", "pretend", "depends", "provided", "providing", "when", "whenever",
    "once", "later", "eventually", "tomorrow", "soon", "someday", "pending", "conditional",
    "conditionally", "subject", "contingent", "changes", "reservations", "partly", "partially",
    "almost", "nearly", "either", "versus", "vs", "sorry", "premature", "might", "may", "could",
    "hesitate", "decide", "avoid", "incorrect", "then", "while", "e.g", "eg",
];

/// Words that negate or postpone a choice, or attribute it to somebody else.
#[rustfmt::skip]
const NEGATIONS: &[&str] = &[
    "not", "no", "never", "none", "nor", "neither", "nothing", "nobody", "cannot", "cant", "dont",
    "wont", "isnt", "arent", "didnt", "doesnt", "wasnt", "werent", "couldnt", "wouldnt",
    "shouldnt", "without", "hardly", "barely", "scarcely", "far", "nowhere", "anything", "short",
    "refuse", "refusing", "refused", "reject", "decline", "deny", "unable", "impossible", "false",
    "early", "less", "least", "must", "first", "needs", "need", "before", "after", "said", "says",
    "asked", "asks", "told", "wants", "wanted", "claims", "claimed", "user", "nope", "nah", "yet",
    "would", "should", "nicht", "kein", "keine", "nie", "pas", "jamais", "nunca", "niet", "geen",
];

/// Words that may stand between a negation and what it negates.
#[rustfmt::skip]
const LIGHT: &[&str] = &[
    "a", "an", "the", "it", "this", "that", "to", "be", "is", "are", "as", "really", "about",
    "any", "in", "of", "for", "with", "under", "choose", "pick", "select", "go", "going",
    "recommend", "classified", "category", "option", "want", "would", "will", "kind", "related",
];

/// Words that occur in prose by themselves, so that an option of this name is not chosen by a mention.
#[rustfmt::skip]
const COMMON: &[&str] = &[
    "yes", "no", "true", "false", "a", "i", "an", "the", "it", "on", "off", "do", "go", "be",
    "is", "ok", "okay", "all", "any", "other", "others", "this", "that", "so", "up", "in", "to",
    "at", "of", "and", "more", "out", "now", "one", "two", "null", "nil", "end", "none", "not",
    "never", "may", "or", "if", "but", "maybe", "later", "wait",
];

fn has(list: &[&str], word: &str) -> bool {
    list.contains(&word)
}

/// Whether a sentence that chooses may contain the word.
pub(super) fn is_frame(word: &str) -> bool {
    has(FRAME, word) || is_label(word) || has(SUBJECTS, word)
}

/// Whether the word is a noun for what is chosen.
pub(super) fn is_label(word: &str) -> bool {
    has(LABELS, word)
}

/// Whether the word is a label of a reason.
pub(super) fn is_reason(word: &str) -> bool {
    has(REASONS, word)
}

/// Whether these two words begin a clause with the reason before the choice.
pub(super) fn opens(word: &str, next: &str) -> bool {
    has(OPENERS, word)
        && match word {
            "after" => next.ends_with("ing") || next == "careful",
            "given" | "as" => {
                matches!(
                    next,
                    "that"
                        | "the"
                        | "this"
                        | "these"
                        | "it"
                        | "there"
                        | "they"
                        | "all"
                        | "your"
                        | "you"
                        | "we"
                        | "how"
                )
            }
            _ => true,
        }
}

/// Whether the word begins a reason after a comma.
pub(super) fn begins_a_reason(word: &str) -> bool {
    has(BEGINNINGS, word)
}

/// Whether the word takes back what precedes it, even within a reason.
pub(super) fn retracts(word: &str) -> bool {
    has(RETRACTIONS, word)
}

/// Whether the word contrasts, doubts or takes back.
pub(super) fn doubts(word: &str) -> bool {
    retracts(word) || has(DOUBTS, word)
}

/// Whether the word negates what follows it.
pub(super) fn negates(word: &str) -> bool {
    matches!(word, "not" | "no" | "never" | "neither" | "nor" | "cannot" | "without")
        || word.ends_with("n't")
        || matches!(
            word,
            "cant" | "dont" | "wont" | "isnt" | "arent" | "wouldnt" | "shouldnt" | "doesnt"
        )
}

/// Whether the word negates a sentence anywhere in it, or means that the choice is not the speaker's or not yet made.
pub(super) fn negates_around(word: &str) -> bool {
    has(NEGATIONS, word) || negates(word)
}

/// Whether a negation extends over the word to the next one.
pub(super) fn is_light(word: &str) -> bool {
    has(LIGHT, word)
}

/// Whether the word is so common that mentioning it does not choose an option of this name.
pub(super) fn is_common(word: &str) -> bool {
    word.len() < 3 || has(COMMON, word)
}

// Splits a text into sentences, words and marks.

/// Marks that only emphasise, quote or point.
const SILENT: &str = "\"'`*_#[]$“”‘’•.!✅✓✔👉👍→";
/// A single one of these between two words joins them, as in `not-spam`.
const JOINING: &str = "_-./+@";

/// A word in lower case, or a mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) text: String,
    pub(super) is_word: bool,
    /// Whether this word follows another one with a single joining mark in between, such as `_` or `-`.
    pub(super) joined: bool,
}

impl Token {
    /// Whether the token is not what it looks like: an invisible character, or a word with letters of two scripts.
    pub(super) fn is_odd(&self) -> bool {
        let letters = || self.text.chars().filter(|c| c.is_alphabetic());
        let is_latin = |c: char| c < '\u{250}';
        let is_mixed = letters().any(is_latin) && !letters().all(is_latin);
        self.text.starts_with("\\u{") || self.is_word && is_mixed
    }
}

/// A sentence, or a line that ends without a mark.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Sentence {
    pub(super) tokens: Vec<Token>,
    pub(super) is_question: bool,
}

impl Sentence {
    /// The first word for which `is` holds.
    pub(super) fn word(&self, is: impl Fn(&str) -> bool) -> Option<&str> {
        self.tokens.iter().filter(|t| t.is_word).map(|t| t.text.as_str()).find(|word| is(word))
    }
}

fn is_inside(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '\'' | '’')
}

/// The words of `text`, without its marks.
pub(super) fn words(text: &str) -> Vec<Token> {
    tokens(text).into_iter().filter(|token| token.is_word).collect()
}

/// The words and marks of `text`. Digits with `.` or `,` between them form one word, including a sign before them.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut found: Vec<Token> = Vec::new();
    let mut rest = text;
    let mut between = String::new();
    while let Some(c) = rest.chars().next() {
        let starts_number = matches!(c, '-' | '+' | '−' | '.')
            && (between.ends_with(char::is_whitespace) || between.is_empty() && found.is_empty())
            && rest[c.len_utf8()..].starts_with(|d: char| d.is_ascii_digit());
        if is_inside(c) || starts_number {
            let end = word_end(rest, c);
            let word = rest[..end].trim_matches(['\'', '’']);
            if word.is_empty() {
                between.push(c);
                rest = &rest[c.len_utf8()..];
                continue;
            }
            let joined =
                between.chars().count() == 1 && between.chars().all(|c| JOINING.contains(c));
            if !joined {
                marks(&between, true, &mut found);
            }
            let joined = joined && found.last().is_some_and(|last| last.is_word);
            let text = word.to_lowercase().replace('’', "'").replace('−', "-");
            found.push(Token { text, is_word: true, joined });
            between.clear();
            rest = &rest[end..];
        } else {
            between.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    marks(&between, false, &mut found);
    found
}

fn word_end(text: &str, first: char) -> usize {
    let mut end = first.len_utf8();
    while let Some(c) = text[end..].chars().next() {
        let next = text[end + c.len_utf8()..].chars().next();
        let in_number = matches!(c, '.' | ',')
            && text[..end].ends_with(|d: char| d.is_ascii_digit())
            && next.is_some_and(|d| d.is_ascii_digit());
        if !is_inside(c) && !in_number {
            break;
        }
        end += c.len_utf8();
    }
    end
}

/// Adds the marks that have a meaning. A dash has one unless it joins two words.
fn marks(between: &str, before_word: bool, found: &mut Vec<Token>) {
    for (i, c) in between.char_indices() {
        let next = between[i + c.len_utf8()..].chars().next();
        // `!` directly before a word negates it, as in `!spam`.
        let denies = c == '!' && next.is_none() && before_word;
        if c.is_ascii_whitespace() || SILENT.contains(c) && !denies || c == '\u{fe0f}' {
            continue;
        }
        let text = if matches!(c, '-' | '–' | '—') { "-".to_owned() } else { visible(c) };
        found.push(Token { text, is_word: false, joined: false });
    }
}

fn visible(c: char) -> String {
    let hidden = matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{ad}');
    if c.is_control() || hidden { c.escape_unicode().to_string() } else { c.to_string() }
}

/// The text of a list item without its bullet or number; `None` if the line is no item.
pub(super) fn without_bullet(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let after = if (1..=3).contains(&digits) {
        line[digits..].strip_prefix(['.', ')'])?
    } else {
        line.strip_prefix(['-', '*', '•', '+', '–'])?
    };
    let item = after.trim_start();
    (after.len() != item.len() && !item.is_empty()).then_some(item)
}

/// The sentences of `text`. A line that ends with a colon continues in the next line.
pub(super) fn sentences(text: &str) -> Vec<Sentence> {
    let mut found = Vec::new();
    let mut open = String::new();
    for line in text.lines() {
        let item = without_bullet(line).unwrap_or(line).trim();
        if item.is_empty() {
            continue;
        }
        open.push_str(item);
        if item.trim_end_matches(['*', '_', '`']).ends_with(':') {
            open.push(' ');
            continue;
        }
        split(&open, &mut found);
        open.clear();
    }
    split(&open, &mut found);
    found
}

fn split(line: &str, found: &mut Vec<Sentence>) {
    let mut from = 0;
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, c)| *c);
        let is_end = match c {
            ';' => true,
            '?' => true,
            '.' | '!' => next.is_none_or(|c| c.is_whitespace() || "\"'*_)”’`".contains(c)),
            _ => false,
        };
        if is_end {
            push(&line[from..at], c == '?', found);
            from = at + c.len_utf8();
        }
    }
    push(&line[from..], false, found);
}

fn push(text: &str, is_question: bool, found: &mut Vec<Sentence>) {
    let tokens = tokens(text);
    if !tokens.iter().any(|token| token.is_word) {
        // Marks after a sentence, such as a second `?`, belong to it.
        if let Some(last) = found.last_mut() {
            last.is_question |= is_question;
            last.tokens.extend(tokens);
        }
        return;
    }
    // `…, so I choose it` is a sentence of its own, as its first part may be a reason.
    let is_so = |pair: &[Token]| {
        pair[0].text == ","
            && matches!(pair[1].text.as_str(), "so" | "therefore" | "thus" | "hence")
    };
    let is_conclusion = |pair: &[Token]| {
        pair[1].text == ":"
            && matches!(pair[0].text.as_str(), "so" | "therefore" | "thus" | "hence")
    };
    // The same with `… so: it`, but not with `I think so: …`.
    let concluded = tokens.windows(2).position(is_conclusion).filter(|at| {
        let before = at.checked_sub(1).map_or("", |at| tokens[at].text.as_str());
        !matches!(before, "" | "," | "think" | "say" | "hope" | "and")
    });
    if let Some(at) = concluded {
        found.push(Sentence { tokens: tokens[..at].to_vec(), is_question });
        found.push(Sentence { tokens: tokens[at..].to_vec(), is_question });
        return;
    }
    // `Nothing is missing: I …` is two sentences, unless the first part says who says the second.
    let is_clause =
        |pair: &[Token]| pair[0].text == ":" && matches!(pair[1].text.as_str(), "i" | "we");
    let clause = tokens.windows(2).position(is_clause);
    if let Some(at) = clause.filter(|at| !tokens[..*at].iter().any(is_telling)) {
        found.push(Sentence { tokens: tokens[..at].to_vec(), is_question });
        found.push(Sentence { tokens: tokens[at + 1..].to_vec(), is_question });
        return;
    }
    match tokens.windows(2).position(is_so) {
        Some(at) if tokens.get(at + 2).is_some_and(|next| next.text != "that") => {
            found.push(Sentence { tokens: tokens[..at].to_vec(), is_question });
            found.push(Sentence { tokens: tokens[at + 1..].to_vec(), is_question });
        }
        Some(_) | None => found.push(Sentence { tokens, is_question }),
    }
}

/// Whether a word may belong to a clause that says who speaks, as in `the user said`.
fn is_telling(token: &Token) -> bool {
    matches!(
        token.text.as_str(),
        "i" | "we"
            | "you"
            | "say"
            | "said"
            | "says"
            | "wrote"
            | "told"
            | "asked"
            | "claims"
            | "user"
            | "author"
            | "not"
            | "never"
            | "if"
    )
}
