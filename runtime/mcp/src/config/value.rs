//! Reads single values of a configuration. Each error names the key and the line.

use super::expand::{Refused, Variables, expand};
use super::tree::{Node, Tree};
use super::{ConfigError, Limits};
use crate::holes::parts;
use chartc_core::expr::Duration as ChartDuration;
use std::path::Path;
use std::time::Duration;

/// The syntax of the file, which also says what other programs read it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// A file for chartc alone: an unknown key is an error.
    Toml,
    /// A file that other clients read, too: keys that chartc does not know are ignored.
    Json,
}

/// The state of reading a configuration.
pub(super) struct Reading<'r> {
    pub(super) file: &'r str,
    pub(super) folder: &'r Path,
    pub(super) variables: Variables<'r>,
    pub(super) dialect: Dialect,
    pub(super) secrets: Vec<String>,
}

/// A value with its dotted key, for messages.
#[derive(Clone, Copy)]
pub(super) struct At<'n> {
    pub(super) key: &'n str,
    pub(super) node: &'n Node,
}

pub(super) type Entries = [(String, Node)];
pub(super) type Read<T> = Result<T, ConfigError>;

impl Reading<'_> {
    pub(super) fn wrong(
        &self,
        at: At<'_>,
        why: impl Into<String>,
        help: impl Into<String>,
    ) -> ConfigError {
        ConfigError {
            file: self.file.to_owned(),
            line: at.node.line,
            key: at.key.to_owned(),
            why: why.into(),
            help: help.into(),
        }
    }

    pub(super) fn limit(&self, word: &str, at: At<'_>, limits: &mut Limits) -> Read<()> {
        match word {
            "timeout" => {
                limits.idle = self.duration(at)?;
                // A limit without progress above the total one would never apply. Whichever key comes last moves the other.
                limits.total = limits.total.max(limits.idle);
            }
            "max_timeout" | "maxTimeout" => {
                limits.total = self.duration(at)?;
                limits.idle = limits.idle.min(limits.total);
            }
            "max_output" | "maxOutput" => match at.node.tree {
                Tree::Number(bytes) if bytes >= 1.0 && bytes.fract() == 0.0 => {
                    limits.output = bytes as usize;
                }
                _ => return Err(self.wrong(at, "expected a number of bytes", "")),
            },
            _ => {}
        }
        Ok(())
    }

    /// Reads a duration such as `"30s"`, or in JSON also a number of milliseconds. It is at most a year.
    pub(super) fn duration(&self, at: At<'_>) -> Read<Duration> {
        let millis = match &at.node.tree {
            Tree::Text(text) => text.parse::<ChartDuration>().ok().map(|d| d.0),
            Tree::Number(millis) if self.dialect == Dialect::Json && *millis >= 1.0 => {
                Some(*millis as u64)
            }
            _ => None,
        };
        // A longer time is no useful deadline, and could overflow a clock.
        let millis = millis.filter(|millis| (1..=31_536_000_000).contains(millis));
        let help = "write a number with a unit, such as \"30s\" or \"5m\"";
        millis.map(Duration::from_millis).ok_or_else(|| self.wrong(at, "not a duration", help))
    }

    pub(super) fn table<'n>(&self, at: At<'n>) -> Read<&'n Entries> {
        match &at.node.tree {
            Tree::Table(entries) => Ok(entries),
            _ => Err(self.wrong(at, "expected a table", "")),
        }
    }

    pub(super) fn text<'n>(&self, at: At<'n>) -> Read<&'n str> {
        match &at.node.tree {
            Tree::Text(text) => Ok(text),
            _ => Err(self.wrong(at, "expected a text", "")),
        }
    }

    pub(super) fn expanded(&mut self, at: At<'_>) -> Read<String> {
        let text = self.text(at)?;
        if text.contains('\0') {
            return Err(self.wrong(at, "contains a NUL character", ""));
        }
        expand(text, self.variables, &mut self.secrets).map_err(|refused| match refused {
            Refused::Unset(name) => {
                let help = format!("set {name}, or write a default: ${{{name}:-…}}");
                self.wrong(at, format!("the variable `{name}` is not set"), help)
            }
            Refused::Input(name) => {
                let help =
                    "put the value into a variable of the environment, and write ${VARIABLE}";
                self.wrong(at, format!("`${{{name}}}` would ask a person"), help)
            }
            Refused::Unknown(word) => {
                let help =
                    "write ${VARIABLE}, ${env:VARIABLE} or ${VARIABLE:-default}; $${ stands for ${";
                self.wrong(at, format!("`${{{word}}}` is no variable of the environment"), help)
            }
            Refused::Open => self.wrong(at, "`${` without `}`", "$${ stands for ${"),
        })
    }

    pub(super) fn texts(&mut self, at: At<'_>) -> Read<Vec<String>> {
        let Tree::List(items) = &at.node.tree else {
            return Err(self.wrong(at, "expected a list of texts", ""));
        };
        items.iter().map(|node| self.expanded(At { key: at.key, node })).collect()
    }

    pub(super) fn named(&mut self, at: At<'_>) -> Read<Vec<(String, String)>> {
        let mut all = Vec::new();
        for (name, node) in self.table(at)? {
            let key = format!("{}.{name}", at.key);
            let at = At { key: &key, node };
            if name.is_empty() || name.contains(['=', '\0']) {
                return Err(self.wrong(at, "not the name of a variable", ""));
            }
            all.push((name.clone(), self.expanded(at)?));
        }
        Ok(all)
    }

    pub(super) fn headers(&mut self, at: At<'_>) -> Read<Vec<(String, String)>> {
        let mut all = Vec::new();
        for (name, node) in self.table(at)? {
            let key = format!("{}.{name}", at.key);
            let at = At { key: &key, node };
            let value = self.expanded(at)?;
            let is_name = reqwest::header::HeaderName::from_bytes(name.as_bytes()).is_ok();
            if !is_name || reqwest::header::HeaderValue::from_str(&value).is_err() {
                return Err(self.wrong(at, "not a header of HTTP", ""));
            }
            // A header is treated as a secret even if its value is written out in the file, because it often holds a token.
            self.secrets.push(value.clone());
            all.push((name.clone(), value));
        }
        Ok(all)
    }

    pub(super) fn url(&mut self, at: At<'_>) -> Read<String> {
        let text = self.expanded(at)?;
        if let Err(why) = parts(&text) {
            return Err(self.wrong(at, why, ""));
        }
        let behind = text.split_once("://").map_or("", |(_, behind)| behind);
        let host = behind.split(['/', '?', '#']).next().unwrap_or_default();
        if host.contains('{') {
            let help = "an argument may stand in the path and behind it";
            return Err(self.wrong(at, "a call must not choose the server", help));
        }
        // Braces are not allowed in URLs, so placeholders are replaced for this check. They are filled in at each call.
        let plain = text.replace(['{', '}'], "x");
        match reqwest::Url::parse(&plain) {
            Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(text),
            Ok(_) | Err(_) => {
                Err(self.wrong(at, "not an address", "it begins with http:// or https://"))
            }
        }
    }
}
