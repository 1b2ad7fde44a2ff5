//! `genesis_store`: lists, searches and policies of artifacts.

use super::{Arguments, Genesis, Method, Run};
use crate::artifact::{Artifact, Policy, size};
use crate::ledger::{Holder, Resource};
use crate::state::{Audience, State, Tried, fail, int, refused, text};
use chartc_core::expr::{Map, Value};
use chartc_runtime::agent::{Failure, FailureKind, Price, Who, WorldError};

/// The maximum number of artifacts in a result. They are the newest ones.
const SHOWN: usize = 100;
/// The maximum number of artifacts that a list or a search examines, beginning with the newest.
const SEARCHED: usize = 10_000;
/// The maximum total size of the artifacts that it examines, in bytes.
const BYTES: u64 = 10_000_000;
/// The maximum size of a policy, in bytes.
const POLICY: u64 = 10_000;

pub(super) const STORE: Genesis = Genesis {
    id: "genesis_store",
    about: "Artifacts: which there are, what is known of them, and who may do what with them.",
    methods: &[
        Method {
            name: "list",
            params: &["filter?"],
            about: "artifacts that you may read, the newest 100; filter is {type, owner}",
            run: Run::Look(list),
        },
        Method {
            name: "search",
            params: &["text"],
            about: "artifacts that you may read whose id or content has this text, the newest 100",
            run: Run::Look(search),
        },
        Method {
            name: "get",
            params: &["id"],
            about: "what is known of an artifact: owner, policies, prices, methods",
            run: Run::Look(get),
        },
        Method {
            name: "set_policy",
            params: &["id", "policy"],
            about: "of an artifact of yours: {read, write, invoke, price}; each of the first three is everyone, owner, nobody or a list of names",
            run: Run::Change(set_policy),
        },
        Method {
            name: "delete",
            params: &["id"],
            about: "takes an artifact of yours away; its bytes are free again",
            run: Run::Change(delete),
        },
        Method {
            name: "agents",
            params: &[],
            about: "the names of the agents, the first 1,000",
            run: Run::Look(agents),
        },
    ],
};

fn list(state: &State, arguments: &Arguments<'_>) -> Tried<Value> {
    let filter = arguments.map(0)?;
    let (mut ty, mut owner) = (None, None);
    for (key, value) in filter.iter() {
        match (key, value) {
            ("type", Value::Text(wanted)) => ty = Some(wanted.as_str()),
            ("owner", Value::Text(wanted)) => owner = Some(wanted.as_str()),
            _ => return arguments.wrong(0, "is a mapping of type and owner, which are texts"),
        }
    }
    let fits = |artifact: &Artifact| {
        ty.is_none_or(|ty| artifact.ty == ty) && owner.is_none_or(|owner| artifact.owner == owner)
    };
    Ok(rows(state, arguments.caller, |_, artifact| fits(artifact)))
}

fn search(state: &State, arguments: &Arguments<'_>) -> Tried<Value> {
    let wanted = arguments.name(0)?.to_lowercase();
    Ok(rows(state, arguments.caller, |id, artifact| {
        id.to_lowercase().contains(&wanted) || has(&artifact.content, &wanted)
    }))
}

fn has(content: &Value, wanted: &str) -> bool {
    match content {
        Value::Text(text) => text.to_lowercase().contains(wanted),
        Value::List(items) => items.iter().any(|item| has(item, wanted)),
        Value::Map(map) => {
            map.iter().any(|(key, value)| key.to_lowercase().contains(wanted) || has(value, wanted))
        }
        _ => false,
    }
}

fn rows(state: &State, caller: &str, fits: impl Fn(&str, &Artifact) -> bool) -> Value {
    let (mut found, mut bytes) = (Vec::new(), 0);
    for id in state.order.values().rev().take(SEARCHED) {
        let Ok(artifact) = state.readable(caller, id) else { continue };
        if fits(id, artifact) {
            found.push(row(id, artifact));
        }
        bytes += artifact.bytes;
        if found.len() == SHOWN || bytes > BYTES {
            break;
        }
    }
    Value::List(found)
}

/// The entry for an artifact in a list.
pub(crate) fn row(id: &str, artifact: &Artifact) -> Value {
    let mut row = Map::new();
    row.insert("id".into(), text(id));
    row.insert("type".into(), text(&artifact.ty));
    row.insert("created_by".into(), text(&artifact.created_by));
    row.insert("executable".into(), Value::Bool(artifact.can_execute()));
    row.insert("is_genesis".into(), Value::Bool(artifact.is_genesis));
    Value::Map(row)
}

