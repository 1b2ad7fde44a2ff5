//! Runs, without the command: sessions, oracles, replay, and runs in a store.
#![allow(
    clippy::disallowed_methods,
    reason = "tests read the repository, its environment and start programs"
)]

mod agent_traces;
#[allow(unreachable_pub, reason = "another crate's file")]
#[path = "../generated/src/random.rs"]
mod random;
mod run;
mod store;
