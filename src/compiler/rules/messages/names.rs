//! Messages about names.

pub mod duplicate_name {
    //! Names that are declared twice but must be unique.

    use crate::rules::DUPLICATE_NAME;
    use crate::syntax::diagnostic::{Diagnostic, Severity};
    use crate::syntax::source::Span;

    /// A name that is declared twice; the first declaration counts.
    pub fn twice(what: &str, name: &str, span: Span, first: Span) -> Diagnostic {
        DUPLICATE_NAME
            .at(span, format!("{what} `{name}` is declared twice"))
            .label("declared again here")
            .related(first, "first declared here")
    }

    /// A name that a declaration of another kind has already.
    pub fn taken(name: &str, by: &str, span: Span, first: Span) -> Diagnostic {
        DUPLICATE_NAME.at(span, format!("`{name}` is {by} already")).related(first, "declared here")
    }

    /// Two charts with the same name, from different files, among the children of a chart.
    pub(crate) fn namesakes(name: &str, span: Span, first: Span, second: Span) -> Diagnostic {
        DUPLICATE_NAME.at(span, format!("with this, the chart runs two charts named `{name}`"))
            .related(first, "one of them")
            .related(second, "the other one")
            .help(
                "give one of them another name: charts that run together are told apart by their names",
            )
    }

    /// A chart that two imported files declare.
    pub(crate) fn imported_twice(name: &str, span: Span, first: Span, second: Span) -> Diagnostic {
        DUPLICATE_NAME
            .at(span, format!("two imported files have a chart `{name}`"))
            .related(first, "one of them")
            .related(second, "the other one")
            .help("give one of them another name, or import only one of the files")
    }

    /// A name that the language reserves.
    pub(crate) fn of_the_language(name: &str, what: &str, span: Span) -> Diagnostic {
        DUPLICATE_NAME
            .at(span, format!("`{name}` is {what} of the language"))
            .help("give it another name")
    }

    /// Two fields of an event with the same name.
    pub(crate) fn bound_twice(name: &str, span: Span, first: Span) -> Diagnostic {
        DUPLICATE_NAME.at(span, format!("`{name}` is bound twice")).related(first, "bound here")
    }

    /// A name that is ambiguous between a step and a state.
    pub(crate) fn step_and_state(name: &str, span: Span, step: Span, state: Span) -> Diagnostic {
        DUPLICATE_NAME
            .at(span, format!("`{name}` is a step and a state"))
            .related(step, "the step, which is taken")
            .related(state, "the state")
            .help("give one of them another name")
    }

    /// A name that means several things; `words` are the words of their kinds.
    pub(crate) fn several(name: &str, words: &[&str], span: Span) -> Diagnostic {
        let written: Vec<String> = words.iter().map(|word| format!("`{word} {name}`")).collect();
        DUPLICATE_NAME
            .at(span, format!("`{name}` has several meanings here"))
            .help(format!("write the kind before the name: {}", written.join(" or ")))
    }

    /// A key that occurs twice in a mapping; the last one counts, as in PyYAML.
    pub fn key(what: &str, name: &str, span: Span, lost: Span) -> Diagnostic {
        DUPLICATE_NAME
            .at(span, format!("`{name}` is given twice in {what}"))
            .label("this one counts")
            .related(lost, "this one is lost")
    }

    /// A component that an agent lists twice, or a step that a component lists twice; the first one counts.
    pub fn again(message: String, span: Span, first: Span) -> Diagnostic {
        let mut finding = DUPLICATE_NAME.at(span, message);
        finding.severity = Severity::Warning;
        finding.label("this one is left out").related(first, "this one counts")
    }
}

pub mod faulty_rename {
    //! `renamed_from` with a name that nothing can have been renamed from.

    use crate::rules::FAULTY_RENAME;
    use crate::syntax::diagnostic::Diagnostic;
    use crate::syntax::source::Span;

    /// An old name that is in use.
    pub(crate) fn still_there(what: &str, name: &str, span: Span, there: Span) -> Diagnostic {
        FAULTY_RENAME
            .at(span, format!("there is a {what} `{name}`, which was not renamed"))
            .related(there, "it is declared here")
            .help("leave `renamed_from` out, or give the other one a name that is new")
    }

    /// An old name that two things claim.
    pub fn twice(what: &str, name: &str, span: Span, first: Span) -> Diagnostic {
        FAULTY_RENAME
            .at(span, format!("two {what}s are renamed from `{name}`"))
            .related(first, "the first one")
            .help("keep it on the one with which the saved runs continue")
    }

    /// An old name that is the current one.
    pub fn itself(what: &str, name: &str, span: Span) -> Diagnostic {
        FAULTY_RENAME
            .at(span, format!("the {what} is called `{name}` now"))
            .help("leave `renamed_from` out")
    }
}

