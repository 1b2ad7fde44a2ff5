//! Executes charts: `chartc-core` decides what happens, and this crate performs it.
//!
//! A [`Session`] drives one machine, interpreted or generated: it performs the machine's effects, returns the answers to the machine
//! and fires its deadlines. An [`oracle::Oracle`] answers questions, [`tools::Tools`] execute tools, and a [`clock::Clock`] tells the
//! time. A [`trace::Line`] records each thing that happens. The module [`answer`] reads the texts of all models and people in the
//! same way. Nothing in this crate depends on the grammar.

pub mod agent;
pub mod agents;
pub mod answer;
pub mod budget;
mod call;
pub mod cassette;
pub mod clock;
pub mod data;
pub mod driver;
mod error;
mod executor;
mod form;
pub mod host;
pub mod journal;
pub mod memory;
pub mod oracle;
mod play;
pub mod replay;
mod schema;
mod session;
mod settings;
mod setup;
pub mod simulate;
pub mod stepped;
pub mod tools;
pub mod trace;
mod world;

pub use chartc_core as core;
pub use error::RunError;
pub use play::{PlayError, play};
pub use session::{Backoff, MAX_CALLS, MAX_OUTPUTS, MOST_RETRY_AFTER, Saved, Session, TurnReport};
pub use setup::{RunSetup, machine};
