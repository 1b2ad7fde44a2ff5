//! The state of a world, and the few operations that change it. The genesis artifacts and the agents' actions use these operations.

mod artifacts;
mod principals;

pub(crate) use artifacts::Draft;
pub(crate) use principals::{ENDOWMENT, Origin, Principal, is_name};

use crate::artifact::{Artifact, Policy};
use crate::census::Census;
use crate::config::Settings;
use crate::ledger::{Ledger, LedgerError, Resource};
use crate::request::{Notice, Request};
use chartc_core::expr::Value;
use chartc_runtime::agent::{Failure, FailureKind, Models, Results};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::sync::Arc;

/// The result of an action that an agent has tried.
pub(crate) type Tried<T> = Result<T, Failure>;

/// A failure with its reason.
pub(crate) fn fail<T>(kind: FailureKind, why: impl Into<String>) -> Tried<T> {
    Err(Failure::new(kind, why))
}

/// The current time, as the host that runs the agents sets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Moment {
    /// The number of the tick; `None` in a run without ticks.
    pub tick: Option<u32>,
    /// Milliseconds of the run that have passed.
    pub now_ms: u64,
    /// The length of the run in milliseconds; `None` if it has no set end.
    pub total_ms: Option<u64>,
}

/// Totals since the last summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Summary {
    /// Scrip that was transferred between agents.
    pub scrip_transferred: i64,
    /// New artifacts.
    pub artifacts_created: u64,
}

/// An artifact that waits for a buyer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Offer {
    pub(crate) seller: String,
    pub(crate) price: i64,
    /// The only agent that may buy it, if the offer names one.
    pub(crate) buyer: Option<String>,
}

/// Results of methods that an agent's functions have requested, by artifact and method.
pub(crate) type Asked = BTreeMap<(String, String), Results>;

/// Returns the reason why an agent may not make another one now.
pub(crate) type MaySpawn = Arc<dyn Fn(&str) -> Result<(), String> + Send + Sync>;

/// The check before an agent makes another one. At first there is none.
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

/// The state of a world.
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
    /// The private data of genesis artifacts, by id.
    pub(crate) kept: BTreeMap<String, Value>,
    /// The submissions that wait for the next auction, for the views.
    pub(crate) submissions: Vec<Value>,
    /// A sentence about the next auction, for the views.
    pub(crate) next_auction: String,
    /// The number of the newest artifact.
    pub(crate) last_number: u64,
    /// The number of principals that are agents.
    pub(crate) agents: u64,
    /// Derived: artifacts in the order in which they were made, without agents and memories.
    pub(crate) order: BTreeMap<u64, String>,
    /// Derived: ids by owner, without the records and memories that agents have of themselves.
    pub(crate) owned: BTreeMap<String, BTreeSet<String>>,
    /// Derived: the listed principals with their scrip, the richest first.
    pub(crate) ranks: BTreeSet<(Reverse<i64>, String)>,
    /// The principals whose compute may be below their quota. All others have their full quota.
    pub(crate) compute_spent_by: BTreeSet<String>,
    /// The owners whose accounts have changed since the last audit.
    pub(crate) touched: BTreeSet<String>,
    /// The check before an agent makes another one.
    pub(crate) admission: Admission,
    /// The models that agents may choose.
    pub(crate) models: Models,
    /// The agents in each state, as the engine has last counted them.
    pub(crate) census: Arc<Census>,
    /// Whether what is made now is there from the beginning.
    pub(crate) is_beginning: bool,
    /// The first error in the books. From then on, nothing is executed.
    pub(crate) broken: Option<String>,
}

/// The failure that an agent gets for an error of the ledger.
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

/// A number as a value.
pub(crate) fn int(n: u64) -> Value {
    Value::Int(i64::try_from(n).unwrap_or(i64::MAX))
}

/// A text as a value.
pub(crate) fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

