//! What an intake is told.

use crate::error::IntakeError;
use std::time::Duration;

/// Which streams an intake reads, and how. The defaults are those of [`Options::new`].
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

/// Ids that an engine in memory keeps for each agent bound how many entries may be under way.
const WINDOW: usize = 1_024;

impl Options {
    /// One stream, read as `chartc` by the group. `url` is `redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE]`.
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

    /// The name of this process among those that share the group. One that starts again under its name goes on at once with what it had;
    /// two at the same time need two names.
    #[must_use]
    pub fn with_consumer(self, name: &str) -> Self {
        Self { consumer: name.to_owned(), ..self }
    }

    /// Reads `STREAM:0` to `STREAM:N-1` in place of `STREAM`. [`shard`](crate::shard) says where an agent's events belong.
    #[must_use]
    pub fn with_shards(self, shards: usize) -> Self {
        Self { shards, ..self }
    }

    /// How long a process may be silent before others take over its streams, 10 seconds by default.
    #[must_use]
    pub fn with_idle(self, idle: Duration) -> Self {
        Self { idle, ..self }
    }

    /// Entries of one stream that may be under way at once, 1,024 by default.
    #[must_use]
    pub fn with_window(self, window: usize) -> Self {
        Self { window, ..self }
    }

    /// How long the engine keeps the ids of events, 7 days by default. An entry that is delivered again later than that, since it was taken
    /// and never acknowledged, would be applied twice; so it has to be longer than any time that the intake stands still.
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

    /// The stream of a shard.
    pub(crate) fn key(&self, shard: usize) -> String {
        if self.shards == 1 { self.stream.clone() } else { format!("{}:{shard}", self.stream) }
    }
}

/// The shard, of so many, to which the events of an agent belong: CRC-32 (that of zlib) of its name, modulo the number. Whoever adds
/// entries may as well use another function, as long as it puts all of an agent's events into one stream.
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
