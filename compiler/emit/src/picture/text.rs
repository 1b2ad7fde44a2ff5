//! Wraps and shortens texts.

/// The number of characters in a line of a label, as far as the words permit.
pub(crate) const WIDTH: usize = 30;

/// The first paragraph of a documentation text, on one line.
pub(crate) fn paragraph(doc: &str) -> String {
    let lines: Vec<&str> = doc.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    lines.join(" ")
}

/// Wraps the text at blanks into lines of about `width` characters. An operator starts a line instead of ending one. A word is split only
/// if it is longer than two lines.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    let mut length = 0;
    let mut words = text.split_whitespace();
    while let Some(word) = words.next() {
        let mut unit = word.to_owned();
        if is_operator(word)
            && let Some(next) = words.next()
        {
            unit.push(' ');
            unit.push_str(next);
        }
        for piece in pieces(&unit, 2 * width) {
            let size = piece.chars().count();
            if length > 0 && length + 1 + size > width {
                lines.push(std::mem::take(&mut line));
                length = 0;
            }
            if length > 0 {
                line.push(' ');
                length += 1;
            }
            line.push_str(piece);
            length += size;
        }
    }
    if length > 0 || lines.is_empty() {
        lines.push(line);
    }
    lines
}

/// Whether the word is an operator, which belongs to the word after it.
fn is_operator(word: &str) -> bool {
    matches!(
        word,
        "and"
            | "or"
            | "not"
            | "in"
            | "div"
            | "=="
            | "!="
            | "<"
            | "<="
            | ">"
            | ">="
            | "="
            | "+"
            | "-"
            | "*"
            | "/"
            | "%"
            | "??"
    )
}

fn pieces(word: &str, size: usize) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.char_indices().nth(size).map_or(rest.len(), |(i, _)| i);
        let (piece, behind) = rest.split_at(end);
        rest = behind;
        Some(piece)
    })
}

/// The first `size` characters, followed by `…` if the text is longer.
pub(crate) fn short(text: &str, size: usize) -> String {
    match text.char_indices().nth(size) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraph_over_several_lines() {
        assert_eq!(paragraph("Asks, and\nasks again.\n\nMore."), "Asks, and asks again.");
        assert_eq!(paragraph(""), "");
    }

    #[test]
    fn lines_break_at_blanks_and_long_words_at_two_lines() {
        assert_eq!(wrap("aa bb cc", 5), ["aa bb", "cc"]);
        assert_eq!(wrap("é".repeat(5).as_str(), 2), ["éééé", "é"]);
        assert_eq!(wrap("", 5), [""]);
        assert_eq!(wrap("aaaa >= bb", 7), ["aaaa", ">= bb"]);
        assert_eq!(short("äbc", 2), "äb…");
    }
}
