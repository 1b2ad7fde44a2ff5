//! SCXML documents, parsed into the same syntax as `.chart` files. `docs/scxml.md` describes the translation.
//!
//! The problem: SCXML is XML with ECMAScript in attributes, and both mean more than a chart can say. The idea: read the elements with their
//! places, parse every expression, infer what each variable may hold, and build the chart. What cannot be translated is reported at its
//! place and never changed silently. For example:
//!
//! ```text
//! <data id="n" expr="0"/>                       1. `xml`      elements with their places; `&lt;` in an attribute is `<`
//! <state id="a">                                2. `known`    unknown elements and attributes are findings
//!   <transition event="go"                      3. `read`     a `Document`: states, transitions, the expression `n < 2`
//!               cond="n &lt; 2" target="b"/>    4. `infer`    `n` only ever holds integers
//! </state>                                      5. `build`    var n: Int = 0   event go   state a { on go if n < 2 -> b }
//! ```

mod beyond;
mod build;
mod convert;
mod document;
pub mod elements;
mod infer;
mod invoke;
mod kinds;
mod known;
mod read;
mod reads;
mod scope;
mod script;
mod text;
mod xml;

use super::{Frontend, Nearby};
use crate::diagnostic::Diagnostic;
use crate::source::Source;
use crate::span::FileId;
use crate::syntax;

/// The front end of `.scxml` files, and of texts that begin like XML.
pub const FRONTEND: Frontend = Frontend {
    name: "scxml",
    comment: ("<!--", "-->"),
    takes: |name| name.ends_with(".scxml"),
    looks: |text| text.trim_start().starts_with('<'),
    parse,
};

fn parse(
    id: FileId,
    source: &Source,
    nearby: &mut dyn Nearby,
    diagnostics: &mut Vec<Diagnostic>,
) -> syntax::File {
    let empty = syntax::File::new(id);
    if source.text.trim().is_empty() {
        return empty;
    }
    let Some(tree) = xml::read(id, source, diagnostics) else { return empty };
    known::check(&tree.root, diagnostics);
    let comments = tree.comments.clone();
    let Some(document) = read::document(tree, source, nearby, diagnostics) else { return empty };
    beyond::check(&document, diagnostics);
    syntax::File { comments, ..build::file(id, &document, diagnostics) }
}
