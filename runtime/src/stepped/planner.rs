//! Calls of a session as a plan. The session asks; the engine commits the plan, makes the calls, and hands the results back.

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

/// A call that is to be made.
pub struct Planned {
    /// Its permanent name.
    pub id: CallId,
    /// What is asked.
    pub call: Call,
}

/// What an engine knows of a call that was under way when the process ended.
#[derive(Debug, Clone)]
pub enum Known {
    /// It was not made.
    Planned,
    /// It was about to be made.
    Started,
    /// Its result.
    Ended(Outcome),
}

/// The driver of a session whose calls an engine makes.
pub(super) struct Planner {
    driver: Arc<dyn Driver>,
    pending: Arc<Mutex<PendingCalls>>,
}

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

/// What a session has asked for since the last time.
#[derive(Default)]
pub(super) struct Plan {
    /// Calls to make.
    pub(super) planned: Vec<Planned>,
    /// Calls whose results it does not wait for any more.
    pub(super) dropped: Vec<String>,
    /// Calls of which nobody knows whether they were made.
    pub(super) doubted: Vec<String>,
}

impl Planner {
    pub(super) fn new(driver: Arc<dyn Driver>, known: BTreeMap<String, Known>) -> Self {
        Self {
            driver,
            pending: Arc::new(Mutex::new(PendingCalls { known, ..PendingCalls::default() })),
        }
    }

    /// Takes what was asked for.
    pub(super) fn take(&self) -> Plan {
        let mut pending = lock(&self.pending);
        Plan {
            planned: std::mem::take(&mut pending.planned),
            dropped: std::mem::take(&mut pending.dropped),
            doubted: std::mem::take(&mut pending.doubted),
        }
    }

    /// Hands a result to whoever waits for it.
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
            Some(Known::Started) => self.driver.probe(id),
            // A plan is committed together with the session that waits for the call.
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

/// Waits for the result of a call.
struct Waiter {
    pending: Arc<Mutex<PendingCalls>>,
    id: String,
    is_open: bool,
}

impl Future for Waiter {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Outcome> {
        // The engine polls the session after each result: nobody has to be woken.
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

/// The future of a call that is made, for whoever makes it.
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
