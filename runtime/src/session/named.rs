//! Identifies steps and states by name in a saved run, because another version of the chart numbers them differently.

use super::{At, CallPlace, Session, ledger};
use crate::budget::{Amount, Prices, Usage};
use crate::trace;
use chartc_core::arena::StateId;
use chartc_core::family::MemberPath;
use chartc_core::host::Machine;
use chartc_core::machine::StepKey;
use chartc_core::saved::Key;
use serde::{Deserialize, Serialize};

/// The path of a member: the `run` steps that lead to it.
pub(super) type NamedPath = Vec<Key>;

/// A step of a member, by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct CallSite {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    way: NamedPath,
    key: Key,
}

/// The accounts of a run, by name.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Spent {
    /// The amounts that states have spent, and whether their soft limits have been reported.
    accounts: Vec<(NamedPath, String, Amount, [bool; 2])>,
    /// The amounts that are held for calls under way, with their states.
    held: Vec<(CallSite, Usage, Prices, Vec<String>)>,
    total: Usage,
}

impl CallSite {
    /// The names of leaf and step: first those of the steps that lead to it, then its own.
    pub(super) fn names(&self) -> impl Iterator<Item = (&str, &str)> {
        self.way.iter().chain([&self.key]).map(Key::names)
    }
}

impl<M: Machine, T: trace::Sink> Session<M, T> {
    pub(super) fn named_path(&self, member: &MemberPath) -> Option<NamedPath> {
        let keys = (0..member.len()).map(|i| {
            let machine = self.family.member(&member[..i])?;
            Some(Key::of(machine.tables(), &member[i]))
        });
        keys.collect()
    }

    /// The member at a path, if it is running.
    pub(super) fn member_at(&self, way: &NamedPath) -> Option<MemberPath> {
        let mut member = MemberPath::new();
        for key in way {
            let machine = self.family.member(&member)?;
            let key = key.number(machine.tables())?;
            member.push(key);
        }
        self.family.member(&member).map(|_| member)
    }

    pub(super) fn call_site(&self, (member, key): &At) -> Option<CallSite> {
        let machine = self.family.member(member)?;
        Some(CallSite { way: self.named_path(member)?, key: Key::of(machine.tables(), key) })
    }

    pub(super) fn at(&self, spot: &CallSite) -> Option<At> {
        let member = self.member_at(&spot.way)?;
        let machine = self.family.member(&member)?;
        let key = spot.key.number(machine.tables())?;
        Some((member, key))
    }

    pub(super) fn site_of_place(&self, place: &CallPlace) -> Option<CallSite> {
        let (member, step, leaf, element) = place.clone();
        self.call_site(&(member, StepKey { step, leaf, event: 0, attempt: 1, element }))
    }

    pub(super) fn place_at(&self, spot: &CallSite) -> Option<CallPlace> {
        let (member, key) = self.at(spot)?;
        Some((member, key.step, key.leaf, key.element))
    }

    fn path_of(&self, member: &MemberPath, state: StateId) -> Option<String> {
        let machine = self.family.member(member)?;
        Some(machine.tables().states.get(state.index())?.path.to_owned())
    }

    fn state_at(&self, member: &MemberPath, path: &str) -> Option<StateId> {
        let machine = self.family.member(member)?;
        let found = machine.tables().states.iter().position(|row| row.path == path);
        found.map(StateId::at)
    }

    pub(super) fn spent_by_name(&self) -> Spent {
        let ledger::Saved { accounts, held, total } = self.extra.rare.ledger.save();
        let accounts = accounts.into_iter().filter_map(|(member, state, spent, warned)| {
            Some((self.named_path(&member)?, self.path_of(&member, state)?, spent, warned))
        });
        let held = held.into_iter().filter_map(|(at, bound, prices, states)| {
            let states = states.iter().filter_map(|state| self.path_of(&at.0, *state)).collect();
            Some((self.call_site(&at)?, bound, prices, states))
        });
        Spent { accounts: accounts.collect(), held: held.collect(), total }
    }

    /// Restores the accounts. Those of states that the chart no longer has are ignored.
    pub(super) fn take_spent(&mut self, spent: &Spent) {
        let Spent { accounts, held, total } = spent;
        let accounts = accounts.iter().filter_map(|(way, path, spent, warned)| {
            let member = self.member_at(way)?;
            let state = self.state_at(&member, path)?;
            Some((member, state, *spent, *warned))
        });
        let held = held.iter().filter_map(|(spot, bound, prices, paths)| {
            let at = self.at(spot)?;
            let states = paths.iter().filter_map(|path| self.state_at(&at.0, path)).collect();
            Some((at, *bound, *prices, states))
        });
        let saved =
            ledger::Saved { accounts: accounts.collect(), held: held.collect(), total: *total };
        self.extra.rare.ledger.load(&saved, self.common.budget.as_ref());
    }
}
