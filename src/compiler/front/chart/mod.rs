//! The `.chart` language, read with pest.
//!
//! The problem: a file with errors must still yield a tree (for further findings, the formatter and editors), messages in the words of the
//! language, and all its comments. The idea: the grammar accepts unreadable items as such; comments are blanked out before parsing and
//! attached afterwards; and only unreadable items are parsed again, to say what was expected. For example:
//!
//! ```text
//! chart C {
//!   stat a {}       // typo     1. scan     the comment is recorded and replaced by spaces of the same length
//!   state b {}                  2. parse    items: bad_item (`stat a {}`), state
//! }                              3. build    State(b), with a `Bad` item before it; the comment stands with the `Bad` item
//!                                4. report   the bad item, parsed as a chart's item, fails at `stat`: "did you mean `state`?"
//! ```
//!
//! | step | module | |
//! |---|---|---|
//! | scan | `scan` | finds comments, unclosed brackets and too deep nesting; blanks out comments, keeping the length |
//! | parse | `grammar` | pest, from `grammar/*.pest`; fails only on too deep nesting, because it keeps unreadable items |
//! | build | `build` | turns pairs into syntax and texts into templates, and attaches comments to items |
//! | editors | `scan`, `completion_context` | tokens, and what the grammar accepts at a place; both also of broken texts |
//! | report | `recover`, `expected` | parses unreadable items again, to say what was expected and to find more misspelled words |

mod build;
pub mod completion_context;
mod expected;
mod grammar;
pub mod scan;

use super::{Frontend, Nearby};
use crate::rules::SYNTAX;
use crate::syntax;
use crate::syntax::diagnostic::Diagnostic;
use crate::syntax::source::{FileId, Source, Span};
use build::recover::{self, expression};
use build::{Cx, Origin};
use grammar::{Grammar, Rule};
use pest::Parser;

/// The front end for `.chart` files.
pub const FRONTEND: Frontend = Frontend {
    name: "chart",
    comment: ("//", ""),
    takes: |name| name.ends_with(".chart"),
    looks: |_| false,
    parse,
};

fn parse(
    id: FileId,
    source: &Source,
    _: &mut dyn Nearby,
    diagnostics: &mut Vec<Diagnostic>,
) -> syntax::File {
    let text = source.text.as_str();
    let mut found = Vec::new();
    let scan = scan::scan(text, id, &mut found);
    let mut file = syntax::File::new(id);
    if !scan.too_deep {
        match Grammar::parse(Rule::file, &scan.plain(text)).map(|mut pairs| pairs.next()) {
            Ok(Some(pair)) => {
                let origin = Origin { file: id, base: 0, map: None, inside: 0 };
                let mut cx = Cx::new(text, origin, &scan.comments);
                file = build::file(&mut cx, pair);
                found.append(&mut cx.diagnostics);
                recover::lost(&file, text, &scan.comments, &mut found);
            }
            Ok(None) => {}
            Err(_) => found.push(
                SYNTAX
                    .at(Span::new(id, 0, text.len().min(1)), "this file nests too deep to be read")
                    .help("move inner parts out, or give them names"),
            ),
        }
    }
    file.comments = scan.comments.iter().map(|c| Span::new(id, c.start, c.end)).collect();
    // The scan, the builder and `division` report one after the other.
    found.sort_by_key(|d| d.span);
    diagnostics.append(&mut found);
    file
}

/// Parses one expression, as it is written in a chart. `base` is the offset of `text` in `file`.
///
/// # Errors
/// The first error, at its place in the file.
pub(crate) fn parse_expression(
    text: &str,
    file: FileId,
    base: usize,
) -> Result<syntax::Expr, Box<Diagnostic>> {
    let origin = Origin { file, base, map: None, inside: 0 };
    let mut cx = Cx::new(text, origin, &[]);
    let read = if scan::too_deep(text) { None } else { Some(build::just_expr(&mut cx, text)) };
    let fault = match read {
        Some(Ok(expr)) if cx.diagnostics.is_empty() => return Ok(expr),
        Some(Ok(_)) => cx.diagnostics.swap_remove(0),
        Some(Err(error)) => recover::expression_fault(&mut cx, &error),
        None => SYNTAX.at(cx.range(0, text.len()), "brackets nest too deep in this expression"),
    };
    Err(Box::new(fault))
}

/// Whether a comment with this text could read as the divisor of the expression before it.
pub(super) fn may_divide(words: &str) -> bool {
    expression(words, FileId(0), 0).is_some()
}
