//! Prints syntax as `.chart` text with comments, for `chartc fmt` and `chartc convert`.
//!
//! Printed text parses to the same syntax, except for spans and the place of a few comments. Printing it again changes nothing. Items are
//! printed in order into one text; a body goes on one line if its layout permits that and it fits. For example:
//!
//! ```text
//! state a{on go->b // soon       state a {
//! may buy "to pay" -> c            on go -> b  // soon
//! may leave->d}                    may buy   "to pay" -> c
//!                                  may leave          -> d    the columns of adjacent `may` lines are aligned
//!                                }
//! ```
//!
//! | module | prints |
//! |---|---|
//! | `out`, `columns` | lines, bodies, comments, docs, blank lines; aligned columns |
//! | `declare`, `chart` | top level items, and items of charts |
//! | `state`, `step` | states, transitions, steps, statements, actions |
//! | `test` | tests |
//! | `expr`, `text` | expressions and types, texts and names |

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

/// Prints a file as `chartc fmt` does, without the parts that recovery skipped.
pub fn print(file: &syntax::File) -> String {
    let mut out = Out::default();
    out.lines(&file.items, declare::item);
    out.comments(&file.end, !file.items.is_empty());
    out.text
}
