//! Input from the network: requests of clients, and messages of tool servers.

mod http;
mod mcp;
mod reply;
mod serving;
mod tools;

pub use http::http;
pub use mcp::mcp;
