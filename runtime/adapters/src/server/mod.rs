//! Serves charts over the network. Clients start runs, send events, read runs and follow their traces: over HTTP with server-sent events,
//! or as tools of the Model Context Protocol (MCP). A [`chartc_store::Store`] keeps the runs, so they survive the process.
//!
//! Every request needs a token. Answering on behalf of a person needs a second token, which MCP clients never have, because they may be
//! models.
//!
//! The problem: a chart runs inside one process and waits there for events and people, who are elsewhere. The idea: the store is the only
//! state; each request is one operation of its engine, and one task per run (`drive`) makes the turns. A server of the chart `Ticket`:
//!
//! ```text
//! POST /runs {"run":"t1"}                         201: the run is stored, and a task makes its turns until it waits
//! GET  /runs/t1/stream                            server-sent events: each line of the trace as soon as it is committed
//! POST /runs/t1/events {"event":"reply","data":{"text":"hello"}}   {"receipt":"handled",…}: the event and its effects are committed
//! GET  /runs/t1                                   the configuration, the variables, the open questions and, at the end, the result
//! ```

mod connections;
mod guard;
mod http;
mod mcp;
mod runs;

pub use guard::{AccessRules, Client, Token, TokenError};
pub use http::serve;
pub use mcp::over_stdio;
pub use runs::{Feed, Limits, Offer, Order, Part, Refusal, RunRequest, Runs};
