//! The messages of rules that need no analysis. Those of the others are in `lint`.
//!
//! Each rule has a module of its name, with one function for each message. Its arguments are names as the author wrote them, and spans:
//! `unknown_name::state("opn", span, near)` returns the finding "no state `opn`" at `span`, with the help "did you mean `open`?" and a fix.
//! Messages are lower case and without a full stop; user text is in backticks.
//!
//! Messages about files and about names are in `files` and `names`. Those here are about states, behaviour and tests, then about steps,
//! prompts, data and generated code, both in the order of the names of their rules. A new rule gets a module in one of these four places.

mod files;
mod names;

pub use files::{
    conflicting_fields, disguised_name, empty_file, faulty_allow, import_cycle, lost_division,
    misleading_text, missing_field, refused_file, syntax, unreadable_file, unused_allow,
    used_up_budget, wrong_type,
};
pub use names::{
    duplicate_name, faulty_rename, left_out, unknown_field, unknown_name, unloaded_components,
    unused_fragment,
};

// Messages about states, and of the rules of behaviour and tests that need no analysis.

pub mod disabled_agent {
    //! Agents that are not run.

    use super::super::DISABLED_AGENT;
    use crate::syntax::diagnostic::Diagnostic;
    use crate::syntax::source::Span;

    /// `enabled: false`.
    pub fn told(span: Span) -> Diagnostic {
        DISABLED_AGENT
            .at(span, "`chartc run` does not run this agent: it is not enabled")
            .help("write `enabled: true`, or run it with `--even-disabled`")
    }
}

pub mod endless_run {
    //! Charts that run each other recursively without end.

    use super::super::ENDLESS_RUN;
    use crate::syntax::diagnostic::Diagnostic;
    use crate::syntax::source::Span;

    /// A `step` that runs its own chart, directly or indirectly.
    pub fn found(step: &str, is_own: bool, span: Span) -> Diagnostic {
        let what = if is_own { "its own chart" } else { "a chart that runs this one" };
        ENDLESS_RUN
            .at(span, format!("`{step}` always runs {what}: there is no end to it"))
            .help("say when with `if`, for example by a param that counts down")
    }
}

pub mod failed_test {
    //! Failed tests of a chart, reported when tests are run.

    use super::super::FAILED_TEST;
    use crate::syntax::diagnostic::Diagnostic;
    use crate::syntax::source::Span;

    /// A failed expectation of the test called `name`.
    pub fn failed(name: &str, why: &str, span: Span) -> Diagnostic {
        FAILED_TEST.at(span, format!("{name}: {why}"))
    }
}

pub mod hidden_step {
    //! Steps that no turn reaches, because its model calls are used up or an earlier step has ended it.

    use super::super::HIDDEN_STEP;
    use crate::syntax::diagnostic::{Diagnostic, Severity};
    use crate::syntax::source::Span;

    /// An action of an `agent.yaml` step that follows a model step. Any answer of the model except `noop` ends the turn before it.
    pub(crate) fn only_after_noop(
        step: &str,
        model: &str,
        span: Span,
        earlier: Span,
    ) -> Diagnostic {
        let message = format!("`{step}` runs only if `{model}` answers with the action `noop`");
        let finding =
            HIDDEN_STEP.at(span, message).related(earlier, "any other action ends the turn");
        let help = "a world executes the action that the model has chosen; remove the step, or put it first";
        Diagnostic { severity: Severity::Note, ..finding.help(help) }
    }
}

pub mod illegal_structure {
    //! Targets that cannot be active together, and transitions, states or steps where they are not allowed.

    use super::super::ILLEGAL_STRUCTURE;
    use crate::syntax::diagnostic::{Diagnostic, Fix, Pending};
    use crate::syntax::source::Span;

    /// A second declaration where only one is allowed.
    pub fn second(what: &str, span: Span, first: Span) -> Diagnostic {
        ILLEGAL_STRUCTURE.at(span, format!("a second {what}")).related(first, "the first one")
    }

    /// An item that a final state cannot have.
    pub(crate) fn in_final(what: &str, name: &str, span: Span, declared: Span) -> Diagnostic {
        ILLEGAL_STRUCTURE
            .at(span, format!("{what} is not allowed in the final state `{name}`"))
            .related(declared, "it is final")
            .help("a final state has `enter`, `exit` and `advice` only")
    }

