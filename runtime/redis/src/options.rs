//! The options of an intake.

use crate::error::IntakeError;
use std::time::Duration;

/// The streams that an intake reads, and how it reads them. [`Options::new`] sets the defaults.
#[derive(Clone)]
pub struct Options {
    pub(crate) url: String,
    pub(crate) stream: String,
    pub(crate) group: String,
    pub(crate) consumer: String,
    pub(crate) shards: usize,
    pub(crate) idle: Duration,
    pub(crate) window: usize,
    pub(crate) horizon: Duration,
}

/// The maximum number of entries under way in a stream. It is bounded by the number of event ids that an engine in memory remembers for
/// each agent, since all of them may be delivered again after a crash.
const WINDOW: usize = 1_024;

impl Options {
    /// Options for one stream, read by the group as the consumer `chartc`. `url` is `redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE]`.
    pub fn new(url: &str, stream: &str, group: &str) -> Self {
        Self {
            url: url.to_owned(),
            stream: stream.to_owned(),
            group: group.to_owned(),
            consumer: "chartc".to_owned(),
            shards: 1,
            idle: Duration::from_secs(10),
            window: WINDOW,
            horizon: Duration::from_hours(7 * 24),
        }
    }

    /// Sets the name of this process among those that share the group. A process that restarts under the same name takes its old streams
    /// back at once. Two processes at the same time need two names.
    #[must_use]
    pub fn with_consumer(self, name: &str) -> Self {
        Self { consumer: name.to_owned(), ..self }
    }

    /// Reads the streams `STREAM:0` to `STREAM:N-1` in place of `STREAM`, 4,096 at most. [`shard`](crate::shard) returns the one to which
    /// an agent's events belong.
    #[must_use]
    pub fn with_shards(self, shards: usize) -> Self {
        Self { shards, ..self }
    }

    /// Sets the time without a heartbeat after which other processes take over this one's streams, 10 seconds by default and at least 100
    /// milliseconds.
    #[must_use]
    pub fn with_idle(self, idle: Duration) -> Self {
        Self { idle, ..self }
    }

    /// Sets the maximum number of entries of one stream that are under way at once, 1,024 by default and at most.
    #[must_use]
    pub fn with_window(self, window: usize) -> Self {
        Self { window, ..self }
    }

    /// Sets how long the engine remembers the ids of events, 7 days by default. An entry that was applied but not acknowledged, and is
    /// delivered again after that time, is applied twice. So the horizon must be longer than the intake is ever down.
    #[must_use]
    pub fn with_horizon(self, horizon: Duration) -> Self {
        Self { horizon, ..self }
    }

    pub(crate) fn check(&self) -> Result<(), IntakeError> {
        let fault = if self.stream.is_empty() || self.group.is_empty() || self.consumer.is_empty() {
            "a stream, a group and a consumer have names that are not empty"
        } else if self.shards == 0 || self.shards > 4_096 {
            "the number of shards is between 1 and 4096"
        } else if self.window == 0 || self.window > WINDOW {
            "the window is between 1 and 1024 entries"
        } else if self.horizon < Duration::from_secs(1) {
            "the horizon is at least a second"
        } else if self.idle < Duration::from_millis(100) {
            "the idle time is at least 100 milliseconds"
        } else {
            return Ok(());
        };
        Err(IntakeError::Option(fault))
    }

    /// The key of a shard's stream.
    pub(crate) fn key(&self, shard: usize) -> String {
        if self.shards == 1 { self.stream.clone() } else { format!("{}:{shard}", self.stream) }
    }
}

/// The shard, out of `shards`, to which the events of an agent belong: the CRC-32 (as in zlib) of the agent's name, modulo `shards`.
/// Producers may use another function, as long as all events of an agent go to the same stream.
pub fn shard(agent: &str, shards: usize) -> usize {
    let mut sum = u32::MAX;
    for byte in agent.bytes() {
        sum ^= u32::from(byte);
        for _ in 0..8 {
            sum = (sum >> 1) ^ (0xEDB8_8320 * (sum & 1));
        }
    }
    !sum as usize % shards.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_belong_where_zlib_puts_them() {
        // `zlib.crc32(b"…") % 2**31` in Python.
        let most = 1 << 31;
        assert_eq!(shard("123456789", most), 0xCBF4_3926 % most);
        assert_eq!(shard("", most), 0);
        assert!((0..100).all(|nth| shard(&nth.to_string(), 3) < 3));
    }

    #[test]
    fn options_without_meaning_are_refused() {
        let good = || Options::new("redis://localhost", "s", "g");
        assert!(good().check().is_ok());
        let bad = [
            good().with_shards(0),
            good().with_window(0),
            good().with_consumer(""),
            good().with_idle(Duration::ZERO),
            good().with_horizon(Duration::ZERO),
        ];
        assert!(bad.iter().all(|options| options.check().is_err()));
    }
}
