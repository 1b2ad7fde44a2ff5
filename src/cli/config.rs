//! `chartc.toml`: the levels and limits that a project sets.
//!
//! ```toml
//! [check]
//! fail-on = "warning"       # as --fail-on
//! explore = 100000          # as --explore
//! tests = false             # as --no-tests
//! exclude = ["vendor/"]     # left out of folders that are searched
//!
//! [lints]
//! undriven-state = "allow"  # by name or code: allow, warn, deny
//! C0303 = "deny"
//! warnings = "deny"         # all of them
//!
//! [per-path."legacy/**"]    # as [lints], for some files; later tables override earlier ones
//! warnings = "warn"
//! ```

use super::files;
use crate::keys::{BARS, CHECK, CONFIG, Mapping};
use chartc_compiler::explore::STATES;
use chartc_compiler::rules::named;
use chartc_compiler::syntax::diagnostic::{Diagnostic, Rule, Severity, nearest};
use chartc_compiler::syntax::source::{FileId, Source};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

/// The name of the file.
pub(super) const NAME: &str = "chartc.toml";

/// The settings from a `chartc.toml` or from the options of a command. `None` leaves a setting to another source.
#[derive(Debug, Default)]
pub(super) struct Config {
    /// The levels of rules.
    pub(super) levels: Levels,
    /// The levels for files that match a pattern. Later ones override earlier ones.
    pub(super) per_path: Vec<(Gitignore, Levels)>,
    /// The lowest level that makes a check fail.
    pub(super) fail_on: Option<Severity>,
    /// The maximum number of states to explore for a `check` line.
    pub(super) explore: Option<usize>,
    /// Whether tests are played.
    pub(super) tests: Option<bool>,
    /// The files and folders to leave out when folders are searched.
    pub(super) exclude: Option<Gitignore>,
}

impl Config {
    /// Reads the file at `path`. Messages call it `name`.
    ///
    /// # Errors
    /// The file cannot be read, is not TOML, or has an unknown key or a wrong value. The message has its position.
    pub(super) fn read(path: &Path, name: String) -> miette::Result<Self> {
        let folder = path.parent().unwrap_or(path);
        read(&Source::new(name, files::read_found(path)?), folder)
    }
}

/// The level that a word of `fail-on` names.
pub(super) fn severity(word: &str) -> Severity {
    match word {
        "note" => Severity::Note,
        "warning" => Severity::Warning,
        _ => Severity::Error,
    }
}

/// An error at a position in the file.
fn fault(source: &Source, at: &Range<usize>, what: &str, help: Option<String>) -> miette::Report {
    let place = source.position(at.start as u32);
    let message = format!("{}:{}:{}: {what}", source.name, place.line, place.column);
    match help {
        Some(help) => miette::miette!(help = help, "{message}"),
        None => miette::miette!("{message}"),
    }
}

fn read(source: &Source, folder: &Path) -> miette::Result<Config> {
    let parsed = DeTable::parse(&source.text).map_err(|why| {
        fault(source, &why.span().unwrap_or_default(), why.message().trim_end(), None)
    })?;
    let mut config = Config::default();
    for (key, value) in in_order(parsed.get_ref()) {
        match key.get_ref().as_ref() {
            "check" => check(source, folder, table(source, value)?, &mut config)?,
            "lints" => lints(source, table(source, value)?, &mut config.levels)?,
            "per-path" => {
                for (glob, value) in in_order(table(source, value)?) {
                    let paths = globs(source, folder, &[(glob.span(), glob.get_ref())])?;
                    let mut levels = Levels::default();
                    lints(source, table(source, value)?, &mut levels)?;
                    config.per_path.push((paths, levels));
                }
            }
            _ => return Err(unknown(source, key, &CONFIG)),
        }
    }
    Ok(config)
}

fn table<'t, 'i>(
    source: &Source,
    value: &'t Spanned<DeValue<'i>>,
) -> miette::Result<&'t DeTable<'i>> {
    let table = value.get_ref().as_table();
    table.ok_or_else(|| fault(source, &value.span(), "expected a table", None))
}

