//! Storage in which a world survives its process.
//!
//! The engine commits a [`Checkpoint`] when no agent can continue, and only then admits waiting calls (see [`Gate`](crate::Gate)). So a
//! checkpoint contains every call that has begun. The drivers are nested in this order: [`Gated`](crate::Gated) outside, then
//! [`Journaled`], then the driver that makes the calls. So a call that still waits at the gate is not recorded as begun.

#[cfg(test)]
mod tests;

use chartc_core::host::ToolCall;
use chartc_runtime::driver::{CallId, Driver, Probe};
use chartc_runtime::oracle::{Asking, Kind, OracleError, Question, ready};
use chartc_runtime::stepped::{Call, Outcome};
use chartc_runtime::tools::{Calling, done};
use std::collections::BTreeSet;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};

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

// A driver that records calls and their answers.

/// A driver that records each call before it is made, and each answer before it is used, so that no answer is paid for twice: if a run asks
/// the same question under the same id after a crash, it gets the recorded answer. A call without a recorded answer is in doubt.
pub struct Journaled<D: ?Sized> {
    keep: Arc<dyn Keep>,
    agent: String,
    inner: Arc<D>,
    /// The calls whose doubt was reported. If such a call comes again, the chart has decided to repeat it.
    told: Arc<Mutex<BTreeSet<String>>>,
}

/// The decision about a call.
enum Known {
    /// The call is to be made. It is recorded as begun.
    Make,
    /// The recorded outcome is to be used.
    Use(Outcome),
    /// It is unknown whether the call took effect.
    Doubt,
}

impl<D: Driver + ?Sized> Journaled<D> {
    /// A driver for the calls of one agent.
    pub fn new(keep: Arc<dyn Keep>, agent: &str, inner: Arc<D>) -> Self {
        Self { keep, agent: agent.to_owned(), inner, told: Arc::default() }
    }

    /// The key of a call among those of all agents. Ids of calls contain no space, so it is unique.
    fn key(&self, id: &CallId) -> String {
        format!("{} {id}", self.agent)
    }

    fn begin(&self, key: &str, call: &Call, may_repeat: bool) -> Result<Known, KeepError> {
        let text = json(serde_json::to_string(call))?;
        // Another question under the same id is another call: the run took another course after the restart.
        if let Some(kept) = self.keep.call(key)?
            && kept.question == text
        {
            let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
            match kept.answer {
                Some(answer) => {
                    let outcome = json(serde_json::from_str(&answer))?;
                    if !found_no_model(&outcome) {
                        return Ok(Known::Use(outcome));
                    }
                }
                // A question to a person may be asked twice without harm.
                None if told.remove(key) || may_repeat => {}
                None => return Ok(Known::Doubt),
            }
        }
        self.keep.call_begun(key, &text)?;
        Ok(Known::Make)
    }

    fn open(&self, key: String) -> Open {
        Open { keep: self.keep.clone(), key: Some(key) }
    }
}

fn json<T>(done: serde_json::Result<T>) -> Result<T, KeepError> {
    done.map_err(|why| KeepError(Box::new(why)))
}

/// The error that ends a run whose calls cannot be recorded: continuing would lose answers that were paid for.
fn lost(why: &KeepError) -> OracleError {
    OracleError::Script(format!("the call cannot be recorded: {why}"))
}

fn in_doubt() -> OracleError {
    let why = "the process has ended during the call, and nobody knows what came of it";
    OracleError::Connection(why.into())
}

/// Whether a call failed because no model could be asked. It cost nothing, and may be made again when the run continues.
fn found_no_model(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Answer(answer) => answer.as_ref().is_err_and(OracleError::is_unavailable),
        Outcome::Result(_) => false,
    }
}

/// The error for a recorded outcome of the other kind, an answer for a tool or a result for a question.
fn strange() -> OracleError {
    OracleError::Script("what is kept of the call is of another kind".into())
}

impl<D: Driver + ?Sized + 'static> Driver for Journaled<D> {
    fn ask(&self, id: &CallId, question: Arc<Question>) -> Asking {
        // Such a driver replays a recording, so its answers are already recorded.
        if self.inner.keeps_time() {
            return self.inner.ask(id, question);
        }
        let key = self.key(id);
        let is_human = question.kind == Kind::Human;
        let call = Call::Question(Box::new(Question::clone(&question)));
        match self.begin(&key, &call, is_human) {
            Ok(Known::Make) => {}
            Ok(Known::Use(Outcome::Answer(answer))) => return ready(answer),
            Ok(Known::Use(Outcome::Result(_))) => return ready(Err(strange())),
            Ok(Known::Doubt) => return ready(Err(in_doubt())),
            Err(why) => return ready(Err(lost(&why))),
        }
        let (mut open, asking) = (self.open(key), self.inner.ask(id, question));
        Box::pin(async move {
            let answer = asking.await;
            open.settle(&Outcome::Answer(answer.clone())).map_err(|why| lost(&why))?;
            answer
        })
    }

    fn call(&self, id: &CallId, call: ToolCall) -> Calling {
        if self.inner.keeps_time() {
            return self.inner.call(id, call);
        }
        let key = self.key(id);
        match self.begin(&key, &Call::Tool(call.clone()), false) {
            Ok(Known::Make) => {}
            Ok(Known::Use(Outcome::Result(result))) => return done(result),
            Ok(Known::Use(Outcome::Answer(_))) => return done(Err(strange())),
            Ok(Known::Doubt) => return done(Err(in_doubt())),
            Err(why) => return done(Err(lost(&why))),
        }
        let (mut open, calling) = (self.open(key), self.inner.call(id, call));
        Box::pin(async move {
            let result = calling.await;
            open.settle(&Outcome::Result(result.clone())).map_err(|why| lost(&why))?;
            result
        })
    }

    fn probe(&self, id: &CallId) -> Probe {
        let key = self.key(id);
        let kept = match self.keep.call(&key) {
            Ok(Some(kept)) => kept,
            Ok(None) => return Probe::NotMade,
            Err(_) => return Probe::Unknown,
        };
        let outcome = kept.answer.and_then(|answer| serde_json::from_str(&answer).ok());
        match outcome {
            Some(outcome) if found_no_model(&outcome) => Probe::NotMade,
            Some(Outcome::Answer(answer)) => Probe::Answered(answer),
            Some(Outcome::Result(result)) => Probe::Returned(result),
            None => match self.inner.probe(id) {
                Probe::Unknown => {
                    self.told.lock().unwrap_or_else(PoisonError::into_inner).insert(key);
                    Probe::Unknown
                }
                known @ (Probe::NotMade | Probe::Answered(_) | Probe::Returned(_)) => known,
            },
        }
    }

    fn keeps_time(&self) -> bool {
        self.inner.keeps_time()
    }

    fn has_answered(&self) -> bool {
        self.inner.has_answered()
    }

    fn name(&self) -> String {
        self.inner.name()
    }
}

/// A call under way. Dropping it without an outcome leaves the call in doubt.
struct Open {
    keep: Arc<dyn Keep>,
    key: Option<String>,
}

impl Open {
    fn settle(&mut self, outcome: &Outcome) -> Result<(), KeepError> {
        let Some(key) = self.key.take() else { return Ok(()) };
        self.keep.call_settled(&key, &json(serde_json::to_string(outcome))?)
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
