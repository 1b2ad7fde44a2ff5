//! What a session is given before it starts.

use super::{Backoff, Session};
use crate::budget::Budget;
use crate::driver::Driver;
use crate::host::HostLog;
use crate::oracle::Oracle;
use crate::tools::Tools;
use crate::trace::{self, Origin};
use chartc_core::host::Machine;
use std::sync::Arc;

impl<M: Machine, T: trace::Sink> Session<M, T> {
    /// Bounds the model calls that one event or turn may cause; [`MAX_CALLS`](super::MAX_CALLS) unless set.
    #[must_use]
    pub fn with_max_calls(mut self, calls: u32) -> Self {
        Arc::make_mut(&mut self.common).max_calls = calls;
        self
    }

    /// Limits how many of its last transitions each chart remembers, if its `trace` line allows more; 0 means none. A transition takes about
    /// four bytes.
    #[must_use]
    pub fn with_history(mut self, most: u32) -> Self {
        Arc::make_mut(&mut self.common).history = Some(most);
        self
    }

    /// How long to wait after a failed call; [`Backoff::default`] unless set.
    #[must_use]
    pub fn with_backoff(mut self, backoff: Backoff) -> Self {
        Arc::make_mut(&mut self.common).backoff = backoff;
        self
    }

    /// Tokens and money that this run shares with others; what its chart's own limits allow counts besides.
    #[must_use]
    pub fn with_budget(mut self, budget: Budget) -> Self {
        Arc::make_mut(&mut self.common).budget = Some(budget);
        self
    }

    /// Who has the tools; without this every call of one fails.
    #[must_use]
    pub fn with_tools(mut self, tools: Arc<dyn Tools>) -> Self {
        let common = Arc::make_mut(&mut self.common);
        common.parts.tools = tools;
        common.driver = Arc::new(common.parts.clone());
        self
    }

    /// Who answers `human` steps; without this the oracle does.
    #[must_use]
    pub fn with_people(mut self, people: Arc<dyn Oracle>) -> Self {
        let common = Arc::make_mut(&mut self.common);
        common.parts.people = Some(people);
        common.driver = Arc::new(common.parts.clone());
        self
    }

    /// Who answers all calls, in place of the oracle, the people and the tools.
    #[must_use]
    pub fn with_driver(mut self, driver: Arc<dyn Driver>) -> Self {
        Arc::make_mut(&mut self.common).driver = driver;
        self
    }

    /// Whose run it is: part of the names of its calls.
    #[must_use]
    pub fn with_run(mut self, run: &str) -> Self {
        self.extra.run = Some(run.into());
        self
    }

    /// Where the calls of host functions are kept until they are written: those of a [`Watched`](crate::host::Watched) host.
    /// Without it the trace tells of them in words only.
    #[must_use]
    pub fn with_host_log(mut self, log: HostLog) -> Self {
        self.extra.host_log = Some(log);
        self
    }

    /// How the run was started, for the first line of the trace.
    #[must_use]
    pub fn with_origin(mut self, origin: Origin) -> Self {
        self.extra.rare.origin = origin;
        self
    }
}
