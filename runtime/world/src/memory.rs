//! The long-term memory of an agent in an artifact of the world, so that a snapshot of the world contains it.

use crate::artifact::memory_of;
use crate::world::World;
use chartc_core::expr::{Map, Value};
use chartc_runtime::memory::{InProcess, Memo, Memory, MemoryError, MemoryKind};
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The memories of an agent, in the artifact `NAME_memory`: a list of `{kind, tick, text, data}`.
///
/// If a new memory exceeds the agent's disk quota or the maximum size of an artifact, the oldest memories are deleted to make room.
#[derive(Debug)]
pub struct ArtifactMemory {
    world: World,
    agent: String,
    found: Mutex<Found>,
}

/// A search index over the memories in the artifact.
#[derive(Debug, Default)]
struct Found {
    /// The version of the artifact that was indexed; `None` before the first time.
    version: Option<u64>,
    index: InProcess,
    names: BTreeSet<String>,
}

impl ArtifactMemory {
    /// The memory of an agent in this world.
    pub fn new(world: World, agent: &str) -> Self {
        Self { world, agent: agent.to_owned(), found: Mutex::default() }
    }

    fn found(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self, why: String) -> MemoryError {
        MemoryError::Failed { place: memory_of(&self.agent), why }
    }

    /// Rebuilds the index if the artifact has changed since: the agent itself can write it like any other artifact.
    fn refresh(&self, found: &mut Found) -> Result<(), MemoryError> {
        let read = self.world.remembered(&self.agent, found.version);
        let Some((version, entries)) = read.map_err(|failure| self.failed(failure.to_string()))?
        else {
            return Ok(());
        };
        *found = Found { version: Some(version), ..Found::default() };
        for (name, memo) in entries.iter().filter_map(memo) {
            found.names.extend(name);
            found.index.record(memo)?;
        }
        Ok(())
    }

    fn put(&self, found: &mut Found, name: Option<&str>, memo: Memo) -> Result<(), MemoryError> {
        let kept = self.world.remember(&self.agent, entry(name, &memo));
        let (version, is_whole) = kept.map_err(|failure| self.failed(failure.to_string()))?;
        // Usually the new memory was only appended. If older ones were deleted for it, the index is rebuilt.
        if is_whole {
            found.version = Some(version);
            found.names.extend(name.map(str::to_owned));
            found.index.record(memo)
        } else {
            self.refresh(found)
        }
    }
}

impl Memory for ArtifactMemory {
    fn record(&self, memo: Memo) -> Result<(), MemoryError> {
        let mut found = self.found();
        self.refresh(&mut found)?;
        self.put(&mut found, None, memo)
    }

    fn record_once(&self, name: &str, memo: Memo) -> Result<bool, MemoryError> {
        let mut found = self.found();
        self.refresh(&mut found)?;
        if found.names.contains(name) {
            return Ok(false);
        }
        self.put(&mut found, Some(name), memo)?;
        Ok(true)
    }

    fn search(&self, query: &str, limit: usize) -> Result<Vec<Memo>, MemoryError> {
        let mut found = self.found();
        self.refresh(&mut found)?;
        found.index.search(query, limit)
    }
}

fn entry(name: Option<&str>, memo: &Memo) -> Value {
    let mut map = Map::new();
    map.insert("kind".into(), Value::Text(memo.kind.word().to_owned()));
    map.insert("tick".into(), Value::Int(i64::try_from(memo.tick).unwrap_or(i64::MAX)));
    map.insert("text".into(), Value::Text(memo.text.clone()));
    if memo.data != Value::None {
        map.insert("data".into(), memo.data.clone());
    }
    if let Some(name) = name {
        map.insert("name".into(), Value::Text(name.to_owned()));
    }
    Value::Map(map)
}

/// Reads a memory and the name under which it was recorded. An agent may write anything into its memory artifact; other entries are
/// skipped.
fn memo(entry: &Value) -> Option<(Option<String>, Memo)> {
    let Value::Map(map) = entry else { return None };
    let text = |name: &str| match map.get(name) {
        Some(Value::Text(text)) => Some(text.clone()),
        Some(_) | None => None,
    };
    let tick = match map.get("tick") {
        Some(Value::Int(tick @ 0..)) => tick.unsigned_abs(),
        Some(_) | None => 0,
    };
    let kind = MemoryKind::of(&text("kind")?)?;
    let data = map.get("data").cloned().unwrap_or_default();
    Some((text("name"), Memo { kind, tick, text: text("text")?, data }))
}
