//! `chartc.toml`: the levels and limits that a project sets.
//!
//! ```toml
//! [check]
//! fail-on = "warning"       # as --fail-on
//! explore = 100000          # as --explore
//! tests = false             # as --no-tests
//!
//! [lints]
//! undriven-state = "allow"  # by name or code: allow, warn, deny
//! C0303 = "deny"
//! warnings = "deny"         # all of them
//! ```

use super::files;
use super::levels::Levels;
use chartc_text::source::Source;
use std::ops::Range;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Name of the file.
pub(super) const NAME: &str = "chartc.toml";

/// What a project sets.
#[derive(Debug, Default)]
pub(super) struct Config {
    /// Levels of rules.
    pub(super) levels: Levels,
    /// The lowest level that makes a check fail.
    pub(super) fail_on: Option<String>,
    /// How many states to explore for a `check` line.
    pub(super) explore: Option<usize>,
    /// Whether tests are played.
    pub(super) tests: Option<bool>,
}

/// Reads the `chartc.toml` of this folder or of the nearest folder above; without one, all settings are defaults.
///
/// # Errors
/// It cannot be read, is not TOML, or has an unknown setting; with the place.
pub(super) fn load() -> miette::Result<Config> {
    let Some(path) = files::above(NAME) else { return Ok(Config::default()) };
    let text = files::read_found(Path::new(&path))?;
    read(&Source::new(path, text))
}

/// An error at a place in the file.
fn fault(source: &Source, at: &Range<usize>, what: &str, help: Option<String>) -> miette::Report {
    let place = source.position(at.start as u32);
    let message = format!("{}:{}:{}: {what}", source.name, place.line, place.column);
    match help {
        Some(help) => miette::miette!(help = help, "{message}"),
        None => miette::miette!("{message}"),
    }
}

fn read(source: &Source) -> miette::Result<Config> {
    let parsed = DeTable::parse(&source.text).map_err(|why| {
        fault(source, &why.span().unwrap_or_default(), why.message().trim_end(), None)
    })?;
    let mut config = Config::default();
    for (key, value) in parsed.get_ref() {
        let table = value.get_ref().as_table();
        match (key.get_ref().as_ref(), table) {
            ("check", Some(table)) => check(source, table, &mut config)?,
            ("lints", Some(table)) => lints(source, table, &mut config)?,
            ("check" | "lints", None) => {
                return Err(fault(source, &value.span(), "expected a table", None));
            }
            (other, _) => {
                let help = "the tables are `check` and `lints`".to_owned();
                return Err(fault(
                    source,
                    &key.span(),
                    &format!("unknown key `{other}`"),
                    Some(help),
                ));
            }
        }
    }
    Ok(config)
}

/// A text that must be one of these.
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

fn check(source: &Source, table: &DeTable<'_>, config: &mut Config) -> miette::Result<()> {
    for (key, value) in table {
        match key.get_ref().as_ref() {
            "fail-on" => {
                config.fail_on = Some(word(source, value, &["error", "warning", "note"])?);
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
            other => {
                let help = "the keys are `fail-on`, `explore` and `tests`".to_owned();
                let what = format!("unknown key `{other}`");
                return Err(fault(source, &key.span(), &what, Some(help)));
            }
        }
    }
    Ok(())
}

fn lints(source: &Source, table: &DeTable<'_>, config: &mut Config) -> miette::Result<()> {
    for (key, value) in table {
        let name = key.get_ref().as_ref();
        let levels = if name == "warnings" { &["deny"][..] } else { &["allow", "warn", "deny"] };
        let level = word(source, value, levels)?;
        config.levels.set(name, &level).map_err(|why| {
            fault(source, &key.span(), &why.to_string(), why.help().map(|help| help.to_string()))
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> Result<Config, String> {
        read(&Source::new("chartc.toml", text)).map_err(|why| {
            let help = why.help().map(|help| format!(" ({help})")).unwrap_or_default();
            format!("{why}{help}")
        })
    }

    #[test]
    fn what_is_meant_is_taken() {
        let text = "[check]\nfail-on = \"note\"\nexplore = 5_000\ntests = false\n[lints]\nwarnings = \"deny\"\nC0301 = \"allow\"\n";
        let config = config(text).expect("all of it means something");
        assert_eq!(config.fail_on.as_deref(), Some("note"));
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
            ("[lint]\n", "chartc.toml:1:2: unknown key `lint` (the tables are"),
            ("check = 1\n", "chartc.toml:1:9: expected a table"),
            (
                "[check]\nfail_on = \"note\"\n",
                "chartc.toml:2:1: unknown key `fail_on` (the keys are `fail-on`, `explore` and `tests`)",
            ),
            ("[check]\nexplore = \"all\"\n", "chartc.toml:2:11: expected a number of states"),
            ("[check]\ntests = 0\n", "chartc.toml:2:9: expected `true` or `false`"),
            ("[check\n", "chartc.toml:1:7: "),
        ] {
            let why = config(text).expect_err("it means nothing");
            assert!(why.starts_with(told), "{text}{why}");
        }
    }
}
