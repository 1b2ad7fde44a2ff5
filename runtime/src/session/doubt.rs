//! Doubt: calls of which it is unknown whether they were made.

use super::{At, Session};
use crate::error::RunError;
use crate::trace::{self, What};
use chartc_core::host::Machine;
use chartc_core::machine::{Input, Outcome};

/// The text about a call in doubt in the trace.
pub(super) const DOUBT: &str = "it is not known whether its call was made";

impl<M: Machine, T: trace::Sink> Session<M, T> {
    /// Whether the chart wants a call in doubt to be made again: the step says `doubt retry`, or the tool is `idempotent`.
    pub(super) fn retries_doubt(&self, (member, key): &At, tool: Option<&str>) -> bool {
        let Some(machine) = self.family.member(member) else { return false };
        let tables = machine.tables();
        let of_step = tables.steps.get(key.step.index()).is_some_and(|step| step.retries_doubt);
        let mut tools = tables.tools.iter();
        of_step || tools.any(|row| Some(row.name) == tool && row.idempotent)
    }

    /// Gives the step of a call the outcome doubt.
    pub(super) fn doubts(&mut self, at: At) -> Result<(), RunError> {
        let about = self.step_path(&at);
        let text = DOUBT.to_owned();
        self.tracer.put(self.common.clock.now(), "", What::HostNote { about, text })?;
        let key = at.1;
        self.extra.busy.ready.push_back((at, Input::Answer(key, Outcome::Doubt)));
        Ok(())
    }
}
