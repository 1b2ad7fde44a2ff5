//! Keys of an `agent.yaml` step that conflict, so that one has no effect.

use crate::diagnostic::{Diagnostic, Rule, Severity, Stage};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0006",
    name: "conflicting-fields",
    stage: Stage::Syntax,
    severity: Severity::Warning,
    page: include_str!("conflicting_fields.md"),
};

/// `transition_to` beside `transition_map`.
pub fn two_targets(to: Span, map: Span) -> Diagnostic {
    RULE.at(to, "a step has `transition_to` or `transition_map`, not both")
        .label("this one is not used")
        .related(map, "the map decides")
        .help("remove `transition_to`")
}

/// A key that steps of this type do not read.
pub fn means_nothing(key: &str, step: &str, span: Span) -> Diagnostic {
    RULE.at(span, format!("`{key}` has no effect on {step} step"))
}

/// `max_retries` with a policy that does not retry.
pub fn never_retried(policy: &str, retries: Span, on: Span) -> Diagnostic {
    RULE.at(retries, format!("nothing is retried: a failed step does `{policy}` at once"))
        .related(on, "so it is said here")
        .help("remove `max_retries`, or write `on_failure: retry`")
}

/// The `type` of a component does not match its folder.
pub fn other_kind(written: &str, kind: &str, folder: &str, span: Span) -> Diagnostic {
    RULE.at(span, format!("the file is in `{folder}`, so it is a {kind} and not a {written}"))
        .help(format!("move the file, or write `type: {kind}`"))
}

/// The `name` of a component does not match its file.
pub fn other_name(file: &str, span: Span) -> Diagnostic {
    RULE.at(span, format!("agents refer to this component as `{file}`, by its file name"))
}

/// `if` beside `always`.
pub fn always(condition: Span, always: Span) -> Diagnostic {
    RULE.at(condition, "`always` makes this condition useless")
        .related(always, "it counts")
        .help("remove one of them")
}

/// An older key beside the one that has taken its place.
pub fn older(old: &str, new: &str, span: Span) -> Diagnostic {
    RULE.at(span, format!("`{old}` has no effect beside `working_memory.{new}`"))
        .help(format!("remove `{old}`"))
}

/// Code sets a name that `inputs` declares.
pub fn input_set(name: &str, set: Span, declared: Span) -> Diagnostic {
    let finding = RULE
        .at(set, format!("`{name}` is an input, which only the host sets"))
        .related(declared, "declared here")
        .help("give what the code sets another name, or take the input out");
    Diagnostic { severity: Severity::Error, ..finding }
}

/// `keep` names an input.
pub fn input_kept(name: &str, kept: Span, declared: Span) -> Diagnostic {
    let finding = RULE
        .at(kept, format!("`{name}` is an input, which keeps its value until the host sets it"))
        .related(declared, "declared here")
        .help("remove it from `keep`, or from `inputs`");
    Diagnostic { severity: Severity::Error, ..finding }
}

/// `keep` names what no code sets.
pub fn kept_unset(name: &str, span: Span) -> Diagnostic {
    RULE.at(span, format!("no code step sets `{name}`, so there is nothing to keep"))
        .help("set it in a code step, or remove it from `keep`")
}
