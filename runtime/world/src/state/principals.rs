//! Principals, which have accounts: agents, and other owners that a world's file names.
//!
//! **The problem.** What an owner has is spread over the ledger, the artifacts and several indexes: ranks, bytes stored, compute to be
//! renewed. An error in one of them would let agents spend what they do not have, and nobody would notice for a long time.
//!
//! **The idea.** The ledger is the truth; a [`Principal`] adds what is not in it. After each action, `settle` goes through the new entries
//! of the ledger: it reports scrip that moved, counts earnings, moves ranks, and checks every account that has changed. The first error
//! stays in `broken`, and from then on the world executes nothing (`ensure_sound`). Two audits recompute the sums: `audit` of everything,
//! `audit_changes` only of what has changed, with the same result.
//!
//! Compute is renewed lazily: only principals in `compute_spent_by` can be below their quota.
//!
//! **Example.** `ada` and `ben` have a quota of 10 compute each, and `ben` has spent 4:
//!
//! ```text
//! move_quota("ada", "ben", 3)   quotas 7 and 13; 3 units move at once: ada 7, ben 9
//! renew                         ben gets 4 from the mint: ada 7, ben 13
//! set_quota("ada", 8), renew    ada gets 1: ada 8, ben 13
//! ```

use super::{Audience, State, Tried, amount, fail, refused, text};
use crate::artifact::{Artifact, Nature, Policy, is_reserved, memory_of, no_id, size};
use crate::charts::{Family, Form};
use crate::ledger::{Holder, LedgerError, Posted, Resource};
use chartc_core::expr::{Map, Value};
use chartc_runtime::agent::{Failure, FailureKind, Who};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
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

// The consequences of ledger entries.

impl State {
    /// Fails if the books did not balance once. From then on, nothing is executed.
    pub(crate) fn ensure_sound(&self) -> Result<(), Failure> {
        match &self.broken {
            None => Ok(()),
            Some(why) => {
                let why = format!("the books of the world do not add up: {why}");
                fail(FailureKind::InvocationFailed, why)
            }
        }
    }

    /// Enters a principal in the ranks with its scrip.
    pub(super) fn rank(&mut self, name: &str, scrip: i64) {
        let Some(principal) = self.principals.get_mut(name) else { return };
        if let Some(before) = principal.ranked.replace(scrip) {
            if before == scrip {
                return;
            }
            self.ranks.remove(&(Reverse(before), name.to_owned()));
        }
        self.ranks.insert((Reverse(scrip), name.to_owned()));
    }

    /// Called after each action: reports the scrip that has moved, counts earnings, and checks every account that has changed.
    pub(crate) fn settle(&mut self) {
        let mut changed = BTreeSet::new();
        for posted in self.ledger.take_recent() {
            match posted.entry.resource {
                Resource::Scrip => self.follow(&posted),
                Resource::Compute => {
                    let both = [&posted.entry.from, &posted.entry.to].into_iter();
                    self.compute_spent_by.extend(both.filter_map(Holder::name).map(str::to_owned));
                }
                Resource::Disk => {}
            }
            changed.insert(posted.entry.from);
            changed.insert(posted.entry.to);
        }
        for holder in changed {
            if let Err(why) = self.check(&holder) {
                self.broken.get_or_insert(why);
            }
            match holder {
                Holder::Of(name) => {
                    if self.principals.get(&name).is_some_and(|principal| principal.is_listed) {
                        let scrip = self.ledger.scrip(&name);
                        self.rank(&name, scrip);
                    }
                    self.touched.insert(name);
                }
                Holder::Stored(name) => {
                    self.touched.insert(name);
                }
                Holder::Hold(_) | Holder::Mint => {}
            }
        }
    }

