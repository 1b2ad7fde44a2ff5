//! Answers `textDocument/completion`.

use super::navigation::place;
use super::{Refusal, View};
use crate::editor::complete::{Completion, CompletionKind, Insert, complete, in_placeholder};
use crate::editor::yaml::{self, CompletionItem, Format, ItemKind};
use chartc_text::front;
use chartc_text::source::Source;
use chartc_text::span::Span;
use gen_lsp_types as lsp;

/// The maximum number of items in one answer. Further ones are found by typing more.
const MOST: usize = 400;

/// The items that can be written at a position.
pub(super) fn items(
    view: &View<'_>,
    params: lsp::CompletionParams,
) -> Result<lsp::CompletionList, Refusal> {
    let (done, file) = view.compiled()?;
    let position = params.text_document_position_params.position;
    let (source, offset) = place(view, done, file, position);
    let typed = params.context.and_then(|context| context.trigger_character);
    if typed.is_some_and(|typed| ends(source, offset, &typed)) {
        return Ok(lsp::CompletionList::default());
    }
    let overlay = view.overlay()?;
    let mut items: Vec<lsp::CompletionItem> = complete(done, file, offset as usize, Some(&overlay))
        .into_iter()
        .map(|found| item(view, source, found))
        .collect();
    if front::of(source).name == front::agent::FRONTEND.name
        && let Some(format) = Format::from_path(&source.name, &source.text)
    {
        // The value of a key may be an expression, so offer names as well as keys.
        let names = yaml::names(done, file, offset as usize);
        let others = yaml::complete(format, &source.text, offset as usize);
        for found in names.into_iter().chain([others]) {
            let replaces = Span::new(file, found.replace.start, found.replace.end);
            for one in found.items {
                items.push(yaml_item(view, source, one, replaces, items.len()));
            }
        }
    }
    let is_incomplete = items.len() > MOST;
    items.truncate(MOST);
    Ok(lsp::CompletionList { is_incomplete, items, ..lsp::CompletionList::default() })
}

/// Whether the typed character ends a construct in this notation. Then a new line follows, and Enter must not accept the first item.
fn ends(source: &Source, offset: u32, typed: &str) -> bool {
    let front = front::of(source).name;
    if front == front::scxml::FRONTEND.name {
        return matches!(typed, ">" | ":" | "{");
    }
    let is_block = || !in_placeholder(&source.text, offset as usize);
    typed == "<" || front == front::chart::FRONTEND.name && typed == "{" && is_block()
}

fn item(view: &View<'_>, source: &Source, found: Completion) -> lsp::CompletionItem {
    let (text, is_snippet) = match found.insert {
        Insert::Plain(text) => (text, false),
        Insert::Snippet(text) => (text, true),
    };
    let kind = match found.kind {
        CompletionKind::Keyword => lsp::CompletionItemKind::Keyword,
        CompletionKind::Snippet => lsp::CompletionItemKind::Snippet,
        CompletionKind::State => lsp::CompletionItemKind::Class,
        CompletionKind::Event => lsp::CompletionItemKind::Event,
        CompletionKind::Variable | CompletionKind::Parameter => lsp::CompletionItemKind::Variable,
        CompletionKind::Field => lsp::CompletionItemKind::Field,
        CompletionKind::Type => lsp::CompletionItemKind::Struct,
        CompletionKind::Enum => lsp::CompletionItemKind::Enum,
        CompletionKind::EnumMember => lsp::CompletionItemKind::EnumMember,
        CompletionKind::Function | CompletionKind::Tool => lsp::CompletionItemKind::Function,
        CompletionKind::Step => lsp::CompletionItemKind::Method,
        CompletionKind::Option => lsp::CompletionItemKind::Property,
        CompletionKind::Client => lsp::CompletionItemKind::Interface,
        CompletionKind::Chart => lsp::CompletionItemKind::Module,
        CompletionKind::Rule => lsp::CompletionItemKind::Constant,
        CompletionKind::File => lsp::CompletionItemKind::File,
        CompletionKind::Format | CompletionKind::Value => lsp::CompletionItemKind::Value,
    };
    shown(
        view,
        source,
        CommonItem {
            label: found.label,
            kind,
            detail: found.detail,
            documentation: found.documentation,
            text,
            is_snippet,
            replaces: found.replaces,
            sort: found.sort as usize,
        },
    )
}

fn yaml_item(
    view: &View<'_>,
    source: &Source,
    found: CompletionItem,
    replaces: Span,
    sort: usize,
) -> lsp::CompletionItem {
    let kind = match found.kind {
        ItemKind::Key => lsp::CompletionItemKind::Property,
        ItemKind::Word => lsp::CompletionItemKind::EnumMember,
        ItemKind::Name => lsp::CompletionItemKind::Reference,
        ItemKind::Snippet => lsp::CompletionItemKind::Snippet,
    };
    let mut item = shown(
        view,
        source,
        CommonItem {
            label: found.label,
            kind,
            detail: String::new(),
            documentation: found.doc,
            // `yaml::complete` always writes snippets.
            is_snippet: true,
            text: found.insert,
            replaces,
            sort,
        },
    );
    item.tags = found.is_old.then(|| vec![lsp::CompletionItemTag::Deprecated]);
    item
}

/// The parts that items of all notations have.
struct CommonItem {
    label: String,
    kind: lsp::CompletionItemKind,
    detail: String,
    documentation: String,
    text: String,
    is_snippet: bool,
    replaces: Span,
    sort: usize,
}

fn shown(view: &View<'_>, source: &Source, item: CommonItem) -> lsp::CompletionItem {
    let given = |text: String| (!text.is_empty()).then_some(text);
    // An editor without snippets gets their text without placeholders.
    let can_fill = view.client.snippets;
    let text = if item.is_snippet && !can_fill { plain(&item.text) } else { item.text };
    let format = if item.is_snippet && can_fill {
        lsp::InsertTextFormat::Snippet
    } else {
        lsp::InsertTextFormat::PlainText
    };
    let range = view.client.encoding.range_in(source, item.replaces);
    lsp::CompletionItem {
        label: item.label,
        kind: Some(item.kind),
        detail: given(item.detail),
        documentation: given(item.documentation).map(|value| {
            let kind = lsp::MarkupKind::Markdown;
            lsp::Documentation::MarkupContent(lsp::MarkupContent { kind, value })
        }),
        // Editors sort by text, so the numbers have a fixed width.
        sort_text: Some(format!("{:05}", item.sort)),
        insert_text_format: Some(format),
        insert_text_mode: Some(lsp::InsertTextMode::AdjustIndentation),
        text_edit: Some(lsp::CompletionItemTextEdit::TextEdit(lsp::TextEdit {
            range,
            new_text: text,
        })),
        ..lsp::CompletionItem::default()
    }
}

/// The text of a snippet: its placeholders replaced with their contents, its escapes removed.
fn plain(snippet: &str) -> String {
    let mut out = String::new();
    let mut open = 0;
    let mut rest = snippet.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '\\' => out.extend(rest.next()),
            '$' => {
                let is_open = rest.next_if_eq(&'{').is_some();
                while rest.next_if(char::is_ascii_digit).is_some() {}
                if is_open && rest.next_if_eq(&':').is_some() {
                    open += 1;
                } else if is_open {
                    rest.next_if_eq(&'}');
                }
            }
            '}' if open > 0 => open -= 1,
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn a_snippet_without_its_places() {
        assert_eq!(plain("state ${1:name} {\n  $0\n\\}"), "state name {\n  \n}");
        assert_eq!(plain("\\$ ${2} $3 ${1:a\\}b} }"), "$   a}b }");
    }
}
