//! What is booked: whose, of what, and why it cannot be.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What an account is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    /// Money.
    Scrip,
    /// Bytes that may still be written.
    Disk,
    /// Units of work that are left until the next renewal.
    Compute,
}

impl Resource {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Scrip, Self::Disk, Self::Compute];

    /// Its name.
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

/// Whose an account is. A name cannot be mistaken for one of the special accounts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Holder {
    /// An agent's, or that of somebody else with a name.
    Of(String),
    /// The bytes that the artifacts of this owner have.
    Stored(String),
    /// What is put aside for one purpose.
    Hold(u64),
    /// Where everything comes from and goes to. Its balance is that of all others with the sign changed.
    Mint,
}

impl Holder {
    /// The account of a name.
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

/// An amount that goes from one account to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Whose it was.
    pub from: Holder,
    /// Whose it is now.
    pub to: Holder,
    /// Of what.
    pub resource: Resource,
    /// More than 0.
    pub amount: i64,
    /// What for, in a word or two.
    pub why: String,
}

/// What is put aside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// Whose it was.
    pub by: String,
    /// Scrip.
    pub amount: i64,
    /// What for.
    pub why: String,
}

/// Why an amount does not move. Nothing has changed then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LedgerError {
    /// There is too little.
    #[error("{holder} has {has} {}, and {wanted} is needed", .resource.word())]
    Short {
        /// Whose account.
        holder: Holder,
        /// Of what.
        resource: Resource,
        /// What is there.
        has: i64,
        /// What would leave.
        wanted: i64,
    },
    /// An amount of 0 or less.
    #[error("an amount is a whole number, 1 or more; {0} is not")]
    NotPositive(i64),
    /// From an account to itself.
    #[error("{0} cannot transfer to itself")]
    ToItself(Holder),
    /// More than an account can hold.
    #[error("{0} would hold more than an account can")]
    Overflow(Holder),
    /// There is no such hold, or not any more.
    #[error("there is no hold {0}")]
    NoHold(u64),
}

/// An entry that was booked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posted {
    /// The entry.
    pub entry: Entry,
    /// Whose it was: also where it was put aside in between. `None` for the mint.
    pub payer: Option<String>,
}
