//! The virtual object `Agent`. The server gives it one event at a time and stores the consequences of the event one by one, each exactly
//! once.

use super::client::{AGENT, Done, EventReply, Fired, Job, STEP, key, wall};
use chartc_core::host::{Machine, ToolCall};
use chartc_core::machine::{Instant, Receipt};
use chartc_runtime::agents::{AgentState, Reply, SEEN};
use chartc_runtime::driver::{CallId, Driver};
use chartc_runtime::journal::Known;
use chartc_runtime::oracle::{Asking, OracleError, Question};
use chartc_runtime::stepped::{Making, PendingLines, Stepped, StoredCalls};
use chartc_runtime::tools::{Calling, done};
use chartc_runtime::trace::Line;
use chartc_runtime::{Saved, Session};
use restate_sdk::context::RequestTarget;
use restate_sdk::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The handlers of the virtual object `Agent`.
pub(super) struct Agent(pub(super) Arc<Steps>);

// The SDK sends the `///` lines of handlers to the server as their documentation.
// With `lazy_state`, a handler loads only the keys that it names, because a trace may be long. The attempts are practically unlimited: by
// default the server would give up after an hour, and this one retries every five seconds until the service is back.
#[object(
    name = "Agent",
    lazy_state,
    inactivity_timeout = "1h",
    abort_timeout = "1h",
    journal_retention = "1h",
    invocation_retry_policy(
        initial_interval = "100ms",
        max_interval = "5s",
        max_attempts = 1000000000
    )
)]
impl Agent {
    /// Takes an event in.
    #[handler]
    async fn fire(
        &self,
        ctx: ObjectContext<'_>,
        fired: Json<Fired>,
    ) -> HandlerResult<Json<EventReply>> {
        let Json(fired) = fired;
        let id = fired.id.clone();
        // The key of the event's id holds the reply of its first delivery, so a repeated event changes nothing.
        if let Some(Json(reply)) = ctx.get::<Json<Reply>>(&event(&id)).await? {
            return Ok(Json(EventReply::Reply(Reply { is_repeated: true, ..reply })));
        }
        let kept = kept(&ctx).await?;
        if let Some(why) = kept.as_ref().and_then(|kept| kept.stopped.clone()) {
            return Ok(Json(EventReply::Stopped { why }));
        }
        let (steps, agent) = (self.0.clone(), ctx.key().to_owned());
        let step =
            ctx.run(move || async move { Ok(Json((*steps)(&agent, kept, What::Fired(fired)))) });
        let taken = match step.name("step").await? {
            Json(Ok(taken)) => taken,
            // The saved state cannot be read, for example because another chart wrote it. Nothing has changed.
            Json(Err(why)) => return Ok(Json(EventReply::Stopped { why })),
        };
        let Some(said) = taken.said.clone() else { return Err("a step without a reply".into()) };
        if let EventReply::Reply(reply) = &said
            && reply.receipt != Receipt::Busy
        {
            // The last `SEEN` ids form a ring: entry `nth % SEEN` holds the id that the new one replaces. Events for a busy agent are not
            // remembered, because they are sent again and are then to be applied.
            let (nth, most) = (taken.kept.events, SEEN as u64);
            let place = oldest(nth, most);
            if nth > most
                && let Some(oldest) = ctx.get::<String>(&place).await?
            {
                ctx.clear(&event(&oldest));
            }
            ctx.set(&place, id.clone());
            ctx.set(&event(&id), Json(*reply));
        }
        put(&ctx, taken);
        Ok(Json(said))
    }

    /// Takes the result of a call.
    #[handler(ingress_private)]
    async fn done(&self, ctx: ObjectContext<'_>, done: Json<Done>) -> HandlerResult<()> {
        let Json(done) = done;
        let Some(kept) = kept(&ctx).await? else { return Ok(()) };
        // The call may have been dropped and planned again under the same id. Only the result of the latest plan counts.
        let is_open = kept.open.get(&done.id) == Some(&done.plan);
        if !is_open || kept.stopped.is_some() {
            return Ok(());
        }
        self.try_step(&ctx, kept, move |_| What::Done(done)).await
    }

