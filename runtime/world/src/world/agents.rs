//! The agents of a world: their addition by the host, and lists of them.

use super::World;
use crate::artifact::memory_of;
use crate::ledger::Resource;
use crate::request::Spawn;
use crate::state::{ENDOWMENT, State, Tried, amount, fail, is_name, refused};
use crate::workshop::Family;
use chartc_core::expr::{Map, Value};
use chartc_runtime::agent::{Failure, FailureKind, extract};
use std::sync::Arc;

/// An agent that starts with the world.
#[derive(Debug, Clone, Default)]
pub struct NewAgent {
    /// The name, which is the id of its artifact.
    pub name: String,
    /// The initial scrip, from the run file's `balances`. It has priority over all other amounts.
    pub balance: Option<i64>,
    /// The initial scrip if neither `balance` nor the world's file sets it; `None` for the world's default.
    pub scrip: Option<i64>,
    /// The disk quota in bytes; `None` for the world's default.
    pub disk: Option<u64>,
    /// The units of compute at each renewal; `None` for the world's default.
    pub compute: Option<u64>,
    /// The configuration, which becomes the content of its artifact.
    pub content: Map,
    /// The charts. The events of the first one are the methods with which others can invoke the agent.
    pub family: Option<Arc<Family>>,
    /// The owner; `None` if the agent owns itself.
    pub owner: Option<String>,
}

/// A description of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentRow {
    /// The name, which is the id of its artifact.
    pub name: String,
    /// The name of its owner.
    pub owner: String,
    /// The id of its memory artifact.
    pub memory: String,
    /// The name of the agent that made it, if one did.
    pub parent: Option<String>,
    /// The generation: 0 for a configured agent.
    pub depth: u32,
    /// Whether it was stopped for good.
    pub is_stopped: bool,
}

impl World {
    /// Adds an agent: opens its accounts, and makes its artifact and its memory.
    ///
    /// # Errors
    /// The name is malformed or taken, or the world has no room for the agent.
    pub fn add_agent(&self, new: NewAgent) -> Result<(), Failure> {
        self.change(|state| add(state, new))
    }

    /// All agents, in the order of their names.
    pub fn agents(&self) -> Vec<AgentRow> {
        let state = self.state();
        let all = state.principals.iter().filter(|(_, principal)| principal.is_agent);
        all.map(|(name, principal)| AgentRow {
            name: name.clone(),
            owner: state.artifacts.get(name).map_or_else(|| name.clone(), |own| own.owner.clone()),
            memory: memory_of(name),
            parent: principal.origin.as_ref().map(|origin| origin.parent.clone()),
            depth: principal.origin.as_ref().map_or(0, |origin| origin.depth),
            is_stopped: principal.is_stopped,
        })
        .collect()
    }

    /// Whether an agent has this name.
    pub fn is_agent(&self, name: &str) -> bool {
        self.state().principals.get(name).is_some_and(|principal| principal.is_agent)
    }

    /// The running agents that other agents have made. After a restart, the engine has to make them again.
    pub fn spawned(&self) -> Vec<Spawn> {
        let state = self.state();
        let all = state.principals.iter().filter(|(_, principal)| !principal.is_stopped);
        all.filter_map(|(name, principal)| {
            let origin = principal.origin.as_ref()?;
            Some(Spawn {
                agent: name.clone(),
                artifact: origin.artifact.clone(),
                form: origin.form,
                text: origin.text.clone(),
                family: principal.family.clone()?,
                params: origin.params.clone(),
                parent: origin.parent.clone(),
                depth: origin.depth,
            })
        })
        .collect()
    }
}

fn add(state: &mut State, new: NewAgent) -> Tried<()> {
    let NewAgent { name, balance, scrip, disk, compute, content, family, owner } = new;
    let owner = owner.unwrap_or_else(|| name.clone());
    // An entry of the world's file with this name may hold scrip, a record and memories of the agent. They are taken over.
    let is_known = state.principals.get(&name).is_some_and(|known| !known.is_agent);
    let memory = memory_of(&name);
    let (mut record, mut remembered) = (None, Value::List(Vec::new()));
    if is_known {
        is_name(&name)?;
        for id in [&name, &memory] {
            if state.artifacts.get(id).is_some_and(|artifact| artifact.owner != name) {
                let why = format!("`{id}` is another's artifact: give the agent another name");
                return fail(FailureKind::PermissionDenied, why);
            }
        }
        record = state.artifacts.get(&name).map(|artifact| artifact.content.clone());
        if let Some(kept) = state.artifacts.get(&memory) {
            remembered = kept.content.clone();
        }
        for id in [&name, &memory] {
            if state.artifacts.contains_key(id) {
                state.delete(&name, id)?;
            }
        }
    } else {
        state.is_free(&name)?;
    }
    let scrip = if state.principals.get(&name).is_some_and(|known| known.is_listed) {
        0
    } else {
        scrip.unwrap_or(state.settings.starting_scrip)
    };
    let disk = disk.unwrap_or(state.settings.disk);
    state.open(&name, Some(disk));
    if let Some(principal) = state.principals.get_mut(&name)
        && !principal.is_limited
    {
        // The file mentioned the agent without a disk quota, for example only with its scrip. Its stored artifacts then count against the
        // quota.
        principal.is_limited = true;
        let stored = state.stored(&name);
        if stored < disk {
            let rest = amount(disk - stored);
            state.ledger.mint(&name, Resource::Disk, rest, "quota").map_err(refused)?;
        }
    }
    // Scrip from the world's file is increased or decreased to the given balance.
    let has = state.ledger.scrip(&name);
    let change = balance.map_or(scrip, |balance| balance.saturating_sub(has));
    if change > 0 {
        state.ledger.mint(&name, Resource::Scrip, change, ENDOWMENT).map_err(refused)?;
    } else if change < 0 && balance.is_some() {
        let less = change.saturating_neg();
        state.ledger.burn(&name, Resource::Scrip, less, ENDOWMENT).map_err(refused)?;
    }
    let compute = amount(compute.unwrap_or(state.settings.compute));
    state.set_quota(&name, compute);
    if let Some(principal) = state.principals.get_mut(&name) {
        principal.family = family;
    }
    if compute > 0 {
        state.ledger.mint(&name, Resource::Compute, compute, "quota").map_err(refused)?;
    }
    state.enrol(&name, &owner, with_record(content, record), remembered)
}

/// Merges the configuration with the agent's earlier record, whose values have priority.
fn with_record(content: Map, record: Option<Value>) -> Map {
    let mut all = content;
    match record {
        Some(Value::Map(kept)) => {
            for (key, value) in kept {
                all.insert(key, value);
            }
        }
        Some(other) => {
            if let Ok(memory) = extract(&other) {
                all.insert("working_memory".into(), Value::Map(memory));
            }
        }
        None => {}
    }
    all
}
