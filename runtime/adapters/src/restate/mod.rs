//! Agents on a [Restate](https://restate.dev) server: an [`Engine`](chartc_runtime::agents::Engine) for one machine or many.
//!
//! A [`Service`] has the charts and makes the calls. The server keeps the agents and calls the service. A host sends events through a
//! [`Restate`]. An agent is a virtual object: the server gives it one event at a time, and commits the consequences of the event. Each call
//! is a separate service invocation, so a slow model does not delay events. Before a call is made, the server records which process will
//! make it. If that process dies without a result, the call is in doubt, and it is not repeated unless the chart says so.
//!
//! ```text
//! host             fire(ada, order)       -> server: object Agent/ada, handler fire
//! server           fire                   -> service: one step; the server stores the new state and sends
//!                                            Step.run(call 1), without waiting for it; the host has its reply
//! server           Step.run(call 1)       -> service: records its process id, makes the call, the server stores the result
//! server           Agent/ada, done        -> service: the next step, with the result of the call
//! ```

mod agent;
mod client;
mod serve;

pub use client::{Restate, RestateError};
pub use serve::Service;
