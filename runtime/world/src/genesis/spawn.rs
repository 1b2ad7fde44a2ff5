//! The spawning of agents by agents.
//!
//! All conditions are checked before anything is posted, so a spawn that fails changes nothing.

use super::Arguments;
use crate::artifact::{Compiled, Nature};
use crate::charts::{accepts, restrict, used};
use crate::ledger::{Entry, Holder, Resource};
use crate::record::settings;
use crate::request::{Request, Spawn};
use crate::state::{Audience, ENDOWMENT, Origin, State, Tried, amount, fail, refused, text};
use crate::{Family, Form};
use chartc_core::expr::{Map, Value};
use chartc_runtime::agent::FailureKind;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Makes an agent from an artifact of type `chart` or `agent`: opens its accounts, makes its artifact and its memory, and requests its
/// start from the engine.
pub(super) fn spawn(state: &mut State, arguments: &Arguments<'_>) -> Tried<Value> {
    let child = check_spawn(state, arguments)?;
    let Child { parent, name, artifact, scrip, params, depth, .. } = &child;
    // The record is stored on the parent's disk, and the memory on the new agent's. Both are checked here, because nothing may fail once
    // the entries are posted.
    let record = record(&child);
    let bytes = amount(crate::artifact::size(&Value::Map(record.clone()))).unsigned_abs();
    if bytes > state.settings.max_content_bytes {
        return arguments.wrong(3, "is larger than an artifact can be");
    }
    check_disk(state, parent, bytes)?;
    // The rate limit is asked last, so that an agent that cannot pay does not use up a part of it.
    if state.ledger.scrip(parent) >= state.settings.spawn.cost.saturating_add(*scrip)
        && let Err(why) = state.admission.ask(parent)
    {
        return fail(FailureKind::InvocationFailed, why);
    }
    state.ledger.post(entries(state, &child)).map_err(refused)?;
    state.open(name, Some(0));
    state.move_quota(parent, name, amount(state.settings.spawn.compute))?;
    if let Some(principal) = state.principals.get_mut(name) {
        principal.family = Some(child.family.clone());
        principal.origin = Some(Box::new(Origin {
            parent: parent.clone(),
            depth: *depth,
            artifact: artifact.clone(),
            form: child.form,
            text: child.source.clone(),
            params: params.clone(),
            read: child.read.clone(),
        }));
    }
    if let Some(principal) = state.principals.get_mut(parent) {
        principal.children += 1;
    }
    state.enrol(name, parent, record, Value::List(Vec::new()))?;
    let data = [
        ("agent", text(name)),
        ("by", text(parent)),
        ("artifact_id", text(artifact)),
        ("depth", Value::Int(i64::from(*depth))),
        ("scrip", Value::Int(*scrip)),
    ];
    state.tell("spawned", data, Audience::Everyone);
    let mut done = Map::new();
    done.insert("agent".into(), text(name));
    done.insert("scrip".into(), Value::Int(*scrip));
    done.insert("depth".into(), Value::Int(i64::from(*depth)));
    state.requests.push(Request::Spawn(Spawn {
        agent: child.name,
        artifact: child.artifact,
        form: child.form,
        text: child.source,
        family: child.family,
        params: child.params,
        parent: child.parent,
        depth: child.depth,
    }));
    Ok(Value::Map(done))
}

/// An agent that may be made.
struct Child {
    parent: String,
    name: String,
    /// The id of the artifact that it is made of.
    artifact: String,
    form: Form,
    family: Arc<Family>,
    /// The texts of the artifacts that it imports, by their ids.
    read: BTreeMap<String, String>,
    source: String,
    scrip: i64,
    params: Map,
    depth: u32,
}

