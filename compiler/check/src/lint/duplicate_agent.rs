//! Agents with the same `id` in one folder `agents`. Such a folder holds the agents of one world.

use crate::lower::Lowered;
use chartc_core::expr::Value;
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::DUPLICATE_AGENT;
use chartc_text::source::Sources;
use chartc_text::span::Span;
use std::borrow::Borrow;
use std::collections::BTreeMap;

/// Reports every agent that has the `id` of an earlier one in its folder.
pub(crate) fn told(
    all: &[impl Borrow<Lowered>],
    sources: &Sources,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut known: BTreeMap<(&str, &str), Span> = BTreeMap::new();
    for one in all.iter().map(Borrow::borrow) {
        let file = &sources.get(one.map.file).name;
        let id = one.chart.meta.iter().find(|(key, _)| key == "id");
        let (Some(folder), Some((_, Value::Text(id)))) = (folder(file), id) else { continue };
        match known.get(&(folder, id.as_str())) {
            Some(first) => diagnostics.push(
                DUPLICATE_AGENT
                    .at(one.map.name, format!("another agent is called `{id}`, too"))
                    .related(*first, "the other one")
                    .help(
                        "give one of them another `id`: agents of one world are told apart by it",
                    ),
            ),
            None => {
                known.insert((folder, id), one.map.name);
            }
        }
    }
}

/// The path of the folder `agents` that contains the agent of a file, which is `agents/NAME/agent.yaml` or `agents/NAME.agent.yaml`.
fn folder(file: &str) -> Option<&str> {
    let stem = [".yaml", ".yml"].iter().find_map(|end| file.strip_suffix(end))?;
    let (folder, name) = stem.rsplit_once('/')?;
    let is_named = |path: &str| path.rsplit('/').next() == Some("agents");
    if name != "agent" {
        return Some(folder).filter(|path| name.ends_with(".agent") && is_named(path));
    }
    let outer = folder.rsplit_once('/').map(|(outer, _)| outer);
    Some(folder).into_iter().chain(outer).find(|path| is_named(path))
}

#[cfg(test)]
mod tests {
    use super::folder;

    #[test]
    fn only_a_folder_named_agents_is_a_world() {
        for (file, wanted) in [
            ("agents/a/agent.yaml", Some("agents")),
            ("x/agents/a/agent.yml", Some("x/agents")),
            ("x/agents/a.agent.yaml", Some("x/agents")),
            ("agents/agent.yaml", Some("agents")),
            ("agents/a/b/agent.yaml", None),
            ("agents/notes.yaml", None),
            ("more_agents/a/agent.yaml", None),
            ("a/agent.yaml", None),
            ("agent.yaml", None),
            ("agents/a.chart", None),
        ] {
            assert_eq!(folder(file), wanted, "{file}");
        }
    }
}
