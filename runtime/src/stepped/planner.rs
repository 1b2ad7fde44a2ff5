//! The driver of a session that an engine steps: it writes each call to a plan, and returns the results that the engine hands over.

use super::call::{Call, Outcome};
use crate::driver::{CallId, Driver, Probe};
use crate::oracle::{Answer, Asking, OracleError, Question};
use crate::tools::Calling;
use chartc_core::expr::Value;
use chartc_core::host::ToolCall;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

/// A call that the engine is to make.
pub struct Planned {
    /// The permanent id of the call.
    pub id: CallId,
    /// The call itself.
    pub call: Call,
}

/// The stored state of a call that was under way when the process ended.
#[derive(Debug, Clone)]
pub enum Known {
    /// The call was planned and not made.
    Planned,
    /// The call was about to be made, and may have been made.
    Started,
    /// The call has ended with this outcome.
    Ended(Outcome),
}

/// A driver that plans calls instead of making them.
pub(super) struct Planner {
    driver: Arc<dyn Driver>,
    pending: Arc<Mutex<PendingCalls>>,
}

/// The calls that the session and the engine exchange.
#[derive(Default)]
struct PendingCalls {
    known: BTreeMap<String, Known>,
    planned: Vec<Planned>,
    dropped: Vec<String>,
    doubted: Vec<String>,
    results: BTreeMap<String, Outcome>,
}

fn lock(pending: &Mutex<PendingCalls>) -> MutexGuard<'_, PendingCalls> {
    pending.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The changes of the plan since it was last taken.
#[derive(Default)]
pub(super) struct Plan {
    /// The calls to make.
    pub(super) planned: Vec<Planned>,
    /// The calls for which the session does not wait any more.
    pub(super) dropped: Vec<String>,
    /// The calls of which it is unknown whether they were made.
    pub(super) doubted: Vec<String>,
}

impl Planner {
    pub(super) fn new(driver: Arc<dyn Driver>, known: BTreeMap<String, Known>) -> Self {
        Self {
            driver,
            pending: Arc::new(Mutex::new(PendingCalls { known, ..PendingCalls::default() })),
        }
    }

    /// Removes and returns the changes of the plan.
    pub(super) fn take(&self) -> Plan {
        let mut pending = lock(&self.pending);
        Plan {
            planned: std::mem::take(&mut pending.planned),
            dropped: std::mem::take(&mut pending.dropped),
            doubted: std::mem::take(&mut pending.doubted),
        }
    }

    /// Hands over the result of a call. The session receives it in its next step.
    pub(super) fn end(&self, id: &str, outcome: Outcome) {
        lock(&self.pending).results.insert(id.to_owned(), outcome);
    }

    fn plan(&self, id: &CallId, call: Call) -> Waiter {
        lock(&self.pending).planned.push(Planned { id: id.clone(), call });
        Waiter { pending: self.pending.clone(), id: id.to_string(), is_open: true }
    }
}

impl Driver for Planner {
    fn ask(&self, id: &CallId, question: Arc<Question>) -> Asking {
        let waiter = self.plan(id, Call::Question(Box::new(Arc::unwrap_or_clone(question))));
        Box::pin(async {
            match waiter.await {
                Outcome::Answer(answer) => answer,
                Outcome::Result(_) => Err(misfit()),
            }
        })
    }

    fn call(&self, id: &CallId, call: ToolCall) -> Calling {
        let waiter = self.plan(id, Call::Tool(call));
        Box::pin(async {
            match waiter.await {
                Outcome::Result(result) => result,
                Outcome::Answer(_) => Err(misfit()),
            }
        })
    }

    fn probe(&self, id: &CallId) -> Probe {
        let name = id.to_string();
        let known = lock(&self.pending).known.get(&name).cloned();
        let probe = match known {
            Some(Known::Ended(Outcome::Answer(answer))) => Probe::Answered(answer),
            Some(Known::Ended(Outcome::Result(result))) => Probe::Returned(result),
            // Only the real driver may know whether the call reached its server.
            Some(Known::Started) => self.driver.probe(id),
            // A plan is committed together with the session that waits for it, and no call is made before that commit.
            Some(Known::Planned) | None => Probe::NotMade,
        };
        if probe == Probe::Unknown {
            lock(&self.pending).doubted.push(name);
        }
        probe
    }

    fn keeps_time(&self) -> bool {
        self.driver.keeps_time()
    }

    fn has_answered(&self) -> bool {
        self.driver.has_answered()
    }

    fn name(&self) -> String {
        self.driver.name()
    }
}

fn misfit() -> OracleError {
    OracleError::Other("the engine has a result of another kind for this call".into())
}

/// The future of a planned call, which is ready once the engine has handed over the result.
struct Waiter {
    pending: Arc<Mutex<PendingCalls>>,
    id: String,
    is_open: bool,
}

impl Future for Waiter {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Outcome> {
        // The engine polls the session after each result, so no waker is needed.
        let found = lock(&self.pending).results.remove(&self.id);
        match found {
            Some(outcome) => {
                self.is_open = false;
                Poll::Ready(outcome)
            }
            None => Poll::Pending,
        }
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        if self.is_open {
            lock(&self.pending).dropped.push(std::mem::take(&mut self.id));
        }
    }
}

/// Makes a planned call, with the real driver.
pub async fn made(driver: Arc<dyn Driver>, id: CallId, call: Call) -> Outcome {
    match call {
        Call::Question(question) => {
            let answer: Result<Answer, OracleError> = driver.ask(&id, question.into()).await;
            Outcome::Answer(answer)
        }
        Call::Tool(call) => {
            let result: Result<Value, OracleError> = driver.call(&id, call).await;
            Outcome::Result(result)
        }
    }
}
