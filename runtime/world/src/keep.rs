//! Storage in which a world survives its process.
//!
//! The engine commits a [`Checkpoint`] when no agent can continue, and only then admits waiting calls (see [`Gate`](crate::Gate)). So a
//! checkpoint contains every call that has begun. The drivers are nested in this order: [`Gated`](crate::Gated) outside, then
//! [`Journaled`](chartc_runtime::journal::Journaled), then the driver that makes the calls. So a call that still waits at the gate is not
//! recorded as begun.

#[cfg(test)]
mod tests;

use chartc_runtime::driver::CallId;
use chartc_runtime::journal::{Begun, Call, CallJournal, Known, OpenCall, Outcome};
use chartc_runtime::oracle::{Kind, OracleError};
use std::collections::BTreeSet;
use std::error::Error;
use std::future::ready;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The reason why something cannot be stored, or stored data cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct KeepError(pub Box<dyn Error + Send + Sync>);

/// The state of a world and its agents at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Checkpoint {
    /// The number of the tick or round, which never decreases.
    pub number: u64,
    /// The time of the run, in milliseconds.
    pub now_ms: u64,
    /// The world as JSON; `None` if it is the same as at the last checkpoint.
    pub world: Option<String>,
    /// The agents that have changed, as their names and JSON; `None` for an agent that is gone.
    pub agents: Vec<(String, Option<String>)>,
    /// The engine's own state, as JSON.
    pub meta: String,
    /// The lines of the log since the last checkpoint.
    pub log: Vec<String>,
}

/// The last checkpoint, complete with all agents.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Loaded {
    /// The number of the tick or round.
    pub number: u64,
    /// The time of the run, in milliseconds.
    pub now_ms: u64,
    /// The world, as JSON.
    pub world: Option<String>,
    /// All agents as names and JSON, in the order in which they were added.
    pub agents: Vec<(String, String)>,
    /// The engine's own state, as JSON.
    pub meta: String,
    /// The number of lines in the log.
    pub log_lines: u64,
}

/// A recorded call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptCall {
    /// The question or tool call, as JSON.
    pub question: String,
    /// The outcome, as JSON; `None` if it is unknown.
    pub answer: Option<String>,
}

/// The storage of one world. Each method that writes returns only when its data would survive a crash.
pub trait Keep: Send + Sync {
    /// Creates the record of a new world. `given` is what its host needs to continue it.
    ///
    /// # Errors
    /// The storage has a world already.
    fn begin(&self, given: &str) -> Result<(), KeepError>;

    /// The text given to [`Self::begin`]; `None` if there is no world yet.
    ///
    /// # Errors
    /// The storage cannot be read.
    fn given(&self) -> Result<Option<String>, KeepError>;

    /// Stores a checkpoint atomically.
    ///
    /// # Errors
    /// The storage cannot be written. The last checkpoint is unchanged.
    fn commit(&self, checkpoint: &Checkpoint) -> Result<(), KeepError>;

    /// The last checkpoint; `None` before the first.
    ///
    /// # Errors
    /// The storage cannot be read, or its content is damaged.
    fn load(&self) -> Result<Option<Loaded>, KeepError>;

    /// The lines of the log after the first `from`.
    ///
    /// # Errors
    /// The storage cannot be read, or its content is damaged.
    fn log(&self, from: u64) -> Result<Vec<String>, KeepError>;

    /// Records that a call is about to be made. It replaces an earlier record with the same id.
    ///
    /// # Errors
    /// The storage cannot be written. The call must not be made.
    fn call_begun(&self, id: &str, question: &str) -> Result<(), KeepError>;

    /// Records the outcome of a call. It is kept as long as a checkpoint may need it.
    ///
    /// # Errors
    /// The storage cannot be written.
    fn call_settled(&self, id: &str, answer: &str) -> Result<(), KeepError>;

    /// Records that no agent waits for a call any more. The call stays in doubt as long as a checkpoint may need it.
    ///
    /// # Errors
    /// The storage cannot be written.
    fn call_dropped(&self, id: &str) -> Result<(), KeepError>;

    /// The record of a call; `None` if the call was not begun.
    ///
    /// # Errors
    /// The storage cannot be read, or its content is damaged.
    fn call(&self, id: &str) -> Result<Option<KeptCall>, KeepError>;
}

// The journal of calls and their answers.

