//! The `.chart` language, read with pest.

use super::Frontend;
use crate::diagnostic::Diagnostic;
use crate::source::Source;
use crate::span::FileId;
use crate::syntax;

/// `.chart` files.
pub const FRONTEND: Frontend =
    Frontend { name: "chart", takes: |name| name.ends_with(".chart"), parse };

fn parse(id: FileId, _source: &Source, _diagnostics: &mut Vec<Diagnostic>) -> syntax::File {
    syntax::File { id, items: Vec::new(), end: Vec::new() }
}
