//! Prints texts and names.

use super::expr::hole;
use super::out::Out;
use crate::span::Ident;
use crate::syntax::{Path, Template, TemplatePart, is_lower_snake, is_reserved, is_upper_camel};
use chartc_core::visible;

/// Prints a name of anything except a type or a chart.
pub(super) fn lower(name: &str) -> String {
    if is_lower_snake(name) && !is_reserved(name) { name.to_owned() } else { quote(name) }
}

/// Prints the name of a type or a chart.
pub(super) fn upper(name: &str) -> String {
    if is_upper_camel(name) { name.to_owned() } else { quote(name) }
}

/// Prints a name in back-quotes.
pub(super) fn quote(name: &str) -> String {
    let mut out = String::from("`");
    within(name, &mut out, |c, out| match c {
        '`' => out.push_str("\\`"),
        '"' | '{' | '}' => visible::escape(c, out),
        c => out.push(c),
    });
    out.push('`');
    out
}

/// Prints a dotted name.
pub(super) fn path(path: &Path) -> String {
    path.names.iter().map(|n| lower(&n.node)).collect::<Vec<_>>().join(".")
}

/// Prints names, separated by commas.
pub(super) fn names(names: &[Ident]) -> String {
    names.iter().map(|n| lower(&n.node)).collect::<Vec<_>>().join(", ")
}

/// Prints the contents of a quoted text: hidden characters become escapes, and `plain` writes the others.
fn within(text: &str, out: &mut String, plain: impl Fn(char, &mut String)) {
    let mut hidden = visible::hidden(text).map(|(at, _)| at).peekable();
    for (at, c) in text.char_indices() {
        if hidden.next_if_eq(&at).is_some() || matches!(c, '\n' | '\t') {
            visible::escape(c, out);
        } else if c == '\\' {
            out.push_str("\\\\");
        } else {
            plain(c, out);
        }
    }
}

/// Prints a text without placeholders, on one line.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::from("\"");
    within(text, &mut out, |c, out| match c {
        '"' => out.push_str("\\\""),
        c => out.push(c),
    });
    out.push('"');
    out
}

/// Prints a text on a line of indentation `level`.
pub(super) fn template(template: &Template, level: usize) -> String {
    if template.block
        && let Some(block) = block(template, level)
    {
        return block;
    }
    line(template)
}

/// Prints a text on one line: `"…"`.
pub(super) fn line(template: &Template) -> String {
    let mut out = String::from("\"");
    for part in &template.parts {
        match part {
            TemplatePart::Text(text, _) => within(text, &mut out, |c, out| match c {
                '"' => out.push_str("\\\""),
                '{' => out.push_str("{{"),
                '}' => out.push_str("}}"),
                c => out.push(c),
            }),
            TemplatePart::Hole(inner) => out.push_str(&within_quotes(&hole(inner))),
            TemplatePart::Bad { text, .. } => out.push_str(&within_quotes(text)),
        }
    }
    out.push('"');
    out
}

/// Escapes the contents of braces in a one-line text.
fn within_quotes(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace(['\n', '\r'], " ")
}

/// Prints a text as `"""…"""`. `None` if this form cannot contain the text.
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
    // In a one-line string, a stray `{` would pair with a `}` that belongs to another line.
    let is_stray = template.parts.iter().any(|part| matches!(part, TemplatePart::Bad { .. }));
    let is_hidden = visible::hidden(&inner).next().is_some();
    if inner.contains("\"\"\"") || is_hidden && !is_stray {
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
            // The parser takes one `\r` as a part of the line end.
            out.push('\r');
        }
        out.push('\n');
    }
    out.push_str(&indent);
    out.push_str("\"\"\"");
    Some(out)
}

/// Prints a text of an `import` or of a client, where braces have no meaning.
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

/// Prints ` renamed_from a, b`, or nothing.
pub(super) fn renamed(from: &[Ident]) -> String {
    if from.is_empty() {
        return String::new();
    }
    let names: Vec<String> = from.iter().map(|name| lower(&name.node)).collect();
    format!(" renamed_from {}", names.join(", "))
}
