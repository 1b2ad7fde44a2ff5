//! Charts with words exchanged at random: what the compiler's parser still reads, this one reads.

use crate::{compiles, fault, files};
use proptest::prelude::*;

/// Words of the language and what stands between them. Each may be a name somewhere.
const WORDS: &[&str] = &[
    "import",
    "type",
    "enum",
    "chart",
    "fn",
    "do",
    "tool",
    "tools",
    "client",
    "component",
    "test",
    "state",
    "on",
    "when",
    "may",
    "after",
    "each",
    "initial",
    "final",
    "llm",
    "ask",
    "code",
    "call",
    "human",
    "run",
    "from",
    "enter",
    "exit",
    "allow",
    "advice",
    "limits",
    "parallel",
    "history",
    "var",
    "param",
    "input",
    "event",
    "pred",
    "check",
    "defaults",
    "trace",
    "meta",
    "done",
    "error",
    "doubt",
    "limit",
    "turn",
    "turns",
    "stay",
    "to",
    "as",
    "into",
    "at",
    "with",
    "warn",
    "per",
    "deep",
    "reenter",
    "any",
    "all",
    "entry",
    "events",
    "idempotent",
    "renamed_from",
    "raise",
    "send",
    "cancel",
    "log",
    "given",
    "set",
    "wait",
    "answers",
    "fails",
    "expect",
    "ended",
    "offered",
    "only",
    "denied",
    "called",
    "asked",
    "contains",
    "of",
    "prompt",
    "returns",
    "timeout",
    "retry",
    "skip",
    "fail",
    "ends",
    "up",
    "enough",
    "a",
    "time",
    "if",
    "then",
    "else",
    "for",
    "in",
    "not",
    "and",
    "or",
    "div",
    "none",
    "true",
    "before",
    "except",
    "start",
    "end",
    "P",
    "x",
    "`q`",
    "1",
    "2.5",
    "30s",
    "\"t\"",
    "\"a {x:>3} {{\"",
    "\"\"\"b {x}\"\"\"",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "{ }",
    ",",
    ":",
    ".",
    "->",
    "=",
    "==",
    "*",
    "**",
    "|",
    "-",
    "..",
    "?",
    "??",
    "+",
    "/",
    "%",
    "<",
    "// c\n",
    "(x)",
    "P { a: 1 }",
    "P { }",
    "x = 1",
    "-> a",
    "-> a.b(1)",
    "if x",
    "f(x)",
    "on done(a)",
    "on error.*",
    "4 at a time",
];

/// A text cut into words, texts, comments, blanks and single characters.
fn pieces(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = if word(first) {
            rest.find(|c| !word(c)).unwrap_or(rest.len())
        } else if let Some(inner) = rest.strip_prefix("\"\"\"") {
            inner.find("\"\"\"").map_or(rest.len(), |n| n + 6)
        } else if first == '"' {
            rest[1..].find(['"', '\n']).map_or(rest.len(), |n| n + 2).min(rest.len())
        } else if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let length =
            (length..=rest.len()).find(|n| rest.is_char_boundary(*n)).unwrap_or(rest.len());
        found.push(&rest[..length]);
        rest = &rest[length..];
    }
    found
}

/// How many charts are changed.
fn cases() -> u32 {
    std::env::var("CHARTC_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(300)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_changed_chart_that_compiles_has_no_fault(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec(
            (any::<prop::sample::Index>(), 0..3_u8, prop::sample::select(WORDS)), 1..3,
        ),
    ) {
        let charts = files::some();
        let text = &charts[which.index(charts.len())];
        let mut pieces = pieces(text);
        for (at, how, word) in changes {
            let full: Vec<usize> =
                (0..pieces.len()).filter(|n| !pieces[*n].trim().is_empty()).collect();
            let at = full[at.index(full.len())];
            match how {
                0 => pieces[at] = word,
                1 => pieces.insert(at, word),
                _ => pieces[at] = "",
            }
            if how == 1 {
                pieces.insert(at + 1, " ");
            }
        }
        let text = pieces.concat();
        if compiles(&text) {
            let fault = fault(&text);
            prop_assert!(fault.is_none(), "{}\n{text}", fault.unwrap_or_default());
        }
    }
}

/// A piece of each chart left out, at several places: what the compiler's parser refuses then has a fault here, mostly.
#[test]
fn a_chart_that_lacks_a_word_is_mostly_marked() {
    let (mut refused, mut unmarked) = (0, Vec::new());
    for text in files::some() {
        let pieces = pieces(text);
        let full: Vec<usize> =
            (0..pieces.len()).filter(|n| !pieces[*n].trim().is_empty()).collect();
        for at in full.iter().step_by(full.len() / 4 + 1) {
            let mut left = pieces.clone();
            left[*at] = "";
            let text = left.concat();
            if !compiles(&text) {
                refused += 1;
                if fault(&text).is_none() {
                    unmarked.push(format!("without {:?}:\n{text}", pieces[*at]));
                }
            }
        }
    }
    println!("{} of {refused} are marked", refused - unmarked.len());
    assert!(refused > 300, "only {refused} are refused");
    assert!(
        unmarked.len() * 50 <= refused,
        "{} of {refused}: {}",
        unmarked.len(),
        unmarked.join("\n")
    );
}
