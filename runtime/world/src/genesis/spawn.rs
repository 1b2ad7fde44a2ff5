//! The spawning of agents by agents.
//!
//! All conditions are checked before anything is posted, so a spawn that fails changes nothing.

use super::arguments::Arguments;
use crate::artifact::{Compiled, Nature};
use crate::ledger::{Entry, Holder, Resource};
use crate::params::accepts;
use crate::request::{Request, Spawn};
use crate::restrict::{restrict, used};
use crate::state::{Audience, ENDOWMENT, Origin, State, Tried, amount, fail, refused, text};
use chartc_core::expr::{Map, Value};
use chartc_runtime::agent::FailureKind;

/// Makes an agent from an artifact of type `chart` or `agent`: opens its accounts, makes its artifact and its memory, and requests its
/// start from the engine.
pub(super) fn spawn(state: &mut State, arguments: &Arguments<'_>) -> Tried<Value> {
    let (parent, id) = (arguments.caller, arguments.name(0)?);
    let artifact = state.readable(parent, id)?;
    let Nature::Compiled(Compiled { form, family: Some(family), read }) = &artifact.nature else {
        let why = format!("`{id}` is no chart that has compiled: write it as type chart or agent");
        return fail(FailureKind::IntentRejected, why);
    };
    let Value::Text(source) = &artifact.content else {
        return fail(FailureKind::IntentRejected, format!("`{id}` is no text"));
    };
    let (form, family, read, source) = (*form, family.clone(), read.clone(), source.clone());
    let mine = state.agent(parent)?.family.as_deref();
    // A chart could otherwise give its spawned agents tools and models that its own host has not allowed.
    let (tools, models) = mine.map(used).unwrap_or_default();
    if let Err(found) = restrict(&family, &tools, &models) {
        let why: Vec<String> = found.into_iter().map(|finding| finding.text).collect();
        return fail(FailureKind::PermissionDenied, why.join("; "));
    }
    let limits = state.settings.spawn.clone();
    let scrip = match arguments.get(2) {
        None => limits.min_endowment,
        Some(Value::Int(scrip)) if *scrip >= limits.min_endowment => *scrip,
        Some(_) => {
            let least = limits.min_endowment;
            return arguments.wrong(2, &format!("is a whole number, {least} or more"));
        }
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
    let entry = |from, to, resource, amount, why: &str| Entry {
        from,
        to,
        resource,
        amount,
        why: why.to_owned(),
    };
    let (mine, child) = (Holder::of(parent), Holder::of(&name));
    let mut entries = Vec::new();
    if limits.cost > 0 {
        entries.push(entry(mine.clone(), Holder::Mint, Resource::Scrip, limits.cost, "spawn"));
    }
    if scrip > 0 {
        entries.push(entry(mine.clone(), child.clone(), Resource::Scrip, scrip, ENDOWMENT));
    }
    if limits.disk > 0 {
        let bytes = amount(limits.disk);
        entries.push(entry(state.room(parent), child, Resource::Disk, bytes, "quota"));
    }
    let compute = amount(limits.compute);
    let has = state.principal(parent)?.compute;
    if has < compute {
        let why = format!("an agent takes {compute} of your quota of compute, which is {has}");
        return fail(FailureKind::InsufficientCompute, why);
    }
    let mut record = Map::new();
    record.insert("made_of".into(), text(id));
    record.insert("made_by".into(), text(parent));
    if !params.is_empty() {
        record.insert("params".into(), Value::Map(params.clone()));
    }
    // The record is stored on the parent's disk, and the memory on the new agent's. Both are checked here, because nothing may fail once
    // the entries are posted.
    let bytes = amount(crate::artifact::size(&Value::Map(record.clone())));
    if limits.disk < 2 {
        let why = "the world gives new agents no disk, so that they have no memory";
        return fail(FailureKind::InsufficientDisk, why);
    }
    if bytes.unsigned_abs() > state.settings.max_content_bytes {
        return arguments.wrong(3, "is larger than an artifact can be");
    }
    if let Some((used, most)) = state.disk(parent)
        && most.saturating_sub(used) < limits.disk.saturating_add(bytes.unsigned_abs())
    {
        let why = format!(
            "an agent takes {} bytes of your disk, which has room for {}",
            limits.disk.saturating_add(bytes.unsigned_abs()),
            most.saturating_sub(used)
        );
        return fail(FailureKind::InsufficientDisk, why);
    }
    // The rate limit is asked last, so that an agent that cannot pay does not use up a part of it.
    if state.ledger.scrip(parent) >= limits.cost.saturating_add(scrip)
        && let Err(why) = state.admission.ask(parent)
    {
        return fail(FailureKind::InvocationFailed, why);
    }
    state.ledger.post(entries).map_err(refused)?;
    state.open(&name, Some(0));
    state.move_quota(parent, &name, compute)?;
    if let Some(principal) = state.principals.get_mut(&name) {
        principal.family = Some(family.clone());
        principal.origin = Some(Box::new(Origin {
            parent: parent.to_owned(),
            depth,
            artifact: id.to_owned(),
            form,
            text: source.clone(),
            params: params.clone(),
            read,
        }));
    }
    if let Some(principal) = state.principals.get_mut(parent) {
        principal.children += 1;
    }
    state.enrol(&name, parent, record, Value::List(Vec::new()))?;
    let data = [
        ("agent", text(&name)),
        ("by", text(parent)),
        ("artifact_id", text(id)),
        ("depth", Value::Int(i64::from(depth))),
        ("scrip", Value::Int(scrip)),
    ];
    state.tell("spawned", data, Audience::Everyone);
    state.requests.push(Request::Spawn(Spawn {
        agent: name.clone(),
        artifact: id.to_owned(),
        form,
        text: source,
        family,
        params,
        parent: parent.to_owned(),
        depth,
    }));
    let mut done = Map::new();
    done.insert("agent".into(), Value::Text(name));
    done.insert("scrip".into(), Value::Int(scrip));
    done.insert("depth".into(), Value::Int(i64::from(depth)));
    Ok(Value::Map(done))
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
