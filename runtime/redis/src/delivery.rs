//! One event on its way to an engine.

use crate::entry::Entry;
use chartc_core::machine::Receipt;
use chartc_runtime::agents::{Engine, EngineError};
use std::time::Duration;

/// The first wait of something that has to be tried again, and the longest.
const WAITS: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));

/// What is under way.
pub(crate) struct InFlight {
    pub(crate) shard: usize,
    /// Which time it was that this process took the stream: what comes back of an earlier time changes no order.
    pub(crate) lease: u64,
    pub(crate) entry: Entry,
    /// The last wait, after the engine was away.
    pub(crate) waited: Duration,
}

/// What came of it.
pub(crate) enum DeliveryOutcome {
    /// The engine has committed it, now or before.
    Taken { is_repeated: bool },
    /// The agent is busy.
    Busy,
    /// It is of no use.
    Dead(String),
    /// The engine did not answer.
    Away(String),
}

/// The next wait.
pub(crate) fn longer(wait: Duration) -> Duration {
    (wait * 2).clamp(WAITS.0, WAITS.1)
}

/// Fires.
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
            Receipt::Handled | Receipt::Unhandled | Receipt::Closed | Receipt::Refused => {
                DeliveryOutcome::Taken { is_repeated: reply.is_repeated }
            }
        },
        Err(why @ (EngineError::Event { .. } | EngineError::Stopped { .. })) => {
            DeliveryOutcome::Dead(why.to_string())
        }
        Err(EngineError::Away { why, .. }) => DeliveryOutcome::Away(why),
    };
    (flight, outcome)
}
