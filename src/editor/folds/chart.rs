//! Folds of a `.chart`, computed from its tokens: brackets, texts of several lines, runs of comments and of imports.

use super::FoldKind;
use chartc_text::front::chart::lex::{Token, TokenKind, tokens};
use std::ops::Range;

pub(super) fn folds(text: &str) -> Vec<(Range<usize>, FoldKind)> {
    let all = tokens(text);
    let mut found = Vec::new();
    let mut open: Vec<&Token> = Vec::new();
    for token in &all {
        match token.kind {
            TokenKind::Open => open.push(token),
            TokenKind::Close => {
                let opener = pair(token.text(text));
                // A missing bracket must not cost the folds around it, so look further out for the one that matches.
                let Some(nth) = open.iter().rposition(|one| one.text(text) == opener) else {
                    continue;
                };
                found.push((open[nth].start..token.end, FoldKind::Region));
                open.truncate(nth);
            }
            TokenKind::Block => found.push((token.range(), FoldKind::Region)),
            _ => {}
        }
    }
    comments(text, &all, &mut found);
    imports(text, &all, &mut found);
    found
}

fn pair(close: &str) -> &'static str {
    match close {
        ")" => "(",
        "]" => "[",
        _ => "{",
    }
}

/// Adds runs of comments that stand alone on consecutive lines.
fn comments(text: &str, all: &[Token], found: &mut Vec<(Range<usize>, FoldKind)>) {
    let mut run: Option<Range<usize>> = None;
    for token in all {
        if !matches!(token.kind, TokenKind::Comment | TokenKind::Doc) {
            continue;
        }
        let line = text[..token.start].rfind('\n').map_or(0, |at| at + 1);
        let alone = text[line..token.start].trim().is_empty();
        let below = |last: &Range<usize>| {
            let between = &text[last.end..token.start];
            between.trim().is_empty() && between.matches('\n').count() == 1
        };
        run = match run.take() {
            Some(last) if alone && below(&last) => Some(last.start..token.end),
            last => {
                found.extend(last.map(|last| (last, FoldKind::Comment)));
                alone.then(|| token.range())
            }
        };
    }
    found.extend(run.map(|last| (last, FoldKind::Comment)));
}

/// Adds runs of imports.
fn imports(text: &str, all: &[Token], found: &mut Vec<(Range<usize>, FoldKind)>) {
    let mut run: Option<Range<usize>> = None;
    let mut rest = all;
    while let [first, tail @ ..] = rest {
        match tail {
            [path, after @ ..] if first.text(text) == "import" && path.kind == TokenKind::Text => {
                let start = run.take().map_or(first.start, |run| run.start);
                run = Some(start..path.end);
                rest = after;
            }
            _ => {
                if !matches!(first.kind, TokenKind::Comment | TokenKind::Doc) {
                    found.extend(run.take().map(|run| (run, FoldKind::Imports)));
                }
                rest = tail;
            }
        }
    }
    found.extend(run.map(|run| (run, FoldKind::Imports)));
}
