//! Audits of the books: of everything, or of what has changed since the last audit.

use super::State;
use crate::artifact::{Artifact, memory_of, size};
use crate::ledger::{Holder, Resource};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

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
