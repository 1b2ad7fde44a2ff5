//! Tool calls: those that the model has chosen, and those of `call` steps.

use super::Session;
use super::calls::{Call, Work, failure};
use crate::error::RunError;
use crate::oracle::OracleError;
use crate::trace::{self, What};
use chartc_core::drive::Machine;
use chartc_core::expr::Value;
use chartc_core::machine::{Input, Outcome, StepKey};
use chartc_core::tables::StepRowKind;

impl<M: Machine, T: trace::Sink> Session<M, T> {
    /// Whether what is started under this key is a tool call.
    pub(super) fn makes_a_call(&self, key: StepKey) -> bool {
        matches!(self.machine.tables().steps[key.step.index()].kind, StepRowKind::Call)
    }

    fn step_name(&self, key: StepKey) -> String {
        self.machine.tables().steps[key.step.index()].name.to_owned()
    }

    /// Begins a tool call.
    pub(super) fn begin_call(&mut self, key: StepKey) -> Result<(), RunError> {
        if self.manual {
            self.calls.push(Call { key, work: Work::Outside });
            return Ok(());
        }
        let now = self.clock.now();
        let call = self.machine.call(key);
        self.notes(now)?;
        let step = self.step_name(key);
        let Ok(call) = call else {
            let why = "its arguments cannot be computed".to_owned();
            self.failed_call(key, step, "arguments", &why)?;
            self.ready.push_back((key, failure(why)));
            return Ok(());
        };
        let (tool, arguments) = (call.tool.clone(), call.arguments.iter().cloned().collect());
        let arguments = Value::Map(arguments);
        self.tracer.put(now, What::ToolCall { step, tool: tool.clone(), arguments })?;
        let calling = self.tools.call(call);
        self.calls.push(Call { key, work: Work::Tool(tool, calling) });
        Ok(())
    }

    /// Tells the machine what a tool call brought.
    pub(super) fn returned(
        &mut self,
        key: StepKey,
        tool: &str,
        result: Result<Value, OracleError>,
    ) -> Result<(), RunError> {
        let now = self.clock.now();
        let (step, tool) = (self.step_name(key), tool.to_owned());
        match result {
            Ok(value) => {
                let what = What::ToolResult { step, tool, value: value.clone() };
                self.tracer.put(now, what)?;
                self.apply_own(Input::Answer(key, Outcome::Done(vec![value])))?;
                self.misfit = None;
                Ok(())
            }
            Err(error) => {
                let why = error.to_string();
                let kind = error.kind().to_owned();
                let what = What::ToolFailed { step: step.clone(), tool, error: kind, why };
                self.tracer.put(now, what)?;
                if error.is_fatal() {
                    return Err(RunError::Oracle { step, error });
                }
                self.apply_own(Input::Answer(key, failure(error.to_string())))?;
                Ok(())
            }
        }
    }
}