    /// Reports scrip that has moved as an event, and counts it as earned and as transferred.
    fn follow(&mut self, posted: &Posted) {
        let Posted { entry, payer } = posted;
        let verb = match (&entry.from, &entry.to) {
            (Holder::Mint, _) => "minted",
            (_, Holder::Mint) => "burned",
            (_, Holder::Hold(_)) => "held",
            (Holder::Hold(_), Holder::Of(to)) if payer.as_deref() == Some(to) => "returned",
            (_, Holder::Of(_) | Holder::Stored(_)) => "transferred",
        };
        if let Holder::Of(to) = &entry.to
            && verb != "returned"
            && entry.why != ENDOWMENT
            && let Some(principal) = self.principals.get_mut(to)
        {
            principal.earned = principal.earned.saturating_add(entry.amount);
        }
        if verb == "transferred" {
            let sum = self.summary.scrip_transferred.saturating_add(entry.amount);
            self.summary.scrip_transferred = sum;
        }
        let from = payer.as_deref().map_or(Value::None, text);
        let to = match &entry.to {
            Holder::Of(name) => text(name),
            Holder::Stored(_) | Holder::Hold(_) | Holder::Mint => Value::None,
        };
        let audience = match verb {
            // Only the payer learns of its holds.
            "held" | "returned" => Audience::Only(payer.iter().cloned().collect()),
            _ => Audience::Everyone,
        };
        let data = [
            ("from", from),
            ("to", to),
            ("amount", Value::Int(entry.amount)),
            ("why", text(&entry.why)),
        ];
        self.tell(verb, data, audience);
    }

    /// Checks the account of a holder. The account of stored bytes must also equal the size of the owner's artifacts.
    fn check(&self, holder: &Holder) -> Result<(), String> {
        self.ledger.check(holder)?;
        if let Holder::Stored(owner) = holder {
            let (booked, found) = (self.ledger.balance(holder, Resource::Disk), self.stored(owner));
            if u64::try_from(booked) != Ok(found) {
                return Err(format!(
                    "{booked} bytes of `{owner}` are booked, and there are {found}"
                ));
            }
        }
        Ok(())
    }
}

// Audits of the books: of everything, or of what has changed since the last audit.

impl State {
    /// Audits everything: recomputes all sums from the artifacts and accounts.
    pub(crate) fn audit(&self) -> Result<(), String> {
        self.ensure_known_sound()?;
        self.ledger.audit()?;
        let mut stored: BTreeMap<&str, u64> = BTreeMap::new();
        for (id, artifact) in self.artifacts.iter() {
            self.audit_artifact(id, artifact)?;
            *stored.entry(&artifact.owner).or_default() += artifact.bytes;
        }
        for name in self.principals.keys() {
            self.audit_owner(name, stored.get(name.as_str()).copied().unwrap_or(0))?;
            self.audit_standing(name)?;
        }
        self.audit_offers()?;
        let listed = self.principals.values().filter(|one| one.is_listed).count();
        if listed != self.ranks.len() {
            return Err(format!("{} have ranks, and {listed} should", self.ranks.len()));
        }
        Ok(())
    }

    /// Audits the artifacts and the owners of accounts that have changed since the last audit. The last audit has checked all others.
    pub(crate) fn audit_changes(&mut self) -> Result<(), String> {
        self.ensure_known_sound()?;
        let (ids, mut names) = self.take_changes();
        for id in &ids {
            let Some(artifact) = self.artifacts.get(id) else { continue };
            self.audit_artifact(id, artifact)?;
            if !names.contains(&artifact.owner) {
                names.insert(artifact.owner.clone());
            }
        }
        for name in names.iter().filter(|name| self.principals.contains_key(*name)) {
            let memory = memory_of(name);
            // The owner's own record and memory are not in the index `owned`.
            let own = self.owned.get(name).into_iter().flatten().chain([name, &memory]);
            let own = own.filter_map(|id| self.artifacts.get(id));
            let own = own.filter(|artifact| artifact.owner == *name);
            self.audit_owner(name, own.map(|artifact| artifact.bytes).sum())?;
            self.audit_standing(name)?;
        }
        self.audit_offers()
    }

    /// Takes the ids of the artifacts and the names of the owners that have changed since the last call.
    pub(crate) fn take_changes(&mut self) -> (BTreeSet<String>, BTreeSet<String>) {
        (self.artifacts.take_changed(), std::mem::take(&mut self.touched))
    }

    fn ensure_known_sound(&self) -> Result<(), String> {
        self.broken.as_ref().map_or(Ok(()), |why| Err(why.clone()))
    }

