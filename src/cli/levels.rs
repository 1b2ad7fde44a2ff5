//! The levels of rules that the user sets.

use chartc_text::diagnostic::{Diagnostic, Rule, Severity};
use chartc_text::rules::named;
use chartc_text::span::FileId;
use std::collections::BTreeMap;

/// The levels of single rules, and whether every warning is an error. `--deny` overrides `--warn`, which overrides `--allow`.
#[derive(Debug, Clone, Default)]
pub(super) struct Levels {
    rules: BTreeMap<&'static str, Option<Severity>>,
    deny_warnings: Option<bool>,
}

impl Levels {
    /// Adds the values of `--allow`, `--warn` and `--deny`.
    ///
    /// # Errors
    /// As [`Levels::set`].
    pub(super) fn add(
        &mut self,
        allow: &[String],
        warn: &[String],
        deny: &[String],
    ) -> miette::Result<()> {
        // The later option wins, so the order gives `--deny` precedence.
        for (level, words) in [("allow", allow), ("warn", warn), ("deny", deny)] {
            for word in words {
                self.set(word, level)?;
            }
        }
        Ok(())
    }

    /// Overrides these levels by those that `other` sets.
    pub(super) fn override_by(&mut self, other: &Self) {
        self.rules.extend(&other.rules);
        self.deny_warnings = other.deny_warnings.or(self.deny_warnings);
    }

    /// Sets the level of a rule, by code or name, to `allow`, `warn` or `deny`. For `warnings`, `deny` makes every warning an error, and
    /// `warn` undoes this.
    ///
    /// # Errors
    /// The word is neither a code nor a name, or the level is lower than an error and the rule is about syntax, names, structure or data.
    pub(super) fn set(&mut self, word: &str, level: &str) -> miette::Result<()> {
        if word == "warnings" && level != "allow" {
            self.deny_warnings = Some(level == "deny");
            return Ok(());
        }
        let (rule, severity) = match level {
            "allow" => (softened(word)?, None),
            "warn" => (softened(word)?, Some(Severity::Warning)),
            _ => (find(word)?, Some(Severity::Error)),
        };
        self.rules.insert(rule.code, severity);
        Ok(())
    }

    /// Whether findings of the rule are left out.
    pub(super) fn is_off(&self, rule: &Rule) -> bool {
        self.rules.get(rule.code).is_some_and(Option::is_none)
    }
}

/// Adds the findings of `silent` whose rules are turned on, sets the levels of all findings, and removes those that are allowed. `of`
/// returns the levels of a file.
pub(super) fn apply<'l>(
    of: impl Fn(FileId) -> &'l Levels,
    diagnostics: &mut Vec<Diagnostic>,
    silent: Vec<Diagnostic>,
) {
    let level = |d: &Diagnostic| of(d.span.file).rules.get(d.rule.code).copied();
    let told = diagnostics.len();
    diagnostics.extend(silent.into_iter().filter(|d| level(d).flatten().is_some()));
    if diagnostics.len() > told {
        diagnostics.sort_by_key(|d| (d.span, d.rule.code));
    }
    diagnostics.retain_mut(|found| {
        match level(found) {
            Some(None) => return false,
            Some(Some(severity)) => found.severity = severity,
            None => {}
        }
        let denies = of(found.span.file).deny_warnings == Some(true);
        if denies && found.severity == Severity::Warning {
            found.severity = Severity::Error;
        }
        true
    });
}

/// The rule with this code or name.
///
/// # Errors
/// No rule has this code or name. The help names the nearest.
pub(super) fn find(word: &str) -> miette::Result<&'static Rule> {
    named(word).map_err(|near| {
        let hint = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`chartc explain --list` lists them".into(),
        };
        miette::miette!(help = hint, "no rule is named `{word}`")
    })
}

/// Finds a rule whose level can be lowered.
fn softened(word: &str) -> miette::Result<&'static Rule> {
    let rule = find(word)?;
    if rule.is_firm() {
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
    use chartc_text::rules::{SYNTAX, UNKNOWN_FIELD};
    use chartc_text::span::Span;

    static OFF: Rule = Rule {
        code: "C0317",
        name: "unbounded-wait",
        stage: chartc_text::diagnostic::Stage::Behaviour,
        severity: Severity::Off,
        page: "",
    };

    fn from_options(allow: &[String], warn: &[String], deny: &[String]) -> miette::Result<Levels> {
        let mut levels = Levels::default();
        levels.add(allow, warn, deny).map(|()| levels)
    }

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|w| (*w).to_owned()).collect()
    }

    fn applied(levels: &Levels) -> Vec<(&'static str, Severity)> {
        let mut found =
            vec![SYNTAX.at(Span::default(), "a"), UNKNOWN_FIELD.at(Span::default(), "b")];
        let silent = vec![OFF.at(Span::default(), "c")];
        apply(|_| levels, &mut found, silent);
        found.iter().map(|d| (d.rule.code, d.severity)).collect()
    }

    #[test]
    fn warnings_denied() {
        let levels = from_options(&[], &[], &words(&["warnings"])).expect("it is a word");
        assert_eq!(applied(&levels), [("C0001", Severity::Error), ("C0101", Severity::Error)]);
    }

    #[test]
    fn warning_allowed_by_name() {
        let levels = from_options(&words(&["unknown_field"]), &[], &[]).expect("it is a name");
        assert_eq!(applied(&levels), [("C0001", Severity::Error)]);
    }

    #[test]
    fn what_is_off_is_told_to_those_who_ask() {
        let told = |warn: &[&str], deny: &[&str]| {
            let levels =
                from_options(&[], &words(warn), &words(deny)).expect("all of them are words");
            let found = applied(&levels).into_iter().find(|(code, _)| *code == OFF.code);
            found.map(|(_, severity)| severity)
        };
        assert_eq!(told(&[], &["warnings"]), None);
        assert_eq!(told(&["unbounded-wait"], &[]), Some(Severity::Warning));
        assert_eq!(told(&[], &["C0317"]), Some(Severity::Error));
        assert_eq!(told(&["C0317"], &["warnings"]), Some(Severity::Error));
    }

    #[test]
    fn denied_warnings_are_warnings_again() {
        let mut levels = from_options(&[], &[], &words(&["warnings"])).expect("it is a word");
        levels.override_by(&Levels::default());
        assert_eq!(applied(&levels)[1].1, Severity::Error);
        levels.override_by(&from_options(&[], &words(&["warnings"]), &[]).expect("it is a word"));
        assert_eq!(applied(&levels)[1].1, Severity::Warning);
    }

    #[test]
    fn errors_of_syntax_stay() {
        let fault = from_options(&words(&["C0001"]), &[], &[]).expect_err("it is firm");
        assert_eq!(fault.to_string(), "C0001 (syntax) is always an error");
    }

    #[test]
    fn unknown_names_get_a_hint() {
        let fault = from_options(&[], &words(&["unknown-fild"]), &[]).expect_err("it is unknown");
        let help = fault.help().map(|h| h.to_string());
        assert_eq!(help.as_deref(), Some("did you mean `unknown-field`?"));
    }
}
