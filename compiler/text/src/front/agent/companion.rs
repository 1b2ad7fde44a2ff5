//! Loads the files that belong to an `agent.yaml`: the components that it lists, and its system prompt.

use super::definition::{Agent, Component, ComponentKind, Listed};
use super::{node, read};
use crate::diagnostic::{Diagnostic, nearest};
use crate::front::{Link, Nearby};
use crate::rules::{duplicate_name, unknown_name, unloaded_components, wrong_type};
use crate::span::{FileId, Span, Spanned};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The name of the folder that contains components.
const FOLDER: &str = "_components";
/// The number of folders above the agent's own in which that folder is searched.
const LEVELS: usize = 4;
const SYSTEM_PROMPT: &str = "system_prompt.md";

/// The kind of a component file, from its path; `None` if the path is not that of a component.
pub(super) fn kind_of(path: &str) -> Option<ComponentKind> {
    let mut parts = path.rsplit('/').skip(1);
    let kind = parts.next()?;
    let kind = ComponentKind::ALL.into_iter().find(|k| k.list() == kind)?;
    (parts.next() == Some(FOLDER)).then_some(kind)
}

/// Loads the files that belong to an agent; reports missing and unreadable ones.
pub(super) fn load(
    id: FileId,
    agent: &mut Agent,
    nearby: &mut dyn Nearby,
    findings: &mut Vec<Diagnostic>,
) {
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
