//! The delivery of one event to an engine.

use crate::entry::Entry;
use chartc_core::machine::Receipt;
use chartc_runtime::agents::{Engine, EngineError};
use std::time::Duration;

/// The first and the longest pause before a delivery is tried again. It doubles from one attempt to the next.
const WAITS: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));

/// An event that is being delivered.
pub(crate) struct InFlight {
    pub(crate) shard: usize,
    /// The number of the lease under which the entry was read. If this process has lost the stream since and taken it again, results of an
    /// earlier lease must not change the order of the new one.
    pub(crate) lease: u64,
    pub(crate) entry: Entry,
    /// The pause before this delivery: zero at first, longer after each attempt that found the engine unreachable or the agent busy.
    pub(crate) waited: Duration,
}

/// The outcome of a delivery.
pub(crate) enum DeliveryOutcome {
    /// The engine has committed the event, now or in an earlier delivery.
    Taken { is_repeated: bool },
    /// The agent is in a turn and has not taken the event.
    Busy,
    /// The agent can never take the event, for the reason given.
    Dead(String),
    /// The engine did not answer, for the reason given. The event may have been applied.
    Away(String),
}

/// Returns the pause that follows a pause of `wait`.
pub(crate) fn longer(wait: Duration) -> Duration {
    (wait * 2).clamp(WAITS.0, WAITS.1)
}

/// Waits for the pause, if there is one, and fires the event at its agent.
pub(crate) async fn deliver<E: Engine>(
    engine: &E,
    flight: InFlight,
) -> (InFlight, DeliveryOutcome) {
    if !flight.waited.is_zero() {
        tokio::time::sleep(flight.waited).await;
    }
    let outcome = match engine.fire(&flight.entry.agent, flight.entry.event.clone()).await {
        Ok(reply) => match reply.receipt {
            Receipt::Busy => DeliveryOutcome::Busy,
            _ => DeliveryOutcome::Taken { is_repeated: reply.is_repeated },
        },
        Err(why @ (EngineError::Event { .. } | EngineError::Stopped { .. })) => {
            DeliveryOutcome::Dead(why.to_string())
        }
        Err(EngineError::Away { why, .. }) => DeliveryOutcome::Away(why),
    };
    (flight, outcome)
}
