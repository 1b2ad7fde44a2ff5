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
mod code;
mod comment;
mod definition;
mod expression;
pub mod keys;
mod node;
mod python;
mod read;
mod text;

pub use definition::context;

use super::{Frontend, Link, Nearby};
use crate::rules::{duplicate_name, unknown_name, unloaded_components, wrong_type};
use crate::syntax;
use crate::syntax::diagnostic::{Diagnostic, is_one_off, nearest};
use crate::syntax::source::{FileId, Ident, Source, Span, Spanned};
use definition::{Agent, Component, ComponentKind, Listed};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

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
    if let Some(kind) = kind_of(&source.name) {
        // A component without its agent: only its own content is checked.
        let name = Ident::new(String::new(), node.span);
        read::component(&node, Listed { kind, name }, source, diagnostics);
        return empty;
    }
    let Some(mut agent) = read::agent(&node, source, diagnostics) else { return empty };
    mend(&mut agent, source, diagnostics);
    load(id, &mut agent, nearby, diagnostics);
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

// Loads the files that belong to an `agent.yaml`: the components that it lists, and its system prompt.

/// The name of the folder that contains components.
const FOLDER: &str = "_components";
/// The number of folders above the agent's own in which that folder is searched.
const LEVELS: usize = 4;
const SYSTEM_PROMPT: &str = "system_prompt.md";

/// The kind of a component file, from its path; `None` if the path is not that of a component.
fn kind_of(path: &str) -> Option<ComponentKind> {
    let mut parts = path.rsplit('/').skip(1);
    let kind = parts.next()?;
    let kind = ComponentKind::ALL.into_iter().find(|k| k.list() == kind)?;
    (parts.next() == Some(FOLDER)).then_some(kind)
}

/// Loads the files that belong to an agent; reports missing and unreadable ones.
fn load(id: FileId, agent: &mut Agent, nearby: &mut dyn Nearby, findings: &mut Vec<Diagnostic>) {
    agent.system_prompt = system_prompt(id, nearby, findings);
    if agent.listed.is_empty() {
        return;
    }
    let folders = Folders::find(nearby);
    if folders.levels.is_empty() {
        let at = agent.meta.iter().find(|(key, _)| key.node == "components");
        let at = at.map_or(agent.span, |(key, _)| key.span);
        findings.push(unloaded_components::unloaded(agent.listed.len(), at));
        return;
    }
    // A list whose components are loaded is no metadata.
    agent.meta.retain(|(key, _)| key.node != "components");
    let mut known: BTreeMap<(ComponentKind, String), Span> = BTreeMap::new();
    for listed in std::mem::take(&mut agent.listed) {
        let key = (listed.kind, listed.name.node.clone());
        if let Some(first) = known.get(&key) {
            let message = format!("`{}` is listed twice", listed.name.node);
            findings.push(duplicate_name::again(message, listed.name.span, *first));
            continue;
        }
        known.insert(key, listed.name.span);
        agent.components.extend(component(listed, &folders, nearby, findings));
    }
}

fn system_prompt(
    id: FileId,
    nearby: &mut dyn Nearby,
    findings: &mut Vec<Diagnostic>,
) -> Option<Spanned<String>> {
    if !nearby.names("")?.contains(SYSTEM_PROMPT) {
        return None;
    }
    match nearby.read(SYSTEM_PROMPT, Link::Companion) {
        Ok((id, source)) => {
            let span = Span::new(id, 0, source.text.len());
            Some(Spanned::new(source.text.clone(), span))
        }
        Err(why) => {
            let place = Span::new(id, 0, 0);
            findings.push(why.at(SYSTEM_PROMPT, place));
            None
        }
    }
}

/// The `_components` folders of an agent, the nearest first.
struct Folders {
    levels: Vec<Level>,
}

/// A `_components` folder: its path from the agent's folder, and its files of each kind.
struct Level {
    path: String,
    files: BTreeMap<ComponentKind, Arc<BTreeSet<String>>>,
}

impl Folders {
    fn find(nearby: &mut dyn Nearby) -> Self {
        let mut levels = Vec::new();
        for level in 0..=LEVELS {
            let path = format!("{}{FOLDER}", "../".repeat(level));
            if nearby.names(&path).is_none() {
                continue;
            }
            let mut files = BTreeMap::new();
            for kind in ComponentKind::ALL {
                if let Some(names) = nearby.names(&format!("{path}/{}", kind.list())) {
                    files.insert(kind, names);
                }
            }
            levels.push(Level { path, files });
        }
        Self { levels }
    }

    /// The file of a component.
    fn file(&self, kind: ComponentKind, name: &str) -> Option<String> {
        let names = [format!("{name}.yaml"), format!("{name}.yml")];
        let found = |level: &Level| {
            let files = level.files.get(&kind)?;
            let file = names.iter().find(|n| files.contains(*n))?;
            Some(format!("{}/{}/{file}", level.path, kind.list()))
        };
        self.levels.iter().find_map(found)
    }

