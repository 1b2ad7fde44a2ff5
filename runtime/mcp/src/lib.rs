//! Tools for charts: servers of the Model Context Protocol, commands and HTTP endpoints.
//!
//! A [`Configuration`] says which tools there are. [`Pool::start`] starts the servers, [`Pool::check`] compares their tools with those that
//! charts declare, and the pool is the run's [`Tools`](chartc_runtime::tools::Tools). It needs a tokio runtime with its network and timer, and
//! a clock that lets real time pass.
//!
//! Servers are not trusted: every wait has an end, every text and list a bound, a process gets few variables of the environment, and what it
//! has started ends with it.

mod check;
mod command;
mod config;
mod declare;
mod endpoint;
mod fault;
mod holes;
mod link;
mod listing;
mod pool;
mod process;
mod reach;
mod result;
mod server;
mod shape;
mod view;
mod waiting;
mod wire;

pub use check::{Finding, FindingKind};
pub use config::{ConfigError, Configuration, Place};
pub use fault::Fault;
pub use pool::Pool;
pub use view::{ServerView, ToolView};
