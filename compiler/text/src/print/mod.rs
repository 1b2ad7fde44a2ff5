//! From syntax to `.chart` text, comments kept: serves `chartc fmt` and `chartc convert`.
//!
//! | module | prints |
//! |---|---|
//! | `out`, `columns` | lines, bodies, comments, docs, blank lines; what stands below each other |
//! | `declare`, `chart` | what stands at the top of a file and in a chart |
//! | `state`, `step` | states, lines, steps, statements, actions |
//! | `test` | tests |
//! | `expr`, `text` | expressions and types, texts and names |
//!
//! Printed text parses to the same syntax, spans and the place of a few comments aside, and prints as itself.

mod chart;
mod columns;
mod declare;
mod expr;
mod out;
mod state;
mod step;
mod test;
mod text;

use crate::syntax;
use out::Out;

/// The file as `chartc fmt` writes it. What recovery skipped is left out.
pub fn print(file: &syntax::File) -> String {
    let mut out = Out::default();
    out.lines(&file.items, declare::item);
    out.comments(&file.end, !file.items.is_empty());
    out.text
}
