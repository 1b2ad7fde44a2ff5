//! How bad which findings are taken, as the user says.

use crate::diagnostic::{Diagnostic, Rule, Severity, nearest};
use crate::lint::rules;
use std::collections::BTreeMap;

/// Levels of single rules, and whether every warning is an error. Later options win over earlier ones of another kind in the order
/// `--allow`, `--warn`, `--deny`.
#[derive(Debug, Default)]
pub(super) struct Levels {
    rules: BTreeMap<&'static str, Option<Severity>>,
    deny_warnings: bool,
}

impl Levels {
    /// Reads the words of `--allow`, `--warn` and `--deny`.
    ///
    /// # Errors
    /// A word that is no code and no name, or an error of syntax, names, structure or data that is to be less than one.
    pub(super) fn of(allow: &[String], warn: &[String], deny: &[String]) -> miette::Result<Self> {
        let mut levels =
            Self { deny_warnings: deny.iter().any(|w| w == "warnings"), ..Self::default() };
        for word in allow {
            levels.rules.insert(softened(word)?.code, None);
        }
        for word in warn {
            levels.rules.insert(softened(word)?.code, Some(Severity::Warning));
        }
        for word in deny.iter().filter(|w| *w != "warnings") {
            levels.rules.insert(find(word)?.code, Some(Severity::Error));
        }
        Ok(levels)
    }

    /// Sets the severities, and leaves out what is allowed.
    pub(super) fn apply(&self, diagnostics: &mut Vec<Diagnostic>) {
        diagnostics.retain_mut(|found| {
            match self.rules.get(found.rule.code) {
                Some(None) => return false,
                Some(Some(severity)) => found.severity = *severity,
                None => {}
            }
            if self.deny_warnings && found.severity == Severity::Warning {
                found.severity = Severity::Error;
            }
            true
        });
    }
}

/// The rule that a code or a name means.
///
/// # Errors
/// With the nearest name, if there is none.
pub(super) fn find(word: &str) -> miette::Result<&'static Rule> {
    let all = rules();
    let name = word.replace('_', "-").to_lowercase();
    if let Some(rule) = all.iter().find(|r| r.code.eq_ignore_ascii_case(word) || r.name == name) {
        return Ok(rule);
    }
    let hint = match nearest(&name, all.iter().flat_map(|r| [r.code, r.name])) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`chartc explain --list` lists them".into(),
    };
    Err(miette::miette!(help = hint, "no finding is called `{word}`"))
}

/// A rule whose findings may count for less.
fn softened(word: &str) -> miette::Result<&'static Rule> {
    let rule = find(word)?;
    let firm = rule.severity == Severity::Error && !rule.code.starts_with("C03");
    if firm {
        let help = "what cannot be understood cannot be drawn, generated or run";
        return Err(miette::miette!(
            help = help,
            "{} ({}) is always an error",
            rule.code,
            rule.name
        ));
    }
    Ok(rule)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lint::reported::{SYNTAX, UNKNOWN_FIELD};
    use crate::span::Span;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|w| (*w).to_owned()).collect()
    }

    fn apply(levels: &Levels) -> Vec<(&'static str, Severity)> {
        let mut found =
            vec![SYNTAX.at(Span::default(), "a"), UNKNOWN_FIELD.at(Span::default(), "b")];
        levels.apply(&mut found);
        found.iter().map(|d| (d.rule.code, d.severity)).collect()
    }

    #[test]
    fn warnings_denied() {
        let levels = Levels::of(&[], &[], &words(&["warnings"])).expect("it is a word");
        assert_eq!(apply(&levels), [("C0001", Severity::Error), ("C0101", Severity::Error)]);
    }

    #[test]
    fn warning_allowed_by_name() {
        let levels = Levels::of(&words(&["unknown_field"]), &[], &[]).expect("it is a name");
        assert_eq!(apply(&levels), [("C0001", Severity::Error)]);
    }

    #[test]
    fn errors_of_syntax_stay() {
        let fault = Levels::of(&words(&["C0001"]), &[], &[]).expect_err("it is firm");
        assert_eq!(fault.to_string(), "C0001 (syntax) is always an error");
    }

    #[test]
    fn unknown_names_get_a_hint() {
        let fault = Levels::of(&[], &words(&["unknown-fild"]), &[]).expect_err("it is unknown");
        let help = fault.help().map(|h| h.to_string());
        assert_eq!(help.as_deref(), Some("did you mean `unknown-field`?"));
    }
}
