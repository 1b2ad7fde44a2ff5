//! The HTTP server with the handlers that a Restate server calls.

use super::agent::{Agent, Steps, steps};
use super::client::{AGENT, Done, Job, wall};
use chartc_core::host::Machine;
use chartc_runtime::Session;
use chartc_runtime::driver::{Driver, Probe};
use chartc_runtime::journal::{Outcome, made};
use chartc_runtime::stepped::{Making, PendingLines};
use hyper::server::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::graceful::GracefulShutdown;
use restate_sdk::context::RequestTarget;
use restate_sdk::endpoint::Endpoint;
use restate_sdk::hyper::HyperEndpoint;
use restate_sdk::prelude::*;
use std::collections::BTreeMap;
use std::future::Future;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::AbortHandle;

/// The time for which a service that ends waits for the calls that it is making.
const PATIENCE: Duration = Duration::from_mins(1);

/// The charts of agents, and the driver that makes their calls.
pub struct Service {
    steps: Arc<Steps>,
    calls_under_way: Arc<CallsUnderWay>,
}

impl Service {
    /// Creates a service for agents whose sessions `make` creates. The `driver` makes their calls.
    pub fn new<M: Machine + 'static>(
        make: impl Fn(Making<'_>) -> Result<Session<M, PendingLines>, String> + Send + Sync + 'static,
        driver: Arc<dyn Driver>,
    ) -> Self {
        let steps = steps(make, driver.name());
        let boot = RandomState::new().build_hasher().finish();
        Self { steps, calls_under_way: Arc::new(CallsUnderWay::new(driver, boot)) }
    }

    /// Serves until the future resolves, and then until the calls under way have ended, for at most a minute.
    pub async fn serve(self, listener: TcpListener, until: impl Future<Output = ()>) {
        let Self { steps, calls_under_way } = self;
        let endpoint = Endpoint::builder().bind(Agent(steps)).bind(Step(calls_under_way)).build();
        let endpoint = HyperEndpoint::new(endpoint);
        let graceful = GracefulShutdown::new();
        let mut until = pin!(until);
        loop {
            tokio::select! {
                accepted = listener.accept() => {
                    let Ok((stream, _)) = accepted else { continue };
                    // With Nagle's algorithm, each small frame waits up to 40 ms for the acknowledgement of the one before.
                    if stream.set_nodelay(true).is_err() {
                        continue;
                    }
                    let connection = http2::Builder::new(TokioExecutor::new())
                        .serve_connection(TokioIo::new(stream), endpoint.clone());
                    let connection = graceful.watch(connection);
                    // An error ends only this connection: the server opens another one and repeats its requests.
                    tokio::spawn(async move { drop(connection.await) });
                }
                () = &mut until => break,
            }
        }
        drop(listener);
        let over = graceful.shutdown();
        // A connection stays open until the calls whose results it waits for have ended.
        drop(tokio::time::timeout(PATIENCE, over).await);
    }
}

// The service that makes calls. Within one process a call is made once, however often the server repeats the request for it.

/// The calls that this process is making.
pub(super) struct CallsUnderWay {
    driver: Arc<dyn Driver>,
    /// A random number that identifies this process among all that make calls, earlier ones included.
    boot: u64,
    calls: Mutex<BTreeMap<String, CallUnderWay>>,
}

struct CallUnderWay {
    landed: watch::Receiver<Option<Done>>,
    task: AbortHandle,
}

impl CallsUnderWay {
    pub(super) fn new(driver: Arc<dyn Driver>, boot: u64) -> Self {
        Self { driver, boot, calls: Mutex::default() }
    }

    fn calls(&self) -> MutexGuard<'_, BTreeMap<String, CallUnderWay>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the call of `job`, or waits for it if it is already being made. `boot` is the process that the server recorded as the one that
    /// would make it.
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
        // The driver has panicked, or the call was cancelled: its result is unknown.
        .unwrap_or(Done { id, plan, at: wall(), outcome: None })
    }

    /// Cancels a call whose result nobody waits for.
    fn end(&self, key: &str) {
        if let Some(flight) = self.calls().get(key) {
            flight.task.abort();
        }
    }
}

/// Returns the outcome of a call; `None` if it is unknown whether the call was made. A call that another process was about to make is not
/// made again: the driver is asked what became of it.
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

/// The handlers of the service `Step`.
pub(super) struct Step(pub(super) Arc<CallsUnderWay>);

// The timeouts are an hour, since by default the server would repeat calls that take longer than eleven minutes.
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
        // The server records this process before the call is made. After a restart it replays the number of the process that may have made
        // it.
        let boot: u64 = ctx.run(move || async move { Ok(own) }).name("intent").await?;
        let (calls_under_way, made) = (self.0.clone(), job.clone());
        let landed =
            ctx.run(move || async move { Ok(Json(calls_under_way.land(boot, made).await)) });
        let done = landed.name("call").await?;
        // The server has stored the result, so the call can be forgotten here.
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
