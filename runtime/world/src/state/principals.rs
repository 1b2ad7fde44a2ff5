//! Principals, which have accounts: agents, and other owners that a world's file names.

use super::{State, Tried, amount, fail, refused};
use crate::artifact::{Nature, Policy, is_reserved, memory_of, no_id};
use crate::ledger::{Holder, LedgerError, Resource};
use crate::workshop::{Family, Form};
use chartc_core::expr::{Map, Value};
use chartc_runtime::agent::{FailureKind, Who};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The reason under which the initial scrip of a principal is booked.
pub(crate) const ENDOWMENT: &str = "endowment";

/// An owner of accounts.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Principal {
    /// Whether it is an agent.
    pub(crate) is_agent: bool,
    /// Whether others see it in the list of agents and in the ranks.
    pub(crate) is_listed: bool,
    /// Whether its disk is limited.
    pub(crate) is_limited: bool,
    /// Scrip that it got from others and from the mint, without its endowment.
    pub(crate) earned: i64,
    /// Its quota: the compute that it has after each renewal.
    pub(crate) compute: i64,
    /// The number of existing artifacts that it has made.
    pub(crate) made: u64,
    /// The number of agents that it has made.
    pub(crate) children: u64,
    /// Whether it has been stopped for good.
    pub(crate) is_stopped: bool,
    /// Its origin, if another agent has made it.
    pub(crate) origin: Option<Box<Origin>>,
    /// Its charts.
    #[serde(skip)]
    pub(crate) family: Option<Arc<Family>>,
    /// Derived: the total size of its artifacts in bytes.
    #[serde(skip)]
    pub(crate) stored: u64,
    /// Derived: the scrip under which it is in the ranks.
    #[serde(skip)]
    pub(crate) ranked: Option<i64>,
}

/// The origin of an agent that another agent has made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Origin {
    pub(crate) parent: String,
    pub(crate) depth: u32,
    pub(crate) artifact: String,
    pub(crate) form: Form,
    pub(crate) text: String,
    pub(crate) params: Map,
    /// The artifacts that the text included when it was compiled.
    pub(crate) read: BTreeMap<String, String>,
}

impl State {
    /// The principal with this name.
    pub(crate) fn principal(&self, name: &str) -> Tried<&Principal> {
        match self.principals.get(name) {
            Some(found) => Ok(found),
            None => fail(FailureKind::NotFound, format!("there is nobody called `{name}`")),
        }
    }

    /// The agent with this name.
    pub(crate) fn agent(&self, name: &str) -> Tried<&Principal> {
        match self.principals.get(name).filter(|principal| principal.is_agent) {
            Some(found) => Ok(found),
            None => fail(FailureKind::NotFound, format!("there is no agent `{name}`")),
        }
    }

    /// Opens the accounts of a new principal. `disk` is the size of its disk in bytes; `None` for no limit. An existing principal does not
    /// change.
    pub(crate) fn open(&mut self, name: &str, disk: Option<u64>) {
        if self.principals.contains_key(name) {
            return;
        }
        let principal = Principal { is_limited: disk.is_some(), ..Principal::default() };
        self.principals.insert(name.to_owned(), principal);
        if let Some(bytes) = disk.filter(|bytes| *bytes > 0) {
            // The account is new and empty, so any amount fits. Only the mint's balance could overflow, after an impossible total.
            let minted = self.ledger.mint(name, Resource::Disk, amount(bytes), "quota");
            if let Err(why) = minted {
                self.broken.get_or_insert(why.to_string());
            }
        }
    }

    /// Adds a principal to the list of agents and to the ranks.
    pub(crate) fn list(&mut self, name: &str) {
        let scrip = self.ledger.scrip(name);
        if let Some(principal) = self.principals.get_mut(name) {
            principal.is_listed = true;
            self.rank(name, scrip);
        }
    }

    /// Checks that a new agent can have this name: no principal and no artifact has it.
    pub(crate) fn is_free(&self, name: &str) -> Tried<()> {
        is_name(name)?;
        let memory = memory_of(name);
        let taken = [name, &memory].into_iter().find(|id| self.artifacts.contains_key(id));
        if taken.is_some() || self.principals.contains_key(name) {
            let why = format!("`{name}` is taken: choose another name");
            return fail(FailureKind::PermissionDenied, why);
        }
        Ok(())
    }

