//! Answers requests that make a text easier to read: hover, colours, folds, hints.

use super::navigation::place;
use super::{Refusal, View};
use crate::editor::folds::{FoldKind, folds};
use crate::editor::hints::{HintKind, hints};
use crate::editor::hover;
use crate::editor::tokens::{Modifiers, Token, TokenKind, tokens};
use crate::editor::yaml::{self, Format};
use chartc_text::span::Span;
use gen_lsp_types as lsp;

pub(super) fn hover(
    view: &View<'_>,
    params: lsp::HoverParams,
) -> Result<Option<lsp::Hover>, Refusal> {
    let (done, file) = view.compiled()?;
    let position = params.text_document_position_params.position;
    let (source, offset) = place(view, done, file, position);
    let found = hover::hover(done, file, offset as usize).map(|found| (found.span, found.markdown));
    let found = found.or_else(|| {
        // Not a name of the chart: perhaps a key of the agent file.
        let format = Format::from_path(&source.name, &source.text)?;
        let found = yaml::hover(format, &source.text, offset as usize)?;
        Some((Span::new(file, found.at.start, found.at.end), found.text))
    });
    Ok(found.map(|(span, value)| lsp::Hover {
        contents: lsp::Contents::MarkupContent(lsp::MarkupContent {
            kind: lsp::MarkupKind::Markdown,
            value,
        }),
        range: Some(view.client.encoding.range_in(source, span)),
    }))
}

pub(super) fn folding(
    view: &View<'_>,
    _: lsp::FoldingRangeParams,
) -> Result<Vec<lsp::FoldingRange>, Refusal> {
    let (done, file) = view.compiled()?;
    let source = done.sources.get(file);
    let shown = |fold: crate::editor::folds::Fold| {
        let range = view.client.encoding.range_in(source, fold.span);
        lsp::FoldingRange {
            start_line: range.start.line,
            start_character: Some(range.start.character),
            end_line: range.end.line,
            end_character: Some(range.end.character),
            kind: Some(match fold.kind {
                FoldKind::Region => lsp::FoldingRangeKind::Region,
                FoldKind::Comment => lsp::FoldingRangeKind::Comment,
                FoldKind::Imports => lsp::FoldingRangeKind::Imports,
            }),
            collapsed_text: None,
        }
    };
    Ok(folds(done, file).into_iter().map(shown).collect())
}

pub(super) fn inlay(
    view: &View<'_>,
    params: lsp::InlayHintParams,
) -> Result<Vec<lsp::InlayHint>, Refusal> {
    let (done, file) = view.compiled()?;
    let source = done.sources.get(file);
    let encoding = view.client.encoding;
    let at = |place| encoding.offset(source, place) as usize;
    let range = at(params.range.start)..at(params.range.end);
    let wanted = view.client.settings.inlay_hints;
    let is_wanted = |kind: &HintKind| match kind {
        HintKind::Type => wanted.types,
        HintKind::Parameter => wanted.parameters,
        HintKind::Policy => wanted.limits,
        HintKind::Calls => wanted.costs,
    };
    let kinds: Vec<HintKind> = HintKind::ALL.into_iter().filter(is_wanted).collect();
    let shown = |hint: crate::editor::hints::Hint| lsp::InlayHint {
        position: encoding.position(source, hint.offset as u32),
        label: lsp::Label::String(hint.text),
        kind: match hint.kind {
            HintKind::Type => Some(lsp::InlayHintKind::Type),
            HintKind::Parameter => Some(lsp::InlayHintKind::Parameter),
            HintKind::Policy | HintKind::Calls => None,
        },
        text_edits: None,
        tooltip: None,
        padding_left: None,
        padding_right: None,
        data: None,
    };
    Ok(hints(done, file, range, &kinds).into_iter().map(shown).collect())
}

/// The kinds of tokens, indexed by their numbers in the protocol, with names for which editors have colours.
const KINDS: &[(TokenKind, &str)] = &[
    (TokenKind::Keyword, "keyword"),
    (TokenKind::State, "class"),
    (TokenKind::Event, "event"),
    (TokenKind::Variable, "variable"),
    (TokenKind::Parameter, "parameter"),
    (TokenKind::Property, "property"),
    (TokenKind::Type, "type"),
    (TokenKind::Enum, "enum"),
    (TokenKind::EnumMember, "enumMember"),
    (TokenKind::Function, "function"),
    (TokenKind::Tool, "method"),
    (TokenKind::Step, "macro"),
    (TokenKind::Option, "label"),
    (TokenKind::Client, "interface"),
    (TokenKind::Component, "decorator"),
    (TokenKind::Chart, "namespace"),
    (TokenKind::Number, "number"),
    (TokenKind::Duration, "number"),
    (TokenKind::String, "string"),
    (TokenKind::Brace, "regexp"),
    (TokenKind::Comment, "comment"),
    (TokenKind::Doc, "comment"),
    (TokenKind::Operator, "operator"),
];

/// The modifiers of tokens. The first has the lowest bit.
const MODIFIERS: &[&str] = &["declaration", "readonly", "deprecated", "documentation"];

/// The names of the kinds and of the modifiers, in the order of their numbers.
pub(in crate::cli::lsp) fn legend() -> (Vec<&'static str>, Vec<&'static str>) {
    (KINDS.iter().map(|(_, name)| *name).collect(), MODIFIERS.to_vec())
}

pub(super) fn all_tokens(
    view: &View<'_>,
    _: lsp::SemanticTokensParams,
) -> Result<lsp::SemanticTokens, Refusal> {
    let (_, file) = view.compiled()?;
    coloured(view, Span::new(file, 0, u32::MAX as usize))
}

pub(super) fn some_tokens(
    view: &View<'_>,
    params: lsp::SemanticTokensRangeParams,
) -> Result<lsp::SemanticTokens, Refusal> {
    let (done, file) = view.compiled()?;
    let source = done.sources.get(file);
    let at = |place| view.client.encoding.offset(source, place) as usize;
    coloured(view, Span::new(file, at(params.range.start), at(params.range.end)))
}

/// The tokens that touch a span. The protocol wants the position of each relative to the one before.
fn coloured(view: &View<'_>, within: Span) -> Result<lsp::SemanticTokens, Refusal> {
    let (done, file) = view.compiled()?;
    let source = done.sources.get(file);
    let encoding = view.client.encoding;
    let (mut line, mut character) = (0, 0);
    let mut data = Vec::new();
    let touches = |token: &Token| token.span.end >= within.start && token.span.start <= within.end;
    for token in tokens(done, file).into_iter().filter(touches) {
        let at = encoding.position(source, token.span.start);
        let delta_line = at.line - line;
        let delta_start = if delta_line == 0 { at.character - character } else { at.character };
        (line, character) = (at.line, at.character);
        data.push(lsp::SemanticToken {
            delta_line,
            delta_start,
            length: encoding.length(source.slice(token.span)),
            token_type: number(token.kind),
            token_modifiers_bitset: bits(&token),
        });
    }
    Ok(lsp::SemanticTokens { result_id: None, data })
}

fn number(kind: TokenKind) -> u32 {
    KINDS.iter().position(|(known, _)| *known == kind).unwrap_or_default() as u32
}

fn bits(token: &Token) -> u32 {
    let Modifiers { declaration, readonly, deprecated } = token.modifiers;
    let all = [declaration, readonly, deprecated, token.kind == TokenKind::Doc];
    all.into_iter().enumerate().map(|(nth, is_so)| u32::from(is_so) << nth).sum()
}
