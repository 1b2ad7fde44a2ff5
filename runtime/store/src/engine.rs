//! The handle through which a host fires at the runs of a store.

use crate::command::{Command, Old};
use crate::error::StoreError;
use crate::file::Store;
use chartc_core::machine::Instant;
use chartc_runtime::agents::{AgentState, Engine, EngineError, Event, Quiet, Reply};
use tokio::sync::{mpsc, oneshot};

/// The engine on an SQLite file. A [`Worker`](crate::Worker) does its work; handles are cheap to clone, and may be used from any thread.
#[derive(Clone)]
pub struct Sqlite {
    pub(crate) commands: mpsc::UnboundedSender<Command>,
}

impl Sqlite {
    async fn ask<R>(
        &self,
        command: impl FnOnce(oneshot::Sender<R>) -> Command,
    ) -> Result<R, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.commands.send(command(reply)).map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)
    }

    /// Lets time pass for all runs: deadlines fire and answers arrive, each when it is due.
    ///
    /// # Errors
    /// The engine has ended.
    pub async fn advance(&self, milliseconds: u64) -> Result<(), StoreError> {
        self.ask(|reply| Command::Advance(milliseconds, reply)).await
    }

    /// Whether an event was taken before.
    ///
    /// # Errors
    /// The engine has ended.
    pub async fn has(&self, run: &str, event: &str) -> Result<bool, StoreError> {
        self.ask(|reply| Command::Has(run.to_owned(), event.to_owned(), reply)).await
    }

    /// Fires at a run that may be new: then it is made with what is `given`, which the store keeps beside it. A run that is there keeps what it
    /// was given first.
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

    /// Answers an open question of a run as a person, by the [id](chartc_runtime::oracle::Question::id) of the question. When this returns
    /// `Ok`, the answer and what follows from it are committed. Of two answers to one question, one is taken.
    ///
    /// # Errors
    /// No open question of the run has this id, or the run or the engine has ended: then nothing has changed.
    pub async fn reply(&self, run: &str, question: &str, text: String) -> Result<(), StoreError> {
        let (run, question) = (run.to_owned(), question.to_owned());
        self.ask(|reply| Command::Reply(run, question, text, reply)).await?
    }

    /// Resolves when one run has nothing under way that will end by itself.
    ///
    /// # Errors
    /// The engine has ended.
    pub async fn settled(&self, run: &str) -> Result<(), StoreError> {
        self.ask(|reply| Command::Settled(run.to_owned(), reply)).await
    }

    /// Reads the store, or puts something into its inbox, between two commits.
    ///
    /// # Errors
    /// The engine has ended.
    pub async fn look<R: Send + 'static>(
        &self,
        look: impl FnOnce(&Store) -> R + Send + 'static,
    ) -> Result<R, StoreError> {
        // Whoever does not wait any more is not told.
        self.ask(|reply| Command::Look(Box::new(move |store| drop(reply.send(look(store)))))).await
    }

    /// The time on the engine's clock.
    ///
    /// # Errors
    /// The engine has ended.
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
        // Piece by piece: events go on between.
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
        // An engine that has ended has nothing under way.
        drop(self.ask(Command::Quiet).await);
    }
}