    /// Time has passed.
    #[handler(ingress_private)]
    async fn wake(&self, ctx: ObjectContext<'_>, due: u64) -> HandlerResult<()> {
        let Some(kept) = kept(&ctx).await? else { return Ok(()) };
        // A timer that was replaced is not cancelled: it fires, too, and is ignored.
        if kept.wake != Some(due) || kept.stopped.is_some() {
            return Ok(());
        }
        self.try_step(&ctx, kept, move |wall| What::Due(due, wall)).await
    }

    /// The agent as it stands.
    #[handler]
    async fn read(&self, ctx: SharedObjectContext<'_>) -> HandlerResult<Json<Option<AgentState>>> {
        let state = ctx.get::<Json<AgentState>>(STATE).await?;
        Ok(Json(state.map(Json::into_inner)))
    }

    /// Its trace.
    #[handler(lazy_state = false)]
    async fn trace(&self, ctx: SharedObjectContext<'_>) -> HandlerResult<Json<Vec<Line>>> {
        let parts = ctx.get::<Json<StoredAgent>>(RUN).await?.map_or(0, |kept| kept.0.parts);
        let mut lines = Vec::new();
        for nth in 1..=parts {
            let part = ctx.get::<Json<Vec<Line>>>(&part(nth)).await?;
            lines.extend(part.map(Json::into_inner).unwrap_or_default());
        }
        Ok(Json(lines))
    }
}

impl Agent {
    /// Makes a step for which no host waits for a reply. An error fails the handler, and the server then repeats it.
    async fn try_step(
        &self,
        ctx: &ObjectContext<'_>,
        kept: StoredAgent,
        what: impl FnOnce(i64) -> What + Send + 'static,
    ) -> HandlerResult<()> {
        let (steps, agent) = (self.0.clone(), ctx.key().to_owned());
        let step = ctx.run(move || async move {
            Ok(Json((*steps)(&agent, Some(kept), what(wall())).map_err(HandlerError::from)?))
        });
        let Json(taken) = step.name("step").await?;
        put(ctx, taken);
        Ok(())
    }
}

async fn kept(ctx: &ObjectContext<'_>) -> Result<Option<StoredAgent>, TerminalError> {
    Ok(ctx.get::<Json<StoredAgent>>(RUN).await?.map(Json::into_inner))
}

/// Stores the state after a step, and then sends its calls and its timer.
fn put(ctx: &ObjectContext<'_>, taken: Taken) {
    let Taken { kept, state, lines, jobs, dropped, timer, .. } = taken;
    if !lines.is_empty() {
        ctx.set(&part(kept.parts), Json(lines));
    }
    ctx.set(STATE, Json(state));
    ctx.set(RUN, Json(kept));
    // The idempotency key makes the server send a call once, even if this handler runs twice.
    for job in jobs {
        let key = job.key();
        let target = RequestTarget::service(STEP, "run");
        ctx.request::<Json<Job>, ()>(target, Json(job)).idempotency_key(key).send();
    }
    for key in dropped {
        ctx.request::<String, ()>(RequestTarget::service(STEP, "drop"), key).send();
    }
    if let Some((due, wait)) = timer {
        let target = RequestTarget::object(AGENT, ctx.key(), "wake");
        ctx.request::<Instant, ()>(target, due).send_after(Duration::from_millis(wait));
    }
}

// One step of an agent, as a function from the stored state and an event, result or timer to the next state and the calls to make.

/// The cause of a step.
pub(super) enum What {
    Fired(Fired),
    Done(Done),
    Due(Instant, i64),
}

