//! An agent: a session whose turns have consequences. Before a turn its chart is told what the agent has done and how its world stands;
//! after it the action that the turn has chosen is performed, and what came of it is kept for the next turn.
//!
//! [`Agent::before_turn`] and [`Agent::after_turn`] are the two places where anything goes on around a turn.

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

/// A session, and what its agent has done. Without a world it is the session alone.
pub struct Agent<M, T> {
    session: Session<M, T>,
    life: Option<Life>,
    /// What it remembers for longer than a run.
    memory: Option<Box<LongTerm>>,
    /// Inputs that the host has given: they are its own from then on.
    given: BTreeSet<String>,
    /// A turn has begun, and what it has chosen is still to be done.
    is_open: bool,
}

/// Where an agent acts.
pub struct Life {
    world: Arc<dyn ArtifactHost>,
    record: SharedRecord,
    profile: Arc<Profile>,
    /// All turns of the run, where somebody has said how many.
    turns: Option<u32>,
}

/// What a chart says of its agent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Profile {
    /// The inputs that it declares, with their types.
    pub inputs: BTreeMap<String, Type>,
    /// The types that it declares.
    pub types: Vec<TypeDef>,
    /// Its working memory.
    pub working_memory: WorkingMemory,
}

impl Profile {
    /// Of a chart.
    ///
    /// # Errors
    /// What it says of working memory cannot be meant.
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
    /// In a world, under a record that the functions of the chart share: see [`Artifacts`].
    /// Agents of one chart can share their profile.
    pub fn new(
        world: Arc<dyn ArtifactHost>,
        record: SharedRecord,
        profile: impl Into<Arc<Profile>>,
    ) -> Self {
        Self { world, record, profile: profile.into(), turns: None }
    }

    /// In a run of so many turns, those before it was resumed included: its progress is told to the agent where its world has no time.
    #[must_use]
    pub fn with_turns(mut self, turns: Option<u32>) -> Self {
        self.turns = turns;
        self
    }
}

impl<M: Machine, T: trace::Sink> Agent<M, T> {
    /// An agent of a session that nothing was done with yet.
    pub fn new(session: Session<M, T>, life: Option<Life>) -> Self {
        // A world performs the four actions, so its models are told them.
        let session =
            if life.is_some() { session.with_actions(ActionForm::Simple) } else { session };
        Self { session, life, memory: None, given: BTreeSet::new(), is_open: false }
    }

    /// With a memory that outlasts the run.
    #[must_use]
    pub fn with_memory(mut self, memory: LongTerm) -> Self {
        self.memory = Some(Box::new(memory));
        self
    }

    /// The session, to look at.
    pub fn session(&self) -> &Session<M, T> {
        &self.session
    }

    /// The session, when the agent is done with.
    pub fn into_session(self) -> Session<M, T> {
        self.session
    }

    /// What the agent has done; `None` without a world.
    pub fn record(&self) -> Option<Record> {
        self.life.as_ref().map(|life| life.record.with(|record| record.clone()))
    }

    /// Sets an input. It is the host's from then on: the record does not set it any more.
    ///
    /// # Errors
    /// See [`Session::input`].
    pub fn input(&mut self, name: &str, value: Value) -> Result<(), RunError> {
        self.given.insert(name.to_owned());
        self.session.input(name, value)
    }

    /// Enters the initial configuration, which sees the context as that of a turn does. Does nothing if that was done.
    ///
    /// # Errors
    /// See [`RunError`].
    pub async fn start(&mut self) -> Result<(), RunError> {
        if !self.session.is_started() {
            self.set_context()?;
        }
        self.session.start().await
    }

    /// One turn, and what it has chosen.
    ///
    /// # Errors
    /// See [`RunError`]. Neither a step that fails nor an action that does is one.
    pub async fn turn(&mut self) -> Result<TurnReport, RunError> {
        self.start().await?;
        self.rest().await?;
        self.before_turn()?;
        let report = self.session.turn().await?;
        self.conclude().await?;
        Ok(report)
    }

    /// Sends entries as [`play`](crate::play) does; each turn among them is one of the agent's.
    ///
    /// # Errors
    /// The first entry that does not fit, or why the run cannot go on.
    pub async fn play(&mut self, entries: &[data::Entry]) -> Result<(), PlayError> {
        played(self, entries).await
    }

    /// What goes before a turn: the chart is told what the agent knows, and what it remembers.
    ///
    /// # Errors
    /// See [`RunError`]: an input is declared with another type, or the memory cannot be read.
    pub fn before_turn(&mut self) -> Result<(), RunError> {
        if self.session.status().is_some() {
            return Ok(());
        }
        self.is_open = true;
        let context = self.tell()?;
        self.recall(&context)
    }

    /// What comes after a turn: what it has chosen is done, kept for the next one, and remembered.
    ///
    /// # Errors
    /// See [`RunError`]: the memory cannot be written, for example.
    pub async fn after_turn(&mut self) -> Result<(), RunError> {
        self.act().await?;
        self.remember()
    }

    /// Does what a turn has chosen, once it is over.
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
