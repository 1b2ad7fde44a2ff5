//! Many agents in one world.
//!
//! A world has artifacts with owners and policies, and a double-entry ledger of scrip. Agents act on it only through
//! [`ArtifactHost`](chartc_runtime::agent::ArtifactHost). If an action affects other agents (a message, a new agent), it makes a
//! [`Request`], and whoever runs the agents executes the requests in order. A [`Workshop`] from the embedder compiles the charts that
//! agents write: this crate does not depend on the grammar. The [`engine`] runs the agents.

pub mod artifact;
mod auction;
mod bids;
mod cascade;
mod census;
mod config;
pub mod engine;
mod gate;
mod genesis;
mod keep;
pub mod ledger;
mod memory;
mod method;
mod rates;
mod request;
mod settings;
mod state;
mod workshop;
mod world;

pub use auction::Auctioneer;
pub use bids::AuctionSettings;
pub use cascade::{Bounds, Cascades, Caused, Deed, Edge, Influence, Link, Tree};
pub use census::{Census, Distribution, InState, Place, Sample, Unit, Unknown};
pub use config::{
    AgentEntry, AuctionConfig, Execution, Exhaustion, LlmBudget, Most, MostSpawned, Provider,
    RESOURCES, RateLimiting, Resources, RunFile, RunFileError, StatechartConfig, WorkerPool,
};
pub use gate::{Closed, Counted, Gate, Gated};
pub use keep::{Checkpoint, Journaled, Keep, KeepError, KeptCall, Loaded};
pub use memory::ArtifactMemory;
pub use method::{
    Ask, Chain, Fuel, Invocation, Invoke, MOST_DEPTH, MOST_INVOCATIONS, Methods, NoInvocations,
    Signature, invoke_method, methods, open_params,
};
pub use rates::{Budgets, Exhausted, Refusal, Spent, Uses, Whose, Windows};
pub use request::{Cause, Notice, Request, Spawn};
pub use settings::{Settings, SpawnLimits};
pub use state::{Moment, Summary};
pub use workshop::{Family, Finding, Form, NOT_ALLOWED, Read, Workshop, restrict, used};
pub use world::{AgentRow, NewAgent, World};
