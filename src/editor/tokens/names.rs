//! Looks up the meanings of names in expressions.

use super::TokenKind;
use super::marks::Mark;
use crate::Compilation;
use crate::editor::known::{self, Decl};
use crate::editor::outline::SymbolKind;
use chartc_text::span::FileId;
use chartc_text::syntax::Chart;
use std::collections::BTreeMap;

/// The names that a file and one of its charts declare.
#[derive(Default)]
pub(super) struct Names {
    outside: BTreeMap<String, SymbolKind>,
    inside: BTreeMap<String, SymbolKind>,
}

impl Names {
    /// The names declared outside of charts.
    pub(super) fn outside(compilation: &Compilation, file: FileId) -> Self {
        Self { outside: map(known::outside(compilation, file)), inside: BTreeMap::new() }
    }

    /// Replaces the names of the chart by those of `chart`.
    pub(super) fn enter(&mut self, chart: Option<&Chart>) {
        let decls = chart.map(known::inside);
        self.inside = decls.map(map).unwrap_or_default();
    }

    /// The kind of thing that a name stands for.
    pub(super) fn kind(&self, name: &str) -> Option<SymbolKind> {
        self.inside.get(name).or_else(|| self.outside.get(name)).copied()
    }

    /// The mark of a name that is used as a value.
    pub(super) fn value(&self, name: &str) -> Mark {
        match self.kind(name) {
            Some(kind) => used(kind),
            // An undeclared name is an observable, such as `turns`.
            None => Mark::from_kind(TokenKind::Variable).readonly(),
        }
    }
}

/// The kinds by name. A value takes precedence over an option or event of the same name, which cannot occur in expressions.
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
        SymbolKind::Import => Mark::from_kind(TokenKind::String),
        SymbolKind::Chart => Mark::from_kind(TokenKind::Chart),
        SymbolKind::State | SymbolKind::Parallel | SymbolKind::Final | SymbolKind::History => {
            Mark::from_kind(TokenKind::State)
        }
        SymbolKind::Event => Mark::from_kind(TokenKind::Event),
        SymbolKind::Param => Mark::from_kind(TokenKind::Parameter).readonly(),
        SymbolKind::Input => Mark::from_kind(TokenKind::Variable).readonly(),
        SymbolKind::Variable => Mark::from_kind(TokenKind::Variable),
        SymbolKind::Step => Mark::from_kind(TokenKind::Step),
        SymbolKind::Option => Mark::from_kind(TokenKind::Option),
        SymbolKind::Tool | SymbolKind::ToolSet => Mark::from_kind(TokenKind::Tool),
        SymbolKind::Type => Mark::from_kind(TokenKind::Type),
        SymbolKind::Field => Mark::from_kind(TokenKind::Property),
        SymbolKind::Enum => Mark::from_kind(TokenKind::Enum),
        SymbolKind::EnumValue => Mark::from_kind(TokenKind::EnumMember),
        SymbolKind::Function | SymbolKind::Effect | SymbolKind::Predicate => {
            Mark::from_kind(TokenKind::Function)
        }
        SymbolKind::Client => Mark::from_kind(TokenKind::Client),
        SymbolKind::Component => Mark::from_kind(TokenKind::Component),
        SymbolKind::Test => Mark::from_kind(TokenKind::String),
    }
}
