//! Lists the declarations of a file as a tree.

pub use super::known::SymbolKind;
use super::known::{self, Decl};
use crate::Compilation;
use chartc_compiler::syntax::File;
use chartc_compiler::syntax::source::{FileId, Span};

/// A declaration with those inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// The name, without back-quotes.
    pub name: String,
    /// A short text beside the name: a type, parameters or a trigger; may be empty.
    pub detail: String,
    /// The kind of what is declared.
    pub kind: SymbolKind,
    /// The span of the whole declaration, which contains `name_span` and all children.
    pub whole: Span,
    /// The span of the name.
    pub name_span: Span,
    /// The declarations inside it, in the order of the file.
    pub children: Vec<Symbol>,
}

/// The declarations of a file. Unknown files have none.
pub fn outline(compilation: &Compilation, file: FileId) -> Vec<Symbol> {
    syntax(compilation, file).map(symbols).unwrap_or_default()
}

pub(super) fn syntax(compilation: &Compilation, file: FileId) -> Option<&File> {
    compilation.files.get(file.0 as usize)
}

// Converts declarations to symbols.

/// The symbols of a file.
fn symbols(file: &File) -> Vec<Symbol> {
    finish(file.id, known::declarations(file).into_iter().map(symbol).collect())
}

fn symbol(decl: Decl<'_>) -> Symbol {
    let detail = decl.detail();
    let Decl { name, kind, whole, name_span, children, .. } = decl;
    let children = children.into_iter().map(symbol).collect();
    Symbol { name, detail, kind, whole, name_span, children }
}

/// Removes symbols of other files, restores the order of the file, and extends each symbol to contain its children. This is needed because
/// the parts of a YAML or XML document may be written in any order, or in another file.
fn finish(file: FileId, symbols: Vec<Symbol>) -> Vec<Symbol> {
    let here = |symbol: &Symbol| symbol.name_span.file == file && symbol.whole.file == file;
    let mut kept: Vec<Symbol> = symbols.into_iter().filter(here).collect();
    for symbol in &mut kept {
        symbol.children = finish(file, std::mem::take(&mut symbol.children));
        let inner = symbol.children.iter().map(|child| child.whole);
        symbol.whole = inner.fold(symbol.whole.to(symbol.name_span), Span::to);
    }
    kept.sort_by_key(|symbol| (symbol.whole, symbol.name_span));
    kept
}

// Searches the symbols of a whole compilation by letters of their names.

/// A symbol that a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundSymbol {
    /// The file of the symbol.
    pub file: FileId,
    /// The symbol, without its children.
    pub symbol: Symbol,
    /// The names of the symbols around it, joined with dots; may be empty.
    pub container: String,
}

/// Finds the symbols whose names contain the letters of `wanted` in this order. Case does not matter. Equal names come first, then those
/// that begin with `wanted`, those that contain it, and the others, each in the order of the files.
pub fn search(compilation: &Compilation, wanted: &str) -> Vec<FoundSymbol> {
    let wanted = wanted.trim().to_lowercase();
    let mut found = Vec::new();
    for file in &compilation.files {
        collect(file.id, "", outline(compilation, file.id), &wanted, &mut found);
    }
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, found)| found).collect()
}

fn collect(
    file: FileId,
    container: &str,
    symbols: Vec<Symbol>,
    wanted: &str,
    found: &mut Vec<(u8, FoundSymbol)>,
) {
    for mut symbol in symbols {
        let children = std::mem::take(&mut symbol.children);
        let inner = if container.is_empty() {
            symbol.name.clone()
        } else {
            format!("{container}.{}", symbol.name)
        };
        if let Some(rank) = rank(&symbol.name, wanted) {
            found.push((rank, FoundSymbol { file, symbol, container: container.to_owned() }));
        }
        collect(file, &inner, children, wanted, found);
    }
}

/// Ranks how well a name matches, from 0 (equal) to 3; `None` if it does not. `wanted` must be in lower case.
pub(super) fn rank(name: &str, wanted: &str) -> Option<u8> {
    let name = name.to_lowercase();
    if name == wanted {
        return Some(0);
    }
    if name.starts_with(wanted) {
        return Some(1);
    }
    if name.contains(wanted) {
        return Some(2);
    }
    let mut letters = name.chars();
    wanted.chars().all(|letter| letters.any(|own| own == letter)).then_some(3)
}
