//! Parses `agent.yaml` workflows into the same syntax as `.chart` files.

mod build;
mod builtin;
mod code;
mod comment;
mod companion;
mod definition;
mod format;
pub mod keys;
mod make;
mod misnamed;
mod node;
mod python;
mod read;
mod scalar;

pub use builtin::context;

use super::{Frontend, Nearby};
use crate::diagnostic::Diagnostic;
use crate::source::Source;
use crate::span::{FileId, Ident, Span};
use crate::syntax;
use definition::{Agent, Listed};
use std::collections::BTreeMap;

/// `agent.yaml` and any other `.yaml` or `.yml` file.
pub const FRONTEND: Frontend = Frontend {
    name: "agent.yaml",
    comment: ("#", ""),
    takes: |name| name.ends_with(".yaml") || name.ends_with(".yml"),
    looks: |text| first_line(text).is_some_and(begins_a_mapping),
    parse,
};

fn parse(
    id: FileId,
    source: &Source,
    nearby: &mut dyn Nearby,
    diagnostics: &mut Vec<Diagnostic>,
) -> syntax::File {
    let empty = syntax::File::new(id);
    let Some(node) = node::read(id, source, diagnostics) else { return empty };
    if let Some(kind) = companion::kind_of(&source.name) {
        // A component without its agent: only its own content is checked.
        let name = Ident::new(String::new(), node.span);
        read::component(&node, Listed { kind, name }, source, diagnostics);
        return empty;
    }
    let Some(mut agent) = read::agent(&node, source, diagnostics) else { return empty };
    misnamed::mend(&mut agent, source, diagnostics);
    companion::load(id, &mut agent, nearby, diagnostics);
    let mut file = build::file(id, source, &agent, diagnostics);
    file.followed = followed(&agent);
    comment::keep(source, &node, &agent, &mut file);
    file
}

/// The states of each `in_state`: they are where the step is put, or part of its condition.
fn followed(agent: &Agent) -> Vec<(Span, Span)> {
    let Some(workflow) = &agent.workflow else { return Vec::new() };
    let mut states: BTreeMap<&str, Span> = BTreeMap::new();
    for state in workflow.machine.iter().flat_map(|machine| &machine.states) {
        states.entry(&state.node).or_insert(state.span);
    }
    let named = workflow.steps.iter().flat_map(|step| step.states.iter().flatten());
    named.filter_map(|name| Some((name.span, *states.get(name.node.as_str())?))).collect()
}

/// The first line with YAML content.
fn first_line(text: &str) -> Option<&str> {
    text.lines().map(str::trim_end).find(|l| !l.is_empty() && !l.starts_with('#') && *l != "---")
}

/// Whether the line is `key:`, with or without a value.
fn begins_a_mapping(line: &str) -> bool {
    let end = line.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(line.len());
    end > 0
        && matches!(line[end..].strip_prefix(':'), Some(rest) if rest.is_empty() || rest.starts_with(' '))
}
