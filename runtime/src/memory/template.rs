//! Query templates: Python's `str.format` over the context of a turn.

use chartc_core::expr::format::{self, parse};
use chartc_core::expr::{EvalError, Value, field, index};
use std::collections::BTreeSet;

/// The reason why a template is malformed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("character {at}: {why}")]
pub struct Unreadable {
    /// The position of the fault, in characters from 1.
    pub at: usize,
    /// The fault.
    pub why: String,
}

/// A template: a text with placeholders `{name.attribute[index]:spec}`.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq)]
enum Part {
    Text(String),
    Hole { name: String, path: Vec<Access>, spec: String },
}

#[derive(Debug, Clone, PartialEq)]
enum Access {
    Attribute(String),
    Key(Value),
}

impl Query {
    /// Parses a template.
    ///
    /// # Errors
    /// The first brace or placeholder that `str.format` would not accept, or that has no name.
    pub fn parse(template: &str) -> Result<Self, Unreadable> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut at = 0;
        while let Some(found) = template[at..].find(['{', '}']) {
            let brace = at + found;
            let fault = |why: String| Unreadable { at: template[..brace].chars().count() + 1, why };
            plain.push_str(&template[at..brace]);
            let mark = &template[brace..=brace];
            // `{{` and `}}` stand for single braces.
            if template[brace + 1..].starts_with(mark) {
                plain.push_str(mark);
                at = brace + 2;
                continue;
            }
            if mark == "}" {
                return Err(fault("this `}` closes no placeholder: write `}}`".to_owned()));
            }
            let Some(len) = template[brace..].find('}') else {
                return Err(fault(
                    "this `{` is not closed: a brace of the text is `{{`".to_owned(),
                ));
            };
            if !plain.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut plain)));
            }
            parts.push(hole(&template[brace + 1..brace + len]).map_err(fault)?);
            at = brace + len + 1;
        }
        plain.push_str(&template[at..]);
        if !plain.is_empty() {
            parts.push(Part::Text(plain));
        }
        Ok(Self { parts })
    }

    /// The names of the placeholders.
    pub fn names(&self) -> BTreeSet<&str> {
        let names = self.parts.iter().filter_map(|part| match part {
            Part::Hole { name, .. } => Some(name.as_str()),
            Part::Text(_) => None,
        });
        names.collect()
    }

    /// Replaces the placeholders by values. A name without a value is replaced by nothing, as it has no words to search for.
    ///
    /// # Errors
    /// A placeholder's path or format does not fit the value.
    pub fn render(&self, value_of: &dyn Fn(&str) -> Option<Value>) -> Result<String, EvalError> {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Text(plain) => text.push_str(plain),
                Part::Hole { name, path, spec } => {
                    let Some(mut value) = value_of(name) else { continue };
                    for access in path {
                        value = match access {
                            Access::Attribute(name) => field(&value, name)?.clone(),
                            Access::Key(key) => index(&value, key)?,
                        };
                    }
                    text.push_str(&format::format(&value, spec)?);
                }
            }
        }
        Ok(text)
    }
}

/// Parses the text between two braces.
fn hole(inner: &str) -> Result<Part, String> {
    let head = head_len(inner);
    let (path, rest) = inner.split_at(head);
    let rest = rest.strip_prefix("!s").unwrap_or(rest);
    let spec = match rest.strip_prefix(':') {
        Some(spec) => spec,
        None if rest.is_empty() => "",
        None => return Err(format!("the conversion of `{{{inner}}}` is not available, only `!s`")),
    };
    if spec.contains('{') {
        return Err(format!("`{{{inner}}}`: a placeholder inside of a format is not available"));
    }
    parse(spec).map_err(|why| format!("`{{{inner}}}`: {why}"))?;
    let name_len = path.find(['.', '[']).unwrap_or(path.len());
    let name = &path[..name_len];
    if !is_name(name) {
        return Err(format!("`{{{inner}}}` is no name: a brace of the text is `{{{{`"));
    }
    let (name, path) = (name.to_owned(), accesses(&path[name_len..])?);
    Ok(Part::Hole { name, path, spec: spec.to_owned() })
}

/// The length of the part before `!` or `:`. Within `[…]`, these are part of the key.
fn head_len(inner: &str) -> usize {
    let mut inside = false;
    let end = inner.find(|c| {
        match c {
            '[' => inside = true,
            ']' => inside = false,
            _ => {}
        }
        !inside && (c == '!' || c == ':')
    });
    end.unwrap_or(inner.len())
}

fn is_name(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_')
}

/// Parses a path such as `.a[b][0]`.
fn accesses(mut rest: &str) -> Result<Vec<Access>, String> {
    let mut path = Vec::new();
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('.') {
            let len = after.find(['.', '[']).unwrap_or(after.len());
            if !is_name(&after[..len]) {
                return Err(format!("`.{}` names no attribute", &after[..len]));
            }
            path.push(Access::Attribute(after[..len].to_owned()));
            rest = &after[len..];
        } else if let Some(after) = rest.strip_prefix('[') {
            let Some(len) = after.find(']') else { return Err("a `[` is not closed".to_owned()) };
            let key = &after[..len];
            path.push(Access::Key(match key.parse::<i64>() {
                _ if key.is_empty() => return Err("`[]` names no key".to_owned()),
                Ok(nth) if key.bytes().all(|b| b.is_ascii_digit()) => Value::Int(nth),
                Ok(_) | Err(_) => Value::Text(key.to_owned()),
            }));
            rest = &after[len + 1..];
        } else {
            return Err(format!("`{rest}` does not follow a name"));
        }
    }
    Ok(path)
}
