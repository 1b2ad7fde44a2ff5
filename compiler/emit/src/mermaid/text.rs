//! Escapes texts for Mermaid. Its grammar reads a label up to certain characters, then reads the result as Markdown and HTML.

use chartc_core::visible;
use std::fmt::Write as _;

/// Escapes the text of a label: characters that Mermaid, its Markdown or HTML would interpret become entities such as `#58;`.
pub(super) fn escaped(text: &str) -> String {
    let text = visible::text(text.trim());
    let mut out = String::with_capacity(text.len());
    let mut before = None;
    let mut chars = text.chars().peekable();
    let mut is_number = true;
    while let Some(c) = chars.next() {
        let next = chars.peek().copied();
        // `- a`, `+ a` and `1. a` at the beginning would become lists.
        let is_list = match c {
            '-' | '+' => before.is_none(),
            '.' | ')' => is_number && before.is_some(),
            _ => false,
        };
        is_number &= c.is_ascii_digit();
        match c {
            _ if is_list || is_special(c, before, next) => {
                let _ = write!(out, "#{};", u32::from(c));
            }
            '"' => out.push_str("#quot;"),
            '<' => out.push_str("#lt;"),
            '>' => out.push_str("#gt;"),
            '&' => out.push_str("#amp;"),
            '\n' | '\t' => out.push(' '),
            c => out.push(c),
        }
        before = Some(c);
    }
    if out.is_empty() {
        // The grammar permits no empty label, so it becomes a blank.
        out.push_str("#160;");
    }
    defused(out)
}

fn is_special(c: char, before: Option<char>, next: Option<char>) -> bool {
    match c {
        '#' | ';' | ':' | '{' | '}' | '%' | '\\' | '`' | '*' | '~' | '$' | '@' | '|' => true,
        // Mermaid uses these characters for entities while it parses.
        '\u{fb02}' | '¶' => true,
        // An underscore inside of a word does not mean emphasis.
        '_' => ![before, next].iter().all(|n| n.is_some_and(char::is_alphanumeric)),
        // `[text](address)` and `[[fork]]`.
        '[' => next == Some('['),
        ']' => matches!(next, Some('(' | '[' | ']')),
        // `www.` would start a link.
        '.' => matches!(before, Some('w' | 'W')),
        _ => false,
    }
}

/// Breaks the word `direction`, which Mermaid looks for before two letters anywhere in a line.
fn defused(text: String) -> String {
    const WORD: &str = "direction";
    let lower = text.to_ascii_lowercase();
    if !lower.contains(WORD) {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 8);
    let mut rest = 0;
    for (at, _) in lower.match_indices(WORD) {
        let (head, last) = (at + WORD.len() - 1, at + WORD.len());
        out.push_str(&text[rest..head]);
        let _ = write!(out, "#{};", text.as_bytes()[head]);
        rest = last;
    }
    out.push_str(&text[rest..]);
    out
}

/// Writes a comment on one line, which Mermaid ignores.
pub(super) fn comment(text: &str) -> String {
    let mut out = String::from("%% ");
    let mut before = ' ';
    for c in visible::text(text).chars() {
        // `%%{` would start a directive, wherever it occurs.
        if c == '%' && before == '%' {
            out.push(' ');
        }
        out.push(if matches!(c, '\n' | '\t') { ' ' } else { c });
        before = c;
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_of_the_grammar_become_entities() {
        assert_eq!(escaped("a: \"b\"; #c {d}"), "a#58; #quot;b#quot;#59; #35;c #123;d#125;");
        assert_eq!(escaped(" \n "), "#160;");
        assert_eq!(escaped("a\nb\u{2028}c\td"), "a b#92;u#123;2028#125;c d");
        assert_eq!(escaped("x -> y, p --> q"), "x -#gt; y, p --#gt; q");
        assert_eq!(escaped("zażółć ✓ 日本"), "zażółć ✓ 日本");
    }

    #[test]
    fn markdown_and_html_stay_text() {
        assert_eq!(escaped("**b** <i> a & b"), "#42;#42;b#42;#42; #lt;i#gt; a #amp; b");
        assert_eq!(escaped("snake_case _em_"), "snake_case #95;em#95;");
        assert_eq!(escaped("1. one"), "1#46; one");
        assert_eq!(escaped("- one - two"), "#45; one - two");
        assert_eq!(escaped("[a](b) [c]"), "[a#93;(b) [c]");
        assert_eq!(escaped("see www.example"), "see www#46;example");
    }

    #[test]
    fn words_of_the_grammar_are_no_words() {
        assert_eq!(escaped("Direction TB"), "Directio#110; TB");
        assert_eq!(escaped("x [[fork]]"), "x #91;[fork#93;]");
    }

    #[test]
    fn no_comment_is_a_directive() {
        assert_eq!(comment("50%%%{init}%%"), "%% 50% % %{init}% %\n");
        assert_eq!(comment("a\nb"), "%% a b\n");
    }
}
