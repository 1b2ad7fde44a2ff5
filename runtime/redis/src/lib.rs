//! Events for the agents of charts from Redis streams: at least once in, applied exactly once.
//!
//! An [`Intake`] reads a stream as a consumer group and fires at any [`Engine`](chartc_runtime::agents::Engine). The id of an event is
//! that of its entry, `redis:STREAM:ENTRY`, and an engine takes no id twice. An entry is acknowledged after the engine's commit. After a
//! crash it is delivered again, to the same process or to the one that takes over its stream, and the engine knows it.
//!
//! An agent's events are applied in the order of the stream. A stream, or each shard of it, is read by one process at a time; a process
//! holds it for as long as it shows itself, and reads within the script that checks this. The events of one agent are fired one after
//! another, those of others beside them. A turn for which the agent is busy stays pending and is tried again; events go past it, since
//! they may be what the agent waits for, and later turns do not.
//!
//! ```no_run
//! use chartc_redis::{Intake, Options};
//! # async fn example(engine: impl chartc_runtime::agents::Engine + Sync) -> Result<(), chartc_redis::IntakeError> {
//! let options = Options::new("redis://127.0.0.1", "orders", "agents").with_shards(4);
//! let stop = std::future::pending();
//! let counts = Intake::new(options)?.run(&engine, stop, |notice| eprintln!("{notice:?}")).await?;
//! # Ok(())
//! # }
//! ```

mod entry;
mod error;
mod flight;
mod intake;
mod landing;
mod lanes;
mod link;
mod notice;
mod options;
mod session;
mod shard;

pub use error::IntakeError;
pub use intake::Intake;
pub use notice::{Counts, Notice};
pub use options::{Options, shard};
