//! Messages about states, and of the rules of behaviour and tests that need no analysis.

pub mod disabled_agent {
    //! Agents that are not run.

    use crate::diagnostic::Diagnostic;
    use crate::rules::DISABLED_AGENT;
    use crate::span::Span;

    /// `enabled: false`.
    pub fn told(span: Span) -> Diagnostic {
        DISABLED_AGENT
            .at(span, "`chartc run` does not run this agent: it is not enabled")
            .help("write `enabled: true`, or run it with `--even-disabled`")
    }
}

pub mod endless_run {
    //! Charts that run each other recursively without end.

    use crate::diagnostic::Diagnostic;
    use crate::rules::ENDLESS_RUN;
    use crate::span::Span;

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

    use crate::diagnostic::Diagnostic;
    use crate::rules::FAILED_TEST;
    use crate::span::Span;

    /// A failed expectation of the test called `name`.
    pub fn failed(name: &str, why: &str, span: Span) -> Diagnostic {
        FAILED_TEST.at(span, format!("{name}: {why}"))
    }
}

pub mod hidden_step {
    //! Steps that no turn reaches, because its model calls are used up or an earlier step has ended it.

    use crate::diagnostic::{Diagnostic, Severity};
    use crate::rules::HIDDEN_STEP;
    use crate::span::Span;

    /// An action of an `agent.yaml` step that follows a model step. Any answer of the model except `noop` ends the turn before it.
    pub fn only_after_noop(step: &str, model: &str, span: Span, earlier: Span) -> Diagnostic {
        let message = format!("`{step}` runs only if `{model}` answers with the action `noop`");
        let finding =
            HIDDEN_STEP.at(span, message).related(earlier, "any other action ends the turn");
        let help = "a world executes the action that the model has chosen; remove the step, or put it first";
        Diagnostic { severity: Severity::Note, ..finding.help(help) }
    }
}

pub mod illegal_structure {
    //! Targets that cannot be active together, and transitions, states or steps where they are not allowed.

    use crate::diagnostic::{Diagnostic, Fix, Pending};
    use crate::rules::ILLEGAL_STRUCTURE;
    use crate::span::Span;

    /// A second declaration where only one is allowed.
    pub fn second(what: &str, span: Span, first: Span) -> Diagnostic {
        ILLEGAL_STRUCTURE.at(span, format!("a second {what}")).related(first, "the first one")
    }

    /// An item that a final state cannot have.
    pub fn in_final(what: &str, name: &str, span: Span, declared: Span) -> Diagnostic {
        ILLEGAL_STRUCTURE
            .at(span, format!("{what} is not allowed in the final state `{name}`"))
            .related(declared, "it is final")
            .help("a final state has `enter`, `exit` and `advice` only")
    }

    /// A transition of a final state.
    pub fn line_in_final(name: &str, span: Span, declared: Span) -> Diagnostic {
        ILLEGAL_STRUCTURE
            .at(span, format!("a line is not allowed in the final state `{name}`"))
            .related(declared, "it is final")
            .help("a final state is never left; make it a `state`, or put the line elsewhere")
    }

    /// A history state without siblings.
    pub fn history_of_nothing(span: Span) -> Diagnostic {
        ILLEGAL_STRUCTURE
            .at(span, "a history state in a state without children records nothing")
            .help("declare the states that it should remember beside it")
    }

    /// A history whose default is not among the states that it can restore.
    pub fn history_default(name: &str, outer: &str, span: Span, declared: Span) -> Diagnostic {
        ILLEGAL_STRUCTURE
            .at(span, format!("the default of history `{name}` is not a state inside `{outer}`"))
            .related(declared, "it is declared here")
            .help(format!("name a state inside `{outer}` that is not a history"))
    }

    /// A parallel without children.
    pub fn no_regions(name: &str, span: Span) -> Diagnostic {
        ILLEGAL_STRUCTURE
            .at(span, format!("parallel `{name}` has no regions"))
            .help("give it a child state for each region, or make it a `state`")
    }

    /// A final state that is a region.
    pub fn final_region(span: Span) -> Diagnostic {
        ILLEGAL_STRUCTURE
            .at(span, "a final state cannot be a region of a parallel")
            .help("put it inside one of the regions")
    }

    /// An `initial` where there is no state inside; `what` is a chart or a state.
    pub fn initial_of_nothing(what: &str, span: Span) -> Diagnostic {
        ILLEGAL_STRUCTURE
            .at(span, format!("`initial` names a state inside this {what}, and there is none"))
            .help(format!("declare a state inside the {what}, or remove this line"))
    }

    /// An `initial` in a state that is not compound.
    pub fn initial_in(place: &str, span: Span) -> Diagnostic {
        ILLEGAL_STRUCTURE.at(span, format!("`initial` is not allowed in {place}")).help("remove it")
    }

    /// An `initial` that names a state which is not a descendant; `first` is a descendant.
    pub fn initial_outside(
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
    pub fn from_elsewhere(path: &str, outer: &str, span: Span, declared: Span) -> Diagnostic {
        let message = format!(
            "this `from` belongs to `{outer}`, and `{path}` is never active while `{outer}` is"
        );
        ILLEGAL_STRUCTURE.at(span, message)
            .related(declared, "it is declared here")
            .help(format!("name a state inside `{outer}`, or move the `from` into a state that contains `{path}`, or to the top of the chart"))
    }

    /// A history in `from`.
    pub fn history_in_from(path: &str, span: Span, declared: Span) -> Diagnostic {
        ILLEGAL_STRUCTURE
            .at(span, format!("the history `{path}` is never active, so `from` cannot name it"))
            .related(declared, "it is declared here")
            .help("name the state that contains it, or the states that it remembers")
    }

    /// The help for a `when` transition that does nothing.
    pub const GIVE_TARGET: &str = "give it `-> state`, or actions that make its condition false";

    /// A `when` transition without targets and actions.
    pub fn idle_when(span: Span, help: &str) -> Diagnostic {
        ILLEGAL_STRUCTURE
            .at(span, "this `when` line has no target and no actions: it does nothing")
            .help(help)
    }

    /// An `ask` without `else`.
    pub fn no_else(ask: &str, name: Span) -> Diagnostic {
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

    use crate::diagnostic::Diagnostic;
    use crate::rules::MISSING_INITIAL;
    use crate::span::Span;

    /// A chart or a state (`what`) that has children and no `initial`; `first` is the first child.
    pub fn lacking(what: &str, name: &str, first: &str, span: Span) -> Diagnostic {
        MISSING_INITIAL
            .at(span, format!("{what} `{name}` does not say which state it starts in"))
            .help(format!("add `initial {first}`"))
    }
}

pub mod needless_except {
    //! Redundant exceptions of a `from`.

    use crate::diagnostic::Diagnostic;
    use crate::rules::NEEDLESS_EXCEPT;
    use crate::span::Span;

    /// A state that every transition of the `from` excludes anyway.
    pub fn left_out(name: &str, is_final: bool, span: Span) -> Diagnostic {
        let why = if is_final { "final states are" } else { "the target of a line is" };
        NEEDLESS_EXCEPT
            .at(span, format!("`except {name}` changes nothing: {why} left out anyway"))
            .help("remove it, unless it is there for the reader")
    }
}