/// Checks everything but disk and rate limit.
fn check_spawn(state: &State, arguments: &Arguments<'_>) -> Tried<Child> {
    let (parent, id) = (arguments.caller, arguments.name(0)?);
    let artifact = state.readable(parent, id)?;
    let Nature::Compiled(Compiled { form, family: Some(family), read }) = &artifact.nature else {
        let why = format!("`{id}` is no chart that has compiled: write it as type chart or agent");
        return fail(FailureKind::IntentRejected, why);
    };
    let Value::Text(source) = &artifact.content else {
        return fail(FailureKind::IntentRejected, format!("`{id}` is no text"));
    };
    let mine = state.agent(parent)?.family.as_deref();
    // A chart could otherwise give its spawned agents tools and models that its own host has not allowed.
    let (tools, models) = mine.map(used).unwrap_or_default();
    if let Err(found) = restrict(family, &tools, &models) {
        let why: Vec<String> = found.into_iter().map(|finding| finding.text).collect();
        return fail(FailureKind::PermissionDenied, why.join("; "));
    }
    let limits = &state.settings.spawn;
    let least = limits.min_endowment;
    let scrip = match arguments.get(2) {
        None => least,
        Some(Value::Int(scrip)) if *scrip >= least => *scrip,
        Some(_) => return arguments.wrong(2, &format!("is a whole number, {least} or more")),
    };
    let params = arguments.map(3)?;
    if let Err(why) = accepts(family.root(), &params) {
        return arguments.wrong(3, &why);
    }
    let name = match arguments.name_or_none(1)? {
        Some(name) => name.to_owned(),
        None => a_name(state, id),
    };
    state.is_free(&name)?;
    let depth = within(state, parent)?;
    let compute = amount(limits.compute);
    let has = state.principal(parent)?.compute;
    if has < compute {
        let why = format!("an agent takes {compute} of your quota of compute, which is {has}");
        return fail(FailureKind::InsufficientCompute, why);
    }
    if limits.disk < 2 {
        let why = "the world gives new agents no disk, so that they have no memory";
        return fail(FailureKind::InsufficientDisk, why);
    }
    Ok(Child {
        parent: parent.to_owned(),
        name,
        artifact: id.to_owned(),
        form: *form,
        family: family.clone(),
        read: read.clone(),
        source: source.clone(),
        scrip,
        params,
        depth,
    })
}

/// What the artifact of a new agent says of it.
fn record(child: &Child) -> Map {
    let mut record = Map::new();
    record.insert("made_of".into(), text(&child.artifact));
    record.insert("made_by".into(), text(&child.parent));
    if !child.params.is_empty() {
        record.insert("params".into(), Value::Map(child.params.clone()));
    }
    record.into_iter().chain(settings(child.family.root())).collect()
}

/// Checks that the disk of the parent has room for the quota of a new agent and for its record.
fn check_disk(state: &State, parent: &str, record_bytes: u64) -> Tried<()> {
    let Some((used, most)) = state.disk(parent) else { return Ok(()) };
    let (free, needed) =
        (most.saturating_sub(used), state.settings.spawn.disk.saturating_add(record_bytes));
    if free < needed {
        let why = format!("an agent takes {needed} bytes of your disk, which has room for {free}");
        return fail(FailureKind::InsufficientDisk, why);
    }
    Ok(())
}

/// What the parent pays: the fee, the endowment and the disk of the new agent.
fn entries(state: &State, child: &Child) -> Vec<Entry> {
    let limits = &state.settings.spawn;
    let (from, to) = (Holder::of(&child.parent), Holder::of(&child.name));
    let entry = |from, to, resource, amount, why: &str| Entry {
        from,
        to,
        resource,
        amount,
        why: why.to_owned(),
    };
    let mut entries = Vec::new();
    if limits.cost > 0 {
        entries.push(entry(from.clone(), Holder::Mint, Resource::Scrip, limits.cost, "spawn"));
    }
    if child.scrip > 0 {
        entries.push(entry(from, to.clone(), Resource::Scrip, child.scrip, ENDOWMENT));
    }
    if limits.disk > 0 {
        let room = state.room(&child.parent);
        entries.push(entry(room, to, Resource::Disk, amount(limits.disk), "quota"));
    }
    entries
}

/// The generation of an agent that `parent` would make.
///
/// # Errors
/// The limits do not permit another agent.
fn within(state: &State, parent: &str) -> Tried<u32> {
    let limits = &state.settings.spawn;
    let maker = state.agent(parent)?;
    let denied = |why: String| fail(FailureKind::PermissionDenied, why);
    let depth = maker.origin.as_ref().map_or(0, |origin| origin.depth).saturating_add(1);
    if depth > limits.max_depth {
        let most = limits.max_depth;
        return denied(format!(
            "agents may be spawned {most} levels deep, and this one would be at level {depth}"
        ));
    }
    if maker.children >= limits.per_parent {
        let most = limits.per_parent;
        return denied(format!("`{parent}` has made {most} agents, and may make no more"));
    }
    if state.agents >= limits.max_agents {
        let most = limits.max_agents;
        return denied(format!("the world has {most} agents, and no room for another one"));
    }
    if state.artifacts.len() as u64 + 2 > state.settings.max_artifacts {
        let most = state.settings.max_artifacts;
        let why = format!("the world has room for {most} artifacts, and an agent has two");
        return fail(FailureKind::InsufficientDisk, why);
    }
    Ok(depth)
}

/// An unused name: the id of the artifact with a number.
fn a_name(state: &State, id: &str) -> String {
    let count = state.agents + 1;
    let names = (count..).map(|number| format!("{id}_{number}"));
    // Fewer names than are tried here can be taken, so one of them is free.
    let mut names = names.take(state.principals.len() + state.artifacts.len() + 1);
    names.find(|name| state.is_free(name).is_ok()).unwrap_or_else(|| format!("{id}_{count}"))
}
