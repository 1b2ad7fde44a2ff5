//! From syntax to `.chart` text with comments, for `chartc fmt` and `chartc convert`.
//!
//! | module | prints |
//! |---|---|
//! | `out`, `columns` | lines, bodies, comments, docs, blank lines; aligned columns |
//! | `declare`, `chart` | top level items, and items of charts |
//! | `state`, `step` | states, transitions, steps, statements, actions |
//! | `test` | tests |
//! | `expr`, `text` | expressions and types, texts and names |
//!
//! Printed text parses to the same syntax, except for spans and the place of a few comments. Printing it again changes nothing.

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

/// The file as `chartc fmt` writes it, without the parts that recovery skipped.
pub fn print(file: &syntax::File) -> String {
    let mut out = Out::default();
    out.lines(&file.items, declare::item);
    out.comments(&file.end, !file.items.is_empty());
    out.text
}
