//! Worlds, without the command: many agents, what they own, and what the charts of artifacts do.
#![allow(
    clippy::disallowed_methods,
    reason = "tests read the repository, its environment and start programs"
)]

mod alone;
mod campaign;
mod census;
mod charts;
mod door;
mod hostile;
mod makers;
mod memory;
mod record;
mod snapshot;
mod view;
mod workshop;
