//! Runs that survive their process: an [`Engine`](chartc_runtime::agents::Engine) that keeps runs, their traces and their calls in one
//! SQLite file.
//!
//! Each commit contains everything about one step of a run: the event, the state after it, the lines of the trace, and the calls to make.
//! A call is made only after two commits: one plans it, and one marks it as started. Its result is committed before anything reads it. So
//! no call is repeated by accident, and none is lost. After a crash, a call was never started (it is made), or its result is stored (it
//! is used), or it is in doubt (the driver's [`probe`](chartc_runtime::driver::Driver::probe) or the chart decides).

mod broken;
mod care;
mod command;
mod commit;
mod engine;
mod error;
mod file;
mod fork;
mod inbox;
mod kind;
mod look;
mod options;
mod read;
mod reply;
mod row;
mod rows;
mod run;
mod worker;
mod world;

pub use chartc_runtime::stepped::{Call, Journal, Making};
pub use engine::Sqlite;
pub use error::{StoreError, VERSION};
pub use file::{Safety, Store};
pub use inbox::Letter;
pub use kind::Kind;
pub use options::{Committed, Options};
pub use read::Listed;
pub use worker::Worker;
pub use world::WorldStore;
