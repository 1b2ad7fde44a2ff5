//! The configuration of an engine.

use chartc_runtime::Session;
use chartc_runtime::clock::Clock;
use chartc_runtime::driver::Driver;
use chartc_runtime::stepped::{Journal, Making};
use chartc_runtime::trace::Line;
use std::io;
use std::sync::Arc;

type Make<'e, M> = Box<dyn FnMut(Making<'_>) -> Result<Session<M, Journal>, String> + 'e>;
type After<'e, M> = Box<dyn FnMut(&Committed<'_>, &Session<M, Journal>) -> Result<(), String> + 'e>;
type Show<'e> = Box<dyn FnMut(&str, &Line) -> io::Result<()> + 'e>;

/// A run that a commit has changed.
#[derive(Debug, Clone, Copy)]
pub struct Committed<'r> {
    /// The name of the run.
    pub run: &'r str,
    /// The time of its start, in milliseconds since 1970. It distinguishes the run from a pruned one of the same name.
    pub made_ms: i64,
}

/// The configuration of an engine.
pub struct Options<'e, M> {
    /// Creates the session of a run, new or saved.
    pub make: Make<'e, M>,
    /// Makes the calls to models, people and tools.
    pub driver: Arc<dyn Driver>,
    /// The clock of all runs. It must start at [`Store::moment`](crate::Store::moment).
    pub clock: Arc<dyn Clock>,
    /// Whether time passes by itself, as on a real clock. A virtual clock moves only while a host waits for it.
    pub is_real: bool,
    /// Whether people answer by [`Letter::Reply`](crate::Letter::Reply). The driver is not asked for people's answers then.
    pub replies: bool,
    /// The maximum number of calls at the same time.
    pub workers: usize,
    /// Called with each line of a trace after it is committed.
    pub show: Show<'e>,
    /// Called with each run that a commit has changed, before the commit is announced. After a crash it may be called again for the same
    /// commit, so its external effects must be idempotent.
    pub after: After<'e, M>,
    /// The parameters of new runs, as text, stored with each.
    pub given: String,
}
