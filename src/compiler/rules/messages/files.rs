//! Messages about files and syntax.

pub mod conflicting_fields {
    //! Keys of an `agent.yaml` step that conflict, so that one has no effect.

    use crate::rules::CONFLICTING_FIELDS;
    use crate::syntax::diagnostic::{Diagnostic, Severity};
    use crate::syntax::source::Span;

    /// `transition_to` beside `transition_map`.
    pub(crate) fn two_targets(to: Span, map: Span) -> Diagnostic {
        CONFLICTING_FIELDS
            .at(to, "a step has `transition_to` or `transition_map`, not both")
            .label("this one is not used")
            .related(map, "the map decides")
            .help("remove `transition_to`")
    }

    /// A key that steps of this type do not read.
    pub(crate) fn means_nothing(key: &str, step: &str, span: Span) -> Diagnostic {
        CONFLICTING_FIELDS.at(span, format!("`{key}` has no effect on {step} step"))
    }

    /// `max_retries` with a policy that does not retry.
    pub(crate) fn never_retried(policy: &str, retries: Span, on: Span) -> Diagnostic {
        CONFLICTING_FIELDS
            .at(retries, format!("nothing is retried: a failed step does `{policy}` at once"))
            .related(on, "so it is said here")
            .help("remove `max_retries`, or write `on_failure: retry`")
    }

    /// The `type` of a component does not match its folder.
    pub(crate) fn other_kind(written: &str, kind: &str, folder: &str, span: Span) -> Diagnostic {
        CONFLICTING_FIELDS
            .at(span, format!("the file is in `{folder}`, so it is a {kind} and not a {written}"))
            .help(format!("move the file, or write `type: {kind}`"))
    }

    /// The `name` of a component does not match its file.
    pub(crate) fn other_name(file: &str, span: Span) -> Diagnostic {
        CONFLICTING_FIELDS
            .at(span, format!("agents refer to this component as `{file}`, by its file name"))
    }

    /// A condition (`if`) beside `always`.
    pub fn always(condition: Span, always: Span) -> Diagnostic {
        CONFLICTING_FIELDS
            .at(condition, "`always` makes this condition useless")
            .related(always, "it counts")
            .help("remove one of them")
    }

    /// An older key beside the one that has taken its place.
    pub fn older(old: &str, new: &str, span: Span) -> Diagnostic {
        CONFLICTING_FIELDS
            .at(span, format!("`{old}` has no effect beside `working_memory.{new}`"))
            .help(format!("remove `{old}`"))
    }

    /// A name that `inputs` declares and that code sets.
    pub(crate) fn input_set(name: &str, set: Span, declared: Span) -> Diagnostic {
        let finding = CONFLICTING_FIELDS
            .at(set, format!("`{name}` is an input, which only the host sets"))
            .related(declared, "declared here")
            .help("give what the code sets another name, or take the input out");
        Diagnostic { severity: Severity::Error, ..finding }
    }

    /// An input under `keep`.
    pub(crate) fn input_kept(name: &str, kept: Span, declared: Span) -> Diagnostic {
        let finding = CONFLICTING_FIELDS
            .at(kept, format!("`{name}` is an input, which keeps its value until the host sets it"))
            .related(declared, "declared here")
            .help("remove it from `keep`, or from `inputs`");
        Diagnostic { severity: Severity::Error, ..finding }
    }

    /// A name under `keep` that no code sets.
    pub(crate) fn kept_unset(name: &str, span: Span) -> Diagnostic {
        CONFLICTING_FIELDS
            .at(span, format!("no code step sets `{name}`, so there is nothing to keep"))
            .help("set it in a code step, or remove it from `keep`")
    }
}

pub mod disguised_name {
    //! Names that look like something else.

    use crate::rules::DISGUISED_NAME;
    use crate::syntax::diagnostic::Diagnostic;
    use crate::syntax::source::Ident;
    use chartc_core::visible;

