//! Writes the documentation of generated items: the chart's own, as Markdown without code that rustdoc would run.

use chartc_core::visible;

/// Returns the documentation of an item: the chart's own, else `plain`. Rustdoc finds no code in it that it would run as a test.
pub(super) fn doc(own: &str, plain: &str) -> String {
    if own.trim().is_empty() {
        return visible::line(plain).into_owned();
    }
    let mut fenced = false;
    // The indentation of lines that continue a list item.
    let mut indent = "";
    let lines = own.lines().map(|line| {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            return if fenced { "```text".to_owned() } else { "```".to_owned() };
        }
        if fenced {
            return line.to_owned();
        }
        let text = prose(line);
        let marker = marker(&text);
        if !marker.is_empty() || text.is_empty() {
            indent = marker;
            return text;
        }
        format!("{indent}{text}")
    });
    let mut text = lines.collect::<Vec<_>>().join("\n");
    // A fence that the chart leaves open would swallow the rest of the documentation.
    if fenced {
        text.push_str("\n```");
    }
    text
}

/// Returns spaces as wide as the marker of a list item; empty for other lines.
fn marker(line: &str) -> &'static str {
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, rest) = line.split_at(digits);
    let begins = |marks: &[char]| rest.starts_with(marks) && rest[1..].starts_with([' ', '\t']);
    match number.len() {
        0 if begins(&['-', '*', '+']) => "  ",
        1 if begins(&['.', ')']) => "   ",
        2..10 if begins(&['.', ')']) => "    ",
        _ => "",
    }
}

/// Escapes a line of prose: single back-quotes stay, but indented or fenced code, links and tags do not.
fn prose(line: &str) -> String {
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut out = String::new();
    let mut rest = line.as_str();
    while let Some(c) = rest.chars().next() {
        let inner = rest.strip_prefix('`').and_then(|inner| Some(&inner[..inner.find('`')?]));
        // A run of several back-quotes ends at a run of the same length.
        let is_single = |len: usize| !rest[len..].starts_with('`') && !out.ends_with('`');
        let len = match inner.map(|inner| inner.len() + 2) {
            Some(len) if len > 2 && is_single(len) => len,
            _ => c.len_utf8(),
        };
        if len == c.len_utf8() && matches!(c, '`' | '~' | '[' | ']' | '<' | '>' | '\\') {
            out.push('\\');
        }
        out.push_str(&rest[..len]);
        rest = &rest[len..];
    }
    out
}
