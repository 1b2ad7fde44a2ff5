//! The agents of a world: their addition by the host, their memories, and what each of them sees.
//!
//! The problem: an agent is not one thing, but accounts, an artifact and a memory, and it must see enough of a world of any size. The idea:
//! [`World::add_agent`] makes all parts together, long-term memory is an artifact like any other, so that a snapshot contains it, and each
//! list that an agent sees has a bound. With the agent `ada`:
//!
//! ```text
//! add_agent   accounts of scrip, disk and compute; the artifacts `ada`, of type agent, and `ada_memory`, an empty list
//! remember    `ada_memory` gets {kind: …, tick: 3, text: "sold a lamp"}; when it is full, the oldest quarter goes
//! view        ada's balance and artifacts, and at most `max_seen` artifacts and balances of others
//! ```

use super::World;
use crate::artifact::{Nature, Policy, memory_of, size};
use crate::charts::Family;
use crate::config::Settings;
use crate::genesis;
use crate::ledger::{Holder, Resource};
use crate::record::{check, settings};
use crate::request::Spawn;
use crate::state::{ENDOWMENT, State, Tried, amount, fail, is_name, refused, text};
use chartc_core::expr::{Map, Value};
use chartc_core::model::Chart;
use chartc_runtime::agent::{
    Declared, EVENTS, Failure, FailureKind, View, WorldError, WorldFile, extract,
};
use chartc_runtime::memory::{InProcess, Memo, Memory, MemoryError, MemoryKind};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
    /// Whether it is there from the beginning.
    pub is_genesis: bool,
}

impl World {
    /// Adds an agent: opens its accounts, and makes its artifact and its memory.
    ///
    /// # Errors
    /// The name is malformed or taken, or the world has no room for the agent.
    pub fn add_agent(&self, new: NewAgent) -> Result<(), Failure> {
        self.change(|state| {
            state.is_beginning = true;
            let added = add(state, new);
            state.is_beginning = false;
            added
        })
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
            is_genesis: state.artifacts.get(name).is_some_and(|own| own.is_genesis),
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
    let (record, remembered) = if is_known {
        take_over(state, &name)?
    } else {
        state.is_free(&name)?;
        (None, Value::List(Vec::new()))
    };
    let scrip = if state.principals.get(&name).is_some_and(|known| known.is_listed) {
        0
    } else {
        scrip.unwrap_or(state.settings.starting_scrip)
    };
    let disk = disk.unwrap_or(state.settings.disk);
    let disk = Some(disk).filter(|disk| *disk != Settings::UNLIMITED);
    state.open(&name, disk);
    if let (Some(principal), Some(disk)) = (state.principals.get_mut(&name), disk)
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
    let mut known = Map::new();
    if let Some(family) = &family {
        known = settings(family.root());
        state.take_prices(family);
    }
    let is_genesis = family.as_ref().is_none_or(|family| is_genesis(family.root()));
    let content = with_record(known.into_iter().chain(content).collect(), record);
    if let Some(family) = &family
        && let Err(why) = check(&content, family, &state.models)
    {
        return fail(FailureKind::IntentRejected, format!("its record: {why}"));
    }
    if let Some(principal) = state.principals.get_mut(&name) {
        principal.family = family;
    }
    if compute > 0 {
        state.ledger.mint(&name, Resource::Compute, compute, "quota").map_err(refused)?;
    }
    state.is_beginning = is_genesis;
    state.enrol(&name, &owner, content, remembered)
}

/// Whether an agent of the run file counts as there from the beginning: unless its file says `is_genesis: false`.
fn is_genesis(chart: &Chart) -> bool {
    let said = chart.meta.iter().find(|(key, _)| key == "is_genesis");
    said.is_none_or(|(_, value)| *value != Value::Bool(false))
}

/// Deletes the record and the memories that the world's file has for an agent, and returns them.
fn take_over(state: &mut State, name: &str) -> Tried<(Option<Value>, Value)> {
    is_name(name)?;
    let memory = memory_of(name);
    for id in [name, &memory] {
        if state.artifacts.get(id).is_some_and(|artifact| artifact.owner != name) {
            let why = format!("`{id}` is another's artifact: give the agent another name");
            return fail(FailureKind::PermissionDenied, why);
        }
    }
    let record = state.artifacts.get(name).map(|artifact| artifact.content.clone());
    let kept = state.artifacts.get(&memory).map(|artifact| artifact.content.clone());
    for id in [name, &memory] {
        if state.artifacts.contains_key(id) {
            state.delete(name, id)?;
        }
    }
    Ok((record, kept.unwrap_or_else(|| Value::List(Vec::new()))))
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

// The creation of a world from a file.

/// The owner of artifacts for which the file names none.
pub(super) const SYSTEM: &str = "system";

impl World {
    /// Creates a world from the text of a world's file, in the same format as for a single agent (`--world FILE`).
    ///
    /// # Errors
    /// The first error, with its place and a remedy.
    pub fn parse(text: &str, settings: Settings) -> Result<Self, WorldError> {
        let file = WorldFile::parse(text)?;
        let mut state = State { settings, is_beginning: true, ..State::default() };
        let fault = |place: &str, why: String| WorldError {
            place: format!("`{place}` "),
            why,
            stranger: None,
        };
        state.open(SYSTEM, file.disk.of(SYSTEM));
        let named = file.balances.keys().chain(file.disk.each.keys());
        for name in named.chain(file.artifacts.values().map(|artifact| &artifact.owner)) {
            state.open(name, file.disk.of(name));
        }
        for (name, scrip) in &file.balances {
            let place = format!("balances.{name}");
            if *scrip > 0 {
                let minted =
                    state.ledger.mint(name, crate::ledger::Resource::Scrip, *scrip, ENDOWMENT);
                minted.map_err(|why| fault(&place, why.to_string()))?;
            }
            state.list(name);
        }
        for (id, declared) in file.artifacts {
            let place = format!("artifacts.{id}");
            if id.starts_with("genesis_") {
                // Genesis artifacts exist already. Entries for them in a file script them for a single agent.
                continue;
            }
            let methods = declared.methods.clone();
            let owner = declared.owner.clone();
            let Declared { ty, content, read, write, invoke, price, .. } = declared;
            let policy = Policy { read, write, invoke, price };
            let bytes = size(&content);
            if bytes > state.settings.max_content_bytes {
                let most = state.settings.max_content_bytes;
                return Err(fault(
                    &place,
                    format!("has {bytes} bytes; an artifact has at most {most}"),
                ));
            }
            state
                .make(&id, &owner, &owner, &ty, content, Nature::Data, policy)
                .map_err(|failure| fault(&place, failure.why))?;
            if let Some(artifact) = state.artifacts.get_mut(&id) {
                artifact.methods = methods;
            }
        }
        state.settle();
        state.is_beginning = false;
        state.notices.clear();
        // A 64-bit FNV-1a hash. It only tells files apart and protects nothing, so it need not be cryptographic.
        let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        let world = Self::new(Settings::default());
        *world.state() = state;
        Ok(Self { file: Arc::from(format!("{hash:016x}")), ..world })
    }
}

// Access to the memory artifacts of agents.

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
        self.change(|state| add_memory(state, agent, entry))
    }
}

