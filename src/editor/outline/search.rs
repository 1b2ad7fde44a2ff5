//! Searches the symbols of a whole compilation by letters of their names.

use super::{Symbol, outline};
use crate::Compilation;
use chartc_text::span::FileId;

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
pub(in crate::editor) fn rank(name: &str, wanted: &str) -> Option<u8> {
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
