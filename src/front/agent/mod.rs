//! `agent.yaml` workflows, read into the same syntax as `.chart` files.

use super::Frontend;
use crate::diagnostic::Diagnostic;
use crate::source::Source;
use crate::span::FileId;
use crate::syntax;

/// `agent.yaml` and any other `.yaml` or `.yml` file.
pub const FRONTEND: Frontend = Frontend {
    name: "agent.yaml",
    takes: |name| name.ends_with(".yaml") || name.ends_with(".yml"),
    parse,
};

fn parse(id: FileId, _source: &Source, _diagnostics: &mut Vec<Diagnostic>) -> syntax::File {
    syntax::File { id, items: Vec::new(), end: Vec::new() }
}
