//! Finds the names that lines, steps and loops around the cursor bind.

use super::cursor::{Cursor, bare};
use super::scope::VisibleNames;
use crate::editor::outline::SymbolKind;
use chartc_text::front::chart::completion_context::{BodyKind, Open};
use chartc_text::front::chart::lex::{Token, TokenKind, tokens};
use chartc_text::syntax::TypeExpr;

/// A bound name, with its type if it is known.
pub(super) type BoundName<'c> = (String, Option<&'c TypeExpr>);

/// The names bound at the cursor, the nearest first. `item` is the offset of the item that the cursor is in.
pub(super) fn bound<'c>(
    cursor: &Cursor<'_>,
    scope: &VisibleNames<'c>,
    open: &[Open],
    item: usize,
) -> Vec<BoundName<'c>> {
    let text = cursor.text;
    let mut found = Vec::new();
    let heads = open.iter().filter(|body| {
        !matches!(body.place, BodyKind::Chart | BodyKind::State | BodyKind::Test | BodyKind::Top)
    });
    let mut parts: Vec<(usize, usize)> = heads.map(|body| (body.start, body.brace)).collect();
    // A loop binds its name for what follows. A comprehension binds it also for what precedes: `[x.a for x in list]`.
    let line = text[cursor.end..].find('\n').map_or(text.len(), |at| cursor.end + at);
    parts.push((item.min(cursor.from), cursor.from));
    for (start, end) in parts {
        let part = text.get(start..end).unwrap_or_default();
        of_part(part, scope, &mut found);
    }
    let rest = &text[cursor.end..line];
    let after = tokens(rest);
    found.extend(pairs(&after, rest, "for", "in").map(|name| (name, None)));
    // An inner binding hides an outer one of the same name.
    found.reverse();
    found
}

fn of_part<'c>(part: &str, scope: &VisibleNames<'c>, found: &mut Vec<BoundName<'c>>) {
    let all = tokens(part);
    found.extend(pairs(&all, part, "for", "in").map(|name| (name, None)));
    for name in pairs(&all, part, "each", "in") {
        found.push((name, None));
    }
    for (nth, token) in all.iter().enumerate() {
        let next = |by: usize| all.get(nth + by).map_or("", |one| one.text(part));
        match token.text(part) {
            "as" => found.push((bare(next(1)).to_owned(), None)),
            "on" => of_event(&all[nth + 1..], part, scope, found),
            "may" if next(2) == "(" => {
                let option = bare(next(1));
                let known = scope.of_kind(&[SymbolKind::Option]).find(|decl| decl.name == option);
                let params = known.iter().flat_map(|decl| decl.params);
                found.extend(params.map(|param| (param.name.node.clone(), Some(&param.ty))));
                found.extend(written(&all[nth + 3..], part).map(|name| (name, None)));
            }
            _ => {}
        }
    }
}

/// Adds the names that `e(a, b)` binds, with the types of the event's data.
fn of_event<'c>(
    after: &[Token],
    part: &str,
    scope: &VisibleNames<'c>,
    found: &mut Vec<BoundName<'c>>,
) {
    let Some(open) = after.iter().position(|token| token.text(part) == "(") else { return };
    let is_path = |token: &Token| {
        matches!(token.kind, TokenKind::Word | TokenKind::Quoted) || token.text(part) == "."
    };
    if !after[..open].iter().all(is_path) {
        return;
    }
    let path: String = after[..open].iter().map(|token| bare(token.text(part))).collect();
    let event = scope.of_kind(&[SymbolKind::Event]).find(|decl| decl.name == path);
    let close = after.iter().position(|token| token.text(part) == ")").unwrap_or(after.len());
    let names = after[open + 1..close.max(open + 1)].iter();
    let names = names.filter(|token| matches!(token.kind, TokenKind::Word | TokenKind::Quoted));
    for (nth, name) in names.enumerate() {
        let ty = event.and_then(|decl| decl.params.get(nth)).map(|param| &param.ty);
        found.push((bare(name.text(part)).to_owned(), ty));
    }
}

/// The names before colons, up to a closing bracket.
fn written<'p>(after: &'p [Token], part: &'p str) -> impl Iterator<Item = String> + 'p {
    let close = after.iter().position(|token| token.text(part) == ")").unwrap_or(after.len());
    let inside = &after[..close];
    inside
        .windows(2)
        .filter(|pair| pair[1].text(part) == ":")
        .map(|pair| bare(pair[0].text(part)).to_owned())
}

/// The names between the words `first` and `last`.
fn pairs<'p>(
    all: &'p [Token],
    part: &'p str,
    first: &'p str,
    last: &'p str,
) -> impl Iterator<Item = String> + 'p {
    all.windows(3)
        .filter(move |three| three[0].text(part) == first && three[2].text(part) == last)
        .map(|three| bare(three[1].text(part)).to_owned())
}
