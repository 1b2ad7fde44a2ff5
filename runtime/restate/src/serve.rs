//! The HTTP server with the handlers that a Restate server calls.

use crate::agent::Agent;
use crate::calls_under_way::{CallsUnderWay, Step};
use crate::step::{Steps, steps};
use chartc_core::host::Machine;
use chartc_runtime::Session;
use chartc_runtime::driver::Driver;
use chartc_runtime::stepped::{Journal, Making};
use hyper::server::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::graceful::GracefulShutdown;
use restate_sdk::endpoint::Endpoint;
use restate_sdk::hyper::HyperEndpoint;
use std::future::Future;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

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
        make: impl Fn(Making<'_>) -> Result<Session<M, Journal>, String> + Send + Sync + 'static,
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
