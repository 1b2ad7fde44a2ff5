//! Tools for charts: servers of the Model Context Protocol, commands and HTTP endpoints.
//!
//! A [`Configuration`] lists the tools. [`Pool::start`] starts the servers, [`Pool::check`] compares their tools with those that
//! charts declare, and the pool implements [`Tools`](chartc_runtime::tools::Tools) for the run. It needs a tokio runtime with network and
//! timer, and a clock that lets real time pass.
//!
//! Servers are not trusted: every wait has a deadline, every text and list has a bound, a process gets only a few variables of the
//! environment, and its child processes end with it.

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
