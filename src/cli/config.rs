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
use super::levels::Levels;
use crate::keys::{BARS, CHECK, CONFIG, Mapping};
use chartc_text::diagnostic::{Severity, nearest};
use chartc_text::source::Source;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::ops::Range;
use std::path::Path;
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
