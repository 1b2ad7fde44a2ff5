//! Runs charts: what `chartc-core` decides, this crate does.
//!
//! A [`Session`] drives one machine, interpreted or generated: it performs the machine's effects, feeds the answers back and ticks
//! its deadlines. Who answers is an [`oracle::Oracle`], who has tools a [`tools::Tools`], what time it is a [`clock::Clock`], and everything that happens is a
//! [`trace::Line`]. What a model says is read by one [`answer`] for all oracles. Nothing here knows the grammar.

pub mod agent;
pub mod agents;
pub mod answer;
pub mod budget;
mod call;
pub mod clock;
pub mod data;
pub mod driver;
mod error;
mod executor;
mod form;
pub mod host;
pub mod memory;
pub mod oracle;
mod play;
pub mod replay;
mod schema;
mod session;
pub mod simulate;
pub mod tools;
pub mod trace;
mod world;

pub use chartc_core as core;
pub use error::RunError;
pub use play::{PlayError, play};
pub use session::{
    AgentId, Backoff, MAX_CALLS, MOST_RETRY_AFTER, Population, Saved, Session, TurnReport,
};
