//! Agents: sessions whose turns have consequences in a world.
//!
//! The problem: a chart only chooses actions, such as writing an artifact. The idea: before each turn, the agent sets inputs of its chart
//! (the *context*: balance, artifacts, history, …); after it, the agent performs the chosen action in the world and records the result
//! for the next turn. One turn of an agent whose chart declares the inputs `balance` and `last_action_result`:
//!
//! ```text
//! before_turn   balance = 100, last_action_result = "" ; a long-term memory also sets `memories`
//! turn          the model of an `llm` step answers {"action_type":"write_artifact","artifact_id":"note",…}
//! after_turn    the world writes the artifact; the record gets an entry; the memory stores "write_artifact(note) -> SUCCESS: …"
//! next turn     last_action_result tells the model the result
//! ```
//!
//! [`Agent::before_turn`] and [`Agent::after_turn`] are the only places where this happens.

mod context;
mod drive;
mod kept;
mod remember;
mod shape;
mod turn;

pub use crate::session::SavedAgent;
pub use crate::world::{
    ACTIONS, Acting, Action, ArtifactHost, Artifacts, ConfigError, Declared, Disk, Done, EVENTS,
    Entry, Event, FAILURES, Failure, FailureKind, HISTORY, KEYS, Price, REPEATS, Record, Results,
    SharedRecord, TwoMethods, View, Who, WorkingMemory, World, WorldError, WorldFile, cut, extract,
};
pub use context::CONTEXT;
pub use remember::LongTerm;

use crate::data;
use crate::error::RunError;
use crate::play::{PlayError, Plays, played};
use crate::session::{Session, TurnReport};
use crate::trace;
use chartc_core::expr::{Map, Value};
use chartc_core::host::Machine;
use chartc_core::model::{ActionForm, Chart, Type, TypeDef, VariableKind};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// An agent: a session, and the world in which it acts. Without a world, it behaves like the session alone.
pub struct Agent<M, T> {
    session: Session<M, T>,
    life: Option<Life>,
    /// The memory that outlasts the run, if any.
    memory: Option<Box<LongTerm>>,
    /// The inputs that the host has set itself. The context does not overwrite them.
    given: BTreeSet<String>,
    /// Whether a turn has begun whose chosen action has not been performed yet.
    is_open: bool,
}

/// The world of an agent, and what it has done there.
pub struct Life {
    world: Arc<dyn ArtifactHost>,
    record: SharedRecord,
    profile: Arc<Profile>,
    /// The total number of turns of the run, if the host knows it.
    turns: Option<u32>,
}

/// The declarations of a chart that its agent needs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Profile {
    /// The declared inputs, with their types.
    pub inputs: BTreeMap<String, Type>,
    /// The declared types.
    pub types: Vec<TypeDef>,
    /// The configuration of the working memory.
    pub working_memory: WorkingMemory,
}

impl Profile {
    /// Collects the declarations of a chart.
    ///
    /// # Errors
    /// The configuration of the working memory is invalid.
    pub fn of(chart: &Chart) -> Result<Self, ConfigError> {
        let inputs = chart.variables.iter().filter(|row| matches!(row.kind, VariableKind::Input));
        Ok(Self {
            inputs: inputs.map(|row| (row.name.clone(), row.ty.clone())).collect(),
            types: chart.types.clone(),
            working_memory: WorkingMemory::of(&chart.meta)?,
        })
    }
}

impl Life {
    /// Creates the life of an agent in a world. The functions of the chart share the record: see [`Artifacts`]. Agents of one chart can
    /// share their profile.
    pub fn new(
        world: Arc<dyn ArtifactHost>,
        record: SharedRecord,
        profile: impl Into<Arc<Profile>>,
    ) -> Self {
        Self { world, record, profile: profile.into(), turns: None }
    }

    /// Sets the total number of turns of the run, including those before it was resumed. The agent is told its progress by it if the
    /// world has no clock.
    #[must_use]
    pub fn with_turns(mut self, turns: Option<u32>) -> Self {
        self.turns = turns;
        self
    }
}

