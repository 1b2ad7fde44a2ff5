//! Collects names and placeholders of a file from its syntax tree.

use super::names::Names;
use super::walk::TokenWalk;
use super::{Modifiers, TokenKind};
use crate::Compilation;
use chartc_text::span::{Ident, Span};
use chartc_text::syntax::{Chart, File, Item};
use std::collections::{BTreeMap, BTreeSet};

/// The kind of a name, with further properties.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) kind: TokenKind,
    pub(super) modifiers: Modifiers,
}

impl Mark {
    /// A mark of this kind without further properties.
    pub(super) fn from_kind(kind: TokenKind) -> Self {
        Self { kind, modifiers: Modifiers::default() }
    }

    /// A mark of a declaration.
    pub(super) fn declared(kind: TokenKind) -> Self {
        Self {
            modifiers: Modifiers { declaration: true, ..Modifiers::default() },
            ..Self::from_kind(kind)
        }
    }

    /// The same mark for something that cannot be assigned to.
    #[must_use]
    pub(super) fn readonly(self) -> Self {
        Self { modifiers: Modifiers { readonly: true, ..self.modifiers }, ..self }
    }
}

/// The marks of a file.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// The marks of names, by start and end.
    pub(super) names: BTreeMap<(usize, usize), Mark>,
    /// The placeholders with their braces, by start and end.
    pub(super) holes: BTreeSet<(usize, usize)>,
    /// The formats of placeholders, by start and end.
    pub(super) formats: BTreeSet<(usize, usize)>,
}

/// Collects the marks of one file.
pub(super) struct Sink<'c> {
    file: &'c File,
    text: &'c str,
    pub(super) marks: Marks,
}

impl Sink<'_> {
    /// Adds a name if the text has it at this span. Names of a YAML or XML document may be derived, and not stand in the text.
    pub(super) fn name(&mut self, name: &str, span: Span, mark: Mark) {
        let (start, end) = (span.start as usize, span.end as usize);
        let Some(written) = self.text.get(start..end).filter(|_| span.file == self.file.id) else {
            return;
        };
        let bare = written.strip_prefix('`').map(|rest| rest.strip_suffix('`').unwrap_or(rest));
        if written == name || bare.is_some() {
            self.marks.names.entry((start, end)).or_insert(mark);
        }
    }

    /// Adds an identifier if the text has it at its span.
    pub(super) fn ident(&mut self, name: &Ident, mark: Mark) {
        self.name(&name.node, name.span, mark);
    }

    /// Adds a placeholder and its format.
    pub(super) fn hole(&mut self, span: Span, format: Span) {
        let (start, end) = (span.start as usize, span.end as usize);
        let written = self.text.get(start..end).filter(|_| span.file == self.file.id);
        let is_hole = |text: &str| text.len() > 1 && text.starts_with('{') && text.ends_with('}');
        if written.is_some_and(is_hole) {
            self.marks.holes.insert((start, end));
            if format.start < format.end {
                self.marks.formats.insert((format.start as usize, format.end as usize));
            }
        }
    }
}

/// Collects the marks of a file.
pub(super) fn marks(compilation: &Compilation, file: &File) -> Marks {
    let text = &compilation.sources.get(file.id).text;
    let sink = Sink { file, text, marks: Marks::default() };
    let mut walk = TokenWalk::new(sink, Names::outside(compilation, file.id));
    for noted in &file.items {
        match &noted.node {
            Item::Chart(chart) => walk.chart(chart),
            Item::Scenario(test) => walk.test(test, &|name| chart_of(compilation, file, name)),
            _ => walk.outside(&noted.node),
        }
    }
    walk.sink.marks
}

fn chart_of<'c>(compilation: &'c Compilation, file: &File, name: &str) -> Option<&'c Chart> {
    crate::editor::known::chart(compilation, file.id, name).map(|(chart, _)| chart)
}
