//! The tokens of a `.chart` file: those of the scanner, with the meanings of names from the syntax tree.

use super::TokenKind;
use super::marks::{Mark, Marks};
use chartc_text::front::chart::lex::{self, is_keyword, tokens as lexical};
use std::ops::Range;

type MarkedTokens = Vec<(Range<usize>, Mark)>;

pub(super) fn tokens(text: &str, marks: &Marks) -> MarkedTokens {
    let mut found = MarkedTokens::new();
    for token in lexical(text) {
        plain(text, 0, token, marks, &mut found);
    }
    found
}

/// Adds a token of the scanner. `base` is the offset that its offsets count from.
fn plain(text: &str, base: usize, token: lex::Token, marks: &Marks, found: &mut MarkedTokens) {
    let range = base + token.start..base + token.end;
    let kind = match token.kind {
        lex::TokenKind::Comment => TokenKind::Comment,
        lex::TokenKind::Doc => TokenKind::Doc,
        lex::TokenKind::Int | lex::TokenKind::Float => TokenKind::Number,
        lex::TokenKind::Duration => TokenKind::Duration,
        lex::TokenKind::Sign => TokenKind::Operator,
        lex::TokenKind::Text | lex::TokenKind::Block => return string(text, range, marks, found),
        lex::TokenKind::Word | lex::TokenKind::Quoted => {
            match marks.names.get(&(range.start, range.end)) {
                Some(mark) => found.push((range, *mark)),
                None => {
                    let word = &text[range.clone()];
                    let signs = ["and", "or", "div"];
                    if is_keyword(word) || signs.contains(&word) {
                        found.push((range, Mark::from_kind(TokenKind::Keyword)));
                    }
                }
            }
            return;
        }
        lex::TokenKind::Open | lex::TokenKind::Close | lex::TokenKind::Other => return,
    };
    found.push((range, Mark::from_kind(kind)));
}

/// Adds a text in quotes: its parts between placeholders line by line, and the tokens in its placeholders.
fn string(text: &str, range: Range<usize>, marks: &Marks, found: &mut MarkedTokens) {
    let mut at = range.start;
    let holes = marks.holes.range((range.start, 0)..(range.end, 0));
    for (start, end) in holes.copied() {
        // This placeholder is in a text inside another placeholder, which the recursion handles.
        if start < at || end > range.end {
            continue;
        }
        lines(text, at..start, found);
        found.push((start..start + 1, Mark::from_kind(TokenKind::Brace)));
        let format = marks.formats.range((start, 0)..(end, 0)).next().copied();
        let inner = start + 1..format.map_or(end - 1, |(from, _)| from);
        let inside: Vec<lex::Token> = lexical(&text[inner.clone()]);
        for token in inside {
            plain(text, inner.start, token, marks, found);
        }
        if let Some((from, to)) = format {
            lines(text, from..to.min(end - 1), found);
        }
        found.push((end - 1..end, Mark::from_kind(TokenKind::Brace)));
        at = end;
    }
    lines(text, at..range.end, found);
}

/// Adds a part of a text, one token for each line, without surrounding blanks.
fn lines(text: &str, range: Range<usize>, found: &mut MarkedTokens) {
    let mut at = range.start;
    for line in text[range].split('\n') {
        let body = line.trim();
        let start = at + line.len() - line.trim_start().len();
        if !body.is_empty() {
            found.push((start..start + body.len(), Mark::from_kind(TokenKind::String)));
        }
        at += line.len() + 1;
    }
}
