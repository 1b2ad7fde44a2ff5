//! The service that makes calls. A call that this process makes is made once, however often the server asks for it.

use crate::wire::{AGENT, Done, Job, wall};
use chartc_runtime::driver::{Driver, Probe};
use chartc_runtime::stepped::{Outcome, made};
use restate_sdk::context::RequestTarget;
use restate_sdk::prelude::*;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;
use tokio::task::AbortHandle;

/// The calls that this process makes.
pub(crate) struct CallsUnderWay {
    driver: Arc<dyn Driver>,
    /// This process, among all that have made or will make calls.
    boot: u64,
    calls: Mutex<BTreeMap<String, CallUnderWay>>,
}

struct CallUnderWay {
    landed: watch::Receiver<Option<Done>>,
    task: AbortHandle,
}

impl CallsUnderWay {
    pub(crate) fn new(driver: Arc<dyn Driver>, boot: u64) -> Self {
        Self { driver, boot, calls: Mutex::default() }
    }

    fn calls(&self) -> MutexGuard<'_, BTreeMap<String, CallUnderWay>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a call that the process `boot` was about to make, or waits for it.
    async fn land(&self, boot: u64, job: Job) -> Done {
        let (id, plan) = (job.id().to_string(), job.plan);
        let mut landed = self
            .calls()
            .entry(job.key())
            .or_insert_with(|| {
                let (tell, landed) = watch::channel(None);
                let (driver, is_mine) = (self.driver.clone(), boot == self.boot);
                let task = tokio::spawn(async move {
                    let (id, plan) = (job.id().to_string(), job.plan);
                    let outcome = call(driver, is_mine, job).await;
                    tell.send_replace(Some(Done { id, plan, at: wall(), outcome }));
                });
                CallUnderWay { landed, task: task.abort_handle() }
            })
            .landed
            .clone();
        match landed.wait_for(Option::is_some).await {
            Ok(done) => done.clone(),
            Err(_) => None,
        }
        // The driver has panicked, or nobody waits for the result.
        .unwrap_or(Done { id, plan, at: wall(), outcome: None })
    }

    /// Ends a call that nobody waits for.
    fn end(&self, key: &str) {
        if let Some(flight) = self.calls().get(key) {
            flight.task.abort();
        }
    }
}

/// What comes of a call; `None` if nobody knows.
async fn call(driver: Arc<dyn Driver>, is_mine: bool, job: Job) -> Option<Outcome> {
    let id = job.id();
    let probe = if is_mine { Probe::NotMade } else { driver.probe(&id) };
    match probe {
        Probe::NotMade => Some(made(driver, id, job.call).await),
        Probe::Answered(answer) => Some(Outcome::Answer(answer)),
        Probe::Returned(result) => Some(Outcome::Result(result)),
        Probe::Unknown => None,
    }
}

/// The service `Step`.
pub(crate) struct Step(pub(crate) Arc<CallsUnderWay>);

// The server would ask again and again for a call of more than eleven minutes, which is its default.
#[service(
    name = "Step",
    inactivity_timeout = "1h",
    abort_timeout = "1h",
    idempotency_retention = "1d",
    journal_retention = "1d",
    ingress_private,
    invocation_retry_policy(
        initial_interval = "100ms",
        max_interval = "5s",
        max_attempts = 1000000000
    )
)]
impl Step {
    /// Makes a call, and hands its result to the agent.
    #[handler]
    async fn run(&self, ctx: Context<'_>, job: Json<Job>) -> HandlerResult<()> {
        let Json(job) = job;
        let own = self.0.boot;
        let boot: u64 = ctx.run(move || async move { Ok(own) }).name("intent").await?;
        let (calls_under_way, made) = (self.0.clone(), job.clone());
        let landed =
            ctx.run(move || async move { Ok(Json(calls_under_way.land(boot, made).await)) });
        let done = landed.name("call").await?;
        // The server has it.
        self.0.calls().remove(&job.key());
        let target = RequestTarget::object(AGENT, job.agent, "done");
        ctx.request::<Json<Done>, ()>(target, done).send();
        Ok(())
    }

    /// Ends a call that nobody waits for, if this process makes it.
    #[handler]
    #[allow(clippy::unused_async, reason = "handlers are")]
    async fn drop(&self, _ctx: Context<'_>, key: String) -> HandlerResult<()> {
        self.0.end(&key);
        Ok(())
    }
}
