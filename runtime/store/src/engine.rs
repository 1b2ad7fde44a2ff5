//! The handle through which a host sends events to the runs of a store.

use crate::command::{Command, Old};
use crate::error::{Outage, StoreError};
use crate::file::Store;
use chartc_core::machine::Instant;
use chartc_runtime::agents::{AgentState, Engine, EngineError, Event, Quiet, Reply};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{mpsc, oneshot};

/// A handle to an engine on an SQLite file. The [`Worker`](crate::Worker) behind it does the work. Handles are cheap to clone and may be
/// used from any thread.
#[derive(Clone)]
pub struct Sqlite {
    pub(crate) commands: mpsc::UnboundedSender<Command>,
    pub(crate) outage: Arc<Mutex<Option<Outage>>>,
}

impl Sqlite {
    async fn ask<R>(
        &self,
        command: impl FnOnce(oneshot::Sender<R>) -> Command,
    ) -> Result<R, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.commands.send(command(reply)).map_err(|_| StoreError::Closed)?;
        let answer = answer.await;
        answer.map_err(|_| self.outage().map_or(StoreError::Closed, StoreError::Outage))
    }

    /// The reason why events are refused at present; `None` if they are not.
    pub fn outage(&self) -> Option<Outage> {
        *self.outage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Advances the clock for all runs: deadlines fire and answers arrive, each at its time.
    ///
    /// # Errors
    /// The engine has stopped.
    pub async fn advance(&self, milliseconds: u64) -> Result<(), StoreError> {
        self.ask(|reply| Command::Advance(milliseconds, reply)).await
    }

    /// Whether an event with this id was taken in before.
    ///
    /// # Errors
    /// The engine has stopped.
    pub async fn has(&self, run: &str, event: &str) -> Result<bool, StoreError> {
        self.ask(|reply| Command::Has(run.to_owned(), event.to_owned(), reply)).await
    }

    /// Fires an event at a run, and creates the run if there is none. `given` describes how to create it; the store keeps it with the
    /// run. An existing run keeps the `given` with which it was created.
    ///
    /// # Errors
    /// See [`EngineError`].
    pub async fn begin(
        &self,
        run: &str,
        given: String,
        event: Event,
    ) -> Result<Reply, EngineError> {
        let fired = self.ask(|reply| Command::Begin(run.to_owned(), given, event, reply)).await;
        fired.unwrap_or_else(|why| Err(away(run, &why)))
    }

    /// Answers an open question of a run on behalf of a person. `question` is its [id](chartc_runtime::oracle::Question::id). When this
    /// returns `Ok`, the answer and its effects are committed. Of two answers to one question, only the first is taken.
    ///
    /// # Errors
    /// No open question of the run has this id, or the run has ended, or the engine has stopped. Nothing has changed then.
    pub async fn reply(&self, run: &str, question: &str, text: String) -> Result<(), StoreError> {
        let (run, question) = (run.to_owned(), question.to_owned());
        self.ask(|reply| Command::Reply(run, question, text, reply)).await?
    }

    /// Resolves when a run has nothing under way that ends by itself, such as a model call.
    ///
    /// # Errors
    /// The engine has stopped.
    pub async fn settled(&self, run: &str) -> Result<(), StoreError> {
        self.ask(|reply| Command::Settled(run.to_owned(), reply)).await
    }

    /// Calls a function with the store, between two commits. The function may read, or add to the inbox.
    ///
    /// # Errors
    /// The engine has stopped.
    pub async fn look<R: Send + 'static>(
        &self,
        look: impl FnOnce(&Store) -> R + Send + 'static,
    ) -> Result<R, StoreError> {
        // The send fails if the caller has stopped waiting, which is fine.
        self.ask(|reply| Command::Look(Box::new(move |store| drop(reply.send(look(store)))))).await
    }

    /// The present time on the engine's clock.
    ///
    /// # Errors
    /// The engine has stopped.
    pub async fn now(&self) -> Result<Instant, StoreError> {
        self.ask(Command::Now).await
    }
}

fn away(run: &str, why: &StoreError) -> EngineError {
    EngineError::Away { agent: run.to_owned(), why: why.to_string() }
}

impl Engine for Sqlite {
    async fn fire(&self, agent: &str, event: Event) -> Result<Reply, EngineError> {
        let fired = self.ask(|reply| Command::Fire(agent.to_owned(), event, reply)).await;
        fired.unwrap_or_else(|why| Err(away(agent, &why)))
    }

    async fn read(&self, agent: &str) -> Result<Option<AgentState>, EngineError> {
        let read = self.ask(|reply| Command::Read(agent.to_owned(), reply)).await;
        read.unwrap_or_else(|why| Err(away(agent, &why)))
    }

    async fn forget(&self, prefix: &str, age_ms: u64) -> Result<usize, EngineError> {
        let (mut count, mut after) = (0, Some((String::new(), String::new())));
        // In batches, so that the worker can handle events in between.
        while let Some(last) = after {
            let old = Old { prefix: prefix.to_owned(), age_ms, after: last };
            let piece = self.ask(|reply| Command::Forget(old, reply)).await;
            let away = |why: StoreError| {
                let agent = String::new();
                EngineError::Away { agent, why: why.to_string() }
            };
            let forgotten;
            (forgotten, after) = piece.map_err(away)?;
            count += forgotten;
        }
        Ok(count)
    }
}

impl Quiet for Sqlite {
    async fn quiet(&self) {
        // An engine that has stopped has nothing under way.
        drop(self.ask(Command::Quiet).await);
    }
}
