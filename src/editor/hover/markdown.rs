//! Builds Markdown in which text of users remains text.

use chartc_core::visible;

/// The maximum number of rows of a list that are shown.
const ROWS: usize = 12;

/// The maximum number of characters of a code block or a documentation.
const LONGEST: usize = 4_000;

/// A Markdown text that is built paragraph by paragraph.
#[derive(Debug, Default)]
pub(in crate::editor) struct Markdown {
    text: String,
}

impl Markdown {
    fn paragraph(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
        self.text.push_str(text);
    }

    /// Adds a block of code. Its fence is longer than any run of back-quotes in the text, so that the text cannot end the block.
    pub(super) fn code(&mut self, language: &str, text: &str) {
        let text = visible::text(text);
        let fence = "`".repeat(longest_run(&text).max(2) + 1);
        let (text, rest) = cut(text.trim_end());
        self.paragraph(&format!("{fence}{language}\n{text}{rest}\n{fence}"));
    }

    /// Adds documentation that a user wrote, paragraph by paragraph.
    pub(super) fn docs(&mut self, text: &str) {
        let (text, rest) = cut(text);
        for part in text.split("\n\n").filter(|part| !part.trim().is_empty()) {
            let lines: Vec<String> = part.lines().map(|line| plain(line.trim())).collect();
            self.paragraph(&lines.join("\n"));
        }
        self.text.push_str(rest);
    }

    /// Adds a paragraph that is Markdown already.
    pub(super) fn line(&mut self, text: impl AsRef<str>) {
        self.paragraph(text.as_ref());
    }

    /// Adds a list under a title, unless there are no rows. The rows are Markdown already.
    pub(super) fn list(&mut self, title: &str, rows: impl IntoIterator<Item = String>) {
        let rows: Vec<String> = rows.into_iter().collect();
        if rows.is_empty() {
            return;
        }
        self.paragraph(&format!("**{title}**\n"));
        for row in rows.iter().take(ROWS) {
            self.text.push_str(&format!("\n- {row}"));
        }
        if rows.len() > ROWS {
            self.text.push_str(&format!("\n- … and {} more", rows.len() - ROWS));
        }
    }

    pub(super) fn finish(self) -> String {
        self.text
    }
}

fn cut(text: &str) -> (&str, &'static str) {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => (&text[..end], " …"),
        None => (text, ""),
    }
}

/// The length of the longest run of back-quotes.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Formats code within a line.
pub(in crate::editor) fn code(text: &str) -> String {
    let text = visible::line(text);
    if text.trim().is_empty() {
        return "` `".into();
    }
    let quotes = "`".repeat(longest_run(&text) + 1);
    let blank = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{quotes}{blank}{text}{blank}{quotes}")
}

/// Escapes text within a line: every character that Markdown or HTML would interpret.
pub(in crate::editor) fn plain(text: &str) -> String {
    let text = visible::line(text);
    let mut out = String::with_capacity(text.len());
    let number = text.bytes().take_while(u8::is_ascii_digit).count();
    for (at, c) in text.char_indices() {
        let begins = at == 0 && matches!(c, '-' | '+' | '=');
        let counts = at == number && number > 0 && matches!(c, '.' | ')');
        let always = matches!(
            c,
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '&' | '#' | '|' | '~' | '!' | '$'
        );
        if begins || counts || always {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_holds_any_text() {
        assert_eq!(code("a"), "`a`");
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("``"), "``` `` ```");
        assert_eq!(code("a\n\u{202e}b"), "`a\\n\\u{202e}b`");
        let mut markdown = Markdown::default();
        markdown.code("chart", "```\nx");
        assert_eq!(markdown.finish(), "````chart\n```\nx\n````");
    }

    #[test]
    fn docs_are_no_markdown() {
        let mut markdown = Markdown::default();
        markdown.docs("# <b>[a](b)\n1. `x`\n\n- y");
        assert_eq!(markdown.finish(), "\\# \\<b\\>\\[a\\](b)\n1\\. \\`x\\`\n\n\\- y");
    }

    #[test]
    fn a_long_list_is_cut() {
        let mut markdown = Markdown::default();
        markdown.list("Many", (0..20).map(|n| n.to_string()));
        assert!(markdown.finish().ends_with("- 11\n- … and 8 more"));
    }
}