pub mod left_out {
    //! Parts of an SCXML document that have no effect and are left out.

    use crate::rules::LEFT_OUT;
    use crate::syntax::diagnostic::Diagnostic;
    use crate::syntax::source::Span;

    /// An element of another namespace among executable content.
    pub fn foreign(name: &str, span: Span) -> Diagnostic {
        LEFT_OUT.at(span, format!("`<{name}>` belongs to another namespace and is ignored"))
    }

    /// Text between elements.
    pub fn text(element: &str, span: Span) -> Diagnostic {
        LEFT_OUT.at(span, format!("text in `<{element}>` is ignored"))
    }

    /// A transition on an event that never occurs.
    pub fn never(event: &str, span: Span) -> Diagnostic {
        LEFT_OUT.at(span, format!("nothing raises `{event}`: no transition waits for it"))
    }

    /// A param that the invoked document does not declare.
    pub(crate) fn no_such_data(name: &str, span: Span) -> Diagnostic {
        LEFT_OUT
            .at(span, format!("the invoked document has no `<data>` called `{name}`"))
            .help("a param sets the first value of the `<data>` with its name; others are ignored")
    }

    /// A transition without event, target and content.
    pub fn idle(span: Span) -> Diagnostic {
        LEFT_OUT.at(span, "a transition without `event`, `target` and content does nothing")
    }
}

pub mod unknown_field {
    //! Keys and values of an `agent.yaml` that the format does not define.

    use crate::rules::UNKNOWN_FIELD;
    use crate::syntax::diagnostic::{Diagnostic, Severity, near};
    use crate::syntax::source::Span;

    /// A key that nothing reads. `renamed` is its name in this format; `known` are the keys that may be meant.
    pub fn key<'k>(
        what: &str,
        name: &str,
        span: Span,
        renamed: Option<&str>,
        known: impl IntoIterator<Item = &'k str>,
    ) -> Diagnostic {
        let finding = UNKNOWN_FIELD.at(span, format!("{what} has no key `{name}`"));
        if let Some(meant) = renamed {
            return finding.help(format!("write `{meant}`")).rename(name, meant, false);
        }
        finding.meant(name, near(name, known))
    }

    /// A key that belongs in another mapping, `home`.
    pub(crate) fn misplaced_key(what: &str, name: &str, span: Span, home: &str) -> Diagnostic {
        UNKNOWN_FIELD
            .at(span, format!("{what} has no key `{name}`"))
            .help(format!("it is a key of {home}: move it there"))
    }

    /// A value that the key does not accept and that would be read as something else.
    pub fn word(what: &str, name: &str, span: Span, known: &[&str]) -> Diagnostic {
        let quoted: Vec<String> = known.iter().map(|w| format!("`{w}`")).collect();
        let finding = UNKNOWN_FIELD
            .at(span, format!("{what} cannot be `{name}`"))
            .help(format!("write one of {}", quoted.join(", ")))
            .meant(name, near(name, known.iter().copied()));
        Diagnostic { severity: Severity::Error, ..finding }
    }

    /// An attribute that an SCXML element does not have.
    pub fn attribute<'k>(
        what: &str,
        name: &str,
        span: Span,
        known: impl IntoIterator<Item = &'k str>,
    ) -> Diagnostic {
        let finding = UNKNOWN_FIELD.at(span, format!("{what} has no attribute `{name}`"));
        finding.meant(name, near(name, known))
    }

    /// An element that is not allowed in its SCXML parent; `elsewhere` tells whether it is allowed in others.
    pub fn element<'k>(
        outer: &str,
        name: &str,
        span: Span,
        elsewhere: bool,
        known: impl IntoIterator<Item = &'k str>,
    ) -> Diagnostic {
        if elsewhere {
            return UNKNOWN_FIELD
                .at(span, format!("`<{name}>` is not allowed in `<{outer}>`: it is left out"));
        }
        let finding =
            UNKNOWN_FIELD.at(span, format!("SCXML has no element `<{name}>`: it is left out"));
        match near(name, known) {
            Some(near) => finding
                .help(format!("did you mean `<{}>`?", near.name))
                .rename(name, near.name, false),
            None => finding,
        }
    }

    /// An attribute, or an element, that SCXML requires.
    pub fn missing(element: &str, name: &str, span: Span) -> Diagnostic {
        UNKNOWN_FIELD.at(span, format!("`<{element}>` has no `{name}`"))
    }

    /// A value that is read as something else, or not at all.
    pub fn value(message: impl Into<String>, span: Span) -> Diagnostic {
        UNKNOWN_FIELD.at(span, message)
    }

    /// A root element that is not `scxml`.
    pub fn root(name: &str, span: Span) -> Diagnostic {
        let mut finding = UNKNOWN_FIELD
            .at(span, format!("`<{name}>` is not an SCXML document"))
            .help("the root is `<scxml xmlns=\"http://www.w3.org/2005/07/scxml\">`");
        finding.severity = Severity::Error;
        finding
    }

    /// A root element without the namespace.
    pub fn namespace(span: Span) -> Diagnostic {
        UNKNOWN_FIELD
            .at(span, "`<scxml>` names no namespace")
            .help("add `xmlns=\"http://www.w3.org/2005/07/scxml\"`")
    }
}

