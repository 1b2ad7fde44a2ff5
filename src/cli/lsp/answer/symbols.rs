//! Answers requests for the declarations of a file and of a project.

use super::{Refusal, View};
use crate::editor::outline::{Symbol, SymbolKind, outline, search};
use chartc_text::source::Source;
use gen_lsp_types as lsp;
use serde_json::Value;

/// The maximum number of symbols in the result of a search.
const MOST: usize = 500;

pub(super) fn document(
    view: &View<'_>,
    params: lsp::DocumentSymbolParams,
) -> Result<Value, Refusal> {
    let (done, file) = view.compiled()?;
    let source = done.sources.get(file);
    let symbols = outline(done, file);
    let value = if view.client.nested_symbols {
        serde_json::to_value(
            symbols.iter().map(|one| nested(view, source, one)).collect::<Vec<_>>(),
        )
    } else {
        let mut flat = Vec::new();
        let uri = &params.text_document.uri;
        for one in &symbols {
            flatten(view, source, uri, None, one, &mut flat);
        }
        serde_json::to_value(flat)
    };
    value.map_err(|why| Refusal::Impossible(why.to_string()))
}

fn nested(view: &View<'_>, source: &Source, symbol: &Symbol) -> lsp::DocumentSymbol {
    let range = |span| view.client.encoding.range_in(source, span);
    let children: Vec<lsp::DocumentSymbol> =
        symbol.children.iter().map(|child| nested(view, source, child)).collect();
    #[allow(deprecated, reason = "the type has the field")]
    lsp::DocumentSymbol {
        name: shown(&symbol.name),
        detail: (!symbol.detail.is_empty()).then(|| shown(&symbol.detail)),
        kind: kind(symbol.kind),
        tags: None,
        deprecated: None,
        range: range(symbol.whole),
        selection_range: range(symbol.name_span),
        children: (!children.is_empty()).then_some(children),
    }
}

/// Escapes a name. An empty one becomes `?`, because clients refuse empty names.
fn shown(name: &str) -> String {
    let name = chartc_core::visible::line(name);
    if name.is_empty() { "?".to_owned() } else { name.into_owned() }
}

fn flatten(
    view: &View<'_>,
    source: &Source,
    uri: &lsp::Uri,
    container: Option<&str>,
    symbol: &Symbol,
    out: &mut Vec<lsp::SymbolInformation>,
) {
    let range = view.client.encoding.range_in(source, symbol.whole);
    out.push(information(symbol, container, lsp::Location { uri: uri.clone(), range }));
    for child in &symbol.children {
        flatten(view, source, uri, Some(&symbol.name), child, out);
    }
}

fn information(
    symbol: &Symbol,
    container: Option<&str>,
    location: lsp::Location,
) -> lsp::SymbolInformation {
    #[allow(deprecated, reason = "the type has the field")]
    lsp::SymbolInformation {
        deprecated: None,
        location,
        base_symbol_information: lsp::BaseSymbolInformation {
            name: shown(&symbol.name),
            kind: kind(symbol.kind),
            tags: None,
            container_name: container.map(shown),
        },
    }
}

pub(super) fn workspace(
    view: &View<'_>,
    params: lsp::WorkspaceSymbolParams,
) -> Result<Vec<lsp::SymbolInformation>, Refusal> {
    let Some(done) = view.everything() else { return Ok(Vec::new()) };
    let mapper = view.mapper(&done);
    let found = search(&done, &params.query).into_iter().take(MOST);
    let shown = found.filter_map(|one| {
        let location = mapper.location(one.symbol.name_span)?;
        let container = Some(one.container.as_str()).filter(|name| !name.is_empty());
        Some(information(&one.symbol, container, location))
    });
    Ok(shown.collect())
}

fn kind(of: SymbolKind) -> lsp::SymbolKind {
    match of {
        SymbolKind::Import => lsp::SymbolKind::File,
        SymbolKind::Chart => lsp::SymbolKind::Class,
        SymbolKind::State | SymbolKind::Parallel | SymbolKind::Final | SymbolKind::History => {
            lsp::SymbolKind::Namespace
        }
        SymbolKind::Event => lsp::SymbolKind::Event,
        SymbolKind::Param | SymbolKind::Input | SymbolKind::Variable => lsp::SymbolKind::Variable,
        SymbolKind::Step => lsp::SymbolKind::Method,
        SymbolKind::Option => lsp::SymbolKind::Key,
        SymbolKind::Tool | SymbolKind::Function | SymbolKind::Effect => lsp::SymbolKind::Function,
        SymbolKind::ToolSet => lsp::SymbolKind::Array,
        SymbolKind::Type => lsp::SymbolKind::Struct,
        SymbolKind::Field => lsp::SymbolKind::Field,
        SymbolKind::Enum => lsp::SymbolKind::Enum,
        SymbolKind::EnumValue => lsp::SymbolKind::EnumMember,
        SymbolKind::Predicate => lsp::SymbolKind::Boolean,
        SymbolKind::Client => lsp::SymbolKind::Interface,
        SymbolKind::Component => lsp::SymbolKind::String,
        SymbolKind::Test => lsp::SymbolKind::Constructor,
    }
}