impl<M: Machine, T: trace::Sink> Agent<M, T> {
    /// Creates an agent around a session that has not been started.
    pub fn new(session: Session<M, T>, life: Option<Life>) -> Self {
        // The world performs the four built-in actions, so their form is described to the models.
        let session =
            if life.is_some() { session.with_actions(ActionForm::Simple) } else { session };
        Self { session, life, memory: None, given: BTreeSet::new(), is_open: false }
    }

    /// Adds a memory that outlasts the run.
    #[must_use]
    pub fn with_memory(mut self, memory: LongTerm) -> Self {
        self.memory = Some(Box::new(memory));
        self
    }

    /// The session.
    pub fn session(&self) -> &Session<M, T> {
        &self.session
    }

    /// Ends the agent and returns its session.
    pub fn into_session(self) -> Session<M, T> {
        self.session
    }

    /// A copy of the record of what the agent has done; `None` without a world.
    pub fn record(&self) -> Option<Record> {
        self.life.as_ref().map(|life| life.record.with(|record| record.clone()))
    }

    /// Sets an input. From then on, the context does not set it any more.
    ///
    /// # Errors
    /// See [`Session::input`].
    pub fn input(&mut self, name: &str, value: Value) -> Result<(), RunError> {
        self.given.insert(name.to_owned());
        self.session.input(name, value)
    }

    /// Enters the initial configuration, with the same context as a turn. Does nothing if the session has been started.
    ///
    /// # Errors
    /// See [`RunError`].
    pub async fn start(&mut self) -> Result<(), RunError> {
        if !self.session.is_started() {
            self.set_context()?;
        }
        self.session.start().await
    }

    /// Makes a turn, and performs the action that it has chosen.
    ///
    /// # Errors
    /// See [`RunError`]. A step or an action that fails is not an error.
    pub async fn turn(&mut self) -> Result<TurnReport, RunError> {
        self.start().await?;
        // A turn that is still open is concluded first, so that this one sees its result.
        self.rest().await?;
        self.before_turn()?;
        let report = self.session.turn().await?;
        self.conclude().await?;
        Ok(report)
    }

    /// Sends entries as [`play`](crate::play) does. Each turn among them is a turn of the agent, with context and actions.
    ///
    /// # Errors
    /// The first entry that does not fit, or the reason why the run cannot continue.
    pub async fn play(&mut self, entries: &[data::Entry]) -> Result<(), PlayError> {
        played(self, entries).await
    }

    /// Prepares a turn: sets the inputs of the chart to the context, and to what the memory recalls.
    ///
    /// # Errors
    /// See [`RunError`], for example if an input is declared with another type, or the memory cannot be read.
    pub fn before_turn(&mut self) -> Result<(), RunError> {
        if self.session.status().is_some() {
            return Ok(());
        }
        self.is_open = true;
        let context = self.tell()?;
        self.recall(&context)
    }

    /// Concludes a turn: performs the chosen action, records the result, and stores it in the memory.
    ///
    /// # Errors
    /// See [`RunError`], for example if the memory cannot be written.
    pub async fn after_turn(&mut self) -> Result<(), RunError> {
        self.act().await?;
        self.remember()
    }

    /// Concludes the open turn if its walk has ended.
    async fn conclude(&mut self) -> Result<(), RunError> {
        if self.is_open && !self.session.machine().is_walking() {
            self.after_turn().await?;
            self.is_open = false;
        }
        Ok(())
    }
}

impl<M: Machine, T: trace::Sink> Plays for Agent<M, T> {
    async fn pass(&mut self, milliseconds: u64) -> Result<(), RunError> {
        self.start().await?;
        self.session.advance(milliseconds).await?;
        self.conclude().await
    }

    async fn rest(&mut self) -> Result<(), RunError> {
        self.session.settle().await?;
        self.conclude().await
    }

    fn give(&mut self, name: &str, value: Value) -> Result<(), RunError> {
        self.input(name, value)
    }

    async fn post(&mut self, event: &str, data: Map) -> Result<(), RunError> {
        self.start().await?;
        self.session.post(event, data).await.map(drop)
    }

    async fn begin(&mut self) -> Result<(), RunError> {
        self.start().await?;
        if self.session.machine().is_walking() {
            self.rest().await?;
        }
        self.before_turn()?;
        self.session.begin_turn().await.map(drop)
    }
}
