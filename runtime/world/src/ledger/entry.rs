//! The entries of the ledger: accounts, amounts and errors.

use serde::{Deserialize, Serialize};
use std::fmt;

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

    pub(super) const fn place(self) -> usize {
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
