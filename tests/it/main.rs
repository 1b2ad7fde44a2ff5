//! All integration tests.
#![allow(
    clippy::disallowed_methods,
    reason = "tests read the repository, its environment and start its programs"
)]

mod agent_components;
mod agent_findings;
mod agent_front;
mod agent_traces;
#[cfg(feature = "mcp")]
mod agents;
mod allow;
mod batch;
mod behaviour;
// It shows the commands of the default build.
#[cfg(all(feature = "mcp", feature = "serve", not(feature = "otel")))]
mod book;
mod cases;
mod chart_front;
mod check;
mod checks;
mod cli;
mod conformance;
mod cookbook;
mod cost;
mod data_flow;
mod differential;
mod disguise;
mod docs;
mod dot;
mod drawn;
#[cfg(feature = "run")]
mod earlier;
mod explore;
#[cfg(feature = "run")]
mod faults;
mod files;
mod fix;
mod formats;
mod fuzzed;
mod guards;
mod guessing;
mod hostile;
mod idle;
#[cfg(feature = "redis")]
mod intake;
mod interpreter;
mod lints;
mod lower;
mod mermaid;
mod no_model;
mod notation;
#[cfg(feature = "otel")]
mod otel;
mod outline;
mod print;
mod project;
#[cfg(feature = "providers")]
mod providers;
mod reports;
mod rows;
#[cfg(feature = "run")]
mod run;
mod runs;
mod rust_emit;
#[cfg(feature = "run")]
mod scenario;
mod schemas;
mod scxml;
mod semantics;
#[cfg(all(feature = "serve", unix))]
mod serve;
mod settings;
mod shared_agents;
mod shipped;
mod soundness;
mod start;
#[cfg(feature = "sqlite")]
mod store;
mod team;
#[cfg(feature = "mcp")]
mod tools;
mod tour;
#[cfg(feature = "run")]
mod workshop;
#[cfg(feature = "run")]
mod world;
