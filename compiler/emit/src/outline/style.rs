//! The colours and characters of a terminal.

use crate::picture::look::Look;
use chartc_core::visible;
use std::fmt::Write as _;
use unicode_width::UnicodeWidthChar;

/// The look of a piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Bold,
    Faint,
    /// A highlighted state.
    Lit,
    /// An ancestor of a highlighted state.
    Around,
    /// The first word of a row.
    Word(Look),
}

impl Style {
    const fn code(self) -> &'static str {
        match self {
            Self::Bold => "1",
            Self::Faint => "2",
            Self::Lit => "1;30;43",
            Self::Around => "1;33",
            Self::Word(Look::Event) => "1",
            Self::Word(Look::When) => "36",
            Self::Word(Look::Clock) => "33",
            Self::Word(Look::Choice | Look::Otherwise) => "35",
            Self::Word(Look::Done) => "32",
            Self::Word(Look::Error) => "31",
        }
    }

    /// Appends `text` in this style.
    pub(super) fn paint(self, out: &mut String, text: &str, colour: bool) {
        let code = self.code();
        if colour && !code.is_empty() && !text.is_empty() {
            let _ = write!(out, "\x1b[{code}m{text}\x1b[0m");
        } else {
            out.push_str(text);
        }
    }
}

/// The text on one line, with characters that the terminal cannot show replaced or escaped.
pub(super) fn plain(text: &str, ascii: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible::line(text).chars() {
        match c {
            c if !ascii || c.is_ascii() => out.push(c),
            '│' | '├' => out.push('|'),
            '└' => out.push('`'),
            '─' => out.push('-'),
            '┆' => out.push(':'),
            '●' => out.push('*'),
            '○' => out.push('o'),
            '◉' => out.push('@'),
            '▶' => out.push('#'),
            '▷' => out.push('+'),
            '→' => out.push_str("->"),
            '⊘' => out.push('x'),
            '“' | '”' => out.push('"'),
            '…' => out.push_str("..."),
            c => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
        }
    }
    out
}

/// The number of columns that a text takes up in a terminal.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}
