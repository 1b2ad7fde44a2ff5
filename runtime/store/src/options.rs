//! What an engine is made of.

use chartc_runtime::Session;
use chartc_runtime::clock::Clock;
use chartc_runtime::driver::Driver;
use chartc_runtime::stepped::{Journal, Making};
use chartc_runtime::trace::Line;
use std::io;
use std::sync::Arc;

type Make<'e, M> = Box<dyn FnMut(Making<'_>) -> Result<Session<M, Journal>, String> + 'e>;
type Show<'e> = Box<dyn FnMut(&str, &Line) -> io::Result<()> + 'e>;

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
    /// What hosts gave to the runs that begin.
    pub given: String,
}
