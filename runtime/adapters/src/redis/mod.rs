//! Events for agents from Redis streams: delivered at least once, applied exactly once.
//!
//! An [`Intake`] reads a stream as a consumer group and sends the events to any [`Engine`](chartc_runtime::agents::Engine). The id of an
//! event is that of its entry, `redis:STREAM:ENTRY`, and an engine takes each id once. An entry is acknowledged after the engine's commit.
//! After a crash the entry is delivered again, to the same process or to the one that takes over its stream, and the engine recognizes it.
//!
//! An agent's events are applied in the order of the stream. One process at a time reads a stream or shard. A process owns it while it
//! renews its claim, and the script that reads also checks the claim. The events of one agent are sent one after another, independently of
//! other agents. A turn for a busy agent stays pending and is tried again. Events overtake it, because the agent may wait for them; later
//! turns do not.
//!
//! For example, with the agent `ada` busy in a turn:
//!
//! ```text
//! XADD agents * agent ada event turn    1: fired, the engine answers "busy"; entry 1 is deferred
//! XADD agents * agent ben event order   2: fired at once, another agent; applied, XACK 2
//! XADD agents * agent ada event turn    3: waits behind 1
//! XADD agents * agent ada event order   4: overtakes 1 and 3; applied, XACK 4
//! (50 ms later)                         1: fired again; applied, XACK 1; then 3
//! ```
//!
//! ```no_run
//! use chartc_adapters::redis::{Intake, Options};
//! # async fn example(engine: impl chartc_runtime::agents::Engine + Sync) -> Result<(), chartc_adapters::redis::IntakeError> {
//! let options = Options::new("redis://127.0.0.1", "orders", "agents").with_shards(4);
//! let stop = std::future::pending();
//! let counts = Intake::new(options)?.run(&engine, stop, |notice| eprintln!("{notice:?}")).await?;
//! # Ok(())
//! # }
//! ```

mod link;
mod session;

use chartc_runtime::agents::Engine;
use link::Link;
use redis::{Client, ErrorKind, RedisError};
use session::{Broken, Session};
use std::hash::{BuildHasher, RandomState};
use std::pin::pin;
use std::time::Duration;

// The outer loop of an intake: connect, work until the connection breaks, pause, connect again.

/// The first and the longest pause before a new connection. It doubles with each failure.
const PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(10));

/// Reads the events of a stream and applies them to the agents of an engine.
pub struct Intake {
    client: Client,
    address: String,
    options: Options,
}

impl Intake {
    /// Creates an intake. It does not connect yet.
    ///
    /// # Errors
    /// The address is not that of a Redis server, or an option cannot work.
    pub fn new(options: Options) -> Result<Self, IntakeError> {
        options.check()?;
        let (client, address) = Link::client(&options)?;
        Ok(Self { client, address, options })
    }

    /// The server's address, without a password.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Applies events until `stop` resolves. Then it waits for the events under way, at most 10 seconds, and releases its streams for other
    /// processes. If the server cannot be reached, the intake tries again, with growing pauses. Dropping the future loses no events: those
    /// that are not acknowledged are delivered again.
    ///
    /// # Errors
    /// The server refuses a command for good, or another process has taken this one's name.
    pub async fn run<E: Engine + Sync>(
        self,
        engine: &E,
        stop: impl Future<Output = ()>,
        mut tell: impl FnMut(Notice),
    ) -> Result<Counts, IntakeError> {
        let mut stop = pin!(stop);
        let mut counts = Counts::default();
        let mut pause = PAUSES.0;
        // A random suffix, since the same consumer name may be used by an earlier process that has not noticed that it was replaced.
        let number = RandomState::new().hash_one(std::process::id());
        let me = format!("{}:{number:016x}", self.options.consumer);
        // Only the first connection takes over streams from an earlier process of the same name. A later one must not take them back from a
        // successor.
        let mut is_first = true;
        loop {
            let opened = tokio::select! {
                biased;
                () = &mut stop => return Ok(counts),
                opened = Link::open(self.client.clone(), &self.options, &me) => opened,
            };
            let worked = match opened {
                Err(fault) => Err(Broken::Redis(fault)),
                Ok(link) => {
                    let mut session = Session::new(link, &self.options, engine, &mut counts);
                    match session.begin(is_first).await {
                        Ok(()) => {
                            is_first = false;
                            pause = PAUSES.0;
                            tell(Notice::Connected { address: self.address.clone() });
                            session.work(stop.as_mut(), &mut tell).await
                        }
                        Err(broken) => Err(broken),
                    }
                }
            };
            let fault = match worked {
                Ok(()) => return Ok(counts),
                Err(Broken::Taken) => return Err(IntakeError::Taken(self.options.consumer)),
                Err(Broken::Redis(fault)) => fault,
            };
            let (address, why) = (self.address.clone(), fault.to_string());
            if lasts(&fault) {
                return Err(IntakeError::Refused { address, why });
            }
            tell(Notice::Lost { address, why, pause });
            // A random delay of up to half the pause is added, so that not all processes reconnect at the same time.
            let more = pause.mul_f64((RandomState::new().hash_one(0) % 512) as f64 / 1024.0);
            tokio::select! {
                biased;
                () = &mut stop => return Ok(counts),
                () = tokio::time::sleep(pause + more) => pause = (pause * 2).min(PAUSES.1),
            }
        }
    }
}

