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

mod intake;
mod link;
mod session;

pub use intake::{Counts, Intake, IntakeError, Notice, Options, shard};