fn get(state: &State, arguments: &Arguments<'_>) -> Tried<Value> {
    let id = arguments.name(0)?;
    if let Some(genesis) = super::find(id) {
        return Ok(genesis.help());
    }
    let artifact = state.find(id)?;
    let Policy { read, write, invoke, price } = &*artifact.policy;
    let mut all = Map::new();
    all.insert("id".into(), text(id));
    all.insert("type".into(), text(&artifact.ty));
    all.insert("owner".into(), text(&artifact.owner));
    all.insert("created_by".into(), text(&artifact.created_by));
    all.insert("bytes".into(), int(artifact.bytes));
    all.insert("is_genesis".into(), Value::Bool(artifact.is_genesis));
    all.insert("has_standing".into(), Value::Bool(artifact.has_standing()));
    all.insert("can_execute".into(), Value::Bool(artifact.can_execute()));
    if let Some(memory) = artifact.memory_artifact_id() {
        all.insert("memory_artifact_id".into(), text(memory));
    }
    let methods = state.methods(id, artifact);
    all.insert("methods".into(), Value::List(methods.into_iter().map(Value::Text).collect()));
    all.insert("read".into(), read.value());
    all.insert("write".into(), write.value());
    all.insert("invoke".into(), invoke.value());
    all.insert("price".into(), price.value());
    if let Some(offer) = state.offers.get(id) {
        all.insert("offered_for".into(), Value::Int(offer.price));
    }
    Ok(Value::Map(all))
}

fn set_policy(state: &mut State, arguments: &Arguments<'_>) -> Tried<Value> {
    let (id, said) = (arguments.name(0)?, arguments.map(1)?);
    if size(&Value::Map(said.clone())) > POLICY {
        return arguments.wrong(1, &format!("has at most {POLICY} bytes"));
    }
    let artifact = state.disposable(arguments.caller, id)?;
    let mut policy = Policy::clone(&artifact.policy);
    for (key, value) in said.iter() {
        let who = || Who::read(key, value.clone()).map_err(wrong);
        match key {
            "read" => policy.read = who()?,
            "write" => policy.write = who()?,
            "invoke" => policy.invoke = who()?,
            "price" => policy.price = Price::read(key, value.clone()).map_err(wrong)?,
            _ => return arguments.wrong(1, "is a mapping of read, write, invoke, price"),
        }
    }
    if let Some(artifact) = state.artifacts.get_mut(id) {
        artifact.policy = std::sync::Arc::new(policy);
    }
    let audience = state.audience(id, arguments.caller);
    let data = [("artifact_id", text(id)), ("by", text(arguments.caller))];
    state.tell("policy_set", data, audience);
    Ok(Value::Bool(true))
}

fn wrong(fault: WorldError) -> Failure {
    Failure::new(FailureKind::IntentRejected, fault.to_string())
}

fn delete(state: &mut State, arguments: &Arguments<'_>) -> Tried<Value> {
    state.delete(arguments.caller, arguments.name(0)?)?;
    Ok(Value::Bool(true))
}

fn agents(state: &State, _: &Arguments<'_>) -> Tried<Value> {
    let all = state.principals.iter().filter(|(_, principal)| principal.is_agent);
    Ok(Value::List(all.take(1_000).map(|(name, _)| text(name)).collect()))
}

// `genesis_rights_registry`: quotas of disk and compute, and their transfer between agents.

pub(super) const RIGHTS_REGISTRY: Genesis = Genesis {
    id: "genesis_rights_registry",
    about: "Quotas: bytes of disk, and units of compute for each tick.",
    methods: &[
        Method {
            name: "quotas",
            params: &["agent?"],
            about: "the quotas of an agent, or your own, and what is used of them",
            run: Run::Look(quotas),
        },
        Method {
            name: "transfer_quota",
            params: &["resource", "to", "amount"],
            about: "gives a part of your quota of disk or compute to somebody, for good",
            run: Run::Change(transfer_quota),
        },
    ],
};

fn quotas(state: &State, arguments: &Arguments<'_>) -> Tried<Value> {
    let of = arguments.name_or_none(0)?.unwrap_or(arguments.caller);
    let compute = state.principal(of)?.compute;
    let mut quotas = Map::new();
    if let Some((used, most)) = state.disk(of) {
        quotas.insert("disk_used".into(), int(used));
        quotas.insert("disk_quota".into(), int(most));
    }
    let left = state.ledger.balance(&Holder::of(of), Resource::Compute);
    quotas.insert("compute_left".into(), Value::Int(left));
    quotas.insert("compute_quota".into(), Value::Int(compute));
    Ok(Value::Map(quotas))
}

fn transfer_quota(state: &mut State, arguments: &Arguments<'_>) -> Tried<Value> {
    let (resource, to, amount) = (arguments.name(0)?, arguments.name(1)?, arguments.amount(2)?);
    let from = arguments.caller;
    let known = [Resource::Disk, Resource::Compute].into_iter().find(|one| one.word() == resource);
    let Some(resource) = known else {
        return arguments.wrong(0, "is disk or compute");
    };
    let receiver = state.principal(to)?;
    match resource {
        Resource::Scrip | Resource::Disk => {
            if !receiver.is_limited || !state.principal(from)?.is_limited {
                let why = format!("the disks of `{from}` and `{to}` have not both a limit");
                return fail(FailureKind::IntentRejected, why);
            }
            let (from, to) = (Holder::of(from), Holder::of(to));
            state.ledger.transfer(from, to, resource, amount, "quota").map_err(refused)?;
        }
        Resource::Compute => state.move_quota(from, to, amount)?,
    }
    let data = [
        ("from", text(from)),
        ("to", text(to)),
        ("resource", text(resource.word())),
        ("amount", Value::Int(amount)),
    ];
    state.tell("quota_transferred", data, Audience::Everyone);
    Ok(Value::Bool(true))
}
