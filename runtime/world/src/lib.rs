//! Many agents in one world.
//!
//! A world has artifacts with owners and policies, and a double-entry ledger of scrip. Agents act on it only through
//! [`ArtifactHost`](chartc_runtime::agent::ArtifactHost). If an action affects other agents (a message, a new agent), it makes a
//! [`Request`], and whoever runs the agents executes the requests in order. A [`Workshop`] from the embedder compiles the charts that
//! agents write: this crate does not depend on the grammar. The [`engine`] runs the agents.

pub mod artifact;
mod bids;
mod cascade;
mod census;
mod charts;
mod config;
pub mod engine;
mod factory;
mod gate;
mod genesis;
mod keep;
pub mod ledger;
mod rates;
mod record;
mod request;
mod state;
#[cfg(feature = "store")]
mod store;
mod world;

pub use bids::AuctionSettings;
pub use cascade::{Bounds, Cascades, Caused, Deed, Edge, Influence, Link, Tree};
pub use census::{Census, Distribution, InState, Place, Sample, Unit, Unknown};
pub use charts::{
    Ask, Chain, Family, Finding, Form, Fuel, Invocation, Invoke, MOST_DEPTH, MOST_INVOCATIONS,
    Methods, NOT_ALLOWED, NoInvocations, Read, Signature, Workshop, invoke_method, methods,
    open_params, restrict, used,
};
pub use config::{
    AgentEntry, AuctionConfig, Execution, Exhaustion, LlmBudget, Most, MostSpawned, Provider,
    RESOURCES, RateLimiting, Resources, RunFile, RunFileError, Settings, SpawnLimits,
    StatechartConfig, WorkerPool,
};
pub use factory::{
    ANY, AgentFactory, AgentGroup, AgentSet, AgentSpec, AnswerSource, Functions, Machine,
    has_turns, starting_scrip,
};
pub use gate::{Closed, Counted, Gate, Gated};
pub use keep::{Checkpoint, Keep, KeepError, KeptCall, KeptCalls, Loaded};
pub use rates::{Budgets, Exhausted, Refusal, Spent, Uses, Whose, Windows};
pub use request::{Cause, Notice, Request, Spawn};
pub use state::{Moment, Summary};
#[cfg(feature = "store")]
pub use store::WorldStore;
pub use world::{AgentRow, ArtifactMemory, Auctioneer, NewAgent, World};
