//! Those who have accounts: agents, and others that a world's file names.

use super::{State, Tried, amount, fail, refused};
use crate::artifact::{Nature, Policy, is_reserved, memory_of, no_id};
use crate::ledger::{Holder, LedgerError, Resource};
use crate::workshop::{Family, Form};
use chartc_core::expr::{Map, Value};
use chartc_runtime::agent::{FailureKind, Who};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What scrip that somebody begins with is booked as.
pub(crate) const ENDOWMENT: &str = "endowment";

/// Somebody who has accounts.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Principal {
    /// An agent; otherwise somebody who owns things.
    pub(crate) is_agent: bool,
    /// Others see it among the agents.
    pub(crate) is_listed: bool,
    /// It can write no more than its disk; otherwise there is no limit.
    pub(crate) is_limited: bool,
    /// Scrip from others and from the mint.
    pub(crate) earned: i64,
    /// Compute after each renewal.
    pub(crate) compute: i64,
    /// Artifacts that it has made and that are still there.
    pub(crate) made: u64,
    /// Agents that it has made.
    pub(crate) children: u64,
    /// It is stopped for good.
    pub(crate) is_stopped: bool,
    /// Where it comes from, if another agent has made it.
    pub(crate) origin: Option<Box<Origin>>,
    /// Its charts.
    #[serde(skip)]
    pub(crate) family: Option<Arc<Family>>,
    /// Found from the artifacts: the bytes of its own.
    #[serde(skip)]
    pub(crate) stored: u64,
    /// Under what it stands in the ranks.
    #[serde(skip)]
    pub(crate) ranked: Option<i64>,
}

/// How an agent was made by another one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Origin {
    pub(crate) parent: String,
    pub(crate) depth: u32,
    pub(crate) artifact: String,
    pub(crate) form: Form,
    pub(crate) text: String,
    pub(crate) params: Map,
    /// The artifacts that the text has read when it was compiled.
    pub(crate) read: BTreeMap<String, String>,
}

impl State {
    /// Somebody of this name, who has accounts.
    pub(crate) fn principal(&self, name: &str) -> Tried<&Principal> {
        match self.principals.get(name) {
            Some(found) => Ok(found),
            None => fail(FailureKind::NotFound, format!("there is nobody called `{name}`")),
        }
    }

    /// An agent of this name.
    pub(crate) fn agent(&self, name: &str) -> Tried<&Principal> {
        match self.principals.get(name).filter(|principal| principal.is_agent) {
            Some(found) => Ok(found),
            None => fail(FailureKind::NotFound, format!("there is no agent `{name}`")),
        }
    }

    /// Opens the accounts of somebody, with a disk of so many bytes; `None` without a limit. Who is there stays as it is.
    pub(crate) fn open(&mut self, name: &str, disk: Option<u64>) {
        if self.principals.contains_key(name) {
            return;
        }
        let principal = Principal { is_limited: disk.is_some(), ..Principal::default() };
        self.principals.insert(name.to_owned(), principal);
        if let Some(bytes) = disk.filter(|bytes| *bytes > 0) {
            // A new account has nothing: what fits into an amount fits into it, and the mint's own only ends where nobody counts.
            let minted = self.ledger.mint(name, Resource::Disk, amount(bytes), "quota");
            if let Err(why) = minted {
                self.broken.get_or_insert(why.to_string());
            }
        }
    }

    /// Shows somebody among the others, and in the ranks.
    pub(crate) fn list(&mut self, name: &str) {
        let scrip = self.ledger.scrip(name);
        if let Some(principal) = self.principals.get_mut(name) {
            principal.is_listed = true;
            self.rank(name, scrip);
        }
    }

    /// Whether a new agent can have this name: nobody and nothing else has it.
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

    /// Makes the artifact and the memory of an agent that has its accounts.
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

    /// Where the bytes that somebody writes come from.
    pub(crate) fn room(&self, owner: &str) -> Holder {
        match self.principals.get(owner) {
            Some(principal) if principal.is_limited => Holder::of(owner),
            Some(_) | None => Holder::Mint,
        }
    }

    /// Bytes that somebody has stored, and may store; `None` without a limit.
    pub(crate) fn disk(&self, name: &str) -> Option<(u64, u64)> {
        let principal = self.principals.get(name).filter(|principal| principal.is_limited);
        principal.map(|_| {
            let used = self.ledger.balance(&Holder::Stored(name.to_owned()), Resource::Disk);
            let free = self.ledger.balance(&Holder::of(name), Resource::Disk);
            (used.unsigned_abs(), used.saturating_add(free).unsigned_abs())
        })
    }

    /// Uses compute of an agent.
    pub(crate) fn spend(&mut self, name: &str, units: u64, why: &str) -> Tried<()> {
        if units == 0 {
            return Ok(());
        }
        self.ledger.burn(name, Resource::Compute, amount(units), why).map_err(refused)
    }

    /// Fills the compute of everybody up.
    pub(crate) fn renew(&mut self) {
        for name in std::mem::take(&mut self.worn) {
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

    /// Says how much compute somebody has after each renewal.
    pub(crate) fn set_quota(&mut self, name: &str, units: i64) {
        if let Some(principal) = self.principals.get_mut(name) {
            principal.compute = units;
            self.worn.insert(name.to_owned());
        }
    }
}

/// Whether agents can have this name.
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
    /// Gives a part of one's quota of compute to somebody else, and of what is left of it now as much as there is.
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