fn entries(content: &Value) -> Vec<Value> {
    match content {
        Value::List(entries) => entries.clone(),
        _ => Vec::new(),
    }
}

fn add_memory(state: &mut State, agent: &str, entry: Value) -> Tried<(u64, bool)> {
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

// The view of the world that an agent gets in a turn. Every list is bounded, so that a view takes about as long in a large world as in a
// small one.

/// The minimum number of artifacts that are examined to find those that an agent may read.
const LOOKED_AT: usize = 1_000;
/// The maximum number of the agent's own artifacts, in the order of their ids.
const OWN: usize = 1_000;
/// The number of ranks that are searched for the agent's own.
const RANKS: usize = 100;
/// The number of last events that are searched for those that the agent may know.
const LOOKED_THROUGH: usize = 200;
/// The maximum number of submissions.
const SUBMISSIONS: usize = 100;

impl World {
    /// The view of `agent`. Lists that the chart does not read stay empty, to save time.
    pub(super) fn look(&self, agent: &str, reads: &dyn Fn(&str) -> bool) -> View {
        let state = self.state();
        let Some(principal) = state.principals.get(agent) else { return View::default() };
        // The same bound applies to the newest artifacts, to other agents by name, and to the largest balances.
        let seen = usize::try_from(state.settings.max_seen).unwrap_or(usize::MAX);
        let compute = state.ledger.balance(&Holder::of(agent), Resource::Compute);
        let mut quotas = Map::new();
        quotas.insert("compute".into(), Value::Int(compute));
        let moment = state.moment;
        let mut view = View {
            balance: state.ledger.scrip(agent),
            disk: state.disk(agent),
            record: state.artifacts.get(agent).map(|artifact| artifact.content.clone()),
            quotas,
            event_number: state.event_number,
            earned: principal.earned,
            time: moment.total_ms.map(|total| (moment.now_ms, total)),
            tick: moment.tick,
            models: state.models.clone(),
            ..View::default()
        };
        if reads("artifacts") {
            view.artifacts = artifacts(&state, agent, seen);
        }
        if reads("my_artifacts") {
            let memory = memory_of(agent);
            let own = state.owned.get(agent).into_iter().flatten();
            let own = own.filter(|id| *id != agent && **id != memory).take(OWN);
            view.own = own.map(|id| text(id)).collect();
        }
        if reads("other_agents") {
            let listed = state.principals.iter().filter(|(_, one)| one.is_listed);
            let others = listed.map(|(name, _)| name).filter(|name| *name != agent);
            view.others = others.take(seen).map(|name| text(name)).collect();
        }
        if reads("balances") {
            view.balances = balances(&state, agent, seen);
        }
        if reads("recent_events") {
            view.recent_events = recent(&state, agent);
        }
        if reads("mint_submissions") {
            view.submissions = state.submissions.iter().take(SUBMISSIONS).cloned().collect();
        }
        if reads("economic_context") {
            view.economy = economy(&state, agent);
        }
        view
    }
}

/// The artifacts that the agent may read: genesis artifacts first, then the newest.
fn artifacts(state: &State, agent: &str, seen: usize) -> Vec<Value> {
    let of_the_world = genesis::all().map(|genesis| {
        let mut row = Map::new();
        row.insert("id".into(), text(genesis.id));
        row.insert("type".into(), text("genesis"));
        row.insert("created_by".into(), text("system"));
        row.insert("executable".into(), Value::Bool(true));
        row.insert("is_genesis".into(), Value::Bool(true));
        Value::Map(row)
    });
    let newest = state.order.values().rev().take(seen.max(LOOKED_AT));
    let found = newest.filter_map(|id| {
        let artifact = state.readable(agent, id).ok()?;
        Some(genesis::row(id, artifact))
    });
    of_the_world.chain(found.take(seen)).collect()
}

/// The largest balances, and always the agent's own.
fn balances(state: &State, agent: &str, seen: usize) -> Map {
    let all = state.ranks.iter().take(seen);
    let mut all: Map = all.map(|(scrip, name)| (name.clone(), Value::Int(scrip.0))).collect();
    all.insert(agent.to_owned(), Value::Int(state.ledger.scrip(agent)));
    all
}

fn recent(state: &State, agent: &str) -> Vec<Value> {
    let last = state.events.iter().rev().take(LOOKED_THROUGH);
    let known = last.filter(|event| event.is_for(agent)).take(EVENTS);
    let mut events: Vec<Value> = known.map(|event| event.value()).collect();
    events.reverse();
    events
}

fn economy(state: &State, agent: &str) -> String {
    let scrip = state.ledger.circulation();
    let among = state.ranks.len();
    let own = (Reverse(state.ledger.scrip(agent)), agent.to_owned());
    let rank = state.ranks.iter().take(RANKS).position(|entry| *entry == own);
    let rank = match rank {
        Some(above) => format!("you are number {} of {among} by scrip", above + 1),
        None => format!("you are below the first {RANKS} of {among} by scrip"),
    };
    let mut said = format!("{scrip} scrip in circulation; {rank}");
    if !state.next_auction.is_empty() {
        said.push_str("; ");
        said.push_str(&state.next_auction);
    }
    said
}

// The long-term memory of an agent in an artifact of the world, so that a snapshot of the world contains it.

/// The memories of an agent, in the artifact `NAME_memory`: a list of `{kind, tick, text, data}`.
///
/// If a new memory exceeds the agent's disk quota or the maximum size of an artifact, the oldest memories are deleted to make room.
#[derive(Debug)]
pub struct ArtifactMemory {
    world: World,
    agent: String,
    found: Mutex<MemoryIndex>,
}

/// A search index over the memories in the artifact.
#[derive(Debug, Default)]
struct MemoryIndex {
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

    fn found(&self) -> MutexGuard<'_, MemoryIndex> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self, why: String) -> MemoryError {
        MemoryError::Failed { place: memory_of(&self.agent), why }
    }

    /// Rebuilds the index if the artifact has changed since: the agent itself can write it like any other artifact.
    fn refresh(&self, found: &mut MemoryIndex) -> Result<(), MemoryError> {
        let read = self.world.remembered(&self.agent, found.version);
        let Some((version, entries)) = read.map_err(|failure| self.failed(failure.to_string()))?
        else {
            return Ok(());
        };
        *found = MemoryIndex { version: Some(version), ..MemoryIndex::default() };
        for (name, memo) in entries.iter().filter_map(read_memo) {
            found.names.extend(name);
            found.index.record(memo)?;
        }
        Ok(())
    }

    fn put(
        &self,
        found: &mut MemoryIndex,
        name: Option<&str>,
        memo: Memo,
    ) -> Result<(), MemoryError> {
        let kept = self.world.remember(&self.agent, memory_entry(name, &memo));
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

fn memory_entry(name: Option<&str>, memo: &Memo) -> Value {
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
fn read_memo(entry: &Value) -> Option<(Option<String>, Memo)> {
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
