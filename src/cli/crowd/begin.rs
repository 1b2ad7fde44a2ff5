//! Makes the world before its first tick.

use super::super::instance::read;
use super::find::{AgentGroup, AgentSet};
use crate::chart_compiler::Compiler;
use chartc_core::expr::{Map, Value};
use chartc_runtime::agent::WorldFile;
use chartc_text::diagnostic::nearest;
use chartc_world::{Methods, NewAgent, Resources, RunFile, World};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// Makes the world with all agents in it. Balances of the run file override those of `--world`, which override those of the agents' own
/// files.
pub(super) fn world(
    path: Option<&Path>,
    file: &RunFile,
    agent_set: &AgentSet,
) -> miette::Result<World> {
    let settings = allowed(&file.resources);
    let world = match path {
        Some(path) => {
            let text = read(path)?;
            let told = |fault| miette::miette!("{}: {fault}", path.display());
            agree(path, &WorldFile::parse(&text).map_err(told)?, file)?;
            World::parse(&text, settings).map_err(told)?
        }
        None => World::new(settings),
    };
    let world = world.with_workshop(Arc::new(Compiler)).with_invoke(Arc::new(Methods));
    let contents: Vec<Map> = agent_set.groups.iter().map(content).collect();
    for agent in &agent_set.agents {
        let group = &agent_set.groups[agent.group];
        let new = NewAgent {
            name: agent.name.clone(),
            balance: file.balances.get(&agent.name).copied(),
            scrip: agent.scrip,
            disk: file.resources.disk.of(&agent.name),
            compute: file.resources.compute.of(&agent.name),
            content: contents[agent.group].clone(),
            family: Some(group.family.clone()),
            owner: None,
        };
        world.add_agent(new).map_err(|why| miette::miette!("agent `{}`: {why}", agent.name))?;
    }
    let Resources { disk, compute, .. } = &file.resources;
    let named = [
        ("balances", file.balances.keys().collect::<Vec<_>>()),
        ("resources.disk", disk.each.keys().collect()),
        ("resources.compute", compute.each.keys().collect()),
    ];
    let known: BTreeSet<&String> = agent_set.agents.iter().map(|agent| &agent.name).collect();
    let known = |name: &String| known.contains(name);
    for (key, named) in named {
        if let Some(stranger) = named.into_iter().find(|name| !known(name)) {
            let names = agent_set.agents.iter().map(|agent| agent.name.as_str());
            let near = nearest(stranger, names).map(|near| format!("; did you mean `{near}`?"));
            return Err(miette::miette!(
                "`{key}` of the run file names `{stranger}`, which is no agent{}",
                near.unwrap_or_default()
            ));
        }
    }
    Ok(world)
}

/// The content of an agent's record: its file and its chart.
fn content(group: &AgentGroup) -> Map {
    let mut content = Map::new();
    content.insert("file".into(), Value::Text(group.file.clone()));
    content.insert("chart".into(), Value::Text(group.family.root().name.clone()));
    content
}

/// Refuses a file of a world and a run file that give an agent different disk quotas, because neither takes precedence.
fn agree(path: &Path, world: &WorldFile, file: &RunFile) -> miette::Result<()> {
    let disk = file
        .resources
        .disk
        .each
        .iter()
        .find(|(name, bytes)| world.disk.each.get(*name).is_some_and(|other| other != *bytes));
    match disk {
        None => Ok(()),
        Some((name, _)) => Err(miette::miette!(
            help = "say it in one of them",
            "`disk` of `{name}` is one thing in the run file and another in {}",
            path.display()
        )),
    }
}

/// Converts the resources of the run file into settings of the world. What it does not name keeps its default.
fn allowed(resources: &Resources) -> chartc_world::Settings {
    let mut all = chartc_world::Settings::default();
    let set = |to: &mut u64, from: Option<u64>| *to = from.unwrap_or(*to);
    set(&mut all.disk, resources.disk.everybody);
    set(&mut all.compute, resources.compute.everybody);
    set(&mut all.max_artifacts, resources.max_artifacts);
    set(&mut all.max_artifacts_per_agent, resources.max_artifacts_per_agent);
    set(&mut all.max_content_bytes, resources.max_content_bytes);
    set(&mut all.compile_bytes_per_unit, resources.compile_bytes_per_unit);
    set(&mut all.invocation_fuel, resources.invocation_fuel);
    set(&mut all.max_events, resources.max_events);
    set(&mut all.max_seen, resources.max_seen);
    set(&mut all.spawn.disk, resources.spawn.disk);
    set(&mut all.spawn.compute, resources.spawn.compute);
    set(&mut all.spawn.max_agents, resources.spawn.max_agents.map(u64::from));
    set(&mut all.spawn.per_parent, resources.spawn.per_parent.map(u64::from));
    all.spawn.max_depth = resources.spawn.max_depth.unwrap_or(all.spawn.max_depth);
    all.spawn.cost = resources.spawn.cost.unwrap_or(all.spawn.cost);
    all.spawn.min_endowment = resources.spawn.min_endowment.unwrap_or(all.spawn.min_endowment);
    all.max_invocation_depth = resources.max_invocation_depth.unwrap_or(all.max_invocation_depth);
    all.starting_scrip = resources.starting_scrip.unwrap_or(all.starting_scrip);
    all
}
