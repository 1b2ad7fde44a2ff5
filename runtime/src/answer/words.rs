//! The words that decide whether prose chooses something. A sentence chooses only if it is made of [`is_frame`] words alone; the other
//! lists say which sentences around it take the choice back.

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

/// What is chosen, by its name in a sentence or as a label: `Category: …`.
#[rustfmt::skip]
const LABELS: &[&str] = &[
    "answer", "choice", "option", "decision", "category", "label", "class", "classification",
    "type", "kind", "topic", "intent", "sentiment", "mood", "priority", "severity", "urgency",
    "level", "rating", "score", "grade", "verdict", "result", "conclusion", "recommendation",
    "selection", "action", "step", "status", "output", "response", "opinion", "view", "final",
    "next", "value", "probability", "number", "amount", "count", "total", "antwort", "kategorie",
    "entscheidung", "ergebnis", "réponse", "catégorie", "respuesta", "categoría", "risposta",
];

/// What a model was given to judge.
#[rustfmt::skip]
const SUBJECTS: &[&str] = &[
    "text", "message", "email", "mail", "ticket", "issue", "problem", "question", "request",
    "review", "case", "work", "passage", "document", "article", "post", "customer's",
];

/// Labels before a reason.
#[rustfmt::skip]
const REASONS: &[&str] = &[
    "reason", "reasons", "reasoning", "explanation", "rationale", "justification", "why",
    "because", "begründung",
];

/// Words that open a clause before the choice, which gives its reason: `Based on the text, …`.
#[rustfmt::skip]
const OPENERS: &[&str] =
    &[
    "based", "given", "since", "because", "as", "considering", "after", "looking", "according",
];

/// Words by which a reason begins without a label, behind a comma.
#[rustfmt::skip]
const BEGINNINGS: &[&str] = &[
    "it", "it's", "the", "this", "that", "that's", "all", "there", "they", "i", "we", "he", "she",
    "everything", "which", "where", "please", "thanks", "thank", "go", "too", "both", "as",
    "because", "since", "not",
];

/// What takes an answer back wherever it stands behind it, also in a reason.
#[rustfmt::skip]
const RETRACTIONS: &[&str] = &[
    "if", "unless", "until", "till", "except", "instead", "actually", "wait", "scratch",
    "kidding", "joking", "joke", "assuming", "ignore", "disregard", "sarcasm", "sarcastic",
    "ironic", "irony", "opposite", "nevermind", "whether", "hypothetically", "mistake", "wrong",
    "oops", "lie", "otherwise", "example", "second",
];

/// What opposes or doubts.
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

/// What negates, puts off, or is said by somebody else.
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

/// Words between a negation and what it negates.
#[rustfmt::skip]
const LIGHT: &[&str] = &[
    "a", "an", "the", "it", "this", "that", "to", "be", "is", "are", "as", "really", "about",
    "any", "in", "of", "for", "with", "under", "choose", "pick", "select", "go", "going",
    "recommend", "classified", "category", "option", "want", "would", "will", "kind", "related",
];

/// Words that stand in prose without naming an option.
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

/// Whether a sentence that chooses may have the word.
pub(super) fn is_frame(word: &str) -> bool {
    has(FRAME, word) || is_label(word) || has(SUBJECTS, word)
}

/// Whether the word names what is chosen.
pub(super) fn is_label(word: &str) -> bool {
    has(LABELS, word)
}

/// Whether the word is a label before a reason.
pub(super) fn is_reason(word: &str) -> bool {
    has(REASONS, word)
}

/// Whether a clause with a reason begins with these words, before the choice.
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

/// Whether a reason begins with the word, behind a comma.
pub(super) fn begins_a_reason(word: &str) -> bool {
    has(BEGINNINGS, word)
}

/// Whether the word takes back what stands before it, also in a reason.
pub(super) fn retracts(word: &str) -> bool {
    has(RETRACTIONS, word)
}

/// Whether the word opposes, doubts, or takes back.
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

/// Whether the word makes the contrary of a sentence, or says that it is not, not yet or not by this speaker meant.
pub(super) fn negates_around(word: &str) -> bool {
    has(NEGATIONS, word) || negates(word)
}

/// Whether a negation reaches over the word.
pub(super) fn is_light(word: &str) -> bool {
    has(LIGHT, word)
}

/// Whether a name of this word is not chosen by being mentioned.
pub(super) fn is_common(word: &str) -> bool {
    word.len() < 3 || has(COMMON, word)
}