    /// A transition of a final state.
    pub(crate) fn line_in_final(name: &str, span: Span, declared: Span) -> Diagnostic {
        ILLEGAL_STRUCTURE
            .at(span, format!("a line is not allowed in the final state `{name}`"))
            .related(declared, "it is final")
            .help("a final state is never left; make it a `state`, or put the line elsewhere")
    }

    /// A history state without siblings.
    pub(crate) fn history_of_nothing(span: Span) -> Diagnostic {
        ILLEGAL_STRUCTURE
            .at(span, "a history state in a state without children records nothing")
            .help("declare the states that it should remember beside it")
    }

    /// A history whose default is not among the states that it can restore.
    pub(crate) fn history_default(
        name: &str,
        outer: &str,
        span: Span,
        declared: Span,
    ) -> Diagnostic {
        ILLEGAL_STRUCTURE
            .at(span, format!("the default of history `{name}` is not a state inside `{outer}`"))
            .related(declared, "it is declared here")
            .help(format!("name a state inside `{outer}` that is not a history"))
    }

    /// A parallel without children.
    pub(crate) fn no_regions(name: &str, span: Span) -> Diagnostic {
        ILLEGAL_STRUCTURE
            .at(span, format!("parallel `{name}` has no regions"))
            .help("give it a child state for each region, or make it a `state`")
    }

    /// A final state that is a region.
    pub(crate) fn final_region(span: Span) -> Diagnostic {
        ILLEGAL_STRUCTURE
            .at(span, "a final state cannot be a region of a parallel")
            .help("put it inside one of the regions")
    }

    /// An `initial` where there is no state inside; `what` is a chart or a state.
    pub(crate) fn initial_of_nothing(what: &str, span: Span) -> Diagnostic {
        ILLEGAL_STRUCTURE
            .at(span, format!("`initial` names a state inside this {what}, and there is none"))
            .help(format!("declare a state inside the {what}, or remove this line"))
    }

    /// An `initial` in a state that is not compound.
    pub(crate) fn initial_in(place: &str, span: Span) -> Diagnostic {
        ILLEGAL_STRUCTURE.at(span, format!("`initial` is not allowed in {place}")).help("remove it")
    }

    /// An `initial` that names a state which is not a descendant; `first` is a descendant.
    pub(crate) fn initial_outside(
        path: &str,
        outer: &str,
        first: &str,
        span: Span,
        declared: Span,
    ) -> Diagnostic {
        ILLEGAL_STRUCTURE
            .at(span, format!("`{path}` is not inside `{outer}`"))
            .related(declared, "it is declared here")
            .help(format!("name a state inside `{outer}`, such as `{first}`"))
    }

    /// Two targets of a transition that are never active together.
    pub fn apart(a: &str, b: &str, second: Span, first: Span) -> Diagnostic {
        let (message, help) = if a == b {
            (format!("`{a}` is named twice"), "remove one of the two")
        } else {
            let help = "the targets of one line must be in different regions of one parallel";
            (format!("`{a}` and `{b}` cannot be entered together"), help)
        };
        ILLEGAL_STRUCTURE.at(second, message).related(first, "the other target").help(help)
    }

    /// A state in `from` that is never active together with the source.
    pub(crate) fn from_elsewhere(
        path: &str,
        outer: &str,
        span: Span,
        declared: Span,
    ) -> Diagnostic {
        let message = format!(
            "this `from` belongs to `{outer}`, and `{path}` is never active while `{outer}` is"
        );
        ILLEGAL_STRUCTURE.at(span, message)
            .related(declared, "it is declared here")
            .help(format!("name a state inside `{outer}`, or move the `from` into a state that contains `{path}`, or to the top of the chart"))
    }

    /// A history in `from`.
    pub(crate) fn history_in_from(path: &str, span: Span, declared: Span) -> Diagnostic {
        ILLEGAL_STRUCTURE
            .at(span, format!("the history `{path}` is never active, so `from` cannot name it"))
            .related(declared, "it is declared here")
            .help("name the state that contains it, or the states that it remembers")
    }

    /// The help for a `when` transition that does nothing.
    pub(crate) const GIVE_TARGET: &str =
        "give it `-> state`, or actions that make its condition false";

    /// A `when` transition without targets and actions.
    pub(crate) fn idle_when(span: Span, help: &str) -> Diagnostic {
        ILLEGAL_STRUCTURE
            .at(span, "this `when` line has no target and no actions: it does nothing")
            .help(help)
    }

