//! A double-entry ledger: each entry takes from one account what it gives to another. New amounts come from [`Holder::Mint`], whose balance
//! becomes negative, so the sum of all accounts of a resource is always 0.
//!
//! ```text
//! mint 100 to ada         Mint -100   ada 100
//! hold 30 of ada (bid)    Mint -100   ada  70   Hold(1) 30
//! release hold 1 to ben   Mint -100   ada  70   ben 30
//! ```

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;

/// The number of last entries that are kept for display.
const KEPT: usize = 1_000;

/// The accounts and holds of a world.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ledger {
    accounts: BTreeMap<Holder, [i64; 3]>,
    holds: BTreeMap<u64, Hold>,
    last_hold: u64,
    entries: VecDeque<Entry>,
    posted: u64,
    /// The entries since the last call of [`Self::take_recent`].
    recent: Vec<Posted>,
}

/// The state of a ledger, for a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SavedLedger {
    accounts: Vec<(Holder, [i64; 3])>,
    holds: BTreeMap<u64, Hold>,
    last_hold: u64,
    entries: VecDeque<Entry>,
    posted: u64,
}

impl Ledger {
    /// The balance of an account; 0 if it does not exist.
    pub fn balance(&self, holder: &Holder, resource: Resource) -> i64 {
        self.accounts.get(holder).map_or(0, |row| row[resource.place()])
    }

    /// The scrip of a name.
    pub fn scrip(&self, name: &str) -> i64 {
        self.balance(&Holder::of(name), Resource::Scrip)
    }

    /// The scrip of all accounts, holds included.
    pub fn circulation(&self) -> i64 {
        -self.balance(&Holder::Mint, Resource::Scrip)
    }

