//! What a name in an expression means.

use super::TokenKind;
use super::marks::Mark;
use crate::Compilation;
use crate::editor::known::{self, Decl};
use crate::editor::outline::SymbolKind;
use chartc_text::span::FileId;
use chartc_text::syntax::Chart;
use std::collections::BTreeMap;

/// The names of a file and of one of its charts.
#[derive(Default)]
pub(super) struct Names {
    outside: BTreeMap<String, SymbolKind>,
    inside: BTreeMap<String, SymbolKind>,
}

impl Names {
    /// What stands outside charts.
    pub(super) fn outside(compilation: &Compilation, file: FileId) -> Self {
        Self { outside: map(known::outside(compilation, file)), inside: BTreeMap::new() }
    }

    /// Adds what a chart declares, in place of what another has declared.
    pub(super) fn enter(&mut self, chart: Option<&Chart>) {
        let decls = chart.map(known::inside);
        self.inside = decls.map(map).unwrap_or_default();
    }

    /// What a name declares.
    pub(super) fn kind(&self, name: &str) -> Option<SymbolKind> {
        self.inside.get(name).or_else(|| self.outside.get(name)).copied()
    }

    /// What a name means as a value.
    pub(super) fn value(&self, name: &str) -> Mark {
        match self.kind(name) {
            Some(kind) => used(kind),
            // What the run itself knows.
            None => Mark::of(TokenKind::Variable).readonly(),
        }
    }
}

/// Values before options and events: these are no values.
fn map(decls: Vec<Decl<'_>>) -> BTreeMap<String, SymbolKind> {
    let mut found = BTreeMap::new();
    for decl in decls {
        let weak = matches!(decl.kind, SymbolKind::Option | SymbolKind::Event);
        if !weak || !found.contains_key(&decl.name) {
            found.insert(decl.name, decl.kind);
        }
    }
    found
}

/// The mark of a name where it is used.
pub(super) fn used(kind: SymbolKind) -> Mark {
    match kind {
        SymbolKind::Import => Mark::of(TokenKind::String),
        SymbolKind::Chart => Mark::of(TokenKind::Chart),
        SymbolKind::State | SymbolKind::Parallel | SymbolKind::Final | SymbolKind::History => {
            Mark::of(TokenKind::State)
        }
        SymbolKind::Event => Mark::of(TokenKind::Event),
        SymbolKind::Param => Mark::of(TokenKind::Parameter).readonly(),
        SymbolKind::Input => Mark::of(TokenKind::Variable).readonly(),
        SymbolKind::Variable => Mark::of(TokenKind::Variable),
        SymbolKind::Step => Mark::of(TokenKind::Step),
        SymbolKind::Option => Mark::of(TokenKind::Option),
        SymbolKind::Tool | SymbolKind::ToolSet => Mark::of(TokenKind::Tool),
        SymbolKind::Type => Mark::of(TokenKind::Type),
        SymbolKind::Field => Mark::of(TokenKind::Property),
        SymbolKind::Enum => Mark::of(TokenKind::Enum),
        SymbolKind::EnumValue => Mark::of(TokenKind::EnumMember),
        SymbolKind::Function | SymbolKind::Effect | SymbolKind::Predicate => {
            Mark::of(TokenKind::Function)
        }
        SymbolKind::Client => Mark::of(TokenKind::Client),
        SymbolKind::Component => Mark::of(TokenKind::Component),
        SymbolKind::Test => Mark::of(TokenKind::String),
    }
}
