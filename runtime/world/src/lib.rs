//! Many agents in one world.
//!
//! A world has artifacts with owners and policies, and a ledger in which scrip only moves. Agents reach it through one door,
//! [`ArtifactHost`](chartc_runtime::agent::ArtifactHost). What an action wants of other agents (a message, a new agent) is a
//! [`Request`], which whoever runs the agents carries out in order. Charts that agents write are compiled by a [`Workshop`], which the
//! embedder gives: this crate knows no grammar.

mod cascade;
mod census;
mod request;
mod workshop;

pub use cascade::{Bounds, Cascades, Caused, Deed, Edge, Influence, Link, Tree};
pub use census::{Census, Distribution, InState, Place, Sample, Unit, Unknown};
pub use request::{Cause, Notice, Request};
pub use workshop::{Family, Finding, Form, Read, Workshop};
