//! One step of an agent, as a function from the stored state and an event, result or timer to the next state and the calls to make.

use crate::kept::StoredAgent;
use crate::wire::{Done, EventReply, Fired, Job, key, wall};
use chartc_core::host::Machine;
use chartc_core::host::ToolCall;
use chartc_core::machine::{Instant, Receipt};
use chartc_runtime::Session;
use chartc_runtime::agents::{AgentState, Reply};
use chartc_runtime::driver::{CallId, Driver};
use chartc_runtime::oracle::{Asking, OracleError, Question};
use chartc_runtime::stepped::{Journal, Known, Making, Stepped};
use chartc_runtime::tools::{Calling, done};
use chartc_runtime::trace::Line;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The cause of a step.
pub(crate) enum What {
    Fired(Fired),
    Done(Done),
    Due(Instant, i64),
}

/// The result of a step.
#[derive(Serialize, Deserialize)]
pub(crate) struct Taken {
    pub(crate) kept: StoredAgent,
    pub(crate) state: AgentState,
    pub(crate) lines: Vec<Line>,
    /// The calls to make.
    pub(crate) jobs: Vec<Job>,
    /// The keys of the calls under way whose results are no longer needed.
    pub(crate) dropped: Vec<String>,
    /// The timer to set: the time of the run at which it is due, and the delay until then in milliseconds.
    pub(crate) timer: Option<(Instant, u64)>,
    /// The reply to the event, if an event was the cause.
    pub(crate) said: Option<EventReply>,
}

/// A function that makes one step of the agent with this name.
pub(crate) type Steps =
    dyn Fn(&str, Option<StoredAgent>, What) -> Result<Taken, String> + Send + Sync;

/// Returns the step function for agents whose sessions `make` creates. `name` is the name of their driver in traces.
pub(crate) fn steps<M: Machine + 'static>(
    make: impl Fn(Making<'_>) -> Result<Session<M, Journal>, String> + Send + Sync + 'static,
    name: String,
) -> Arc<Steps> {
    let nobody: Arc<dyn Driver> = Arc::new(Nobody(name));
    Arc::new(move |agent, kept, what| step(agent, kept, what, nobody.clone(), &make))
}

fn step<M: Machine>(
    agent: &str,
    kept: Option<StoredAgent>,
    what: What,
    nobody: Arc<dyn Driver>,
    make: impl FnOnce(Making<'_>) -> Result<Session<M, Journal>, String>,
) -> Result<Taken, String> {
    let at = match &what {
        What::Fired(fired) => fired.at.unwrap_or_else(wall),
        What::Done(done) => done.at,
        What::Due(_, at) => *at,
    };
    let mut kept = kept.unwrap_or_else(|| StoredAgent::new(at));
    // The session is restored in each step. Calls that are still under way are known as planned, so they are planned again below, and
    // skipped.
    let mut known: BTreeMap<String, Known> =
        kept.open.keys().map(|id| (id.clone(), Known::Planned)).collect();
    let mut now = kept.time(at);
    let mut event = None;
    match what {
        What::Fired(fired) => event = Some(fired.event()),
        What::Done(Done { id, outcome, .. }) => {
            kept.open.remove(&id);
            // A result that nobody knows puts the call in doubt: it was started, and no outcome arrived.
            known.insert(id, outcome.map_or(Known::Started, Known::Ended));
        }
        What::Due(due, _) => {
            kept.wake = None;
            // This machine's clock may be behind that of the one that set the timer. Before the deadline, the session would do nothing.
            now = now.max(due);
        }
    }
    let mut run = Stepped::new((agent, ""), kept.saved.as_ref(), now, (nobody, known), make)?;
    let said = event.map(|event| {
        let fired = run.fire(agent, &event);
        EventReply::from(fired.map(|receipt| Reply { receipt, at: run.now(), is_repeated: false }))
    });
    run.step();
    let left = run.take();
    let drop = |id: &String| kept.open.remove(id).map(|plan| key(id, plan));
    let dropped = left.dropped.iter().filter_map(drop).collect();
    let mut jobs = Vec::new();
    for planned in left.planned {
        let id = planned.id.to_string();
        // The session waits for calls from before as well, and plans them again in each step.
        if kept.open.contains_key(&id) || left.dropped.contains(&id) {
            continue;
        }
        kept.plans += 1;
        kept.open.insert(id, kept.plans);
        jobs.push(Job::new(agent, kept.plans, planned.id, planned.call));
    }
    let wake = run.wake();
    let timer = wake.filter(|due| kept.wake != Some(*due));
    let timer = timer.map(|due| (due, due.saturating_sub(run.now())));
    kept.wake = wake;
    kept.saved = left.saved;
    kept.stopped = run.stopped().map(str::to_owned);
    kept.parts += u64::from(!left.lines.is_empty());
    if let Some(EventReply::Reply(reply)) = &said {
        // The event of a busy agent was not applied, so it does not take a slot in the ring of ids.
        kept.events += u64::from(reply.receipt != Receipt::Busy);
    }
    let state = run.state();
    Ok(Taken { kept, state, lines: left.lines, jobs, dropped, timer, said })
}

/// The driver of a session within a step. It makes no calls, because calls are services of their own.
struct Nobody(String);

impl Driver for Nobody {
    fn ask(&self, _: &CallId, _: Arc<Question>) -> Asking {
        Box::pin(async { Err(OracleError::Other("a step makes no calls".into())) })
    }

    fn call(&self, _: &CallId, _: ToolCall) -> Calling {
        done(Err(OracleError::Other("a step makes no calls".into())))
    }

    fn name(&self) -> String {
        self.0.clone()
    }
}