    /// A name that contains invisible characters.
    pub fn hides(what: &str, name: &Ident) -> Diagnostic {
        let shown = visible::line(&name.node);
        DISGUISED_NAME
            .at(name.span, format!("the name of this {what} hides a character: it is `{shown}`"))
            .help("take the hidden character out, here and where the name is used")
    }

    /// A name with a word that mixes scripts. `plain` is its ASCII look-alike, if there is one.
    pub fn mixes(
        what: &str,
        name: &Ident,
        scripts: (&str, &str),
        plain: Option<&str>,
    ) -> Diagnostic {
        let (node, spelled) = (&name.node, spelled(&name.node));
        let (one, other) = scripts;
        let found = DISGUISED_NAME.at(
            name.span,
            format!("{what} `{node}` mixes {one} and {other} letters: it is `{spelled}`"),
        );
        match plain {
            Some(plain) => {
                found.help(format!("it looks like `{plain}`: write it with letters of one script"))
            }
            None => found.help("write it with letters of one script"),
        }
    }

    /// A name that looks the same as another one.
    pub(crate) fn looks_like(
        what: &str,
        name: &Ident,
        other_is: &str,
        other: &Ident,
    ) -> Diagnostic {
        let (node, shown) = (&name.node, spelled(&name.node));
        let (twin, twin_shown) = (&other.node, spelled(&other.node));
        let twin_shown =
            if *twin == twin_shown { String::new() } else { format!(", which is `{twin_shown}`") };
        DISGUISED_NAME.at(
            name.span,
            format!("{what} `{node}` is `{shown}` and looks like {other_is} `{twin}`{twin_shown}"),
        )
        .related(other.span, format!("{other_is} `{twin}` stands here"))
        .help(
            "if one thing is meant, write it with the same letters everywhere; else rename one of them",
        )
    }

    /// Spells a name, with escapes for the letters that are not ASCII.
    fn spelled(name: &str) -> String {
        let mut out = String::new();
        for c in name.chars() {
            if c.is_ascii() && !c.is_ascii_control() {
                out.push(c);
            } else {
                visible::escape(c, &mut out);
            }
        }
        out
    }
}

pub mod empty_file {
    //! Empty files.

    use crate::rules::EMPTY_FILE;
    use crate::syntax::diagnostic::Diagnostic;
    use crate::syntax::source::Span;

    /// A file that contains only blanks and comments.
    pub fn empty(path: &str, is_agent: bool, span: Span) -> Diagnostic {
        let help = if is_agent {
            "an agent begins with `id: name`"
        } else {
            "a chart is written `chart Name { … }`"
        };
        EMPTY_FILE.at(span, format!("`{path}` is empty")).help(help)
    }
}

pub mod faulty_allow {
    //! Malformed `allow` comments.

    use crate::rules::FAULTY_ALLOW;
    use crate::syntax::diagnostic::{Diagnostic, Rule};
    use crate::syntax::source::Span;

    /// A comment for chartc that is not of the form `allow(…)`.
    pub fn form(span: Span) -> Diagnostic {
        FAULTY_ALLOW
            .at(span, "chartc does not understand this comment")
            .help("write `chartc: allow(CODE) reason`, with one code or name or more")
    }

    /// A code or name that no rule has.
    pub fn unknown(word: &str, near: Option<&str>, span: Span) -> Diagnostic {
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`chartc explain --list` lists them".to_owned(),
        };
        FAULTY_ALLOW.at(span, format!("no rule is named `{word}`")).help(help)
    }

    /// A rule whose findings are always errors.
    pub fn firm(rule: &Rule, span: Span) -> Diagnostic {
        FAULTY_ALLOW
            .at(span, format!("{} ({}) is always an error", rule.code, rule.name))
            .help("what cannot be understood cannot be drawn, generated or run")
    }

    /// An `allow` without a reason.
    pub(crate) fn unreasoned(span: Span) -> Diagnostic {
        FAULTY_ALLOW
            .at(span, "this gives no reason for suppressing the finding")
            .help("write the reason after the `)`, for later readers")
    }
}