// Notices and counts, with which an intake informs its host.

/// An event of interest to an operator. Texts from entries are quoted as they are, so they may contain control characters.
#[derive(Debug, Clone, PartialEq)]
pub enum Notice {
    /// The connection to the server is established.
    Connected {
        /// The address of the server.
        address: String,
    },
    /// The connection is lost or could not be established. The intake will try again.
    Lost {
        /// The address of the server.
        address: String,
        /// The error.
        why: String,
        /// The pause before the next attempt, without its random part.
        pause: Duration,
    },
    /// This process has taken over the stream with this name.
    Reads(String),
    /// This process has released or lost the stream with this name.
    Leaves(String),
    /// An entry cannot be applied. It was added to the dead stream and acknowledged.
    Dead {
        /// The name of the stream.
        stream: String,
        /// The id of the entry.
        entry: String,
        /// The reason why it cannot be applied.
        reason: String,
    },
    /// The engine has stopped or cannot be reached, for the reason given. Events wait and are tried again.
    EngineAway(String),
}

/// The numbers of entries that an intake has handled, by their outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// The number of events that were applied now.
    pub applied: u64,
    /// The number of events that had been applied in an earlier delivery.
    pub repeated: u64,
    /// The number of entries that went to the dead stream.
    pub dead: u64,
    /// The number of attempts at which an agent was still busy with a turn, so that its next turn had to wait.
    pub busy: u64,
}

// The options of an intake.

/// The streams that an intake reads, and how it reads them. [`Options::new`] sets the defaults.
#[derive(Clone)]
pub struct Options {
    url: String,
    stream: String,
    group: String,
    consumer: String,
    shards: usize,
    idle: Duration,
    window: usize,
    horizon: Duration,
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

    /// Reads the streams `STREAM:0` to `STREAM:N-1` in place of `STREAM`, 4,096 at most. [`shard`](session) returns the one to which
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

    fn check(&self) -> Result<(), IntakeError> {
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
    fn key(&self, shard: usize) -> String {
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

// Errors that end an intake.

/// The reason why an intake ended before it was told to. The messages never contain a password.
#[derive(Debug, thiserror::Error)]
pub enum IntakeError {
    /// The address is not that of a Redis server.
    #[error(
        "this is not the address of a Redis server: write redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE] (TLS is not built in)"
    )]
    Address,
    /// An option has a value that cannot work. The text says which values can.
    #[error("{0}")]
    Option(&'static str),
    /// The server refuses a command, and would refuse it again.
    #[error("the Redis server at {address} refuses: {why}")]
    Refused {
        /// The address of the server, without a password.
        address: String,
        /// The server's message.
        why: String,
    },
    /// A later process has taken over the name of this one as a consumer.
    #[error("another process takes events in as `{0}`: give each a name of its own")]
    Taken(String),
}

/// The codes of errors that stay until a person changes the server or the options.
const LASTING: [&str; 4] = ["NOAUTH", "NOPERM", "WRONGPASS", "WRONGTYPE"];

/// Whether the server would refuse the same command again.
fn lasts(error: &RedisError) -> bool {
    let is_ours =
        matches!(error.kind(), ErrorKind::AuthenticationFailed | ErrorKind::InvalidClientConfig);
    is_ours || error.code().is_some_and(|code| LASTING.contains(&code))
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
