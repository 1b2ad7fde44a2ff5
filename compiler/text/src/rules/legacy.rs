//! Parts of an `agent.yaml` that the original engine ignored or read differently.

use crate::diagnostic::{Diagnostic, Rule, Severity, Stage};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0405",
    name: "legacy",
    stage: Stage::Data,
    severity: Severity::Warning,
    page: include_str!("legacy.md"),
};

/// A word that YAML 1.1 reads as a boolean.
pub fn boolean(word: &str, means: &str, span: Span) -> Diagnostic {
    RULE.at(span, format!("PyYAML reads an unquoted `{word}` as {means}"))
        .help(format!("quote it: `\"{word}\"`"))
        .replace(span, format!("\"{word}\""), true)
}

/// `starting_credits`; `is_alone` tells whether there is no `starting_scrip` beside it.
pub fn credits(span: Span, is_alone: bool) -> Diagnostic {
    let finding =
        RULE.at(span, "the original reads `starting_scrip`: `starting_credits` had no effect");
    if is_alone {
        return finding.help("write `starting_scrip`").rename(
            "starting_credits",
            "starting_scrip",
            true,
        );
    }
    finding.help("remove it")
}

/// `error_handling` outside `workflow`.
pub fn outer_policy(span: Span) -> Diagnostic {
    RULE.at(span, "the original read `error_handling` inside of `workflow` only: there this one had no effect")
        .help("here it is read; move it into `workflow`")
}

/// A transition step with one target and no prompt.
pub fn ignored_answer(step: &str, span: Span) -> Diagnostic {
    RULE.at(
        span,
        format!("`{step}` calls the model and ignores the answer: it has no prompt and one target"),
    )
    .help("the original paid for this call; add a `transition_map`, or make it a code step")
}

/// A transition step without a map, so that its answer or other input decides nothing. `to` is its only target.
pub fn decides_nothing(step: &str, what: &str, to: Option<&str>, span: Span) -> Diagnostic {
    let moves = match to {
        Some(to) => format!("whatever {what}, it leads to `{to}`"),
        None => format!("{what} moves nothing"),
    };
    RULE.at(span, format!("`{step}` has no `transition_map`: {moves}"))
        .help("add a `transition_map` from answers to states")
}

/// `context` in a code step.
pub fn no_context(span: Span) -> Diagnostic {
    RULE.at(span, "the engine that most agents were written for has no `context` in code steps: the step failed there")
        .help("here it works; `locals().get(…)` works in both")
}

/// A context variable inside a comprehension.
pub fn unseen_inside(name: &str, span: Span) -> Diagnostic {
    RULE.at(span, format!("the engine that most agents were written for did not see `{name}` inside of a comprehension: the step failed there"))
        .help("here it is seen")
}
