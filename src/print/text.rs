//! Texts and names.

use super::expr::hole;
use super::out::Out;
use crate::span::Ident;
use crate::syntax::{Path, Template, TemplatePart, is_lower_snake, is_reserved, is_upper_camel};

/// A name of anything but a type or a chart.
pub(super) fn lower(name: &str) -> String {
    if is_lower_snake(name) && !is_reserved(name) { name.to_owned() } else { quote(name) }
}

/// The name of a type or a chart.
pub(super) fn upper(name: &str) -> String {
    if is_upper_camel(name) { name.to_owned() } else { quote(name) }
}

/// A name in back-quotes.
pub(super) fn quote(name: &str) -> String {
    let mut out = String::from("`");
    for c in name.chars() {
        match c {
            '`' => out.push_str("\\`"),
            '"' | '{' | '}' => out.push_str(&format!("\\u{{{:x}}}", c as u32)),
            c => escape(c, &mut out),
        }
    }
    out.push('`');
    out
}

/// A dotted name.
pub(super) fn path(path: &Path) -> String {
    path.names.iter().map(|n| lower(&n.node)).collect::<Vec<_>>().join(".")
}

/// Names with commas between.
pub(super) fn names(names: &[Ident]) -> String {
    names.iter().map(|n| lower(&n.node)).collect::<Vec<_>>().join(", ")
}

/// A character between quotes; quotes themselves are left to the caller.
fn escape(c: char, out: &mut String) {
    match c {
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\t' => out.push_str("\\t"),
        '\r' => out.push_str("\\r"),
        c if c.is_control() || c == '\u{feff}' => out.push_str(&format!("\\u{{{:x}}}", c as u32)),
        c => out.push(c),
    }
}

/// A text without placeholders, on one line.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            c => escape(c, &mut out),
        }
    }
    out.push('"');
    out
}

/// A text whose last line is indented as lines of `level` are.
pub(super) fn template(template: &Template, level: usize) -> String {
    if template.block
        && let Some(block) = block(template, level)
    {
        return block;
    }
    line(template)
}

/// `"…"`
pub(super) fn line(template: &Template) -> String {
    let mut out = String::from("\"");
    for part in &template.parts {
        match part {
            TemplatePart::Text(text, _) => {
                for c in text.chars() {
                    match c {
                        '"' => out.push_str("\\\""),
                        '{' => out.push_str("{{"),
                        '}' => out.push_str("}}"),
                        c => escape(c, &mut out),
                    }
                }
            }
            TemplatePart::Hole(inner) => out.push_str(&within_quotes(&hole(inner))),
            TemplatePart::Bad { text, .. } => out.push_str(&within_quotes(text)),
        }
    }
    out.push('"');
    out
}

/// What stands between braces, in a text of one line.
fn within_quotes(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace(['\n', '\r'], " ")
}

/// `"""…"""`, if that can carry the text.
fn block(template: &Template, level: usize) -> Option<String> {
    let mut inner = String::new();
    for part in &template.parts {
        match part {
            TemplatePart::Text(text, _) => {
                inner.push_str(&text.replace('{', "{{").replace('}', "}}"));
            }
            TemplatePart::Hole(placeholder) => inner.push_str(&hole(placeholder)),
            TemplatePart::Bad { text, .. } => inner.push_str(text),
        }
    }
    // On one line a stray `{` would find the `}` of another line.
    let is_stray = template.parts.iter().any(|part| matches!(part, TemplatePart::Bad { .. }));
    if inner.contains("\"\"\"") || inner.contains('\r') && !is_stray {
        return None;
    }
    let quoted = inner.starts_with('"') || inner.ends_with('"');
    if !inner.contains('\n') && !quoted {
        return Some(format!("\"\"\"{inner}\"\"\""));
    }
    let indent = Out::indent(level + 1);
    let mut out = String::from("\"\"\"\n");
    for line in inner.split('\n') {
        if !line.is_empty() {
            out.push_str(&indent);
            out.push_str(line);
        }
        if line.ends_with('\r') {
            // One of them is taken for a part of the line end.
            out.push('\r');
        }
        out.push('\n');
    }
    out.push_str(&indent);
    out.push_str("\"\"\"");
    Some(out)
}

/// A text of an `import` or a client, where braces mean nothing.
pub(super) fn uninterpolated(template: &Template) -> String {
    let text: String = template
        .parts
        .iter()
        .map(|part| match part {
            TemplatePart::Text(text, _) | TemplatePart::Bad { text, .. } => text.clone(),
            TemplatePart::Hole(inner) => hole(inner),
        })
        .collect();
    plain(&text)
}
