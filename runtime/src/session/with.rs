//! The settings of a session, made before it starts.

use super::{Backoff, Session};
use crate::budget::Budget;
use crate::driver::Driver;
use crate::form::ActionForm;
use crate::host::HostLog;
use crate::oracle::Oracle;
use crate::tools::Tools;
use crate::trace::{self, Origin};
use chartc_core::host::Machine;
use std::sync::Arc;

impl<M: Machine, T: trace::Sink> Session<M, T> {
    /// Sets the maximum number of model calls per event or turn. The default is [`MAX_CALLS`](super::MAX_CALLS).
    #[must_use]
    pub fn with_max_calls(mut self, calls: u32) -> Self {
        Arc::make_mut(&mut self.common).max_calls = calls;
        self
    }

    /// Sets the maximum number of transitions in the history of each chart, if its `trace` line allows more; 0 for none. A transition
    /// takes about four bytes.
    #[must_use]
    pub fn with_history(mut self, most: u32) -> Self {
        Arc::make_mut(&mut self.common).history = Some(most);
        self
    }

    /// Sets the waiting times after failed calls. The default is [`Backoff::default`].
    #[must_use]
    pub fn with_backoff(mut self, backoff: Backoff) -> Self {
        Arc::make_mut(&mut self.common).backoff = backoff;
        self
    }

    /// Sets a budget of tokens and money that this run shares with others. The limits of the chart apply in addition.
    #[must_use]
    pub fn with_budget(mut self, budget: Budget) -> Self {
        Arc::make_mut(&mut self.common).budget = Some(budget);
        self
    }

    /// Sets the tools. Without tools, every tool call fails.
    #[must_use]
    pub fn with_tools(mut self, tools: Arc<dyn Tools>) -> Self {
        let common = Arc::make_mut(&mut self.common);
        common.parts.tools = tools;
        common.driver = Arc::new(common.parts.clone());
        self
    }

    /// Sets the oracle for `human` steps. Without it, the usual oracle answers them.
    #[must_use]
    pub fn with_people(mut self, people: Arc<dyn Oracle>) -> Self {
        let common = Arc::make_mut(&mut self.common);
        common.parts.people = Some(people);
        common.driver = Arc::new(common.parts.clone());
        self
    }

    /// Sets the driver of all calls, in place of the oracles and the tools.
    #[must_use]
    pub fn with_driver(mut self, driver: Arc<dyn Driver>) -> Self {
        Arc::make_mut(&mut self.common).driver = driver;
        self
    }

    /// Sets the name of the run, which is part of the ids of its calls.
    #[must_use]
    pub fn with_run(mut self, run: &str) -> Self {
        self.extra.run = Some(run.into());
        self
    }

    /// Sets the form in which models write actions if their client sets none. [`Agent`](crate::agent::Agent) sets it in a world.
    #[must_use]
    pub fn with_actions(mut self, form: ActionForm) -> Self {
        // `make_mut` would copy the shared settings, so it is called only for a change.
        if self.common.actions != form {
            Arc::make_mut(&mut self.common).actions = form;
        }
        self
    }

    /// Sets the log of a [`Watched`](crate::host::Watched) host, which contains the calls of host functions with their values. Without
    /// it, the trace contains them only as text.
    #[must_use]
    pub fn with_host_log(mut self, log: HostLog) -> Self {
        self.extra.host_log = Some(log);
        self
    }

    /// Sets how the run was started, for the first line of the trace.
    #[must_use]
    pub fn with_origin(mut self, origin: Origin) -> Self {
        self.extra.rare.origin = origin;
        self
    }
}
