//! Undeclared names: of states, events, variables, steps, functions, tools, clients, types.

use super::prose::names;
use crate::diagnostic::{Diagnostic, Near, Rule, Severity, Stage, near};
use crate::span::Span;

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0102",
    name: "unknown-name",
    stage: Stage::Names,
    severity: Severity::Error,
    page: include_str!("unknown_name.md"),
};

/// No declaration of this kind has the name; `known` are the names that may be meant.
pub fn unknown<'k>(
    what: &str,
    name: &str,
    span: Span,
    known: Option<impl IntoIterator<Item = &'k str>>,
) -> Diagnostic {
    meant(RULE.at(span, format!("no {what} `{name}`")), name, known)
}

/// No state has the name; `near` is the best guess.
pub fn state(name: &str, span: Span, near: Option<Near<'_>>) -> Diagnostic {
    RULE.at(span, format!("no state `{name}`")).meant(name, near)
}

/// The name alone reaches no state from here, but these states, at least one, have it: their `paths`.
pub fn nested(name: &str, span: Span, paths: &[&str]) -> Diagnostic {
    if let [path] = paths {
        return RULE
            .at(span, format!("no state `{name}` here, only `{path}`"))
            .help(format!("write its path, `{path}`"))
            .rename(name, path, false);
    }
    RULE.at(span, format!("no state `{name}` here, but several of this name inside other states"))
        .help(format!("write a path: {} have this name", names(paths.iter().copied())))
}

/// The list of states contains a name that nothing uses, a misspelling of the name at `uses`.
pub fn misnamed(listed: &str, span: Span, used: &str, uses: &[Span]) -> Diagnostic {
    let times = uses.len();
    let message =
        format!("the state `{listed}` is named nowhere else, and `{used}` is named {times} times");
    let finding = RULE.at(span, message).help(format!("did you mean `{used}`?"));
    uses.iter().take(6).fold(finding, |found, place| found.related(*place, "named here"))
}

/// The state has no child of this name.
pub fn child<'k>(
    outer: &str,
    name: &str,
    span: Span,
    known: impl IntoIterator<Item = &'k str>,
) -> Diagnostic {
    meant(RULE.at(span, format!("no state `{name}` in `{outer}`")), name, Some(known))
}

/// The record has no field of this name.
pub fn field<'k>(
    record: &str,
    name: &str,
    span: Span,
    known: impl IntoIterator<Item = &'k str>,
) -> Diagnostic {
    meant(RULE.at(span, format!("`{record}` has no field `{name}`")), name, Some(known))
}

/// The enum has no value of this name.
pub fn enum_value<'k>(
    owner: &str,
    name: &str,
    span: Span,
    known: impl IntoIterator<Item = &'k str>,
) -> Diagnostic {
    meant(RULE.at(span, format!("enum `{owner}` has no value `{name}`")), name, Some(known))
}

/// An argument of an option, read before the model has given it.
pub fn not_given_yet(name: &str, span: Span) -> Diagnostic {
    RULE.at(span, format!("`{name}` has no value yet when the option is offered"))
        .help("arguments of an option are known in its actions and target, not in its `if`")
}

/// A name that code reads from the context without a default, and that only the host can set.
pub fn to_be_given(name: &str, span: Span) -> Diagnostic {
    let finding =
        RULE.at(span, format!("nothing here sets `{name}`: the host has to give it")).help(
            format!("give it with `--input {name}=…`, or write `.get('{name}', …)` with a default"),
        );
    Diagnostic { severity: Severity::Note, ..finding }
}

/// A name that code reads from the context with a default, and that is similar to a known one.
pub fn default_only(name: &str, near: &str, span: Span) -> Diagnostic {
    let finding = RULE
        .at(
            span,
            format!("nothing here sets `{name}`: unless the host gives it, it is its default"),
        )
        .help(format!("did you mean `{near}`?"));
    Diagnostic { severity: Severity::Note, ..finding }
}

/// A name that only conditions of an agent read; it becomes an input, which the host may set.
pub fn condition_of_the_host(name: &str, decides: bool, span: Span) -> Diagnostic {
    let (is, default) =
        if decides { ("it is false", "false") } else { ("the condition is false", "null") };
    let finding = RULE
        .at(span, format!("nothing here sets `{name}`: {is} unless the host gives it"))
        .help(format!(
            "declare it with its default, `inputs: {{{name}: {default}}}`; `chartc run --input {name}=…` gives it"
        ));
    Diagnostic { severity: Severity::Warning, ..finding }
}

/// A name of the chart language that an agent's context does not have.
pub fn not_in_context(name: &str, span: Span) -> Diagnostic {
    RULE.at(span, format!("`{name}` is not in the context"))
}

/// Like [`not_in_context`], for a name that a component requires.
pub fn required<'k>(
    name: &str,
    span: Span,
    known: impl IntoIterator<Item = &'k str>,
    listed: Span,
) -> Diagnostic {
    meant(not_in_context(name, span), name, Some(known))
        .related(listed, "the agent that lists the component")
}

/// An unknown component in the list of an agent; `help` says where it may be.
pub fn component(kind: &str, name: &str, span: Span, help: String) -> Diagnostic {
    RULE.at(span, format!("no {kind} `{name}`")).help(help)
}

/// A name that is declared further down; `rule` is this one or the one for placeholders.
pub fn too_early(rule: &'static Rule, name: &str, span: Span, declared: Span) -> Diagnostic {
    rule.at(span, format!("`{name}` cannot be read before it is declared"))
        .related(declared, "declared here")
        .help("move its declaration up")
}

fn meant<'k>(
    finding: Diagnostic,
    name: &str,
    known: Option<impl IntoIterator<Item = &'k str>>,
) -> Diagnostic {
    let near = known.and_then(|known| near(name, known));
    finding.meant(name, near)
}
