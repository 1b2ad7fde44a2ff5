//! Agents on a [Restate](https://restate.dev) server: an [`Engine`](chartc_runtime::agents::Engine) for one machine or many.
//!
//! A [`Service`] holds the charts and makes the calls; the server keeps the agents and calls the service; a [`Restate`] is the handle
//! through which a host fires. An agent is a virtual object: the server hands it one event at a time, and commits what the event leads to.
//! A call is a service invocation of its own, so a slow model holds no event up. Before a call is made, the server has on record which
//! process is about to make it; if that process has died without a result, the call is in doubt and not made again unless the chart says so.

mod agent;
mod client;
mod error;
mod flights;
mod kept;
mod serve;
mod step;
mod wire;

pub use client::Restate;
pub use error::RestateError;
pub use serve::Service;