    /// An `ask` without `else`.
    pub(crate) fn no_else(ask: &str, name: Span) -> Diagnostic {
        let message = format!("`ask {ask}` does not say what happens without a usable answer");
        let help = "add `else stay`, which keeps the state, or `else` and a state to enter";
        let mut finding = ILLEGAL_STRUCTURE.at(name, message).help(help);
        let edits = vec![(name, " else stay".to_owned())];
        finding.fix =
            Some(Box::new(Fix { edits, pending: Some(Pending::BeforeBody), is_safe: true }));
        finding
    }
}

pub mod missing_initial {
    //! A compound state or chart without `initial`.

    use super::super::MISSING_INITIAL;
    use crate::syntax::diagnostic::Diagnostic;
    use crate::syntax::source::Span;

    /// A chart or a state (`what`) that has children and no `initial`; `first` is the first child.
    pub fn lacking(what: &str, name: &str, first: &str, span: Span) -> Diagnostic {
        MISSING_INITIAL
            .at(span, format!("{what} `{name}` does not say which state it starts in"))
            .help(format!("add `initial {first}`"))
    }
}

pub mod needless_except {
    //! Redundant exceptions of a `from`.

    use super::super::NEEDLESS_EXCEPT;
    use crate::syntax::diagnostic::Diagnostic;
    use crate::syntax::source::Span;

    /// A state that every transition of the `from` excludes anyway.
    pub fn left_out(name: &str, is_final: bool, span: Span) -> Diagnostic {
        let why = if is_final { "final states are" } else { "the target of a line is" };
        NEEDLESS_EXCEPT
            .at(span, format!("`except {name}` changes nothing: {why} left out anyway"))
            .help("remove it, unless it is there for the reader")
    }
}

// Messages about steps, prompts and data, and about what cannot be generated or run.

pub mod faulty_expression {
    //! Expressions of an SCXML document that always fail.

    use super::super::FAULTY_EXPRESSION;
    use crate::syntax::diagnostic::Diagnostic;
    use crate::syntax::source::Span;

    /// An expression that always fails; `why` is the whole message.
    pub fn at(span: Span, why: impl Into<String>) -> Diagnostic {
        FAULTY_EXPRESSION.at(span, why)
    }
}

pub mod forbidden_tool {
    //! Tools that the model may call although its prompt forbids them.

    use super::super::FORBIDDEN_TOOL;
    use crate::syntax::diagnostic::Diagnostic;
    use crate::syntax::source::Span;

    /// The finding about one name in the prompt of `step`.
    pub fn named(tool: &str, step: &str, at: Span) -> Diagnostic {
        let message = format!("the prompt of {step} forbids `{tool}`, which it offers");
        FORBIDDEN_TOOL.at(at, message).help(
            "take the tool out of what is offered there: what is not offered cannot be called",
        )
    }
}

pub mod idle_assignment {
    //! Assignments that change nothing.

    use super::super::IDLE_ASSIGNMENT;
    use crate::syntax::diagnostic::Diagnostic;
    use crate::syntax::source::Span;

    /// The value is the variable itself.
    pub fn unchanged(name: &str, span: Span) -> Diagnostic {
        IDLE_ASSIGNMENT
            .at(span, format!("this changes nothing: `{name}` is set to what it is"))
            .help("correct the value, or remove the assignment")
    }
}

pub mod legacy {
    //! Parts of an `agent.yaml` that the original engine ignored or read differently.

    use super::super::LEGACY;
    use crate::syntax::diagnostic::Diagnostic;
    use crate::syntax::source::Span;

    /// A word that YAML 1.1 reads as a boolean.
    pub fn boolean(word: &str, means: &str, span: Span) -> Diagnostic {
        LEGACY
            .at(span, format!("PyYAML reads an unquoted `{word}` as {means}"))
            .help(format!("quote it: `\"{word}\"`"))
            .replace(span, format!("\"{word}\""), true)
    }

    /// `starting_credits`; `is_alone` tells whether there is no `starting_scrip` beside it.
    pub fn credits(span: Span, is_alone: bool) -> Diagnostic {
        let finding = LEGACY
            .at(span, "the original reads `starting_scrip`: `starting_credits` had no effect");
        if is_alone {
            return finding.help("write `starting_scrip`").rename(
                "starting_credits",
                "starting_scrip",
                true,
            );
        }
        finding.help("remove it")
    }