/// A number as an amount of the ledger.
pub(crate) fn amount(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

// The events of a world, for the host that runs the agents and for the agents themselves.

/// The agents that may know of an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Audience {
    /// All agents.
    Everyone,
    /// Only these agents.
    Only(Vec<String>),
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Event {
    /// The number of the event, from 1.
    pub(crate) number: u64,
    /// When it happened.
    pub(crate) tick: Option<u32>,
    pub(crate) notice: Notice,
    pub(crate) audience: Audience,
}

impl Event {
    /// Whether `agent` may know of it.
    pub(crate) fn is_for(&self, agent: &str) -> bool {
        match &self.audience {
            Audience::Everyone => true,
            Audience::Only(agents) => agents.iter().any(|name| name == agent),
        }
    }

    /// The event as agents see it: the fields of each event, and its own data.
    pub(crate) fn value(&self) -> Value {
        let data = &self.notice.data;
        let said = |name: &str| match data.get(name) {
            Some(Value::Text(text)) => text.as_str(),
            Some(_) | None => "",
        };
        let event = chartc_runtime::agent::Event {
            number: self.number,
            tick: u64::from(self.tick.unwrap_or(0)),
            event: &self.notice.event,
            by: said("by"),
            action: action(&self.notice.event, said("type")),
            artifact: said("artifact_id"),
            success: self.notice.event != "rejected",
        };
        event.value(data.iter())
    }
}

/// The action that an event is; events that follow from an action, and those of the world itself, are none.
fn action(event: &str, ty: &str) -> &'static str {
    match event {
        "invoked" => "invoke_artifact",
        "written" | "rejected" => "write_artifact",
        // The record and the memory of a new agent are made by the world.
        "created" if !matches!(ty, "agent" | "memory") => "write_artifact",
        _ => "",
    }
}

impl State {
    /// Adds an event.
    pub(crate) fn tell<const N: usize>(
        &mut self,
        event: &str,
        data: [(&str, Value); N],
        audience: Audience,
    ) {
        let data = data.into_iter().filter(|(_, value)| *value != Value::None);
        let data = data.map(|(name, value)| (name.to_owned(), value)).collect();
        let notice = Notice { event: event.to_owned(), data };
        self.event_number += 1;
        let (number, tick) = (self.event_number, self.moment.tick);
        self.notices.push(notice.clone());
        self.events.push_back(Event { number, tick, notice, audience });
        while self.events.len() as u64 > self.settings.max_events {
            self.events.pop_front();
        }
    }

    /// The agents that may know of an action on an artifact: all agents, if all may read it.
    pub(crate) fn audience(&self, id: &str, agent: &str) -> Audience {
        use chartc_runtime::agent::Who;
        match self.artifacts.get(id) {
            Some(artifact) => match &artifact.policy.read {
                Who::Everyone => Audience::Everyone,
                Who::Owner | Who::Nobody => {
                    Audience::Only(vec![agent.to_owned(), artifact.owner.clone()])
                }
                Who::Only(names) => {
                    let own = [agent.to_owned(), artifact.owner.clone()];
                    Audience::Only(names.iter().cloned().chain(own).collect())
                }
            },
            None => Audience::Everyone,
        }
    }
}

// The artifacts of a world.

/// The maximum number of policies that new artifacts can share.
const SHARED: usize = 8;

/// Artifacts by id, and the ids of those that have changed since the last audit.
#[derive(Debug, Default)]
pub(crate) struct Artifacts {
    all: BTreeMap<String, Box<Artifact>>,
    changed: BTreeSet<String>,
    /// The distinct policies of the first artifacts, to be shared: most later artifacts have one of them.
    policies: Vec<Arc<Policy>>,
}

impl Artifacts {
    pub(crate) fn get(&self, id: &str) -> Option<&Artifact> {
        self.all.get(id).map(Box::as_ref)
    }

    pub(crate) fn contains_key(&self, id: &str) -> bool {
        self.all.contains_key(id)
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// All artifacts, in the order of their ids.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&String, &Artifact)> {
        self.all.iter().map(|(id, artifact)| (id, artifact.as_ref()))
    }

    /// Mutable access to an artifact, which counts as changed from now on.
    pub(crate) fn get_mut(&mut self, id: &str) -> Option<&mut Artifact> {
        let found = self.all.get_mut(id)?;
        if !self.changed.contains(id) {
            self.changed.insert(id.to_owned());
        }
        Some(found)
    }

    pub(crate) fn insert(&mut self, id: String, mut artifact: Artifact) {
        match self.policies.iter().find(|known| **known == artifact.policy) {
            Some(known) => artifact.policy = known.clone(),
            None if self.policies.len() < SHARED => self.policies.push(artifact.policy.clone()),
            None => {}
        }
        self.changed.insert(id.clone());
        self.all.insert(id, Box::new(artifact));
    }

    pub(crate) fn remove(&mut self, id: &str) {
        self.changed.remove(id);
        self.all.remove(id);
    }

    /// Takes the ids of the existing artifacts that have changed since the last call.
    fn take_changed(&mut self) -> BTreeSet<String> {
        std::mem::take(&mut self.changed)
    }
}
