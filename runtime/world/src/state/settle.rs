//! The consequences of ledger entries.

use super::principals::ENDOWMENT;
use super::{Audience, State, fail, text};
use crate::ledger::{Holder, Posted, Resource};
use chartc_core::expr::Value;
use chartc_runtime::agent::{Failure, FailureKind};
use std::cmp::Reverse;
use std::collections::BTreeSet;

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