pub mod import_cycle {
    //! Files that import each other in a cycle.

    use crate::rules::IMPORT_CYCLE;
    use crate::syntax::diagnostic::Diagnostic;
    use crate::syntax::source::Span;

    /// The import that closes the cycle; `names` lists the files of the cycle, with the first one again at the end.
    pub fn cycle(names: &[&str], span: Span) -> Diagnostic {
        IMPORT_CYCLE
            .at(span, format!("files import each other in a cycle: `{}`", names.join("` → `")))
            .help("move what both need into a third file that imports neither")
    }
}

pub mod lost_division {
    //! Python's `//` division, which is a comment here.

    use crate::rules::LOST_DIVISION;
    use crate::syntax::diagnostic::Diagnostic;
    use crate::syntax::source::Span;

    /// A comment that reads like a divisor, including its slashes.
    pub fn comment(text: &str, span: Span) -> Diagnostic {
        let divisor = text.trim_start_matches('/').trim();
        LOST_DIVISION
            .at(span, format!("`{text}` is a comment, and nothing is divided"))
            .help(format!("write `div {divisor}`, or reword the comment"))
    }
}

pub mod misleading_text {
    //! Texts, comments and docs that do not mean what they look like.

    use crate::rules::MISLEADING_TEXT;
    use crate::syntax::diagnostic::{Diagnostic, Severity};
    use crate::syntax::source::Span;
    use chartc_core::visible;

    /// An unescaped character in a file.
    pub fn raw(c: char, span: Span) -> Diagnostic {
        let mut shown = String::new();
        visible::escape(c, &mut shown);
        let why = if visible::is_direction(c) {
            "changes the direction of the text around it, so it does not read as it looks"
        } else if visible::is_control(c) {
            "is a control character, which a terminal obeys"
        } else {
            "is invisible, but a model reads it"
        };
        MISLEADING_TEXT
            .at(span, format!("`{shown}` {why}"))
            .help("take it out, or write its escape in a text between quotes if it is meant")
    }

    /// A character that would be in a comment or a doc, so that the file cannot be formatted. An error or a warning.
    pub fn unwritable(c: char, span: Span, is_error: bool) -> Diagnostic {
        let mut shown = String::new();
        visible::escape(c, &mut shown);
        let message = format!("comments and docs have no escape for `{shown}`");
        let mut found =
            MISLEADING_TEXT.at(span, message).help("take it out of the comment or the doc");
        if is_error {
            found.severity = Severity::Error;
        }
        found
    }
}

pub mod missing_field {
    //! Mappings of an `agent.yaml` without a required key.

    use crate::rules::MISSING_FIELD;
    use crate::syntax::diagnostic::{Diagnostic, Severity};
    use crate::syntax::source::Span;

    /// A mapping without a required key; `message` says what it needs, as in "a step needs a `name`".
    pub fn lacks(message: &str, span: Span) -> Diagnostic {
        MISSING_FIELD.at(span, message)
    }

    /// A step without `type`, which makes it a code step; `meant` is the type that its keys suggest, if it has no code.
    pub(crate) fn untyped(step: &str, meant: Option<&str>, span: Span) -> Diagnostic {
        let Some(meant) = meant else {
            let finding =
                MISSING_FIELD.at(span, format!("`{step}` has no `type`: it is a code step"));
            return Diagnostic { severity: Severity::Note, ..finding.help("add `type: code`") };
        };
        MISSING_FIELD
            .at(span, format!("`{step}` has no `type`: that is a code step, and it has no `code`"))
            .help(format!("add `type: {meant}`"))
    }
}

pub mod refused_file {
    //! Files that are not read, because nobody named them on the command line.

    use crate::rules::REFUSED_FILE;
    use crate::syntax::diagnostic::Diagnostic;
    use crate::syntax::source::Span;

