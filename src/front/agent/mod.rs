//! `agent.yaml` workflows, read into the same syntax as `.chart` files.

mod build;
mod builtin;
mod code;
mod definition;
mod format;
mod make;
mod node;
mod python;
mod read;
mod scalar;

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

fn parse(id: FileId, source: &Source, diagnostics: &mut Vec<Diagnostic>) -> syntax::File {
    let empty = syntax::File { id, items: Vec::new(), end: Vec::new() };
    let Some(node) = node::read(id, source, diagnostics) else { return empty };
    let Some(agent) = read::agent(&node, source, diagnostics) else { return empty };
    build::file(id, source, &agent, diagnostics)
}
