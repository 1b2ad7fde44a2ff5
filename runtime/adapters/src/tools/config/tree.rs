//! TOML and JSON as one kind of tree, with the line of each value.

use super::{ConfigError, Limits, Refused, Variables, expand, parts};
use chartc_core::expr::{Duration as ChartDuration, Level};
use serde_json::value::RawValue;
use std::path::Path;
use std::time::Duration;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The maximum depth of JSON. A configuration needs five levels.
const DEPTH: usize = 32;

/// A value with its line, counted from 1.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::tools) struct Node {
    pub(in crate::tools) line: usize,
    pub(in crate::tools) tree: Tree,
}

#[derive(Debug, Clone, PartialEq)]
pub(in crate::tools) enum Tree {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Node>),
    /// The entries, in the order of the file. JSON may have a key twice.
    Table(Vec<(String, Node)>),
}

/// The reason why a text cannot be parsed, with its line.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::tools) struct Unreadable {
    pub(in crate::tools) line: usize,
    pub(in crate::tools) why: String,
}

/// The byte offsets at which the lines of a text begin.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self(std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect())
    }

    fn at(&self, offset: usize) -> usize {
        self.0.partition_point(|start| *start <= offset)
    }
}

pub(in crate::tools) fn toml(text: &str) -> Result<Node, Unreadable> {
    let lines = Lines::of(text);
    let table = DeTable::parse(text).map_err(|why| Unreadable {
        line: lines.at(why.span().unwrap_or_default().start),
        why: why.message().trim_end().to_owned(),
    })?;
    Ok(Node { line: 1, tree: toml_table(table.get_ref(), &lines) })
}

// The recursion is safe, because the parser limits the depth.
fn toml_table(table: &DeTable<'_>, lines: &Lines) -> Tree {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    let node = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
        let key: &std::borrow::Cow<'_, str> = key.get_ref();
        (key.clone().into_owned(), toml_node(value, lines))
    };
    Tree::Table(entries.into_iter().map(node).collect())
}

fn toml_node(value: &Spanned<DeValue<'_>>, lines: &Lines) -> Node {
    let tree = match value.get_ref() {
        DeValue::String(text) => Tree::Text(text.clone().into_owned()),
        DeValue::Integer(number) => number.to_string().parse().map_or(Tree::Null, Tree::Number),
        DeValue::Float(number) => number.as_str().parse().map_or(Tree::Null, Tree::Number),
        DeValue::Boolean(is) => Tree::Bool(*is),
        DeValue::Datetime(date) => Tree::Text(date.to_string()),
        DeValue::Array(items) => {
            Tree::List(items.iter().map(|item| toml_node(item, lines)).collect())
        }
        DeValue::Table(table) => toml_table(table, lines),
    };
    Node { line: lines.at(value.span().start), tree }
}

/// Parses JSON. Comments and trailing commas are accepted, as VS Code does.
pub(in crate::tools) fn json(text: &str) -> Result<Node, Unreadable> {
    let plain = without_comments(text);
    let lines = Lines::of(&plain);
    let raw: &RawValue = serde_json::from_str(&plain)
        .map_err(|why| Unreadable { line: why.line(), why: words(&why) })?;
    json_node(&plain, raw, &lines, 0)
}

/// The message of an error without its place, which is reported separately.
fn words(why: &serde_json::Error) -> String {
    let text = why.to_string();
    let place = format!(" at line {} column {}", why.line(), why.column());
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}

