//! What a world has, and the few ways in which it changes. The genesis artifacts and the agents' actions are made of these.

mod artifacts;
mod audit;
mod events;
mod kept;
mod principals;
mod settle;

pub(crate) use artifacts::Draft;
pub(crate) use events::{Audience, Event};
pub(crate) use kept::Artifacts;
pub(crate) use principals::{ENDOWMENT, Origin, Principal, is_name};

use crate::ledger::{Ledger, LedgerError, Resource};
use crate::request::{Notice, Request};
use crate::settings::Settings;
use chartc_core::expr::Value;
use chartc_runtime::agent::{Failure, FailureKind, Results};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::sync::Arc;

/// The result of what an agent has tried.
pub(crate) type Tried<T> = Result<T, Failure>;

/// A failure with its reason.
pub(crate) fn fail<T>(kind: FailureKind, why: impl Into<String>) -> Tried<T> {
    Err(Failure::new(kind, why))
}

/// When it is, as whoever runs the agents says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Moment {
    /// The number of the tick; `None` where there are no ticks.
    pub tick: Option<u32>,
    /// Milliseconds of the run that have passed.
    pub now_ms: u64,
    /// All that it has; `None` where nobody has set an end.
    pub total_ms: Option<u64>,
}

/// What has happened since it was last asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Summary {
    /// Scrip that went from one agent to another.
    pub scrip_transferred: i64,
    /// Artifacts that were not there before.
    pub artifacts_created: u64,
}

/// An artifact that waits for a buyer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Offer {
    pub(crate) seller: String,
    pub(crate) price: i64,
    /// Who alone may buy it.
    pub(crate) buyer: Option<String>,
}

/// Results of methods that an agent's functions have asked for, by artifact and method.
pub(crate) type Asked = BTreeMap<(String, String), Results>;

/// Says why an agent may not make another one now.
pub(crate) type MaySpawn = Arc<dyn Fn(&str) -> Result<(), String> + Send + Sync>;

/// Who is asked before an agent makes another one; nobody at first.
#[derive(Clone, Default)]
pub(crate) struct Admission(pub(crate) Option<MaySpawn>);

impl Admission {
    pub(crate) fn ask(&self, parent: &str) -> Result<(), String> {
        self.0.as_ref().map_or(Ok(()), |may| may(parent))
    }
}

impl fmt::Debug for Admission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Admission").field(&self.0.is_some()).finish()
    }
}

/// A world.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) settings: Settings,
    pub(crate) ledger: Ledger,
    pub(crate) principals: BTreeMap<String, Principal>,
    pub(crate) artifacts: Artifacts,
    pub(crate) offers: BTreeMap<String, Offer>,
    pub(crate) events: VecDeque<Event>,
    /// The number of the last event.
    pub(crate) event_number: u64,
    pub(crate) notices: Vec<Notice>,
    pub(crate) requests: Vec<Request>,
    pub(crate) moment: Moment,
    pub(crate) summary: Summary,
    pub(crate) asked: BTreeMap<String, Asked>,
    /// What a genesis artifact keeps for itself, by its id.
    pub(crate) kept: BTreeMap<String, Value>,
    /// What waits for the next auction, for the views.
    pub(crate) submissions: Vec<Value>,
    /// A sentence on the next auction, for the views.
    pub(crate) next_auction: String,
    /// The number of the artifact that was made last.
    pub(crate) last_number: u64,
    /// How many of the principals are agents.
    pub(crate) agents: u64,
    /// Found from the others: artifacts in the order in which they were made, without agents and memories.
    pub(crate) order: BTreeMap<u64, String>,
    /// Found from the others: ids by owner, without the records and memories that agents have of themselves.
    pub(crate) owned: BTreeMap<String, BTreeSet<String>>,
    /// Found from the others: who has how much, the richest first.
    pub(crate) ranks: BTreeSet<(Reverse<i64>, String)>,
    /// Whose compute may be below its quota: all others have all of theirs.
    pub(crate) worn: BTreeSet<String>,
    /// Whose accounts have changed since the last audit.
    pub(crate) touched: BTreeSet<String>,
    /// Who is asked before an agent makes another one.
    pub(crate) admission: Admission,
    /// The books did not add up once. Nothing is done any more.
    pub(crate) broken: Option<String>,
}

/// The failure that an error of the ledger is for the agent.
pub(crate) fn refused(error: LedgerError) -> Failure {
    let kind = match &error {
        LedgerError::Short { resource, .. } => match resource {
            Resource::Scrip => FailureKind::InsufficientScrip,
            Resource::Disk => FailureKind::InsufficientDisk,
            Resource::Compute => FailureKind::InsufficientCompute,
        },
        LedgerError::NotPositive(_) | LedgerError::ToItself(_) | LedgerError::Overflow(_) => {
            FailureKind::IntentRejected
        }
        LedgerError::NoHold(_) => FailureKind::NotFound,
    };
    Failure::new(kind, error.to_string())
}

/// A number as values have them.
pub(crate) fn int(n: u64) -> Value {
    Value::Int(i64::try_from(n).unwrap_or(i64::MAX))
}

/// A text as values have them.
pub(crate) fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

/// An amount as ledgers have them.
pub(crate) fn amount(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
