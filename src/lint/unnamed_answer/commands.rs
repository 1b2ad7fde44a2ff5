//! Words by which a prompt asks for an answer.

/// Verbs that ask for an answer in the words that follow.
const REPLY: &[&str] = &["answer", "respond", "reply"];

/// Verbs that may.
const CHOICE: &[&str] = &["choose", "say", "pick", "select", "return", "output", "write"];

/// What may stand between such a verb and the list.
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

/// Before a verb of [`REPLY`] these make it a noun.
const DETERMINERS: &[&str] = &[
    "the", "a", "an", "your", "this", "that", "its", "their", "his", "her", "my", "our", "each",
    "every", "any", "no", "which", "of",
];

/// Words that forbid what follows.
const NEGATIONS: &[&str] =
    &["not", "don't", "dont", "don’t", "never", "avoid", "without", "nor", "except", "cannot"];

/// What may stand between such a word and what it forbids, beside verbs and [`FILLERS`].
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

/// How sure it is that a list is one of answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lead {
    /// Nothing says so.
    None,
    /// Brackets within a text, or a verb that only tells how something is.
    Aside,
    /// A verb such as `choose`, or brackets at the end of the text.
    Choice,
    /// An instruction that means nothing else, such as `answer with a or b`.
    Reply,
}

/// Whether bare words that follow are a list of answers, and how sure that is; `says_or` is whether the list itself says `or`.
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

/// The words of the clause that a text ends with, from its end.
fn back(before: &str) -> impl Iterator<Item = &str> {
    let rest = before.trim_end_matches([':', ' ', '(', '[', '"', '\'', '`', '*', '“', '‘']);
    let clause = rest.rsplit(['.', '!', '?', ',', ';', ':']).next().unwrap_or(rest);
    clause.rsplit(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’').filter(|w| !w.is_empty())
}
