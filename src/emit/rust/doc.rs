//! Documentation of generated items: the chart's own, as Markdown in which nothing is code to rustdoc.

use chartc_core::visible;

/// Documentation of an item: the chart's own, else `plain`. Nothing in it is code to rustdoc, which would run it as a test.
pub(super) fn doc(own: &str, plain: &str) -> String {
    if own.trim().is_empty() {
        return visible::line(plain).into_owned();
    }
    let mut fenced = false;
    // What a line that goes on with an item of a list begins with.
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
    if fenced {
        text.push_str("\n```");
    }
    text
}

/// As many spaces as the mark takes with which an item of a list begins; none for other lines.
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

/// A line of prose: words in single back-quotes stay, and no code by indentation or fences, no links and no tags.
fn prose(line: &str) -> String {
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut out = String::new();
    let mut rest = line.as_str();
    while let Some(c) = rest.chars().next() {
        let inner = rest.strip_prefix('`').and_then(|inner| Some(&inner[..inner.find('`')?]));
        // A run of several back-quotes is ended by one as long.
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
