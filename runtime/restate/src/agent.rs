//! The virtual object `Agent`. The server gives it one event at a time and stores the consequences of the event one by one, each exactly
//! once.

use crate::kept::{RUN, STATE, StoredAgent, event, oldest, part};
use crate::step::{Steps, Taken, What};
use crate::wire::{AGENT, Done, EventReply, Fired, Job, STEP, wall};
use chartc_core::machine::{Instant, Receipt};
use chartc_runtime::agents::{AgentState, Reply, SEEN};
use chartc_runtime::trace::Line;
use restate_sdk::context::RequestTarget;
use restate_sdk::prelude::*;
use std::sync::Arc;
use std::time::Duration;

/// The handlers of the virtual object `Agent`.
pub(crate) struct Agent(pub(crate) Arc<Steps>);

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
