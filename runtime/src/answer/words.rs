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
