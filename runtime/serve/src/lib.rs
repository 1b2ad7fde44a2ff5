//! Charts as a server. Clients begin runs, send them events, read them and follow their traces: over HTTP with server-sent events, or as
//! tools of the Model Context Protocol. The runs are those of a [`chartc_store::Store`], so they survive the process.
//!
//! Every request needs a token. The answers of people need another one, which a client of the Model Context Protocol, that may be a model,
//! does not have.

mod drive;
mod feed;
mod guard;
mod http;
mod mcp;
mod offer;
mod refusal;
mod runs;
mod token;

pub use feed::Feed;
pub use guard::Gate;
pub use http::serve;
pub use mcp::over_stdio;
pub use offer::{Offer, Part};
pub use refusal::Refusal;
pub use runs::{Given, Order, Runs};
pub use token::{Token, TokenError};