pub mod unknown_name {
    //! Undeclared names: of states, events, variables, steps, functions, tools, clients, types.

    use crate::rules::UNKNOWN_NAME;
    use crate::rules::names;
    use crate::syntax::diagnostic::{Diagnostic, Near, Rule, Severity, near};
    use crate::syntax::source::Span;

    /// A name that no declaration of this kind has; `known` are the names that may be meant.
    pub fn unknown<'k>(
        what: &str,
        name: &str,
        span: Span,
        known: Option<impl IntoIterator<Item = &'k str>>,
    ) -> Diagnostic {
        meant(UNKNOWN_NAME.at(span, format!("no {what} `{name}`")), name, known)
    }

    /// A name that no state has; `near` is the best guess.
    pub fn state(name: &str, span: Span, near: Option<Near<'_>>) -> Diagnostic {
        UNKNOWN_NAME.at(span, format!("no state `{name}`")).meant(name, near)
    }

    /// A name that reaches no state from here, although at least one state elsewhere has it: `paths` are the paths of those states.
    pub fn nested(name: &str, span: Span, paths: &[&str]) -> Diagnostic {
        if let [path] = paths {
            return UNKNOWN_NAME
                .at(span, format!("no state `{name}` here, only `{path}`"))
                .help(format!("write its path, `{path}`"))
                .rename(name, path, false);
        }
        UNKNOWN_NAME
            .at(
                span,
                format!("no state `{name}` here, but several of this name inside other states"),
            )
            .help(format!("write a path: {} have this name", names(paths.iter().copied())))
    }

    /// A name in the list of states that nothing uses: a misspelling of the name at `uses`.
    pub(crate) fn misnamed(listed: &str, span: Span, used: &str, uses: &[Span]) -> Diagnostic {
        let times = uses.len();
        let message = format!(
            "the state `{listed}` is named nowhere else, and `{used}` is named {times} times"
        );
        let finding = UNKNOWN_NAME.at(span, message).help(format!("did you mean `{used}`?"));
        uses.iter().take(6).fold(finding, |found, place| found.related(*place, "named here"))
    }

    /// A name that no child of the state has.
    pub fn child<'k>(
        outer: &str,
        name: &str,
        span: Span,
        known: impl IntoIterator<Item = &'k str>,
    ) -> Diagnostic {
        meant(UNKNOWN_NAME.at(span, format!("no state `{name}` in `{outer}`")), name, Some(known))
    }

    /// A name that no field of the record has.
    pub fn field<'k>(
        record: &str,
        name: &str,
        span: Span,
        known: impl IntoIterator<Item = &'k str>,
    ) -> Diagnostic {
        meant(UNKNOWN_NAME.at(span, format!("`{record}` has no field `{name}`")), name, Some(known))
    }

    /// A name that no value of the enum has.
    pub(crate) fn enum_value<'k>(
        owner: &str,
        name: &str,
        span: Span,
        known: impl IntoIterator<Item = &'k str>,
    ) -> Diagnostic {
        meant(
            UNKNOWN_NAME.at(span, format!("enum `{owner}` has no value `{name}`")),
            name,
            Some(known),
        )
    }

    /// An argument of an option that is read before the model has given it.
    pub(crate) fn not_given_yet(name: &str, span: Span) -> Diagnostic {
        UNKNOWN_NAME
            .at(span, format!("`{name}` has no value yet when this condition is evaluated"))
            .help("the arguments of an option, and the data of a question's event, are known later")
    }

    /// A name that code reads from the context without a default, and that only the host can set.
    pub(crate) fn to_be_given(name: &str, span: Span) -> Diagnostic {
        let finding = UNKNOWN_NAME
            .at(span, format!("nothing here sets `{name}`: the host has to give it"))
            .help(format!(
                "give it with `--input {name}=…`, or write `.get('{name}', …)` with a default"
            ));
        Diagnostic { severity: Severity::Note, ..finding }
    }

    /// A name that code reads from the context with a default, and that is similar to a known one.
    pub(crate) fn default_only(name: &str, near: &str, span: Span) -> Diagnostic {
        let finding = UNKNOWN_NAME
            .at(
                span,
                format!("nothing here sets `{name}`: unless the host gives it, it is its default"),
            )
            .help(format!("did you mean `{near}`?"));
        Diagnostic { severity: Severity::Note, ..finding }
    }

    /// A name that only conditions of an agent read; it becomes an input, which the host may set.
    pub(crate) fn condition_of_the_host(name: &str, decides: bool, span: Span) -> Diagnostic {
        let (is, default) =
            if decides { ("it is false", "false") } else { ("the condition is false", "null") };
        let finding = UNKNOWN_NAME
            .at(span, format!("nothing here sets `{name}`: {is} unless the host gives it"))
            .help(format!(
                "declare it with its default, `inputs: {{{name}: {default}}}`; `chartc run --input {name}=…` gives it"
            ));
        Diagnostic { severity: Severity::Warning, ..finding }
    }

    /// A name of the chart language that an agent's context does not have.
    pub(crate) fn not_in_context(name: &str, span: Span) -> Diagnostic {
        UNKNOWN_NAME.at(span, format!("`{name}` is not in the context"))
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

    /// A component in the list of an agent that does not exist; `help` says where it may be.
    pub fn component(kind: &str, name: &str, span: Span, help: String) -> Diagnostic {
        UNKNOWN_NAME.at(span, format!("no {kind} `{name}`")).help(help)
    }

    /// A name that is declared further down; `rule` is this rule or the one for placeholders.
    pub(crate) fn too_early(
        rule: &'static Rule,
        name: &str,
        span: Span,
        declared: Span,
    ) -> Diagnostic {
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
}

pub mod unloaded_components {
    //! Components that an agent lists and that no folder contains.

    use crate::rules::UNLOADED_COMPONENTS;
    use crate::syntax::diagnostic::Diagnostic;
    use crate::syntax::source::Span;

    /// The finding for all components of an agent, with their number.
    pub(crate) fn unloaded(count: usize, span: Span) -> Diagnostic {
        let message = match count {
            1 => "the component of this agent is not loaded".to_owned(),
            _ => format!("the {count} components of this agent are not loaded"),
        };
        UNLOADED_COMPONENTS.at(span, message).help("there is no `_components` folder beside the file or above it: the prompts lack what components add")
    }
}

pub mod unused_fragment {
    //! Components and system prompts that are part of no prompt.

    use crate::rules::UNUSED_FRAGMENT;
    use crate::syntax::diagnostic::{Diagnostic, Near, Severity};
    use crate::syntax::source::{Ident, Span};

    /// A component with `inject_into: []`.
    pub(crate) fn into_nothing(span: Span) -> Diagnostic {
        UNUSED_FRAGMENT.at(span, "`inject_into` names no step: the fragment goes into no prompt")
    }

    /// An item of `inject_into` with `always: false` and no condition.
    pub fn never(step: &str, span: Span) -> Diagnostic {
        UNUSED_FRAGMENT
            .at(span, format!("the fragment never goes into `{step}`"))
            .help("give the item an `if`, or remove it")
    }

    /// A fragment that is inserted into a step without a prompt.
    pub(crate) fn into_code(step: &Ident) -> Diagnostic {
        UNUSED_FRAGMENT.at(step.span, format!("`{}` is a code step: it has no prompt", step.node))
    }

    /// A fragment that is inserted into a step which the agent lacks. Only a note, unless `near` is a step with a similar name: a component
    /// that several agents share may name the steps of all of them.
    pub(crate) fn into_nowhere(step: &Ident, near: Option<Near<'_>>, listed: Span) -> Diagnostic {
        let message = format!("no step `{}`: the fragment does not go there", step.node);
        let mut finding = UNUSED_FRAGMENT.at(step.span, message);
        if near.is_none() {
            finding.severity = Severity::Note;
        }
        let finding = finding.meant(&step.node, near);
        finding.related(listed, "the agent that lists the component")
    }

    /// A component that names steps of other agents only, the first of them at `first`.
    pub fn of_others(listed: &Ident, first: Span) -> Diagnostic {
        UNUSED_FRAGMENT
            .at(listed.span, format!("`{}` goes into no step of this agent", listed.node))
            .related(first, "it names its steps here")
    }

    /// `rag` although nothing reads `memories`.
    pub fn memories(span: Span) -> Diagnostic {
        let finding = UNUSED_FRAGMENT
            .at(span, "nothing in this agent reads `memories`: what `rag` recalls is lost")
            .help("put `{memories}` into a prompt, or write `enabled: false`");
        Diagnostic { severity: Severity::Note, ..finding }
    }

    /// `system_prompt.md` without a placeholder for it.
    pub fn system_prompt(span: Span) -> Diagnostic {
        let message = "no prompt of this agent has `{system_prompt}`: this text is not sent";
        let mut finding = UNUSED_FRAGMENT.at(span, message);
        finding.severity = Severity::Note;
        finding
    }
}
