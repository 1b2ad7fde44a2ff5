//! Parses `agent.yaml` workflows into the same syntax as `.chart` files.
//!
//! The problem: an agent is YAML with Python in it, names are used without a declaration, and its prompts are shared with other agents. All
//! of it has to become a chart, and every finding must point into the file that the author wrote. The idea: each stage keeps spans, down to
//! the characters of a text in a YAML scalar, and nothing that cannot be expressed is guessed: it is a finding. For example:
//!
//! ```text
//! - name: count  # each turn     1. `node`        a tree of keys and values, each with its span
//!   type: code                   2. `read`        an `Agent` with a code step `count`; unknown keys are findings
//!   run_if: "balance > 10"       3. `companion`   the components and the system prompt of the agent, from other files
//!   code: |                      4. `python`      the statement `n = n + 1`, at the bytes of line 5
//!     n = n + 1                  5. `build`       `var n: Json = none per turn`, and a step `code count` with the guard `balance > 10`
//!                                6. `comment`     `# each turn` goes to the step
//! ```

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

/// The front end of `agent.yaml` and of any other `.yaml` or `.yml` file.
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

/// For each state that an `in_state` names: the span of the use, and the span of the declaration. A use is no name of the chart: it decides
/// where the step is placed, or becomes part of its condition.
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

/// Whether the line is a key with its colon, with or without a value.
fn begins_a_mapping(line: &str) -> bool {
    let end = line.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(line.len());
    end > 0
        && matches!(line[end..].strip_prefix(':'), Some(rest) if rest.is_empty() || rest.starts_with(' '))
}
