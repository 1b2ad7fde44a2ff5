//! The language: from text to model, findings, pictures and Rust, and what a chart means, interpreted and generated.
#![allow(
    clippy::disallowed_methods,
    reason = "tests read the repository, its environment and start programs"
)]

mod agent_components;
mod agent_findings;
mod agent_front;
mod allow;
mod batch;
mod behaviour;
mod cases;
mod chart_front;
mod check;
mod checks;
mod conformance;
mod data_flow;
mod differential;
mod disguise;
mod dot;
mod drawn;
mod explore;
mod faults;
mod fix;
#[path = "../support/found.rs"]
mod found;
mod fuzzed;
mod grammar;
mod guards;
mod guessing;
mod hostile;
mod idle;
mod interpreter;
mod listed;
mod lower;
mod mermaid;
mod notation;
mod outline;
mod print;
mod rows;
mod rust_emit;
mod scxml;
mod semantics;
mod shared_agents;
mod shipped;
mod soundness;
