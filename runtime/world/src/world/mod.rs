//! The public interface of a world, for agents and for the engine.

mod agents;
mod alone;
mod ask;
mod save;

pub use agents::{AgentRow, ArtifactMemory, NewAgent};

use crate::artifact::Artifact;
use crate::bids::{self, AuctionSettings, Book};
use crate::census::Census;
use crate::charts::{Family, Finding, Form, Invoke, NoInvocations, Read, Workshop};
use crate::config::Settings;
use crate::ledger::Ledger;
use crate::request::{Notice, Request};
use crate::state::{Admission, Moment, State, Summary, Tried};
use ask::Texts;
use chartc_core::expr::Value;
use chartc_core::host::Host;
use chartc_runtime::agent::{ArtifactHost, Failure};
use chartc_runtime::clock::Clock;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A world in memory. Clones share its state.
#[derive(Clone)]
pub struct World {
    state: Arc<Mutex<State>>,
    compiler: Option<Arc<Compiler>>,
    invoke: Arc<dyn Invoke>,
    /// The hash of the text of the world's file, in hexadecimal; empty without one.
    file: Arc<str>,
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("World").field("file", &self.file).finish_non_exhaustive()
    }
}

impl World {
    /// Creates a world without artifacts.
    pub fn new(settings: Settings) -> Self {
        let mut state = State { settings, ..State::default() };
        state.open(agents::SYSTEM, None);
        Self {
            state: Arc::new(Mutex::new(state)),
            compiler: None,
            invoke: Arc::new(NoInvocations),
            file: "".into(),
        }
    }

    /// Sets the compiler for charts that agents write. Without one, charts are plain texts.
    pub fn with_workshop(mut self, workshop: Arc<dyn Workshop>) -> Self {
        self.compiler = Some(Arc::new(Compiler::new(workshop)));
        self
    }

    /// Sets the interpreter that runs invoked chart artifacts. Without one, invocations fail.
    pub fn with_invoke(mut self, invoke: Arc<dyn Invoke>) -> Self {
        self.invoke = invoke;
        self
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, and then checks the accounts that have changed.
    fn change<T>(&self, change: impl FnOnce(&mut State) -> Tried<T>) -> Tried<T> {
        let mut state = self.state();
        state.ensure_sound()?;
        let done = change(&mut state);
        state.settle();
        done
    }

    /// Takes the requests of agents to the engine since the last call, in order.
    pub fn take_requests(&self) -> Vec<Request> {
        std::mem::take(&mut self.state().requests)
    }

    /// Takes the events since the last call, in order.
    pub fn take_notices(&self) -> Vec<Notice> {
        std::mem::take(&mut self.state().notices)
    }

    /// Takes the totals since the last call.
    pub fn take_summary(&self) -> Summary {
        std::mem::take(&mut self.state().summary)
    }

    /// Sets the current time.
    pub fn set_moment(&self, moment: Moment) {
        self.state().moment = moment;
    }

    /// Fills the compute of every agent up to its quota, at the beginning of a tick.
    pub fn renew(&self) {
        let mut state = self.state();
        state.renew();
        state.settle();
    }

    /// Sets a check that runs before an agent makes another one. It gets the name of the maker. If it returns a reason, the attempt fails
    /// with it and changes nothing. The check must not access this world, which is locked meanwhile.
    pub fn ask_before_spawns(
        &self,
        may: impl Fn(&str) -> Result<(), String> + Send + Sync + 'static,
    ) {
        self.state().admission = Admission(Some(Arc::new(may)));
    }

    /// Tells the world how many agents are in each state, for `genesis_census`.
    pub fn set_census(&self, census: &Census) {
        self.state().census = Arc::new(census.numbers());
    }

    /// Lets agents choose these models in their records, beside those of their own charts. To be called before agents are added, from
    /// whose charts the prices are taken.
    pub fn permit_models(&self, models: &[String]) {
        let mut state = self.state();
        let permitted = Arc::make_mut(&mut state.models);
        for model in models {
            permitted.entry(model.replacen('/', ":", 1)).or_default();
        }
    }

    /// Deducts compute from an agent, for example for its thinking.
    ///
    /// # Errors
    /// The agent has too little compute. Nothing is deducted.
    pub fn spend_compute(&self, agent: &str, units: u64, why: &str) -> Result<(), Failure> {
        self.change(|state| state.spend(agent, units, why))
    }

    /// A copy of an artifact, regardless of its read permissions. `None` for genesis artifacts.
    pub fn artifact(&self, id: &str) -> Option<Artifact> {
        self.state().artifacts.get(id).cloned()
    }

    /// The scrip of all principals, by name.
    pub fn balances(&self) -> BTreeMap<String, i64> {
        let state = self.state();
        state.principals.keys().map(|name| (name.clone(), state.ledger.scrip(name))).collect()
    }

    /// A copy of the ledger.
    pub fn ledger(&self) -> Ledger {
        self.state().ledger.clone()
    }

    /// The settings of the world.
    pub fn settings(&self) -> Settings {
        self.state().settings.clone()
    }

    /// The state of the world, for a snapshot.
    pub fn save(&self) -> Value {
        self.saved()
    }

    /// Restores a snapshot. Agents that exist already keep their charts.
    ///
    /// # Errors
    /// The data is no snapshot of a world, belongs to a world with another file, or has books that do not balance. The world stays
    /// unchanged.
    pub fn load(&self, saved: &Value) -> Result<(), String> {
        self.take_back(saved)
    }

    /// A view of the world for one agent among many. It contributes nothing to the agent's snapshot, because the world is saved once for
    /// all agents.
    pub fn shared(&self) -> Arc<dyn ArtifactHost> {
        Arc::new(self.clone())
    }

    /// Recomputes all sums from the artifacts and accounts. It checks that the accounts of each resource add up to 0, that only the mint's
    /// is negative, that the booked bytes of each owner are those of its artifacts, and that each hold has its scrip.
    ///
    /// # Errors
    /// The first error that is found.
    pub fn audit(&self) -> Result<(), String> {
        self.state().audit()
    }

    /// Like [`Self::audit`], for the artifacts and owners that have changed since the last call. The time depends on the number of changes,
    /// not on the size of the world.
    ///
    /// # Errors
    /// The first error that is found.
    pub fn audit_changes(&self) -> Result<(), String> {
        self.state().audit_changes()
    }
}

// The access of the auctioneer to a world.

impl World {
    /// Changes the state of the auctions, and then checks the books.
    pub(crate) fn auction<T>(&self, act: impl FnOnce(&mut State) -> Tried<T>) -> Tried<T> {
        self.change(act)
    }
}

// A cache around the compiler for charts that agents write.

/// The maximum number of texts in the cache. When it is full, it is emptied.
const KEPT: usize = 1_000;
/// The maximum number of findings in the message of a failure.
const SHOWN: usize = 5;

/// A workshop with a cache of its results.
struct Compiler {
    workshop: Arc<dyn Workshop>,
    kept: Mutex<BTreeMap<(Form, String, String), Known>>,
}

/// The compiled charts of a text, and the texts that it imported.
type Known = (Arc<Family>, Texts);

/// The result of compiling a text.
enum Outcome {
    /// The compiled charts, and the texts that they imported.
    Sound { family: Arc<Family>, read: Texts },
    /// The errors, as text.
    Rejected(String),
}

impl Compiler {
    fn new(workshop: Arc<dyn Workshop>) -> Self {
        Self { workshop, kept: Mutex::default() }
    }

