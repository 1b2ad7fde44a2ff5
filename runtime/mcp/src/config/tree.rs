//! TOML and JSON as one kind of tree, with the line of each value.

use serde::Deserialize;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The maximum depth of JSON. A configuration needs five levels.
const DEPTH: usize = 32;

/// A value with its line, counted from 1.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) line: usize,
    pub(crate) tree: Tree,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Tree {
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
pub(crate) struct Unreadable {
    pub(crate) line: usize,
    pub(crate) why: String,
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

pub(crate) fn toml(text: &str) -> Result<Node, Unreadable> {
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
pub(crate) fn json(text: &str) -> Result<Node, Unreadable> {
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
    let tree = match serde_json::from_str(raw.get()).map_err(refused)? {
        Shallow::Null => Tree::Null,
        Shallow::Bool(is) => Tree::Bool(is),
        Shallow::Number(number) => Tree::Number(number),
        Shallow::Text(text) => Tree::Text(text),
        Shallow::List(items) => {
            let items = items.into_iter().map(|item| json_node(text, item, lines, depth + 1));
            Tree::List(items.collect::<Result<_, _>>()?)
        }
        Shallow::Table(entries) => {
            let entries = entries.into_iter().map(|(key, value)| {
                json_node(text, value, lines, depth + 1).map(|node| (key, node))
            });
            Tree::Table(entries.collect::<Result<_, _>>()?)
        }
    };
    Ok(Node { line, tree })
}

/// A JSON value whose children are still text. serde_json gives no positions of values, but a `RawValue` that borrows from the input has
/// one.
enum Shallow<'t> {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<&'t RawValue>),
    Table(Vec<(String, &'t RawValue)>),
}

impl<'de> Deserialize<'de> for Shallow<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(OneLevel)
    }
}

struct OneLevel;

impl<'de> Visitor<'de> for OneLevel {
    type Value = Shallow<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Shallow::Null)
    }

    fn visit_bool<E>(self, is: bool) -> Result<Self::Value, E> {
        Ok(Shallow::Bool(is))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Shallow::Number(number as f64))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Shallow::Number(number as f64))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Shallow::Number(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Shallow::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Shallow::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut table = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            table.push(entry);
        }
        Ok(Shallow::Table(table))
    }
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
