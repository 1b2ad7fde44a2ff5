//! The world as agents and those who run them reach it.

mod act;
mod agents;
mod ask;
mod begin;
mod compile;
mod mint;
mod remember;
mod save;
mod shared;
mod view;

pub use agents::{AgentRow, NewAgent};

use crate::artifact::Artifact;
use crate::invoke::{Invoke, NoInvocations};
use crate::ledger::Ledger;
use crate::request::{Notice, Request};
use crate::settings::Settings;
use crate::state::{Admission, Moment, State, Summary, Tried};
use crate::workshop::Workshop;
use chartc_core::expr::Value;
use chartc_runtime::agent::{ArtifactHost, Failure};
use compile::Compiler;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A world in memory. Clones are the same world.
#[derive(Clone)]
pub struct World {
    state: Arc<Mutex<State>>,
    compiler: Option<Arc<Compiler>>,
    invoke: Arc<dyn Invoke>,
    /// Of the text that it was read from, in hex.
    file: Arc<str>,
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("World").field("file", &self.file).finish_non_exhaustive()
    }
}

impl World {
    /// A world without artifacts.
    pub fn new(settings: Settings) -> Self {
        let mut state = State { settings, ..State::default() };
        state.open(begin::SYSTEM, None);
        Self {
            state: Arc::new(Mutex::new(state)),
            compiler: None,
            invoke: Arc::new(NoInvocations),
            file: "".into(),
        }
    }

    /// Who compiles charts that agents write. Without it they are text.
    pub fn with_workshop(mut self, workshop: Arc<dyn Workshop>) -> Self {
        self.compiler = Some(Arc::new(Compiler::new(workshop)));
        self
    }

    /// Who runs chart artifacts that are invoked. Without it nobody does.
    pub fn with_invoke(mut self, invoke: Arc<dyn Invoke>) -> Self {
        self.invoke = invoke;
        self
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, and sees to it that everything adds up afterwards.
    fn change<T>(&self, change: impl FnOnce(&mut State) -> Tried<T>) -> Tried<T> {
        let mut state = self.state();
        state.ensure_sound()?;
        let done = change(&mut state);
        state.settle();
        done
    }

    /// What agents have asked of other agents since the last call, in order.
    pub fn take_requests(&self) -> Vec<Request> {
        std::mem::take(&mut self.state().requests)
    }

    /// What has happened since the last call.
    pub fn take_notices(&self) -> Vec<Notice> {
        std::mem::take(&mut self.state().notices)
    }

    /// What has happened since the last call, in figures.
    pub fn take_summary(&self) -> Summary {
        std::mem::take(&mut self.state().summary)
    }

    /// Says when it is.
    pub fn set_moment(&self, moment: Moment) {
        self.state().moment = moment;
    }

    /// Fills the compute of every agent up to its quota: at the beginning of a tick.
    pub fn renew(&self) {
        let mut state = self.state();
        state.renew();
        state.settle();
    }

    /// Says who is asked, by the name of the agent, before an agent makes another one. Where the answer is a reason, the attempt fails with it, and
    /// nothing has moved. It must not reach into this world.
    pub fn ask_before_spawns(
        &self,
        may: impl Fn(&str) -> Result<(), String> + Send + Sync + 'static,
    ) {
        self.state().admission = Admission(Some(Arc::new(may)));
    }

    /// Uses compute of an agent, for its thinking for example.
    ///
    /// # Errors
    /// There is too little left: nothing is used then.
    pub fn spend_compute(&self, agent: &str, units: u64, why: &str) -> Result<(), Failure> {
        self.change(|state| state.spend(agent, units, why))
    }

    /// An artifact as it stands, whoever may read it. Those of the world itself are none.
    pub fn artifact(&self, id: &str) -> Option<Artifact> {
        self.state().artifacts.get(id).cloned()
    }

    /// The scrip of everybody, by name.
    pub fn balances(&self) -> BTreeMap<String, i64> {
        let state = self.state();
        state.principals.keys().map(|name| (name.clone(), state.ledger.scrip(name))).collect()
    }

    /// The books as they stand.
    pub fn ledger(&self) -> Ledger {
        self.state().ledger.clone()
    }

    /// What the world allows.
    pub fn settings(&self) -> Settings {
        self.state().settings.clone()
    }

    /// The world as it stands, for a snapshot.
    pub fn save(&self) -> Value {
        self.saved()
    }

    /// Restores a snapshot. Agents that exist already keep their charts.
    ///
    /// # Errors
    /// It is no snapshot of a world, or of one that began with another file; or its books do not add up. The world stays as it is then.
    pub fn load(&self, saved: &Value) -> Result<(), String> {
        self.take_back(saved)
    }

    /// The same world for one agent among many: the snapshot of such an agent has nothing of the world, which is saved once for all.
    pub fn shared(&self) -> Arc<dyn ArtifactHost> {
        Arc::new(shared::SharedWorld(self.clone()))
    }

    /// Checks the books from the artifacts and accounts themselves: scrip adds up to 0 with the mint's, only the mint is below 0, each
    /// owner has as many bytes as its artifacts, holds have what they are of.
    ///
    /// # Errors
    /// What is wrong.
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
