//! Runs charts. `chartc-core` decides what happens; this crate does it.
//!
//! A [`Session`] drives one machine, interpreted or generated: it performs the machine's effects, feeds the answers back and
//! fires its deadlines. An [`oracle::Oracle`] answers questions, [`tools::Tools`] run tools, and a [`clock::Clock`] tells the
//! time. Everything that happens is recorded as a [`trace::Line`]. The module [`answer`] reads what models say, whichever oracle
//! asked them. Nothing here knows the grammar.

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
pub mod stepped;
pub mod tools;
pub mod trace;
mod world;

pub use chartc_core as core;
pub use error::RunError;
pub use play::{PlayError, play};
pub use session::{
    AgentId, Backoff, MAX_CALLS, MOST_RETRY_AFTER, Population, Saved, Session, TurnReport,
};
