//! What follows from the entries of the ledger, and whether everything adds up.

use super::principals::ENDOWMENT;
use super::{Audience, State, fail, text};
use crate::artifact::size;
use crate::ledger::{Holder, Posted, Resource};
use chartc_core::expr::Value;
use chartc_runtime::agent::{Failure, FailureKind};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

impl State {
    /// Nothing is done any more once the books did not add up.
    pub(crate) fn is_sound(&self) -> Result<(), Failure> {
        match &self.broken {
            None => Ok(()),
            Some(why) => {
                let why = format!("the books of the world do not add up: {why}");
                fail(FailureKind::InvocationFailed, why)
            }
        }
    }

    /// Puts somebody into the ranks.
    pub(super) fn rank(&mut self, name: &str, scrip: i64) {
        if let Some(before) = self.ranked.insert(name.to_owned(), scrip) {
            self.ranks.remove(&(Reverse(before), name.to_owned()));
        }
        self.ranks.insert((Reverse(scrip), name.to_owned()));
    }

    /// After each action: tells of the scrip that has moved, counts what was earned, and checks every account that has changed.
    pub(crate) fn settle(&mut self) {
        let mut changed = BTreeSet::new();
        for posted in self.ledger.take_recent() {
            if posted.entry.resource == Resource::Scrip {
                self.follow(&posted);
            }
            changed.insert(posted.entry.from);
            changed.insert(posted.entry.to);
        }
        for holder in changed {
            if let Err(why) = self.check(&holder) {
                self.broken.get_or_insert(why);
            }
            if let Holder::Of(name) = holder
                && self.principals.get(&name).is_some_and(|principal| principal.is_listed)
            {
                let scrip = self.ledger.scrip(&name);
                self.rank(&name, scrip);
            }
        }
    }

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
            // What somebody puts aside is nobody else's business.
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

    fn check(&self, holder: &Holder) -> Result<(), String> {
        self.ledger.check(holder)?;
        if let Holder::Stored(owner) = holder {
            let (booked, found) =
                (self.ledger.balance(holder, Resource::Disk), self.stored.get(owner));
            let found = found.copied().unwrap_or(0);
            if u64::try_from(booked) != Ok(found) {
                return Err(format!(
                    "{booked} bytes of `{owner}` are booked, and there are {found}"
                ));
            }
        }
        Ok(())
    }

    /// Checks all of it, from the artifacts and accounts themselves.
    pub(crate) fn audit(&self) -> Result<(), String> {
        if let Some(why) = &self.broken {
            return Err(why.clone());
        }
        self.ledger.audit()?;
        let mut stored: BTreeMap<&str, u64> = BTreeMap::new();
        for (id, artifact) in &self.artifacts {
            let bytes = size(&artifact.content);
            if bytes != artifact.bytes {
                return Err(format!("`{id}` has {bytes} bytes, and {} are known", artifact.bytes));
            }
            if !self.principals.contains_key(&artifact.owner) {
                return Err(format!("`{id}` is of `{}`, who has no account", artifact.owner));
            }
            *stored.entry(&artifact.owner).or_default() += bytes;
        }
        for name in self.principals.keys() {
            let booked = self.ledger.balance(&Holder::Stored(name.clone()), Resource::Disk);
            let found = stored.get(name.as_str()).copied().unwrap_or(0);
            if u64::try_from(booked) != Ok(found) {
                return Err(format!(
                    "{booked} bytes of `{name}` are booked, and there are {found}"
                ));
            }
            if self.stored.get(name).copied().unwrap_or(0) != found {
                return Err(format!("the index of bytes is wrong for `{name}`"));
            }
        }
        for (id, offer) in &self.offers {
            let owner = self.artifacts.get(id).map(|artifact| artifact.owner.as_str());
            if owner != Some(&offer.seller) {
                return Err(format!("`{id}` is offered by `{}`, of {owner:?}", offer.seller));
            }
        }
        for (name, principal) in self.principals.iter().filter(|(_, one)| one.is_listed) {
            let scrip = self.ledger.scrip(name);
            if !self.ranks.contains(&(Reverse(scrip), name.clone())) {
                return Err(format!("`{name}` has no rank with {scrip}"));
            }
            if self.ledger.balance(&Holder::of(name), Resource::Compute) > principal.compute {
                return Err(format!("`{name}` has more compute than its quota"));
            }
        }
        let listed = self.principals.values().filter(|one| one.is_listed).count();
        if listed != self.ranks.len() {
            return Err(format!("{} have ranks, and {listed} should", self.ranks.len()));
        }
        Ok(())
    }
}
