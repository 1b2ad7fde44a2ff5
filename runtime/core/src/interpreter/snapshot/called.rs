//! The tool calls of models, in a snapshot.

use super::{RestoreError, Snapshot, give_back, keep};
use crate::arena::{StateId, StepId, ToolId};
use crate::calls::{Call, Calls};
use crate::plan::Plan;
use crate::program::Caller;
use crate::saved::StoredValue;
use alloc::format;
use alloc::vec::Vec;

/// The tool calls of questions that are under way.
pub(super) fn of_questions(calls: &Calls) -> Vec<(StateId, ToolId, Vec<StoredValue>)> {
    let open = calls.opened().filter_map(|(caller, call)| match caller {
        Caller::Question(leaf) => Some((leaf, call.tool, keep(&call.arguments))),
        Caller::Step(_) => None,
    });
    open.collect()
}

/// The tool calls of `llm` steps that are under way.
pub(super) fn of_steps(calls: &Calls) -> Vec<(StepId, ToolId, Vec<StoredValue>)> {
    let open = calls.opened().filter_map(|(caller, call)| match caller {
        Caller::Question(_) => None,
        Caller::Step(step) => Some((step, call.tool, keep(&call.arguments))),
    });
    open.collect()
}

/// The tool calls of a snapshot. Fails if a tool does not exist or has other arguments.
pub(super) fn restored(plan: &Plan<'_>, snapshot: &Snapshot) -> Result<Calls, RestoreError> {
    let call = |tool: ToolId, arguments: &[StoredValue]| {
        let Some(row) = plan.chart().tools.get(tool.index()) else {
            return Err(RestoreError::Data(format!("no tool has the number {}", tool.0)));
        };
        if row.params.len() != arguments.len() {
            return Err(RestoreError::Data(format!("`{}` has other arguments", row.name)));
        }
        Ok(Call { tool, arguments: give_back(arguments) })
    };
    let asked = snapshot.calls.iter().map(|(leaf, t, a)| (Caller::Question(*leaf), t, a));
    let open = asked.chain(snapshot.step_calls.iter().map(|(s, t, a)| (Caller::Step(*s), t, a)));
    let open = open.map(|(caller, tool, arguments)| Ok((caller, call(*tool, arguments)?)));
    let ended = snapshot.called.iter();
    let ended = ended.map(|(tool, arguments, times)| Ok((call(*tool, arguments)?, *times)));
    Ok(Calls::of(
        open.collect::<Result<Vec<_>, RestoreError>>()?,
        ended.collect::<Result<Vec<_>, RestoreError>>()?,
    ))
}