/// The journal of the calls of one agent. Each call is recorded before it is made, and each answer before it is used, so that no answer is
/// paid for twice: if a run asks the same question under the same id after a crash, it gets the recorded answer. A call without a recorded
/// answer is in doubt.
pub struct KeptCalls {
    keep: Arc<dyn Keep>,
    agent: String,
    /// The calls whose doubt was reported. If such a call comes again, the chart has decided to repeat it.
    told: Mutex<BTreeSet<String>>,
}

impl KeptCalls {
    /// The journal of an agent.
    pub fn new(keep: Arc<dyn Keep>, agent: &str) -> Self {
        Self { keep, agent: agent.to_owned(), told: Mutex::default() }
    }

    /// The key of a call among those of all agents. Ids of calls contain no space, so it is unique.
    fn key(&self, id: &CallId) -> String {
        format!("{} {id}", self.agent)
    }

    fn told(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The recorded outcome of a call; `None` if the call is to be made, and is recorded as begun.
    fn outcome(&self, key: &str, call: &Call) -> Result<Option<Outcome>, KeepError> {
        let text = json(serde_json::to_string(call))?;
        // Another question under the same id is another call: the run took another course after the restart.
        if let Some(kept) = self.keep.call(key)?
            && kept.question == text
        {
            match kept.answer {
                Some(answer) => {
                    let outcome = json(serde_json::from_str(&answer))?;
                    if !found_no_model(&outcome) {
                        return Ok(Some(outcome));
                    }
                }
                // A question to a person may be asked twice without harm.
                None if self.told().remove(key) || is_human(call) => {}
                None => return Ok(Some(in_doubt(call))),
            }
        }
        self.keep.call_begun(key, &text)?;
        Ok(None)
    }
}

fn json<T>(done: serde_json::Result<T>) -> Result<T, KeepError> {
    done.map_err(|why| KeepError(Box::new(why)))
}

/// The error that ends a run whose calls cannot be recorded: continuing would lose answers that were paid for.
fn lost(why: &KeepError) -> OracleError {
    OracleError::Script(format!("the call cannot be recorded: {why}"))
}

fn in_doubt(call: &Call) -> Outcome {
    let why = "the process has ended during the call, and nobody knows what came of it";
    let error = OracleError::Connection(why.into());
    match call {
        Call::Question(_) => Outcome::Answer(Err(error)),
        Call::Tool(_) => Outcome::Result(Err(error)),
    }
}

fn is_human(call: &Call) -> bool {
    matches!(call, Call::Question(question) if question.kind == Kind::Human)
}

/// Whether a call failed because no model could be asked. It cost nothing, and may be made again when the run continues.
fn found_no_model(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Answer(answer) => answer.as_ref().is_err_and(OracleError::is_unavailable),
        Outcome::Result(_) => false,
    }
}

impl CallJournal for KeptCalls {
    fn begin(&self, id: &CallId, call: Call) -> Result<Begun, OracleError> {
        let key = self.key(id);
        Ok(match self.outcome(&key, &call).map_err(|why| lost(&why))? {
            Some(outcome) => Begun::Recorded(Box::pin(ready(outcome))),
            None => Begun::Make(call, Box::new(Open { keep: self.keep.clone(), key: Some(key) })),
        })
    }

    fn known(&self, id: &CallId) -> Known {
        let kept = match self.keep.call(&self.key(id)) {
            Ok(Some(kept)) => kept,
            Ok(None) => return Known::NotMade,
            Err(_) => return Known::Started,
        };
        let outcome = kept.answer.and_then(|answer| serde_json::from_str(&answer).ok());
        match outcome {
            Some(outcome) if found_no_model(&outcome) => Known::NotMade,
            Some(outcome) => Known::Ended(outcome),
            None => Known::Started,
        }
    }

    fn doubt(&self, id: &CallId) {
        self.told().insert(self.key(id));
    }
}

/// A call under way. Dropping it without an outcome leaves the call in doubt.
struct Open {
    keep: Arc<dyn Keep>,
    key: Option<String>,
}

impl OpenCall for Open {
    fn end(&mut self, outcome: &Outcome) -> Result<(), OracleError> {
        let Some(key) = self.key.take() else { return Ok(()) };
        let text = json(serde_json::to_string(outcome)).map_err(|why| lost(&why))?;
        self.keep.call_settled(&key, &text).map_err(|why| lost(&why))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if let Some(key) = self.key.take() {
            // The record of the call is then kept longer than necessary, which does no harm.
            drop(self.keep.call_dropped(&key));
        }
    }
}
