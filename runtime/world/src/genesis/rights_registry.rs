//! `genesis_rights_registry`: quotas of disk and compute, and their transfer between agents.

use super::arguments::Arguments;
use super::{Genesis, Method, Run};
use crate::ledger::{Holder, Resource};
use crate::state::{Audience, State, Tried, fail, int, refused, text};
use chartc_core::expr::{Map, Value};
use chartc_runtime::agent::FailureKind;

pub(super) const GENESIS: Genesis = Genesis {
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