    /// `error_handling` outside of `workflow`.
    pub(crate) fn outer_policy(span: Span) -> Diagnostic {
        LEGACY.at(span, "the original read `error_handling` inside of `workflow` only: there this one had no effect")
            .help("here it is read; move it into `workflow`")
    }

    /// A transition step with one target and no prompt.
    pub(crate) fn ignored_answer(step: &str, span: Span) -> Diagnostic {
        LEGACY.at(
            span,
            format!("`{step}` calls the model and ignores the answer: it has no prompt and one target"),
        )
        .help("the original paid for this call; add a `transition_map`, or make it a code step")
    }

    /// A transition step without a map, so that its answer or other input decides nothing. `to` is its only target.
    pub(crate) fn decides_nothing(
        step: &str,
        what: &str,
        to: Option<&str>,
        span: Span,
    ) -> Diagnostic {
        let moves = match to {
            Some(to) => format!("whatever {what}, it leads to `{to}`"),
            None => format!("{what} moves nothing"),
        };
        LEGACY
            .at(span, format!("`{step}` has no `transition_map`: {moves}"))
            .help("add a `transition_map` from answers to states")
    }

    /// `context` in a code step.
    pub(crate) fn no_context(span: Span) -> Diagnostic {
        LEGACY.at(span, "the engine that most agents were written for has no `context` in code steps: the step failed there")
            .help("here it works; `locals().get(…)` works in both")
    }

    /// A context variable inside a comprehension.
    pub(crate) fn unseen_inside(name: &str, span: Span) -> Diagnostic {
        LEGACY.at(span, format!("the engine that most agents were written for did not see `{name}` inside of a comprehension: the step failed there"))
            .help("here it is seen")
    }
}

pub mod misfit_input {
    //! Inputs that cannot hold what a world supplies under their name.

    use super::super::MISFIT_INPUT;
    use crate::syntax::diagnostic::Diagnostic;
    use crate::syntax::source::Span;

    /// An input `name` of type `ty`. `supplied` is what a world supplies; `why` is appended to the message.
    pub fn told(name: &str, ty: &str, supplied: &str, why: &str, span: Span) -> Diagnostic {
        let message = format!("in a world, `{name}` is {supplied}, which `{ty}` cannot hold{why}");
        MISFIT_INPUT.at(span, message)
    }
}

pub mod name_clash {
    //! Names that become the same Rust identifier. A warning of `check`; when Rust is generated, states get a number, and other clashes are
    //! errors.

    use super::super::NAME_CLASH;
    use crate::syntax::diagnostic::Diagnostic;
    use crate::syntax::source::Span;

    /// Two names of the same kind that become the same identifier.
    pub(crate) fn idents(
        what: &str,
        (name, span): (&str, Span),
        (other, place): (&str, Span),
        ident: &str,
    ) -> Diagnostic {
        let help = match what {
            "state" => {
                "rename one of the two: in generated code the second has a number after its name"
            }
            _ => "rename one of the two",
        };
        NAME_CLASH
            .at(span, format!("{what}s `{other}` and `{name}` are both `{ident}` in Rust"))
            .help(help)
            .related(place, format!("{what} `{other}` stands here"))
    }

    /// Two charts of a file that become the same module.
    pub fn modules(module: &str, span: Span, other: Span) -> Diagnostic {
        NAME_CLASH
            .at(span, format!("two charts are both module `{module}` in Rust"))
            .related(other, "the other one")
    }
}

pub mod outside_subset {
    //! A part of an SCXML document that is not translated.

    use super::super::OUTSIDE_SUBSET;
    use crate::syntax::diagnostic::Diagnostic;
    use crate::syntax::source::Span;

    /// A part of a document that is not translated; `why` is the whole message.
    pub fn at(span: Span, why: impl Into<String>) -> Diagnostic {
        OUTSIDE_SUBSET.at(span, why)
    }
}

pub mod read_before_set {
    //! Variables of a turn that are read before the turn sets them.

    use super::super::READ_BEFORE_SET;
    use crate::syntax::diagnostic::Diagnostic;
    use crate::syntax::source::Span;

    /// A variable of an `agent.yaml` that code reads before the turn sets it.
    pub(crate) fn not_kept(name: &str, span: Span) -> Diagnostic {
        let message =
            format!("`{name}` is never set here: what code sets lasts until the turn ends");
        READ_BEFORE_SET.at(span, message).help(keep(name))
    }

    /// The help for letting a variable last from turn to turn.
    pub fn keep(name: &str) -> String {
        format!(
            "to keep it from turn to turn, write `keep: {{{name}: …}}` with its first value under `workflow`"
        )
    }
}