    /// The last entries, the oldest first; at most 1,000.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.entries.iter()
    }

    /// The number of all entries so far.
    pub fn posted(&self) -> u64 {
        self.posted
    }

    /// The current holds, by number.
    pub fn holds(&self) -> impl Iterator<Item = (u64, &Hold)> {
        self.holds.iter().map(|(number, hold)| (*number, hold))
    }

    /// Posts the entries one after the other, or none of them.
    ///
    /// # Errors
    /// The first entry that cannot be posted.
    pub fn post(&mut self, entries: Vec<Entry>) -> Result<(), LedgerError> {
        for (done, entry) in entries.iter().enumerate() {
            if let Err(why) = self.book(entry) {
                // Undone in reverse order without checks: each balance was valid before.
                for undone in entries[..done].iter().rev() {
                    self.shift(&undone.to, undone.resource, -undone.amount);
                    self.shift(&undone.from, undone.resource, undone.amount);
                }
                return Err(why);
            }
        }
        self.posted += entries.len() as u64;
        for entry in entries {
            let payer = match &entry.from {
                Holder::Of(name) | Holder::Stored(name) => Some(name.clone()),
                Holder::Hold(number) => self.holds.get(number).map(|hold| hold.by.clone()),
                Holder::Mint => None,
            };
            self.recent.push(Posted { entry: entry.clone(), payer });
            if self.entries.len() == KEPT {
                self.entries.pop_front();
            }
            self.entries.push_back(entry);
        }
        Ok(())
    }

    fn book(&mut self, entry: &Entry) -> Result<(), LedgerError> {
        let Entry { from, to, resource, amount, .. } = entry;
        if *amount <= 0 {
            return Err(LedgerError::NotPositive(*amount));
        }
        if from == to {
            return Err(LedgerError::ToItself(from.clone()));
        }
        let has = self.balance(from, *resource);
        // The negated balance of the mint must be representable, too, as the total in circulation.
        let left = has.checked_sub(*amount).filter(|left| *left != i64::MIN);
        let left = left.ok_or(LedgerError::Overflow(Holder::Mint))?;
        if left < 0 && *from != Holder::Mint {
            let (holder, resource, wanted) = (from.clone(), *resource, *amount);
            return Err(LedgerError::Short { holder, resource, has, wanted });
        }
        self.balance(to, *resource)
            .checked_add(*amount)
            .ok_or_else(|| LedgerError::Overflow(to.clone()))?;
        self.shift(from, *resource, -amount);
        self.shift(to, *resource, *amount);
        Ok(())
    }

    fn shift(&mut self, holder: &Holder, resource: Resource, by: i64) {
        let row = self.accounts.entry(holder.clone()).or_default();
        row[resource.place()] += by;
        if *row == [0; 3] && matches!(holder, Holder::Hold(_)) {
            self.accounts.remove(holder);
        }
    }

    /// Moves an amount from one account to another.
    ///
    /// # Errors
    /// See [`LedgerError`].
    pub fn transfer(
        &mut self,
        from: Holder,
        to: Holder,
        resource: Resource,
        amount: i64,
        why: &str,
    ) -> Result<(), LedgerError> {
        self.post(vec![Entry { from, to, resource, amount, why: why.to_owned() }])
    }

    /// Creates an amount.
    ///
    /// # Errors
    /// See [`LedgerError`].
    pub fn mint(
        &mut self,
        to: &str,
        resource: Resource,
        amount: i64,
        why: &str,
    ) -> Result<(), LedgerError> {
        self.transfer(Holder::Mint, Holder::of(to), resource, amount, why)
    }

    /// Destroys an amount.
    ///
    /// # Errors
    /// See [`LedgerError`].
    pub fn burn(
        &mut self,
        from: &str,
        resource: Resource,
        amount: i64,
        why: &str,
    ) -> Result<(), LedgerError> {
        self.transfer(Holder::of(from), Holder::Mint, resource, amount, why)
    }

    /// Moves scrip to a hold, so that it cannot be spent otherwise. Returns the number of the hold.
    ///
    /// # Errors
    /// See [`LedgerError`].
    pub fn hold(&mut self, by: &str, amount: i64, why: &str) -> Result<u64, LedgerError> {
        let number = self.last_hold + 1;
        self.transfer(Holder::of(by), Holder::Hold(number), Resource::Scrip, amount, why)?;
        self.last_hold = number;
        let hold = Hold { by: by.to_owned(), amount, why: why.to_owned() };
        self.holds.insert(number, hold);
        Ok(number)
    }

    /// Pays a whole hold to `to`. Returns the amount.
    ///
    /// # Errors
    /// See [`LedgerError`].
    pub fn release(&mut self, number: u64, to: Holder, why: &str) -> Result<i64, LedgerError> {
        let amount = self.holds.get(&number).ok_or(LedgerError::NoHold(number))?.amount;
        self.transfer(Holder::Hold(number), to, Resource::Scrip, amount, why)?;
        self.holds.remove(&number);
        Ok(amount)
    }

    /// Pays a part of a hold to `to`. The rest stays held.
    ///
    /// # Errors
    /// See [`LedgerError`].
    pub fn release_part(
        &mut self,
        number: u64,
        to: Holder,
        amount: i64,
        why: &str,
    ) -> Result<(), LedgerError> {
        let held = self.holds.get(&number).ok_or(LedgerError::NoHold(number))?.amount;
        if amount == held {
            return self.release(number, to, why).map(drop);
        }
        self.transfer(Holder::Hold(number), to, Resource::Scrip, amount, why)?;
        if let Some(hold) = self.holds.get_mut(&number) {
            hold.amount -= amount;
        }
        Ok(())
    }

    /// Takes the entries since the last call.
    pub fn take_recent(&mut self) -> Vec<Posted> {
        std::mem::take(&mut self.recent)
    }

    /// Checks one account: its balance is not negative, and the account of a hold contains exactly the held amount.
    ///
    /// # Errors
    /// A description of the error.
    pub fn check(&self, holder: &Holder) -> Result<(), String> {
        self.accounts.get(holder).map_or(Ok(()), |row| self.check_account(holder, row))
    }

    fn check_account(&self, holder: &Holder, row: &[i64; 3]) -> Result<(), String> {
        for resource in Resource::ALL {
            let has = row[resource.place()];
            if has < 0 && *holder != Holder::Mint {
                return Err(format!("{holder} has {has} {}", resource.word()));
            }
        }
        if let Holder::Hold(number) = holder {
            let held = self.holds.get(number).map_or(0, |hold| hold.amount);
            if row != &[held, 0, 0] {
                return Err(format!("{holder} is of {held}, and its account has {row:?}"));
            }
        }
        Ok(())
    }

    /// Checks all accounts: each resource adds up to 0, no account but the mint's is below 0, and each hold has its account.
    ///
    /// # Errors
    /// The first error that is found.
    pub fn audit(&self) -> Result<(), String> {
        let mut sums = [0_i128; 3];
        for (holder, row) in &self.accounts {
            self.check_account(holder, row)?;
            for (sum, has) in sums.iter_mut().zip(row) {
                *sum += i128::from(*has);
            }
        }
        for resource in Resource::ALL {
            let sum = sums[resource.place()];
            if sum != 0 {
                return Err(format!("all {} adds up to {sum}, not to 0", resource.word()));
            }
        }
        for (number, hold) in &self.holds {
            let has = self.balance(&Holder::Hold(*number), Resource::Scrip);
            if has != hold.amount {
                return Err(format!("hold {number} is of {}, and has {has}", hold.amount));
            }
        }
        Ok(())
    }

    /// The state of the ledger, for a snapshot.
    pub fn save(&self) -> SavedLedger {
        SavedLedger {
            accounts: self.accounts.iter().map(|(holder, row)| (holder.clone(), *row)).collect(),
            holds: self.holds.clone(),
            last_hold: self.last_hold,
            entries: self.entries.clone(),
            posted: self.posted,
        }
    }

    /// Restores a ledger from a snapshot.
    ///
    /// # Errors
    /// The accounts do not balance.
    pub fn load(saved: SavedLedger) -> Result<Self, String> {
        let SavedLedger { accounts, holds, last_hold, entries, posted } = saved;
        let accounts = accounts.into_iter().collect();
        // A number must never be used twice, even if the snapshot has a wrong `last_hold`.
        let last_hold = holds.keys().next_back().map_or(last_hold, |last| last_hold.max(*last));
        let ledger = Self { accounts, holds, last_hold, entries, posted, recent: Vec::new() };
        ledger.audit()?;
        Ok(ledger)
    }
}

