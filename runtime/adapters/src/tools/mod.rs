//! Tools for charts: servers of the Model Context Protocol, commands and HTTP endpoints.
//!
//! A [`Configuration`] lists the tools. [`Pool::start`] starts the servers, [`Pool::check`] compares their tools with those that charts
//! declare, and the pool implements [`Tools`](chartc_runtime::tools::Tools) for the run. It needs a tokio runtime with network and timer,
//! and a clock that lets real time pass.
//!
//! ```text
//! tools.toml   [servers.files] command = "npx"     the server `files`, started as a process
//!              [tools.greet] command = ["echo"]     the tool `greet`, a program that is started for each call
//! start        initialize, tools/list               `files` has read_file(path: string)
//! check        tool files.read_file(path: Int)      a finding: `path` is a string on the server
//! call         files.read_file("a.txt")             tools/call read_file, its result read as the type that the chart declares
//! ```
//!
//! Servers are not trusted: every wait has a deadline, every text and list has a bound, a process gets only a few variables of the
//! environment, and its child processes end with it.

mod check;
mod command;
mod config;
mod declare;
mod pool;
mod process;
mod result;
mod server;

pub use check::{Finding, FindingKind};
pub use config::{ConfigError, Configuration, Place};
pub use pool::{Fault, Pool, ServerView, ToolView};
