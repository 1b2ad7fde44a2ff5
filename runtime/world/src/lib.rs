//! Many agents in one world.
//!
//! A world has artifacts with owners and policies, and a ledger in which scrip only moves. Agents reach it through one door,
//! [`ArtifactHost`](chartc_runtime::agent::ArtifactHost). What an action wants of other agents (a message, a new agent) is a
//! [`Request`], which whoever runs the agents carries out in order. Charts that agents write are compiled by a [`Workshop`], which the
//! embedder gives: this crate knows no grammar.

mod config;
mod gate;
mod keep;
mod rates;
mod request;
mod workshop;

pub use config::{
    AgentEntry, AuctionConfig, Execution, Exhaustion, LlmBudget, Most, MostSpawned, Provider,
    RESOURCES, RateLimiting, Resources, RunFile, RunFileError, StatechartConfig, WorkerPool,
};
pub use gate::{Closed, Counted, Gate, Gated};
pub use keep::{Checkpoint, Journaled, Keep, KeepError, KeptCall, Loaded};
pub use rates::{Budgets, Exhausted, Refusal, Spent, Uses, Whose, Windows};
pub use request::{Cause, Notice, Request};
pub use workshop::{Family, Finding, Form, Read, Workshop};