pub mod refused_code {
    //! Code steps of an `agent.yaml` that use what safe evaluation refuses.

    use super::super::REFUSED_CODE;
    use crate::syntax::diagnostic::Diagnostic;
    use crate::syntax::source::Span;

    /// A function or name that is not available to code of an agent.
    pub(crate) fn not_available(name: &str, span: Span) -> Diagnostic {
        REFUSED_CODE.at(span, format!("`{name}` is not available here"))
    }
}

pub mod type_error {
    //! Expressions whose type does not fit.

    use super::super::TYPE_ERROR;
    use crate::syntax::diagnostic::Diagnostic;
    use crate::syntax::source::Span;

    /// One type where another is expected.
    pub fn mismatch(want: &str, found: &str, span: Span) -> Diagnostic {
        TYPE_ERROR.at(span, format!("expected `{want}`, found `{found}`"))
    }

    /// An assignment to a param or an input.
    pub(crate) fn read_only(
        what: &str,
        name: &str,
        why: &str,
        span: Span,
        declared: Span,
    ) -> Diagnostic {
        TYPE_ERROR
            .at(span, format!("{what} `{name}` cannot be assigned to"))
            .related(declared, "declared here")
            .help(format!("{why}; keep the value in a `var`"))
    }

    /// A name without a constant value where a constant is expected.
    pub(crate) fn not_here(name: &str, why: &str, span: Span) -> Diagnostic {
        TYPE_ERROR.at(span, format!("`{name}` cannot be read here")).help(why)
    }
}

pub mod unescaped_brace {
    //! Braces of a prompt that are neither part of a placeholder nor doubled.

    use super::super::UNESCAPED_BRACE;
    use crate::syntax::diagnostic::{Diagnostic, Fix, Pending};
    use crate::syntax::source::Span;

    /// A brace that is neither doubled nor part of a placeholder; `why` says what it lacks.
    pub fn stray(why: &str, span: Span) -> Diagnostic {
        let mut finding = UNESCAPED_BRACE
            .at(span, why)
            .help("write `{{` and `}}` for braces that are meant as such");
        let edits = vec![(span, String::new())];
        finding.fix = Some(Box::new(Fix { edits, pending: Some(Pending::Braces), is_safe: false }));
        finding
    }
}

pub mod unknown_placeholder {
    //! Placeholders of a prompt that name nothing in scope.

    use super::super::UNKNOWN_PLACEHOLDER;
    use crate::syntax::diagnostic::{Diagnostic, Severity, near};
    use crate::syntax::source::Span;

    /// `{options}` in a text that is not the prompt of an `ask`.
    pub(crate) fn options_elsewhere(span: Span) -> Diagnostic {
        UNKNOWN_PLACEHOLDER.at(span, "`{options}` is allowed only in the prompt of an `ask`")
    }

    /// A placeholder in the query for an agent's memory. The query still works without it, so this is a warning.
    pub(crate) fn in_query<'k>(
        name: &str,
        span: Span,
        is_step: bool,
        known: impl IntoIterator<Item = &'k str>,
    ) -> Diagnostic {
        let mut finding = UNKNOWN_PLACEHOLDER.at(
            span,
            format!("`{name}` adds nothing to the query: nothing before a turn has that name"),
        );
        finding.severity = Severity::Warning;
        if is_step {
            return finding.help("the answer of a step is there only after the query");
        }
        finding.meant(name, near(name, known))
    }
}

pub mod unmapped_answer {
    //! Words that a prompt offers as answers and that nothing handles.

    use super::super::UNMAPPED_ANSWER;
    use crate::rules;
    use crate::syntax::diagnostic::{Diagnostic, nearest};
    use crate::syntax::source::Span;

    /// The decision of a step on failure, for which its `transition_map` has no key; `map` is the span of the map.
    pub fn fallback<'k>(
        value: &str,
        map: Span,
        said: Span,
        known: impl Iterator<Item = &'k str> + Clone,
    ) -> Diagnostic {
        let message =
            format!("`{value}` is no key of the map: the state stays when the call fails");
        let help = match nearest(value, known.clone()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                format!(
                    "map `{value}` to a state, or let `fallback` be one of {}",
                    rules::names(known)
                )
            }
        };
        UNMAPPED_ANSWER.at(map, message).related(said, "the `fallback`").help(help)
    }
}
