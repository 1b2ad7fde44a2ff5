//! Messages about steps, prompts and data, and about what cannot be generated or run.

pub mod faulty_expression {
    //! Expressions of an SCXML document that always fail.

    use crate::diagnostic::Diagnostic;
    use crate::rules::FAULTY_EXPRESSION;
    use crate::span::Span;

    /// An expression that always fails; `why` is the whole message.
    pub fn at(span: Span, why: impl Into<String>) -> Diagnostic {
        FAULTY_EXPRESSION.at(span, why)
    }
}

pub mod forbidden_tool {
    //! Tools that the model may call although its prompt forbids them.

    use crate::diagnostic::Diagnostic;
    use crate::rules::FORBIDDEN_TOOL;
    use crate::span::Span;

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

    use crate::diagnostic::Diagnostic;
    use crate::rules::IDLE_ASSIGNMENT;
    use crate::span::Span;

    /// The value is the variable itself.
    pub fn unchanged(name: &str, span: Span) -> Diagnostic {
        IDLE_ASSIGNMENT
            .at(span, format!("this changes nothing: `{name}` is set to what it is"))
            .help("correct the value, or remove the assignment")
    }
}

pub mod legacy {
    //! Parts of an `agent.yaml` that the original engine ignored or read differently.

    use crate::diagnostic::Diagnostic;
    use crate::rules::LEGACY;
    use crate::span::Span;

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
    pub fn outer_policy(span: Span) -> Diagnostic {
        LEGACY.at(span, "the original read `error_handling` inside of `workflow` only: there this one had no effect")
            .help("here it is read; move it into `workflow`")
    }

    /// A transition step with one target and no prompt.
    pub fn ignored_answer(step: &str, span: Span) -> Diagnostic {
        LEGACY.at(
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
        LEGACY
            .at(span, format!("`{step}` has no `transition_map`: {moves}"))
            .help("add a `transition_map` from answers to states")
    }

    /// `context` in a code step.
    pub fn no_context(span: Span) -> Diagnostic {
        LEGACY.at(span, "the engine that most agents were written for has no `context` in code steps: the step failed there")
            .help("here it works; `locals().get(…)` works in both")
    }

    /// A context variable inside a comprehension.
    pub fn unseen_inside(name: &str, span: Span) -> Diagnostic {
        LEGACY.at(span, format!("the engine that most agents were written for did not see `{name}` inside of a comprehension: the step failed there"))
            .help("here it is seen")
    }
}

pub mod misfit_input {
    //! Inputs that cannot hold what a world supplies under their name.

    use crate::diagnostic::Diagnostic;
    use crate::rules::MISFIT_INPUT;
    use crate::span::Span;

    /// An input `name` of type `ty`. `supplied` is what a world supplies; `why` is appended to the message.
    pub fn told(name: &str, ty: &str, supplied: &str, why: &str, span: Span) -> Diagnostic {
        let message = format!("in a world, `{name}` is {supplied}, which `{ty}` cannot hold{why}");
        MISFIT_INPUT.at(span, message)
    }
}

pub mod name_clash {
    //! Names that become the same Rust identifier. A warning of `check`; when Rust is generated, states get a number, and other clashes are
    //! errors.

    use crate::diagnostic::Diagnostic;
    use crate::rules::NAME_CLASH;
    use crate::span::Span;

    /// Two names of the same kind that become the same identifier.
    pub fn idents(
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

    use crate::diagnostic::Diagnostic;
    use crate::rules::OUTSIDE_SUBSET;
    use crate::span::Span;

    /// A part of a document that is not translated; `why` is the whole message.
    pub fn at(span: Span, why: impl Into<String>) -> Diagnostic {
        OUTSIDE_SUBSET.at(span, why)
    }
}

pub mod read_before_set {
    //! Variables of a turn that are read before the turn sets them.

    use crate::diagnostic::Diagnostic;
    use crate::rules::READ_BEFORE_SET;
    use crate::span::Span;

    /// A variable of an `agent.yaml` that code reads before the turn sets it.
    pub fn not_kept(name: &str, span: Span) -> Diagnostic {
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

    use crate::diagnostic::Diagnostic;
    use crate::rules::REFUSED_CODE;
    use crate::span::Span;

    /// A function or name that is not available to code of an agent.
    pub fn not_available(name: &str, span: Span) -> Diagnostic {
        REFUSED_CODE.at(span, format!("`{name}` is not available here"))
    }
}

pub mod type_error {
    //! Expressions whose type does not fit.

    use crate::diagnostic::Diagnostic;
    use crate::rules::TYPE_ERROR;
    use crate::span::Span;

    /// One type where another is expected.
    pub fn mismatch(want: &str, found: &str, span: Span) -> Diagnostic {
        TYPE_ERROR.at(span, format!("expected `{want}`, found `{found}`"))
    }

    /// An assignment to a param or an input.
    pub fn read_only(what: &str, name: &str, why: &str, span: Span, declared: Span) -> Diagnostic {
        TYPE_ERROR
            .at(span, format!("{what} `{name}` cannot be assigned to"))
            .related(declared, "declared here")
            .help(format!("{why}; keep the value in a `var`"))
    }

    /// A name without a constant value where a constant is expected.
    pub fn not_here(name: &str, why: &str, span: Span) -> Diagnostic {
        TYPE_ERROR.at(span, format!("`{name}` cannot be read here")).help(why)
    }
}

pub mod unescaped_brace {
    //! Braces of a prompt that are neither part of a placeholder nor doubled.

    use crate::diagnostic::{Diagnostic, Fix, Pending};
    use crate::rules::UNESCAPED_BRACE;
    use crate::span::Span;

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

    use crate::diagnostic::{Diagnostic, Severity, near};
    use crate::rules::UNKNOWN_PLACEHOLDER;
    use crate::span::Span;

    /// `{options}` in a text that is not the prompt of an `ask`.
    pub fn options_elsewhere(span: Span) -> Diagnostic {
        UNKNOWN_PLACEHOLDER.at(span, "`{options}` is allowed only in the prompt of an `ask`")
    }

    /// A placeholder in the query for an agent's memory. The query still works without it, so this is a warning.
    pub fn in_query<'k>(
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

    use crate::diagnostic::{Diagnostic, nearest};
    use crate::rules::UNMAPPED_ANSWER;
    use crate::rules::prose;
    use crate::span::Span;

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
                    prose::names(known)
                )
            }
        };
        UNMAPPED_ANSWER.at(map, message).related(said, "the `fallback`").help(help)
    }
}