    /// A file that is imported by another, or read together with it.
    pub fn refused(path: &str, why: &str, cure: &str, span: Span) -> Diagnostic {
        REFUSED_FILE.at(span, format!("`{path}` is not read: {why}")).help(cure.to_owned())
    }
}

pub mod syntax {
    //! Syntax errors.

    use crate::rules::SYNTAX;
    use crate::syntax::diagnostic::Diagnostic;
    use crate::syntax::source::Span;

    /// A token in a place where another one was expected.
    pub fn expected(what: &str, found: &str, span: Span) -> Diagnostic {
        SYNTAX.at(span, format!("expected {what}, found {found}"))
    }
}

pub mod unreadable_file {
    //! Files that could not be read.

    use crate::rules::UNREADABLE_FILE;
    use crate::syntax::diagnostic::Diagnostic;
    use crate::syntax::source::Span;

    /// A file that was named on the command line.
    pub(crate) fn asked_for(path: &str, why: &str, span: Span) -> Diagnostic {
        UNREADABLE_FILE.at(span, format!("`{path}` cannot be read: {why}"))
    }

    /// A file that is imported.
    pub fn imported(path: &str, why: &str, span: Span) -> Diagnostic {
        asked_for(path, why, span).help("a path is relative to the folder of the importing file")
    }
}

pub mod unused_allow {
    //! `allow` comments that suppress nothing.

    use crate::rules::UNUSED_ALLOW;
    use crate::syntax::diagnostic::{Diagnostic, Rule};
    use crate::syntax::source::Span;

    /// An `allow` of `rule` that applies to a line in which the rule has no finding.
    pub fn at(rule: &Rule, span: Span) -> Diagnostic {
        UNUSED_ALLOW
            .at(span, format!("there is no {} ({}) to allow here", rule.code, rule.name))
            .help("remove it, or put it into the line of the finding or right above that line")
    }
}

pub mod used_up_budget {
    //! Tests that `chartc check` does not finish, and transitions that it does not compare completely, because the budget for all of them
    //! is used up.

    use crate::rules::USED_UP_BUDGET;
    use crate::syntax::diagnostic::Diagnostic;
    use crate::syntax::source::Span;

    /// Tests of a file that were not finished: their number, and the place of the first one.
    pub fn unplayed(first: Span, tests: usize) -> Diagnostic {
        let message = match tests {
            1 => "this test was not played to its end: the tests of one check take too many steps"
                .to_owned(),
            tests => format!(
                "{tests} tests, from this one on, were not played to their end: the tests of one check take too many steps"
            ),
        };
        USED_UP_BUDGET.at(first, message).help(
            "play them with `chartc test`, where each has a budget of its own, or let them make fewer turns; `--no-tests` plays none",
        )
    }

    /// Transitions of a chart that were not compared with all those of descendants: their number, and the place of the first one.
    pub(crate) fn uncompared(first: Span, lines: usize) -> Diagnostic {
        let message = match lines {
            1 => "this line was not compared with all lines of the states below: the chart has too many of both".to_owned(),
            lines => format!(
                "{lines} lines, from this one on, were not compared with all lines of the states below: the chart has too many of both"
            ),
        };
        USED_UP_BUDGET.at(first, message).help("whether other lines hide them is not known")
    }
}

pub mod wrong_type {
    //! YAML values of the wrong type or shape for an agent.

    use crate::rules::WRONG_TYPE;
    use crate::syntax::diagnostic::Diagnostic;
    use crate::syntax::source::Span;

    /// A value of the wrong kind.
    pub fn value(what: &str, wanted: &str, found: &str, span: Span) -> Diagnostic {
        WRONG_TYPE.at(span, format!("{what} must be {wanted}, not {found}"))
    }

    /// A number or a boolean where a text is expected.
    pub fn unquoted(what: &str, found: &str, written: &str, span: Span) -> Diagnostic {
        value(what, "a text", found, span).help(format!("quote it: `\"{written}\"`"))
    }
}
