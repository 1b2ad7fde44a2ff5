//! Escapes text for XML.

use chartc_core::visible;

/// Escapes text for XML: element content or the value of an attribute.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible::text(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            // A parser turns raw line ends and tabs in attributes into spaces.
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            // XML 1.0 does not allow these two characters, not even as references.
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn xml_holds_any_text() {
        assert_eq!(
            super::escaped("a<b & \"c\">'\n\u{1}"),
            "a&lt;b &amp; &quot;c&quot;&gt;&apos;&#10;\\u{1}"
        );
    }
}
