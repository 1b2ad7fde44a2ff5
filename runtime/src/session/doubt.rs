//! Calls of which nobody knows whether they were made.

use super::{At, Session};
use crate::error::RunError;
use crate::trace::{self, What};
use chartc_core::host::Machine;
use chartc_core::machine::{Input, Outcome};

/// What the trace says of a call in doubt.
pub(super) const DOUBT: &str = "it is not known whether its call was made";

impl<M: Machine, T: trace::Sink> Session<M, T> {
    /// Whether the chart wants a call in doubt to be made again: that of a model, or of this tool.
    pub(super) fn retries_doubt(&self, (member, key): &At, tool: Option<&str>) -> bool {
        let Some(machine) = self.family.member(member) else { return false };
        let tables = machine.tables();
        let of_step = tables.steps.get(key.step.index()).is_some_and(|step| step.retries_doubt);
        let mut tools = tables.tools.iter();
        of_step || tools.any(|row| Some(row.name) == tool && row.idempotent)
    }

    /// Puts the step of a call in doubt.
    pub(super) fn doubts(&mut self, at: At) -> Result<(), RunError> {
        let about = self.step_path(&at);
        let text = DOUBT.to_owned();
        self.tracer.put(self.common.clock.now(), "", What::HostNote { about, text })?;
        let key = at.1;
        self.extra.busy.ready.push_back((at, Input::Answer(key, Outcome::Doubt)));
        Ok(())
    }
}
