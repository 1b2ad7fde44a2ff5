//! What an engine is made of.

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

/// A run whose state was committed.
#[derive(Debug, Clone, Copy)]
pub struct Committed<'r> {
    /// Its name.
    pub run: &'r str,
    /// When it was begun, in milliseconds since 1970: a run of the same name that was forgotten was another one.
    pub made_ms: i64,
}

/// How an engine works.
pub struct Options<'e, M> {
    /// Makes the session of a run.
    pub make: Make<'e, M>,
    /// Makes the calls.
    pub driver: Arc<dyn Driver>,
    /// Tells the time, from [`Store::moment`](crate::Store::moment) on.
    pub clock: Arc<dyn Clock>,
    /// Whether the clock goes on by itself.
    pub is_real: bool,
    /// Whether people answer by [`Letter::Reply`](crate::Letter::Reply), and the driver is not asked for them.
    pub replies: bool,
    /// Calls under way at once, at most.
    pub workers: usize,
    /// Shown each line of a trace once it is committed.
    pub show: Show<'e>,
    /// Called with each run that a commit has changed, before anybody is told of it. After a crash it may be called again for the same commit:
    /// what it does elsewhere has to be the same if it is done twice.
    pub after: After<'e, M>,
    /// What hosts gave to the runs that begin.
    pub given: String,
}