    /// Makes the record and the memory of an agent whose accounts are open.
    pub(crate) fn enrol(
        &mut self,
        name: &str,
        owner: &str,
        content: Map,
        remembered: Value,
    ) -> Tried<()> {
        self.principal(owner)?;
        let memory = memory_of(name);
        let nature = Nature::Agent { memory: memory.clone() };
        self.make(name, owner, owner, "agent", Value::Map(content), nature, Policy::default())?;
        let nature = Nature::Memory { agent: name.to_owned() };
        let policy = Policy { read: Who::Owner, ..Policy::default() };
        self.make(&memory, name, name, "memory", remembered, nature, policy)?;
        if let Some(principal) = self.principals.get_mut(name) {
            principal.is_agent = true;
        }
        self.agents += 1;
        self.list(name);
        Ok(())
    }

    /// The account from which the bytes are taken that an owner writes.
    pub(crate) fn room(&self, owner: &str) -> Holder {
        match self.principals.get(owner) {
            Some(principal) if principal.is_limited => Holder::of(owner),
            Some(_) | None => Holder::Mint,
        }
    }

    /// The bytes that an owner has stored and may store; `None` for no limit.
    pub(crate) fn disk(&self, name: &str) -> Option<(u64, u64)> {
        let principal = self.principals.get(name).filter(|principal| principal.is_limited);
        principal.map(|_| {
            let used = self.ledger.balance(&Holder::Stored(name.to_owned()), Resource::Disk);
            let free = self.ledger.balance(&Holder::of(name), Resource::Disk);
            (used.unsigned_abs(), used.saturating_add(free).unsigned_abs())
        })
    }

    /// Deducts compute from an agent.
    pub(crate) fn spend(&mut self, name: &str, units: u64, why: &str) -> Tried<()> {
        if units == 0 {
            return Ok(());
        }
        self.ledger.burn(name, Resource::Compute, amount(units), why).map_err(refused)
    }

    /// Fills the compute of every principal up to its quota.
    pub(crate) fn renew(&mut self) {
        for name in std::mem::take(&mut self.compute_spent_by) {
            let Some(principal) = self.principals.get(&name) else { continue };
            let has = self.ledger.balance(&Holder::of(&name), Resource::Compute);
            let wanted = principal.compute - has;
            if wanted > 0
                && let Err(why) = self.ledger.mint(&name, Resource::Compute, wanted, "renewal")
            {
                self.broken.get_or_insert(why.to_string());
            }
        }
    }

    /// Sets a principal's quota of compute.
    pub(crate) fn set_quota(&mut self, name: &str, units: i64) {
        if let Some(principal) = self.principals.get_mut(name) {
            principal.compute = units;
            self.compute_spent_by.insert(name.to_owned());
        }
    }
}

/// Checks that agents can have this name.
pub(crate) fn is_name(name: &str) -> Tried<()> {
    if let Some(why) = no_id(name) {
        return fail(FailureKind::IntentRejected, why);
    }
    if is_reserved(name) {
        let why = format!("`{name}` is a name that only the world gives: choose another");
        return fail(FailureKind::PermissionDenied, why);
    }
    Ok(())
}

/// Quotas of compute.
impl State {
    /// Moves a part of a quota of compute to another principal, with as much of the current compute as is left.
    pub(crate) fn move_quota(&mut self, from: &str, to: &str, units: i64) -> Tried<()> {
        if units == 0 {
            return Ok(());
        }
        let (has, gets) = (self.principal(from)?.compute, self.principal(to)?.compute);
        if from == to {
            return Err(refused(LedgerError::ToItself(Holder::of(to))));
        }
        if units < 0 {
            return Err(refused(LedgerError::NotPositive(units)));
        }
        if has < units {
            let why = format!("`{from}` has a quota of {has} compute, and {units} is needed");
            return fail(FailureKind::InsufficientCompute, why);
        }
        let Some(gets) = gets.checked_add(units) else {
            return Err(refused(LedgerError::Overflow(Holder::of(to))));
        };
        // Compute that is already used cannot be moved. The receiver gets the rest at the next renewal.
        let now = self.ledger.balance(&Holder::of(from), Resource::Compute).min(units);
        if now > 0 {
            let (from, to) = (Holder::of(from), Holder::of(to));
            let moved = self.ledger.transfer(from, to, Resource::Compute, now, "quota");
            moved.map_err(refused)?;
        }
        for (name, quota) in [(from, has - units), (to, gets)] {
            self.set_quota(name, quota);
        }
        Ok(())
    }
}
