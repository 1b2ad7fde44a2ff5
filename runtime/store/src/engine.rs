//! The handle through which a host fires at the runs of a store.

use crate::command::Command;
use crate::error::StoreError;
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

    /// The time on the engine's clock.
    ///
    /// # Errors
    /// The engine has ended.
    pub async fn now(&self) -> Result<Instant, StoreError> {
        self.ask(Command::Now).await
    }
}

impl Engine for Sqlite {
    async fn fire(&self, agent: &str, event: Event) -> Result<Reply, EngineError> {
        let fired = self.ask(|reply| Command::Fire(agent.to_owned(), event, reply)).await;
        fired.unwrap_or_else(|why| {
            Err(EngineError::Stopped { agent: agent.to_owned(), why: why.to_string() })
        })
    }

    async fn read(&self, agent: &str) -> Result<Option<AgentState>, EngineError> {
        let read = self.ask(|reply| Command::Read(agent.to_owned(), reply)).await;
        read.unwrap_or_else(|why| {
            Err(EngineError::Stopped { agent: agent.to_owned(), why: why.to_string() })
        })
    }
}

impl Quiet for Sqlite {
    async fn quiet(&self) {
        // An engine that has ended has nothing under way.
        drop(self.ask(Command::Quiet).await);
    }
}