/// The result of a step.
#[derive(Serialize, Deserialize)]
pub(super) struct Taken {
    pub(super) kept: StoredAgent,
    pub(super) state: AgentState,
    pub(super) lines: Vec<Line>,
    /// The calls to make.
    pub(super) jobs: Vec<Job>,
    /// The keys of the calls under way whose results are no longer needed.
    pub(super) dropped: Vec<String>,
    /// The timer to set: the time of the run at which it is due, and the delay until then in milliseconds.
    pub(super) timer: Option<(Instant, u64)>,
    /// The reply to the event, if an event was the cause.
    pub(super) said: Option<EventReply>,
}

/// A function that makes one step of the agent with this name.
pub(super) type Steps =
    dyn Fn(&str, Option<StoredAgent>, What) -> Result<Taken, String> + Send + Sync;

/// Returns the step function for agents whose sessions `make` creates. `name` is the name of their driver in traces.
pub(super) fn steps<M: Machine + 'static>(
    make: impl Fn(Making<'_>) -> Result<Session<M, PendingLines>, String> + Send + Sync + 'static,
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
    make: impl FnOnce(Making<'_>) -> Result<Session<M, PendingLines>, String>,
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
        kept.open.keys().map(|id| (id.clone(), Known::NotMade)).collect();
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
    let calls = (nobody, StoredCalls { known, missing: Known::NotMade });
    let mut run = Stepped::new((agent, ""), kept.saved.as_ref(), now, calls, make)?;
    let said = event.map(|event| {
        let fired = run.fire(agent, &event);
        EventReply::from(fired.map(|receipt| Reply::new(event.content(), receipt, run.now())))
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
    let before = std::mem::replace(&mut kept.wake, run.wake());
    let timer = kept.wake.filter(|due| before != Some(*due));
    let timer = timer.map(|due| (due, due.saturating_sub(run.now())));
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

// The state of an agent in the server's key-value store.

/// The run of an agent between two steps.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct StoredAgent {
    /// The wall-clock time at which the run's clock showed 0, in milliseconds since 1970.
    pub(super) epoch: i64,
    pub(super) saved: Option<Saved>,
    /// The reason why the run can never continue, if it cannot.
    pub(super) stopped: Option<String>,
    /// The time of the run for which the current timer is set. Timers for other times were replaced, and are ignored when they fire.
    pub(super) wake: Option<Instant>,
    /// The calls under way, by their ids, each with the number of its plan.
    pub(super) open: BTreeMap<String, u64>,
    /// The number of calls planned so far, from which plans are numbered.
    pub(super) plans: u64,
    /// The number of steps so far that wrote lines of the trace.
    pub(super) parts: u64,
    /// The number of events applied so far.
    pub(super) events: u64,
}

impl StoredAgent {
    pub(super) fn new(epoch: i64) -> Self {
        Self {
            epoch,
            saved: None,
            stopped: None,
            wake: None,
            open: BTreeMap::new(),
            plans: 0,
            parts: 0,
            events: 0,
        }
    }

    /// Converts a wall-clock time in milliseconds since 1970 to a time of the run.
    pub(super) fn time(&self, at: i64) -> Instant {
        u64::try_from(at.saturating_sub(self.epoch)).unwrap_or(0)
    }
}

// The keys of an agent's state in the store.

/// The key of its [`StoredAgent`].
pub(super) const RUN: &str = "run";
/// The key of its [`AgentState`](chartc_runtime::agents::AgentState), which hosts read.
pub(super) const STATE: &str = "state";

/// The key of the reply to the event `id`.
pub(super) fn event(id: &str) -> String {
    format!("event:{id}")
}

/// The key of a slot in the ring of the last `most` event ids. The `nth` event takes the slot of the event that is then forgotten.
pub(super) fn oldest(nth: u64, most: u64) -> String {
    format!("nth:{}", nth % most)
}

/// The key of the lines of the trace that the `nth` step with lines wrote.
pub(super) fn part(nth: u64) -> String {
    format!("lines:{nth}")
}