/// The entries in the order of the file. [`DeTable`] itself orders them by key.
fn in_order<'t, 'i>(
    table: &'t DeTable<'i>,
) -> Vec<(&'t Spanned<DeString<'i>>, &'t Spanned<DeValue<'i>>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

/// The error of a key that the table does not have.
fn unknown(source: &Source, key: &Spanned<DeString<'_>>, table: &Mapping) -> miette::Report {
    let name = key.get_ref();
    let help = match nearest(name, table.names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the keys are `{}`", table.names().collect::<Vec<_>>().join("`, `")),
    };
    fault(source, &key.span(), &format!("unknown key `{name}`"), Some(help))
}

/// Reads a string that must be one of `words`.
fn word(source: &Source, value: &Spanned<DeValue<'_>>, words: &[&str]) -> miette::Result<String> {
    match value.get_ref().as_str() {
        Some(text) if words.contains(&text) => Ok(text.to_owned()),
        Some(_) | None => {
            let all: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
            let what = format!("expected one of {}", all.join(", "));
            Err(fault(source, &value.span(), &what, None))
        }
    }
}

/// A matcher for paths below `folder`, as if a `.gitignore` in it had these lines.
fn globs(
    source: &Source,
    folder: &Path,
    lines: &[(Range<usize>, &str)],
) -> miette::Result<Gitignore> {
    let mut globs = GitignoreBuilder::new(folder);
    // Otherwise a `[` without its `]` would be matched literally, and the mistake would go unnoticed.
    globs.allow_unclosed_class(false);
    let wrong = |at: &Range<usize>, why: ignore::Error| {
        let help =
            "patterns are those of a .gitignore, such as `vendor/`, `*.draft.chart` or `a/**/b`";
        fault(source, at, &format!("this is no pattern: {why}"), Some(help.to_owned()))
    };
    for (at, line) in lines {
        globs.add_line(None, line).map_err(|why| wrong(at, why))?;
    }
    globs.build().map_err(|why| wrong(&lines.first().map_or(0..0, |(at, _)| at.clone()), why))
}

fn check(
    source: &Source,
    folder: &Path,
    table: &DeTable<'_>,
    config: &mut Config,
) -> miette::Result<()> {
    for (key, value) in in_order(table) {
        match key.get_ref().as_ref() {
            "fail-on" => {
                let bars: Vec<&str> = BARS.iter().map(|bar| bar.word).collect();
                let level = word(source, value, &bars)?;
                config.fail_on = Some(severity(&level));
            }
            "explore" => {
                let number = value.get_ref().as_integer().map(|n| (n.as_str(), n.radix()));
                let states = number.and_then(|(n, radix)| usize::from_str_radix(n, radix).ok());
                config.explore = Some(states.ok_or_else(|| {
                    fault(source, &value.span(), "expected a number of states", None)
                })?);
            }
            "tests" => {
                let plays = value.get_ref().as_bool().ok_or_else(|| {
                    fault(source, &value.span(), "expected `true` or `false`", None)
                })?;
                config.tests = Some(plays);
            }
            "exclude" => {
                let lines = value.get_ref().as_array().and_then(|all| {
                    all.iter().map(|one| Some((one.span(), one.get_ref().as_str()?))).collect()
                });
                let lines: Vec<_> = lines.ok_or_else(|| {
                    fault(source, &value.span(), "expected a list of patterns", None)
                })?;
                config.exclude = Some(globs(source, folder, &lines)?);
            }
            _ => return Err(unknown(source, key, &CHECK)),
        }
    }
    Ok(())
}

fn lints(source: &Source, table: &DeTable<'_>, levels: &mut Levels) -> miette::Result<()> {
    for (key, value) in in_order(table) {
        let name = key.get_ref().as_ref();
        let words =
            // `warnings = "allow"` would hide every warning; rules have to be turned off one by one.
            if name == "warnings" { &["warn", "deny"][..] } else { &["allow", "warn", "deny"] };
        let level = word(source, value, words)?;
        levels.set(name, &level).map_err(|why| {
            fault(source, &key.span(), &why.to_string(), why.help().map(|help| help.to_string()))
        })?;
    }
    Ok(())
}

// The levels of rules that the user sets.

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

// The settings for each file: those of the nearest `chartc.toml`, in its folder or above, overridden by the options.

/// The settings for one file.
#[derive(Debug)]
pub(super) struct Setting {
    /// The levels of rules.
    pub(super) levels: Levels,
    /// The lowest level that makes a check fail.
    pub(super) bar: Severity,
    /// The maximum number of states to explore for a `check` line.
    pub(super) states: usize,
    /// Whether tests are played.
    pub(super) plays: bool,
}

/// The settings for all files of a command. Each `chartc.toml` is read when a file first needs it.
#[derive(Debug)]
pub(super) struct Settings {
    here: PathBuf,
    /// The settings from the options of the command.
    options: Config,
    known: Mutex<ConfigCache>,
}

#[derive(Debug, Default)]
struct ConfigCache {
    /// Folders, by the path under which they were named.
    places: BTreeMap<PathBuf, Arc<FolderConfig>>,
    /// The settings in each `chartc.toml`, by its path; `None` if it could not be used.
    configs: BTreeMap<PathBuf, Option<Arc<Config>>>,
}

/// A folder without links in its path, and the settings for the files in it.
#[derive(Debug)]
struct FolderConfig {
    folder: PathBuf,
    config: Arc<Config>,
}

impl Settings {
    /// Creates settings with the options. No `chartc.toml` has been read yet.
    ///
    /// # Errors
    /// The working directory does not exist or cannot be read.
    pub(super) fn new(options: Config) -> miette::Result<Self> {
        Ok(Self { here: files::real(&files::here()?), options, known: Mutex::default() })
    }

    /// The settings for the file `name`, which need not exist.
    ///
    /// # Errors
    /// Its `chartc.toml` cannot be read, is not TOML, or has an unknown key or a wrong value. The message has its position.
    pub(super) fn for_file(&self, name: &str) -> miette::Result<Setting> {
        let path = Path::new(name);
        let FolderConfig { folder, config } = &*self.place(path)?;
        let path = folder.join(path.file_name().unwrap_or_default());
        let mut levels = config.levels.clone();
        for (glob, own) in &config.per_path {
            // A pattern that begins with `!` applies to all files but those that it matches.
            let is_for_others = glob.num_whitelists() > 0;
            // A pattern for a folder applies to all files below it.
            if glob.matched_path_or_any_parents(&path, false).is_none() == is_for_others {
                levels.override_by(own);
            }
        }
        levels.override_by(&self.options.levels);
        Ok(Setting {
            levels,
            bar: self.options.fail_on.or(config.fail_on).unwrap_or(Severity::Error),
            states: self.options.explore.or(config.explore).unwrap_or(STATES),
            plays: self.options.tests.or(config.tests).unwrap_or(true),
        })
    }

    /// Whether a search of the folder around `path` leaves this file or folder out.
    ///
    /// # Errors
    /// As [`Settings::for_file`].
    pub(super) fn leave_out(&self, path: &Path, is_folder: bool) -> miette::Result<bool> {
        let Some(name) = path.file_name() else { return Ok(false) };
        let place = self.place(path)?;
        let path = place.folder.join(name);
        let is_out = |out: &Gitignore| out.matched(&path, is_folder).is_ignore();
        Ok(place.config.exclude.as_ref().is_some_and(is_out))
    }

    /// Whether a search of the working directory would leave out the file, or a folder above it.
    ///
    /// # Errors
    /// As [`Settings::for_file`].
    pub(super) fn exclude(&self, name: &str) -> miette::Result<bool> {
        let path = Path::new(name);
        let file = self.place(path)?.folder.join(path.file_name().unwrap_or_default());
        // Folders from the working directory upwards are not part of the search.
        let around = file.ancestors().skip(1).take_while(|around| !self.here.starts_with(around));
        for folder in around {
            if self.leave_out(folder, true)? {
                return Ok(true);
            }
        }
        self.leave_out(path, false)
    }

    /// The `chartc.toml` files that were needed so far, for `--watch`.
    pub(super) fn files(&self) -> Vec<String> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.configs.keys().map(|path| self.shown(path)).collect()
    }

    fn shown(&self, path: &Path) -> String {
        crate::disk::shown(path.strip_prefix(&self.here).unwrap_or(path))
    }

    /// The folder that contains `path`, with its settings.
    fn place(&self, path: &Path) -> miette::Result<Arc<FolderConfig>> {
        let named = path.parent().unwrap_or(Path::new(""));
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = known.places.get(named) {
            return Ok(Arc::clone(place));
        }
        let folder = files::real(&self.here.join(named));
        let above = folder.ancestors().map(|folder| folder.join(NAME));
        let config = match above.into_iter().find(|path| path.is_file()) {
            None => Arc::default(),
            Some(path) => match known.configs.get(&path) {
                Some(Some(config)) => Arc::clone(config),
                Some(None) | None => {
                    // If reading fails, the entry stays, so that `files` lists the file and `--watch` notices when it is repaired.
                    known.configs.insert(path.clone(), None);
                    let config = Arc::new(Config::read(&path, self.shown(&path))?);
                    known.configs.insert(path, Some(Arc::clone(&config)));
                    config
                }
            },
        };
        let place = Arc::new(FolderConfig { folder, config });
        known.places.insert(named.to_owned(), Arc::clone(&place));
        Ok(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> Result<Config, String> {
        read(&Source::new("chartc.toml", text), Path::new("/project")).map_err(|why| {
            let help = why.help().map(|help| format!(" ({help})")).unwrap_or_default();
            format!("{why}{help}")
        })
    }

    #[test]
    fn what_is_meant_is_taken() {
        let text = "[check]\nfail-on = \"note\"\nexplore = 5_000\ntests = false\n[lints]\nwarnings = \"deny\"\nC0301 = \"allow\"\n";
        let config = config(text).expect("all of it means something");
        assert_eq!(config.fail_on, Some(Severity::Note));
        assert_eq!((config.explore, config.tests), (Some(5000), Some(false)));
        assert_ne!(format!("{:?}", config.levels), format!("{:?}", Levels::default()));
    }

    #[test]
    fn what_means_nothing_is_told_with_its_place() {
        for (text, told) in [
            ("[lints]\nC9999 = \"allow\"\n", "chartc.toml:2:1: no rule is named `C9999`"),
            (
                "[lints]\nC0301 = \"off\"\n",
                "chartc.toml:2:9: expected one of \"allow\", \"warn\", \"deny\"",
            ),
            (
                "[lints]\nunknown-name = \"warn\"\n",
                "chartc.toml:2:1: C0102 (unknown-name) is always an error",
            ),
            ("[lint]\n", "chartc.toml:1:2: unknown key `lint` (did you mean `lints`?)"),
            ("check = 1\n", "chartc.toml:1:9: expected a table"),
            ("[per-path]\n\"a/\" = 1\n", "chartc.toml:2:8: expected a table"),
            ("[[per-path]]\npath = \"a/\"\n", "chartc.toml:1:1: expected a table"),
            ("[per-path.\"a[\"]\n", "chartc.toml:1:11: this is no pattern: "),
            (
                "[per-path.a]\nundriven-stat = \"deny\"\n",
                "chartc.toml:2:1: no rule is named `undriven-stat` (did you mean `undriven-state`?)",
            ),
            (
                "[per-path.a]\nsyntax = \"warn\"\n",
                "chartc.toml:2:1: C0001 (syntax) is always an error (what cannot be understood",
            ),
            ("[perpath.a]\n", "chartc.toml:1:2: unknown key `perpath` (did you mean `per-path`?)"),
            (
                "[check]\nfail_on = \"note\"\n",
                "chartc.toml:2:1: unknown key `fail_on` (did you mean `fail-on`?)",
            ),
            (
                "[check]\nlevel = \"note\"\n",
                "chartc.toml:2:1: unknown key `level` (the keys are `fail-on`, `explore`, `tests`, `exclude`)",
            ),
            ("[check]\nexplore = \"all\"\n", "chartc.toml:2:11: expected a number of states"),
            ("[check]\nexclude = \"a\"\n", "chartc.toml:2:11: expected a list of patterns"),
            ("[check]\nexclude = [1]\n", "chartc.toml:2:11: expected a list of patterns"),
            (
                "[check]\nexclude = [\"a\", \"b[\"]\n",
                "chartc.toml:2:17: this is no pattern: error parsing glob 'b[': unclosed character class",
            ),
            ("[check]\ntests = 0\n", "chartc.toml:2:9: expected `true` or `false`"),
            ("[check\n", "chartc.toml:1:7: "),
        ] {
            let why = config(text).expect_err("it means nothing");
            assert!(why.starts_with(told), "{text}{why}");
        }
    }
}

#[cfg(test)]
mod levels_tests {
    use super::*;
    use chartc_compiler::rules::{SYNTAX, UNKNOWN_FIELD};
    use chartc_compiler::syntax::source::Span;

    static OFF: Rule = Rule {
        code: "C0317",
        name: "unbounded-wait",
        stage: chartc_compiler::syntax::diagnostic::Stage::Behaviour,
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
