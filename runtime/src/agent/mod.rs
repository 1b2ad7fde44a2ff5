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

mod remember;
mod turn;

pub use crate::session::SavedAgent;
pub use crate::settings::{ChosenModel, Models, Overrides, SETTINGS, inputs_of};
pub use crate::world::{
    ACTIONS, Acting, Action, ArtifactHost, Artifacts, ConfigError, Declared, Disk, Done, EVENTS,
    Entry, Event, FAILURES, Failure, FailureKind, HISTORY, KEYS, Price, REPEATS, Record, Results,
    SharedRecord, TwoMethods, View, WORKING_MEMORY, Who, WorkingMemory, WorldError, WorldFile, cut,
    extract, mapping,
};
pub use remember::LongTerm;
pub use turn::CONTEXT;

use crate::data;
use crate::error::RunError;
use crate::play::{PlayError, Plays, played};
use crate::session::{Saved, Session, TurnReport};
use crate::trace;
use chartc_core::expr::{Map, Value};
use chartc_core::host::Machine;
use chartc_core::machine::{Instant, Receipt};
use chartc_core::model::{ActionForm, Chart, Type, TypeDef, VariableKind};
use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

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

    /// Lets time pass: deadlines fire and answers arrive, each at its time.
    ///
    /// # Errors
    /// See [`RunError`].
    pub async fn advance(&mut self, milliseconds: u64) -> Result<(), RunError> {
        self.session.advance(milliseconds).await
    }

    /// Sends entries as [`play`](crate::data) does. Each turn among them is a turn of the agent, with context and actions.
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
        self.follow()?;
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

// Non-blocking operations on an agent, for an engine that runs many agents on one thread.

impl<M: Machine, T: trace::Sink> Agent<M, T> {
    /// Enters the initial configuration and leaves the resulting calls under way. Does nothing if the session has been started.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn enter(&mut self) -> Result<(), RunError> {
        if self.session.is_started() {
            return Ok(());
        }
        self.set_context()?;
        self.session.enter()
    }

    /// Begins a turn and leaves its calls under way. Returns `Receipt::Busy` if the previous turn is not concluded.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn begin_turn(&mut self) -> Result<Receipt, RunError> {
        self.enter()?;
        if self.is_open {
            return Ok(Receipt::Busy);
        }
        self.before_turn()?;
        at_once(self.session.begin_turn())
    }

    /// Sends an event and leaves the resulting calls under way.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn post_event(&mut self, event: &str, data: Map) -> Result<Receipt, RunError> {
        self.enter()?;
        self.follow()?;
        at_once(self.session.post(event, data))
    }

    /// Handles the answers that have arrived and the deadlines that are due at `now`, the present time of the session's clock. Calls
    /// under way wake the context. Only the owner of the clock moves it.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn work(&mut self, now: Instant, cx: &mut Context<'_>) -> Result<(), RunError> {
        // The bound is exclusive, so `now + 1` includes what is due at `now`. Dropping the future loses nothing: the session keeps its
        // calls.
        match pin!(self.session.work(Some(now.saturating_add(1)))).poll(cx) {
            Poll::Ready(done) => done,
            Poll::Pending => Ok(()),
        }
    }

    /// Whether a turn has begun and is not concluded.
    pub fn is_in_turn(&self) -> bool {
        self.is_open
    }

    /// Whether the walk of a turn has ended, so that its action can be performed.
    pub fn has_thought(&self) -> bool {
        self.is_open && !self.session.machine().is_walking()
    }

    /// Performs the action that the turn has chosen if its walk has ended; else does nothing.
    ///
    /// # Errors
    /// See [`RunError`].
    pub async fn act_on_turn(&mut self) -> Result<(), RunError> {
        self.conclude().await
    }

    /// The complete state of the agent, also after its end; `None` before its start.
    pub fn save_all(&self) -> Option<Saved> {
        let saved = self.session.save_all()?;
        Some(match self.kept() {
            Some(kept) => saved.with_agent(kept),
            None => saved,
        })
    }

    /// Restores a saved agent as if it had never been interrupted. No line is written to the trace.
    ///
    /// # Errors
    /// The saved state is of another agent or chart, or is damaged.
    pub fn restore(&mut self, saved: &Saved) -> Result<(), String> {
        self.take_back(saved)?;
        self.session.restore(saved).map_err(|why| why.to_string())
    }
}

/// Polls an operation once. It is ready at once if the session has been entered; otherwise the result is `Receipt::Busy`.
fn at_once(done: impl Future<Output = Result<Receipt, RunError>>) -> Result<Receipt, RunError> {
    match pin!(done).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(receipt) => receipt,
        Poll::Pending => Ok(Receipt::Busy),
    }
}

// Saving and resuming an agent: its record and the state of its world, together with its run.

impl<M: Machine, T: trace::Sink> Agent<M, T> {
    /// The state of the run and its agent; `None` before the start and after the end.
    pub fn save(&self) -> Option<Saved> {
        let saved = self.session.save()?;
        Some(match self.kept() {
            Some(kept) => saved.with_agent(kept),
            None => saved,
        })
    }

    /// The part of the saved state that belongs to the agent, not to its run; `None` without a world.
    fn kept(&self) -> Option<SavedAgent> {
        let Life { world, record, profile, .. } = self.life.as_ref()?;
        Some(SavedAgent {
            version: SavedAgent::VERSION,
            working_memory: profile.working_memory.clone(),
            record: record.with(|record| record.clone()),
            given: self.given.clone(),
            is_open: self.is_open,
            heard: self.session.turn_outcome().clone(),
            section: self.session.section().to_owned(),
            world: world.save(),
        })
    }

    /// Resumes a saved run: see [`Session::resume`](crate::Session::resume). Call [`Agent::take_back`] first, which checks that the state
    /// belongs to this agent.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn resume(&mut self, saved: &Saved) -> Result<(), RunError> {
        self.session.resume(saved)
    }

    /// Restores the agent's part of a saved state: record, world and given inputs. To be called before `resume`.
    ///
    /// # Errors
    /// The reason why the state is not this agent's: it has no world or this one has none, or version, configuration or world differ.
    pub fn take_back(&mut self, saved: &Saved) -> Result<(), String> {
        let (life, kept) = match (&self.life, saved.agent()) {
            (None, None) => return Ok(()),
            (Some(life), Some(kept)) => (life, kept),
            (None, Some(_)) => {
                return Err("it is of an agent in a world: name the world again".into());
            }
            (Some(_), None) => return Err("it is of a run without a world".into()),
        };
        if kept.working_memory != life.profile.working_memory {
            return Err("its agent has another working memory".into());
        }
        let agent = life.record.with(|record| record.agent.clone());
        if kept.record.agent != agent {
            return Err(format!("it is of the agent `{}`, not of `{agent}`", kept.record.agent));
        }
        // The last step that can fail. Nothing of this agent has changed before it.
        life.world.load(&kept.world)?;
        life.record.with(|record| record.clone_from(&kept.record));
        self.given.extend(kept.given.iter().cloned());
        self.is_open = kept.is_open;
        self.session.recall(kept.heard.clone(), kept.section.clone());
        Ok(())
    }
}
