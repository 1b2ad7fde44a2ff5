//! Charts as a server. Clients begin runs, send events, read runs and follow their traces: over HTTP with server-sent events, or by tools of
//! the Model Context Protocol. A [`chartc_store::Store`] keeps the runs, so they survive the process.
//!
//! Every request needs a token. Answers for people need a second token. Clients of the Model Context Protocol do not have it, because they
//! may be models.

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
pub use guard::AccessRules;
pub use http::serve;
pub use mcp::over_stdio;
pub use offer::{Offer, Part};
pub use refusal::Refusal;
pub use runs::{Order, RunRequest, Runs};
pub use token::{Token, TokenError};
