//! Access to the memory artifacts of agents.

use super::World;
use crate::artifact::{memory_of, size};
use crate::state::{State, Tried, fail};
use chartc_core::expr::Value;
use chartc_runtime::agent::FailureKind;

impl World {
    /// The entries of an agent's memory with their version; `None` if the version is still `known`.
    pub(crate) fn remembered(
        &self,
        agent: &str,
        known: Option<u64>,
    ) -> Tried<Option<(u64, Vec<Value>)>> {
        let state = self.state();
        let artifact = state.find(&memory_of(agent))?;
        if known == Some(artifact.version) {
            return Ok(None);
        }
        Ok(Some((artifact.version, entries(&artifact.content))))
    }

    /// Adds an entry to an agent's memory. Returns the new version, and whether all earlier entries were kept.
    pub(crate) fn remember(&self, agent: &str, entry: Value) -> Tried<(u64, bool)> {
        self.change(|state| add(state, agent, entry))
    }
}

fn entries(content: &Value) -> Vec<Value> {
    match content {
        Value::List(entries) => entries.clone(),
        _ => Vec::new(),
    }
}

fn add(state: &mut State, agent: &str, entry: Value) -> Tried<(u64, bool)> {
    let id = memory_of(agent);
    let old = state.find(&id)?.bytes;
    let owner = state.find(&id)?.owner.clone();
    let free = match state.disk(&owner) {
        Some((used, most)) => most.saturating_sub(used).saturating_add(old),
        None => u64::MAX,
    };
    let most = free.min(state.settings.max_content_bytes);
    let adds = size(&entry);
    if adds + 2 > most {
        let why = format!("a memory of {adds} bytes has no room in {most}");
        return fail(FailureKind::InsufficientDisk, why);
    }
    let Some(artifact) = state.artifacts.get_mut(&id) else {
        return fail(FailureKind::NotFound, format!("there is no artifact `{id}`"));
    };
    let is_list = matches!(artifact.content, Value::List(_));
    if !is_list {
        artifact.content = Value::List(Vec::new());
    }
    let Value::List(entries) = &mut artifact.content else {
        return fail(FailureKind::NotFound, format!("`{id}` is no list"));
    };
    // The sizes are those of the list as JSON: brackets, entries, and commas between the entries.
    let mut bytes = if is_list { old } else { 2 };
    let comma = |entries: &[Value]| u64::from(!entries.is_empty());
    let mut forgotten = 0;
    let mut left = entries.len() as u64;
    // A full memory loses a quarter of its size at once. If it lost one entry each time, the search index would be rebuilt for every new
    // entry.
    let is_full = bytes + adds + u64::from(left > 0) > most;
    let goal = if is_full { (most - most / 4).max(adds + 2) } else { most };
    while bytes + adds + u64::from(left > 0) > goal && left > 0 {
        bytes -= size(&entries[forgotten]) + u64::from(left > 1);
        forgotten += 1;
        left -= 1;
    }
    entries.drain(..forgotten);
    bytes += adds + comma(entries);
    entries.push(entry);
    artifact.version += 1;
    let version = artifact.version;
    state.resize(&id, &owner, old, bytes)?;
    Ok((version, is_list && forgotten == 0))
}
