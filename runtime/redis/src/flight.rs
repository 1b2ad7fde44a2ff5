//! One event on its way to an engine.

use crate::entry::Entry;
use chartc_core::machine::Receipt;
use chartc_runtime::agents::{Engine, EngineError};
use std::time::Duration;

/// The first wait of something that has to be tried again, and the longest.
const WAITS: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));

/// What is under way.
pub(crate) struct Flight {
    pub(crate) shard: usize,
    /// Which time it was that this process took the stream: what comes back of an earlier time changes no order.
    pub(crate) tenure: u64,
    pub(crate) entry: Entry,
    /// The last wait, after the engine was away.
    pub(crate) waited: Duration,
}

/// What came of it.
pub(crate) enum Landing {
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
pub(crate) async fn fly<E: Engine>(engine: &E, flight: Flight) -> (Flight, Landing) {
    if !flight.waited.is_zero() {
        tokio::time::sleep(flight.waited).await;
    }
    let landing = match engine.fire(&flight.entry.agent, flight.entry.event.clone()).await {
        Ok(reply) => match reply.receipt {
            Receipt::Busy => Landing::Busy,
            Receipt::Handled | Receipt::Unhandled | Receipt::Closed | Receipt::Refused => {
                Landing::Taken { is_repeated: reply.is_repeated }
            }
        },
        Err(why @ (EngineError::Event { .. } | EngineError::Stopped { .. })) => {
            Landing::Dead(why.to_string())
        }
        Err(EngineError::Away { why, .. }) => Landing::Away(why),
    };
    (flight, landing)
}