// The entries of the ledger: accounts, amounts and errors.

/// The resource of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    /// The currency of the world.
    Scrip,
    /// Bytes of disk quota that are not used yet.
    Disk,
    /// Units of compute that are left until the next renewal.
    Compute,
}

impl Resource {
    /// All resources.
    pub const ALL: [Self; 3] = [Self::Scrip, Self::Disk, Self::Compute];

    /// The name of the resource.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Scrip => "scrip",
            Self::Disk => "disk",
            Self::Compute => "compute",
        }
    }

    const fn place(self) -> usize {
        match self {
            Self::Scrip => 0,
            Self::Disk => 1,
            Self::Compute => 2,
        }
    }
}

/// The holder of an account. Special accounts are variants of their own, so no name can be mistaken for one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Holder {
    /// The main account of an agent or another named owner.
    Of(String),
    /// The bytes that the artifacts of this owner use.
    Stored(String),
    /// Scrip that is held for one purpose.
    Hold(u64),
    /// The source and sink of everything. Its balance is the negated sum of all other accounts.
    Mint,
}

impl Holder {
    /// The main account of a name.
    pub fn of(name: &str) -> Self {
        Self::Of(name.to_owned())
    }

    /// The name of the owner, if this is the owner's main account.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::Of(name) => Some(name),
            Self::Stored(_) | Self::Hold(_) | Self::Mint => None,
        }
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Of(name) => f.write_str(name),
            Self::Stored(name) => write!(f, "the artifacts of {name}"),
            Self::Hold(number) => write!(f, "hold {number}"),
            Self::Mint => f.write_str("mint"),
        }
    }
}

/// An amount that moves from one account to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The account that pays.
    pub from: Holder,
    /// The account that receives.
    pub to: Holder,
    /// The resource that moves.
    pub resource: Resource,
    /// The amount, at least 1.
    pub amount: i64,
    /// The purpose, in a word or two.
    pub why: String,
}

/// Scrip that is held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// The name of the former owner.
    pub by: String,
    /// The amount of scrip.
    pub amount: i64,
    /// The purpose.
    pub why: String,
}

/// The reason why an amount cannot move. Nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LedgerError {
    /// The balance is too low.
    #[error("{holder} has {has} {}, and {wanted} is needed", .resource.word())]
    Short {
        /// The account that should pay.
        holder: Holder,
        /// The resource.
        resource: Resource,
        /// Its balance.
        has: i64,
        /// The amount that it should pay.
        wanted: i64,
    },
    /// The amount is 0 or negative.
    #[error("an amount is a whole number, 1 or more; {0} is not")]
    NotPositive(i64),
    /// Both accounts are the same.
    #[error("{0} cannot transfer to itself")]
    ToItself(Holder),
    /// The balance would exceed the range of an account.
    #[error("{0} would hold more than an account can")]
    Overflow(Holder),
    /// The hold does not exist, or was released.
    #[error("there is no hold {0}")]
    NoHold(u64),
}

/// An entry that was posted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posted {
    /// The entry.
    pub entry: Entry,
    /// The name of the payer; for a hold, of its former owner. `None` for the mint.
    pub payer: Option<String>,
}