    fn audit_artifact(&self, id: &str, artifact: &Artifact) -> Result<(), String> {
        let bytes = size(&artifact.content);
        if bytes != artifact.bytes {
            return Err(format!("`{id}` has {bytes} bytes, and {} are known", artifact.bytes));
        }
        if !self.principals.contains_key(&artifact.owner) {
            return Err(format!("`{id}` is of `{}`, who has no account", artifact.owner));
        }
        Ok(())
    }

    /// Compares the size of an owner's artifacts with the bytes that are booked.
    fn audit_owner(&self, name: &str, found: u64) -> Result<(), String> {
        let booked = self.ledger.balance(&Holder::Stored(name.to_owned()), Resource::Disk);
        if u64::try_from(booked) != Ok(found) {
            return Err(format!("{booked} bytes of `{name}` are booked, and there are {found}"));
        }
        if self.stored(name) != found {
            return Err(format!("the index of bytes is wrong for `{name}`"));
        }
        Ok(())
    }

    /// Checks that a listed principal has the rank of its scrip, and no more compute than its quota.
    fn audit_standing(&self, name: &str) -> Result<(), String> {
        let Some(principal) = self.principals.get(name).filter(|one| one.is_listed) else {
            return Ok(());
        };
        let scrip = self.ledger.scrip(name);
        if !self.ranks.contains(&(Reverse(scrip), name.to_owned())) {
            return Err(format!("`{name}` has no rank with {scrip}"));
        }
        if self.ledger.balance(&Holder::of(name), Resource::Compute) > principal.compute {
            return Err(format!("`{name}` has more compute than its quota"));
        }
        Ok(())
    }

    fn audit_offers(&self) -> Result<(), String> {
        for (id, offer) in &self.offers {
            let owner = self.artifacts.get(id).map(|artifact| artifact.owner.as_str());
            if owner != Some(&offer.seller) {
                return Err(format!("`{id}` is offered by `{}`, of {owner:?}", offer.seller));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chartc_core::expr::{Map, Value};

    fn world() -> State {
        let mut state = State::default();
        for name in ["ada", "ben"] {
            state.open(name, Some(1_000));
            state.set_quota(name, 10);
            state.enrol(name, name, Map::new(), Value::List(Vec::new())).expect("there is room");
        }
        state.settle();
        state.renew();
        state.settle();
        assert_eq!(state.audit(), Ok(()));
        assert_eq!(state.audit_changes(), Ok(()));
        state
    }

    fn compute(state: &State) -> [i64; 2] {
        ["ada", "ben"].map(|name| state.ledger.balance(&Holder::of(name), Resource::Compute))
    }

    #[test]
    fn what_has_changed_is_audited_as_all_is() {
        let mut state = world();
        let own = state.artifacts.get_mut("ada").expect("her record");
        own.content = Value::Text("longer than it was".into());
        let (all, changes) = (state.audit(), state.audit_changes());
        assert!(all.is_err(), "its bytes are not booked");
        assert_eq!(changes, all);

        let mut state = world();
        state.resize("ada_memory", "ada", 2, 7).expect("there is room");
        state.artifacts.get_mut("ada_memory").expect("hers").content =
            Value::Text("1234567".into());
        state.settle();
        assert_eq!((state.audit_changes(), state.audit()), (Ok(()), Ok(())));
        if let Some(ada) = state.principals.get_mut("ada") {
            ada.stored += 1;
        }
        state.artifacts.get_mut("ada").expect("her record");
        let (all, changes) = (state.audit(), state.audit_changes());
        assert!(all.is_err(), "the index is wrong");
        assert_eq!(changes, all);
    }

    #[test]
    fn whoever_has_less_compute_than_its_quota_gets_the_rest() {
        let mut state = world();
        assert_eq!(compute(&state), [10, 10]);
        let posted = state.ledger.posted();
        state.renew();
        assert_eq!(state.ledger.posted(), posted, "nobody needs any");
        state.spend("ben", 4, "thinking").expect("he has it");
        state.settle();
        state.move_quota("ada", "ben", 3).expect("she has it");
        state.settle();
        state.renew();
        state.settle();
        assert_eq!(compute(&state), [7, 13]);
        assert_eq!((state.audit_changes(), state.audit()), (Ok(()), Ok(())));
        state.set_quota("ada", 8);
        state.renew();
        assert_eq!(compute(&state), [8, 13]);
    }
}
