//! The command, as users start it: what it prints, what it writes, and how it ends.
#![allow(
    clippy::disallowed_methods,
    reason = "tests read the repository, its environment and start its programs"
)]

#[cfg(feature = "mcp")]
mod agents;
// It shows the commands of the default build.
#[cfg(all(feature = "mcp", feature = "serve", not(feature = "otel")))]
mod book;
mod cli;
mod cookbook;
mod cost;
mod docs;
#[cfg(feature = "run")]
mod earlier;
mod files;
mod formats;
#[cfg(feature = "run")]
#[path = "../support/found.rs"]
mod found;
mod hostile;
#[cfg(feature = "redis")]
mod intake;
mod lints;
mod no_model;
#[cfg(feature = "otel")]
mod otel;
#[cfg(feature = "providers")]
mod providers;
#[cfg(feature = "run")]
#[allow(dead_code, unreachable_pub, reason = "another crate's file")]
#[path = "../generated/src/random.rs"]
mod random;
mod reports;
#[cfg(feature = "run")]
mod run;
mod runs;
#[cfg(feature = "run")]
mod scenario;
mod schemas;
#[cfg(feature = "run")]
mod scxml;
#[cfg(all(feature = "serve", unix))]
mod serve;
mod settings;
mod start;
#[cfg(feature = "sqlite")]
mod store;
mod team;
#[cfg(feature = "mcp")]
mod tools;
mod tour;
#[cfg(feature = "run")]
mod world;
