//! What an engine is made of.

use chartc_runtime::clock::Clock;
use chartc_runtime::driver::Driver;
use chartc_runtime::trace::{self, Line};
use chartc_runtime::{Saved, Session};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// The lines of a run's trace that are not committed yet.
#[derive(Debug, Clone, Default)]
pub struct Journal(Arc<Mutex<Vec<Line>>>);

impl Journal {
    pub(crate) fn take(&self) -> Vec<Line> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl trace::Sink for Journal {
    fn line(&mut self, line: &Line) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(line.clone());
        Ok(())
    }
}

/// What the session of a run is made of.
pub struct Making<'m> {
    /// The name of the run.
    pub run: &'m str,
    /// The session's clock.
    pub clock: Arc<dyn Clock>,
    /// The session's driver: see [`Session::with_driver`].
    pub driver: Arc<dyn Driver>,
    /// The session's trace.
    pub journal: Journal,
    /// The run so far, whose machine is to be restored; `None` for a new one.
    pub saved: Option<&'m Saved>,
}

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
