//! The words with which a prompt asks for an answer.

/// Verbs after which the words are answers.
const REPLY: &[&str] = &["answer", "respond", "reply"];

/// Verbs after which the words may be answers.
const CHOICE: &[&str] = &["choose", "say", "pick", "select", "return", "output", "write"];

/// Words that may be between such a verb and the list.
const FILLERS: &[&str] = &[
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
    "as",
    "saying",
    "using",
];

/// Words before a verb of [`REPLY`] that make it a noun.
const DETERMINERS: &[&str] = &[
    "the", "a", "an", "your", "this", "that", "its", "their", "his", "her", "my", "our", "each",
    "every", "any", "no", "which", "of",
];

/// Words that forbid what follows.
const NEGATIONS: &[&str] =
    &["not", "don't", "dont", "don’t", "never", "avoid", "without", "nor", "except", "cannot"];

/// Words that may be between a negation and the list, in addition to verbs and [`FILLERS`].
const BETWEEN: &[&str] = &[
    "by",
    "ever",
    "answers",
    "answering",
    "words",
    "like",
    "such",
    "anything",
    "use",
    "in",
    "any",
    "to",
];

/// Words that describe the form of an answer, and so are no answers.
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

/// The certainty that a list contains answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lead {
    /// Nothing indicates that the list contains answers.
    None,
    /// Brackets within a text, or a descriptive verb.
    Aside,
    /// A verb such as `choose`, or brackets at the end of the text.
    Choice,
    /// An unambiguous instruction, such as `answer with a or b`.
    Reply,
}

/// The certainty that the unquoted words after `before` are a list of answers; `None` if nothing introduces such a list. `says_or` tells
/// whether the list contains `or`.
pub(super) fn leads(before: &str, says_or: bool) -> Option<Lead> {
    let before = before.trim_end().to_lowercase();
    let mut words = back(&before).take(7).skip_while(|word| FILLERS.contains(word));
    let verb = words.next();
    match verb {
        Some(verb) if REPLY.contains(&verb) => {
            let noun = words.next().is_some_and(|word| DETERMINERS.contains(&word));
            return Some(if says_or && !noun { Lead::Reply } else { Lead::Choice });
        }
        Some(verb) if CHOICE.contains(&verb) => return Some(Lead::Choice),
        Some(_) | None => {}
    }
    let listed = ["one of", "either"].iter().any(|w| before.ends_with(w)) || before.ends_with(':');
    let tells = says_or && matches!(verb, Some("is" | "are" | "be"));
    if listed { Some(Lead::None) } else { tells.then_some(Lead::Aside) }
}

/// Whether the text before a list forbids its words.
pub(super) fn negated(before: &str) -> bool {
    let before = before.to_lowercase();
    let passed =
        |word: &str| [REPLY, CHOICE, FILLERS, BETWEEN].iter().any(|words| words.contains(&word));
    back(&before).find(|word| !passed(word)).is_some_and(|word| NEGATIONS.contains(&word))
}

/// The words of the last clause of the text, the last word first.
fn back(before: &str) -> impl Iterator<Item = &str> {
    let rest = before.trim_end_matches([':', ' ', '(', '[', '"', '\'', '`', '*', '“', '‘']);
    let clause = rest.rsplit(['.', '!', '?', ',', ';', ':']).next().unwrap_or(rest);
    clause.rsplit(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’').filter(|w| !w.is_empty())
}
