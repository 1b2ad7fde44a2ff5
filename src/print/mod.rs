//! From syntax to `.chart` text, comments kept.

use crate::syntax;

/// The file as `chartc fmt` writes it.
pub fn print(_file: &syntax::File) -> String {
    String::new()
}
