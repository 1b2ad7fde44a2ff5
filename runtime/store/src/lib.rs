//! Runs that survive their process: an [`Engine`](chartc_runtime::agents::Engine) that keeps runs, their traces and their calls in one
//! SQLite file.
//!
//! The problem: a process may die between any two instructions, and a model call or a tool that sends money must then neither be lost nor
//! be made twice.
//!
//! The idea: each commit contains everything about one step of a run: the event, the state after it, the new lines of the trace, and the
//! calls to make. A call is made only after two commits: one plans it, and one marks it as started. Its result is committed before
//! anything reads it. For a run whose event `turn` starts a step `triage`, which calls a model:
//!
//! ```text
//! commit 1   event `turn`, the state after it, trace lines 1..4, call `triage` planned
//! commit 2   call `triage` started
//!            (the request to the model)
//! commit 3   the result of `triage`
//! commit 4   the state after the answer, trace lines 5..7
//! ```
//!
//! A crash before commit 2 leaves a call that was never started: it is made. A crash after commit 3 leaves a stored result: it is used. A
//! crash in between leaves a call in doubt: the driver's [`probe`](chartc_runtime::driver::Driver::probe) or the chart decides.

mod backlog;
mod care;
mod command;
mod commit;
mod engine;
mod error;
mod file;
mod kind;
pub mod memory;
mod read;
mod rows;
mod worker;

pub use chartc_runtime::journal::Call;
pub use chartc_runtime::stepped::{Making, PendingLines};
pub use engine::Sqlite;
pub use error::{Outage, StoreError, VERSION};
pub use file::{Safety, Store, wall};
pub use kind::Kind;
pub use read::{Listed, shown};
pub use rows::{Letter, is_whole, put};
pub use rusqlite;
pub use worker::{Committed, Options, Service, Worker};
