//! Words by which a prompt asks for an answer.

/// Verbs that ask for an answer in the words that follow.
pub(super) const REPLY: &[&str] = &["answer", "respond", "reply"];

/// Verbs that may.
pub(super) const CHOICE: &[&str] =
    &["choose", "say", "pick", "select", "return", "output", "write"];

/// What may stand between such a verb and the list.
pub(super) const FILLERS: &[&str] = &[
    "with",
    "only",
    "exactly",
    "just",
    "simply",
    "strictly",
    "one",
    "a",
    "an",
    "the",
    "single",
    "word",
    "words",
    "of",
    "either",
    "these",
    "following",
    "between",
    "from",
    "by",
    "as",
    "saying",
    "using",
];

/// Words for how an answer is to look: no answers.
pub(super) const FORMS: &[&str] = &[
    "json",
    "yaml",
    "xml",
    "html",
    "csv",
    "markdown",
    "text",
    "prose",
    "english",
    "code",
    "briefly",
    "shortly",
    "concisely",
    "honestly",
    "carefully",
    "clearly",
    "politely",
];
