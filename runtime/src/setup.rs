//! What the run of an interpreted chart is made of, in one place.
//!
//! The problem: a run from the command line, a stored run and a run of a server differ in who answers and what keeps them, but not in how
//! machine, host, driver and session are put together. The idea: they fill in a [`RunSetup`], which does that. (Agents of a world share
//! the parts of a session, so they take only their [`machine`] from here.) For example, a new run and its continuation differ in one field:
//!
//! ```text
//! RunSetup { saved: None, … }.session(sink)           a new machine with its params, and the inputs are set
//! RunSetup { saved: Some(&saved), … }.session(sink)   the machine of the saved state; the caller resumes or restores the session
//! ```

use crate::clock::Clock;
use crate::driver::Driver;
use crate::host::{HostLog, Watched};
use crate::oracle::Deny;
use crate::session::{Saved, Session};
use crate::trace::{Origin, Sink};
use chartc_core::expr::Map;
use chartc_core::host::Host;
use chartc_core::interpreter::Interpreter;
use chartc_core::plan::Plan;
use std::sync::Arc;

/// What a run is made of.
pub struct RunSetup<'r, H> {
    /// The plan of the chart, then those of its child charts.
    pub plans: &'r Arc<[Plan]>,
    /// The values of params. A saved run has its own.
    pub params: &'r Map,
    /// The values of inputs at the start of a new run.
    pub inputs: &'r Map,
    /// The host functions.
    pub host: H,
    /// Makes the calls.
    pub driver: Arc<dyn Driver>,
    /// The clock. That of a saved run has to start at [`Saved::now`].
    pub clock: Arc<dyn Clock>,
    /// The name of the run, which is part of the ids of its calls; may be empty.
    pub run: &'r str,
    /// The settings that the first line of the trace tells.
    pub origin: Origin,
    /// The saved run that continues; `None` for a new one.
    pub saved: Option<&'r Saved>,
}

impl<H: Host> RunSetup<'_, H> {
    /// Makes the session. It is not started, and a saved run is neither resumed nor restored.
    ///
    /// # Errors
    /// Params or inputs do not fit the chart, or the saved state does not.
    pub fn session<T: Sink>(self, sink: T) -> Result<Session<Interpreter<Watched<H>>, T>, String> {
        let log = HostLog::default();
        let host = Watched::new(self.host, log.clone());
        let machine = machine(self.plans, self.params, host, self.saved)?;
        let mut session = Session::new(machine, Arc::new(Deny), self.clock, sink)
            .with_driver(self.driver)
            .with_run(self.run)
            .with_host_log(log)
            .with_origin(self.origin);
        if self.saved.is_none() {
            for (name, value) in self.inputs.iter() {
                session.input(name, value.clone()).map_err(|why| why.to_string())?;
            }
        }
        Ok(session)
    }
}

/// Makes the machine of the first plan, new or with a saved state. The other plans are those of its child charts.
///
/// # Errors
/// The params do not fit the chart, or the saved state does not.
pub fn machine<H: Host>(
    plans: &Arc<[Plan]>,
    params: &Map,
    host: H,
    saved: Option<&Saved>,
) -> Result<Interpreter<H>, String> {
    match saved {
        Some(saved) => Interpreter::resume(&plans[0], plans.clone(), host, saved.machine())
            .map_err(|why| why.to_string()),
        None => Interpreter::new(&plans[0], host, params.clone())
            .map(|machine| machine.with_charts(plans.clone()))
            .map_err(|why| why.to_string()),
    }
}
