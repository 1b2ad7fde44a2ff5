//! SCXML documents, parsed into the same syntax as `.chart` files. `docs/scxml.md` describes the translation.

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

/// The front end for `.scxml` files, and for texts that begin like XML.
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