fn json_node(text: &str, raw: &RawValue, lines: &Lines, depth: usize) -> Result<Node, Unreadable> {
    // `raw` is a slice of `text`, so the distance of their pointers is its offset.
    let offset = (raw.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    let line = lines.at(offset);
    let refused = |why: serde_json::Error| Unreadable { line, why: words(&why) };
    if depth > DEPTH {
        return Err(Unreadable { line, why: format!("more than {DEPTH} levels") });
    }
    // serde_json gives no positions of values, but a `RawValue` that borrows from the input has one.
    let level: Level<String, &RawValue> = serde_json::from_str(raw.get()).map_err(refused)?;
    let tree = match level {
        Level::Null => Tree::Null,
        Level::Bool(is) => Tree::Bool(is),
        Level::Int(number) => Tree::Number(number as f64),
        Level::Float(number) => Tree::Number(number),
        Level::Text(text) => Tree::Text(text),
        Level::List(items) => {
            let items = items.into_iter().map(|item| json_node(text, item, lines, depth + 1));
            Tree::List(items.collect::<Result<_, _>>()?)
        }
        Level::Map(entries) => {
            let entries = entries.into_iter().map(|(key, value)| {
                json_node(text, value, lines, depth + 1).map(|node| (key, node))
            });
            Tree::Table(entries.collect::<Result<_, _>>()?)
        }
    };
    Ok(Node { line, tree })
}

/// Replaces comments, and commas before a closing bracket, by spaces, so that all offsets and lines stay the same.
fn without_comments(text: &str) -> String {
    let mut out: Vec<u8> = text.as_bytes().to_vec();
    let mut at = 0;
    // The last comma, if only whitespace and comments have followed it.
    let mut comma = None;
    while at < out.len() {
        match out[at] {
            b'"' => {
                comma = None;
                at += 1;
                while at < out.len() && out[at] != b'"' {
                    at += if out[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            b'/' if out.get(at + 1) == Some(&b'/') => {
                while at < out.len() && out[at] != b'\n' {
                    out[at] = b' ';
                    at += 1;
                }
            }
            b'/' if out.get(at + 1) == Some(&b'*') => {
                let end = out[at + 2..].windows(2).position(|two| two == b"*/");
                let end = end.map_or(out.len(), |end| at + 2 + end + 2);
                for byte in &mut out[at..end] {
                    if *byte != b'\n' {
                        *byte = b' ';
                    }
                }
                at = end;
            }
            b',' => {
                comma = Some(at);
                at += 1;
            }
            b'}' | b']' => {
                if let Some(comma) = comma.take() {
                    out[comma] = b' ';
                }
                at += 1;
            }
            byte => {
                if !byte.is_ascii_whitespace() {
                    comma = None;
                }
                at += 1;
            }
        }
    }
    // Comments were replaced from their first to their last byte, so the text is still UTF-8.
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

// Reads single values of a configuration. Each error names the key and the line.

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
    /// The `secrets` that are keys. The others may be harmless, such as the path of a folder.
    pub(super) keys: Vec<String>,
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
            let value = self.expanded(at)?;
            if is_about_key(name) && !value.bytes().all(|byte| byte.is_ascii_digit()) {
                self.keys.push(value.clone());
            }
            all.push((name.clone(), value));
        }
        Ok(all)
    }

    pub(super) fn headers(&mut self, at: At<'_>) -> Read<Vec<(String, String)>> {
        let mut all = Vec::new();
        for (name, node) in self.table(at)? {
            let key = format!("{}.{name}", at.key);
            let at = At { key: &key, node };
            let before = self.secrets.len();
            let value = self.expanded(at)?;
            self.keys.extend_from_slice(&self.secrets[before..]);
            let is_name = reqwest::header::HeaderName::from_bytes(name.as_bytes()).is_ok();
            if !is_name || reqwest::header::HeaderValue::from_str(&value).is_err() {
                return Err(self.wrong(at, "not a header of HTTP", ""));
            }
            // A header is treated as a secret even if its value is written out in the file, because it often holds a token.
            self.secrets.push(value.clone());
            self.keys.push(value.clone());
            all.push((name.clone(), value));
        }
        Ok(all)
    }

    pub(super) fn url(&mut self, at: At<'_>) -> Read<String> {
        if has_written_key(self.text(at)?) {
            let help = "put it into a variable of the environment, and write ${VARIABLE} here, or better in a header";
            return Err(self.wrong(at, "a key is written out in the address", help));
        }
        let before = self.secrets.len();
        let text = self.expanded(at)?;
        self.keys.extend_from_slice(&self.secrets[before..]);
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

/// Whether the name of a variable or parameter says that its value is a key.
fn is_about_key(name: &str) -> bool {
    const WORDS: [&str; 10] = [
        "key",
        "apikey",
        "token",
        "secret",
        "password",
        "passwd",
        "auth",
        "sig",
        "signature",
        "credentials",
    ];
    let name = name.to_ascii_lowercase();
    name.split(['_', '-', '.']).any(|word| WORDS.contains(&word))
}

/// Whether an address contains a key as plain text: a password of a user, or the value of a parameter such as `token`.
fn has_written_key(url: &str) -> bool {
    let is_written = |value: &str| value.len() >= 6 && !value.contains('{');
    let behind = url.split_once("://").map_or("", |(_, behind)| behind);
    let host = behind.split(['/', '?', '#']).next().unwrap_or_default();
    let user = host.rsplit_once('@').map_or("", |(user, _)| user);
    let query = behind.split_once('?').map_or("", |(_, query)| query);
    let query = query.split('#').next().unwrap_or_default();
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    is_written(user) || pairs.any(|(name, value)| is_about_key(name) && is_written(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(node: &Node, at: &mut Vec<(String, usize)>, path: &str) {
        if let Tree::Table(entries) = &node.tree {
            for (key, value) in entries {
                at.push((format!("{path}{key}"), value.line));
                lines(value, at, &format!("{path}{key}."));
            }
        }
    }

    #[test]
    fn every_value_knows_its_line() {
        let mut found = Vec::new();
        let text =
            "// é\n{\"a\": /* x\n */ {\n \"b\": [1, 2,],\n \"//\": \"\\\"/*\",\n},\n\"c\": null}";
        lines(&json(text).expect("it is JSON"), &mut found, "");
        let of = |all: &[(&str, usize)]| -> Vec<(String, usize)> {
            all.iter().map(|(key, line)| ((*key).to_owned(), *line)).collect()
        };
        assert_eq!(found, of(&[("a", 3), ("a.b", 4), ("a.//", 5), ("c", 7)]));
        let mut found = Vec::new();
        let text = "[z]\nb = 1\n[a]\nc = [\n 1]\nd = { e = true }";
        lines(&toml(text).expect("it is TOML"), &mut found, "");
        assert_eq!(
            found,
            of(&[("z", 1), ("z.b", 2), ("a", 3), ("a.c", 4), ("a.d", 6), ("a.d.e", 6)])
        );
    }

    #[test]
    fn what_cannot_be_read_has_its_line() {
        assert_eq!(json("{\n\"a\": 1\n\"b\"}").expect_err("no comma").line, 3);
        assert_eq!(toml("a = 1\nb = =").expect_err("no value").line, 2);
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(json(&deep).expect_err("deep").why, "more than 32 levels");
        for text in ["\"", "/*", "\"\\", "//", "{\"a\": /"] {
            assert!(json(text).is_err(), "{text}");
        }
    }
}