    /// Compiles the text of an artifact. A text in the cache is compiled again only if one of its imports has changed.
    fn build(&self, id: &str, form: Form, text: &str, read: Read<'_>) -> Outcome {
        // The id is part of the key: in a text with several charts, the main one is the one with the artifact's name.
        let key = (form, id.to_owned(), text.to_owned());
        let known = self.kept.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        if let Some((family, texts)) = known
            && texts.iter().all(|(id, text)| read(id).as_deref() == Some(text))
        {
            return Outcome::Sound { family, read: texts };
        }
        let seen = RefCell::new(Texts::new());
        let built = self.workshop.build(id, form, text, &|other| {
            let found = read(other)?;
            seen.borrow_mut().insert(other.to_owned(), found.clone());
            Some(found)
        });
        match built {
            Ok(family) => {
                let texts = seen.into_inner();
                let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
                if kept.len() >= KEPT {
                    kept.clear();
                }
                kept.insert(key, (family.clone(), texts.clone()));
                Outcome::Sound { family, read: texts }
            }
            Err(findings) => Outcome::Rejected(told(&findings)),
        }
    }
}

fn told(findings: &[Finding]) -> String {
    let mut lines: Vec<String> =
        findings.iter().take(SHOWN).map(|finding| finding.to_string()).collect();
    if findings.len() > SHOWN {
        lines.push(format!("and {} more", findings.len() - SHOWN));
    }
    lines.join("\n")
}

// The host of the mint's auctions. The chart `charts/auction.chart` decides when an auction opens, closes and is scored. Its host
// functions, defined here, change the world.

/// The host functions of the auction's chart, for one world.
///
/// The engine runs the chart as a session with the name `genesis_mint`, on the world's clock and with the params of
/// [`AuctionSettings::params`]. The chart asks a model for the score of the winner. Without an answer, [`AuctionSettings::default_score`]
/// counts.
#[derive(Clone)]
pub struct Auctioneer {
    world: World,
    clock: Arc<dyn Clock>,
}

impl Auctioneer {
    /// Lets a world accept bids. Bids that the world has already, for example from a snapshot, are kept.
    ///
    /// # Errors
    /// The settings contradict each other, or the saved state of the auctions is damaged.
    pub fn new(
        world: World,
        settings: AuctionSettings,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, String> {
        settings.check()?;
        world.auction(|state| Book::begin(state, settings)).map_err(failure_text)?;
        Ok(Self { world, clock })
    }
}

fn failure_text(failure: Failure) -> String {
    failure.to_string()
}

impl Host for Auctioneer {
    fn call(&mut self, function: &str, arguments: &[Value]) -> Result<Value, String> {
        let done = match (function, arguments) {
            ("open", []) => {
                let now = self.clock.now();
                self.world.auction(|state| bids::open(state, now))
            }
            ("resolve", []) => self.world.auction(bids::resolve),
            ("mint", [Value::Int(score)]) => self.world.auction(|state| bids::mint(state, *score)),
            ("winner", []) => self.world.auction(|state| Ok(Book::of(state)?.won_artifact())),
            ("content", []) => self.world.auction(|state| Ok(Book::of(state)?.won_content())),
            ("estimate", []) => self.world.auction(|state| Ok(Book::of(state)?.estimate())),
            _ => return Err(format!("the auctioneer has no such function `{function}`")),
        };
        done.map_err(failure_text)
    }
}