    /// The names of all components of a kind.
    fn of(&self, kind: ComponentKind) -> BTreeSet<&str> {
        let files = self.levels.iter().filter_map(|level| level.files.get(&kind));
        files
            .flat_map(|files| files.iter())
            .filter_map(|file| file.strip_suffix(".yaml").or_else(|| file.strip_suffix(".yml")))
            .collect()
    }
}

fn component(
    listed: Listed,
    folders: &Folders,
    nearby: &mut dyn Nearby,
    findings: &mut Vec<Diagnostic>,
) -> Option<Component> {
    let Some(path) = folders.file(listed.kind, &listed.name.node) else {
        findings.push(unknown(&listed, folders));
        return None;
    };
    let (id, source) = match nearby.read(&path, Link::Companion) {
        Ok(found) => found,
        Err(why) => {
            findings.push(why.at(&path, listed.name.span));
            return None;
        }
    };
    let before = findings.len();
    let Some(node) = node::read(id, &source, findings) else {
        // An empty file is valid YAML, but no component.
        if findings.len() == before {
            let place = Span::new(id, 0, 0);
            findings.push(wrong_type::value("a component", "a mapping", "nothing", place));
        }
        return None;
    };
    read::component(&node, listed, &source, findings)
}

fn unknown(listed: &Listed, folders: &Folders) -> Diagnostic {
    let (word, name) = (listed.kind.word(), &listed.name);
    let finding = |help: String| unknown_name::component(word, &name.node, name.span, help);
    let other = ComponentKind::ALL.into_iter().find(|k| folders.file(*k, &name.node).is_some());
    if let Some(other) = other {
        return finding(format!("it is a {}: list it under `{}`", other.word(), other.list()));
    }
    let known = folders.of(listed.kind);
    let help = match nearest(&name.node, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            let folder = folders.levels.first().map_or(FOLDER, |level| level.path.as_str());
            format!("it is looked for as `{folder}/{}/{}.yaml`", listed.kind.list(), name.node)
        }
    };
    finding(help)
}

// Corrects a state whose name is misspelt in the list of states and correct everywhere else.

/// Gives the state the name that is used, so that only the list gets a finding, and not each use.
fn mend(agent: &mut Agent, source: &Source, findings: &mut Vec<Diagnostic>) {
    let Some(workflow) = &mut agent.workflow else { return };
    let Some(machine) = &mut workflow.machine else { return };
    let rows = machine.transitions.iter().flat_map(|row| row.from.iter().chain([&row.to]));
    let steps = workflow.steps.iter().flat_map(|step| {
        let mapped = step.map.iter().flatten().map(|(_, state)| state);
        step.states.iter().flatten().chain(&step.to).chain(mapped)
    });
    let mut uses: BTreeMap<&str, Vec<Span>> = BTreeMap::new();
    for name in machine.initial.iter().chain(rows).chain(steps) {
        uses.entry(&name.node).or_default().push(name.span);
    }
    let declared: BTreeSet<&str> = machine.states.iter().map(|state| &state.node[..]).collect();
    let mut renamed: Vec<(usize, String)> = Vec::new();
    for (name, places) in &uses {
        // A name that is used once is rather misspelt there.
        if declared.contains(name) || places.len() < 2 {
            continue;
        }
        let slip = |(_, state): &(usize, &Ident)| {
            let is_near = name.len() > 2 && is_one_off(&state.node, name);
            is_near && !uses.contains_key(&state.node[..]) && is_named_once(source, &state.node)
        };
        let mut slips = machine.states.iter().enumerate().filter(slip);
        let (Some((nth, state)), None) = (slips.next(), slips.next()) else { continue };
        if renamed.iter().all(|(other, _)| *other != nth) {
            findings.push(unknown_name::misnamed(&state.node, state.span, name, places));
            renamed.push((nth, (*name).to_owned()));
        }
    }
    for (nth, name) in renamed {
        machine.states[nth].node = name;
    }
}

/// Whether the name occurs only once in the text. Code and prompts may name states, too.
fn is_named_once(source: &Source, name: &str) -> bool {
    let inner = |c: char| c == '_' || c.is_alphanumeric();
    source.text.split(|c| !inner(c)).filter(|word| *word == name).count() < 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_known_by_their_path() {
        assert_eq!(kind_of("a/_components/goals/x.yaml"), Some(ComponentKind::Goal));
        assert_eq!(kind_of("_components/traits/x.yml"), Some(ComponentKind::Trait));
        for path in ["goals/x.yaml", "_components/x.yaml", "_components/goals/a/x.yaml", "x.yaml"] {
            assert_eq!(kind_of(path), None, "{path}");
        }
    }
}
