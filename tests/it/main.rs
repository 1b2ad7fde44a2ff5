//! All integration tests.
#![allow(
    clippy::disallowed_methods,
    reason = "tests read the repository, its environment and start its programs"
)]

mod agent_front;
mod architecture;
mod behaviour;
mod chart_front;
mod docs;
mod dot;
mod licences;
mod lints;
mod lower;
mod print;
mod project;
mod reports;
mod tour;
