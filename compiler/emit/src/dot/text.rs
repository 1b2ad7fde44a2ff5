//! Escapes texts for Graphviz.

use chartc_core::visible;

/// Writes a text as a quoted DOT string.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    escape_into(&mut out, text, "\\n");
    out.push('"');
    out
}

/// Writes lines as a quoted DOT label: each line is flush left, one blank from the edge.
pub(super) fn label(lines: &[String]) -> String {
    let mut out = String::from("\"");
    for line in lines {
        out.push(' ');
        escape_into(&mut out, line, " ");
        out.push_str(" \\l");
    }
    out.push('"');
    out
}

fn escape_into(out: &mut String, text: &str, line_end: &str) {
    for c in visible::text(text).chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            // Graphviz reads HTML entities in plain strings, too.
            '&' => out.push_str("&amp;"),
            '\n' => out.push_str(line_end),
            '\t' => out.push(' '),
            c => out.push(c),
        }
    }
}

/// Escapes a text for an HTML-like label.
pub(super) fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible::text(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if matches!(c, '\n' | '\t') || is_no_xml(c) => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Whether XML 1.0 forbids this character, although `char` allows it.
fn is_no_xml(c: char) -> bool {
    matches!(c, '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_breaks_out_of_a_string() {
        assert_eq!(quoted("a\"b\\c\nd\u{7}&lt;"), r#""a\"b\\c\nd\\u{7}&amp;lt;""#);
        assert_eq!(html("<b a=\"1\">&\u{0}"), "&lt;b a=&quot;1&quot;&gt;&amp;\\u{0}");
    }
}
