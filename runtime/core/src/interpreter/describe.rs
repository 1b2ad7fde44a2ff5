//! What notes call a line.

use crate::arena::{StateId, TransitionId};
use crate::model::{Chart, Trigger};
use alloc::format;
use alloc::string::{String, ToString};

/// Such as ``the `on pay` line of `checkout` ``.
pub(super) fn line(chart: &Chart, id: TransitionId) -> String {
    let line = chart.transition(id);
    format!("the `{}` line of {}", trigger(chart, &line.trigger), state(chart, line.source))
}

/// A state by its path, the root as the chart.
pub(super) fn state(chart: &Chart, id: StateId) -> String {
    let path = &chart.state(id).path;
    if path.is_empty() { "the chart".to_string() } else { format!("`{path}`") }
}

fn trigger(chart: &Chart, trigger: &Trigger) -> String {
    let step = |id: crate::arena::StepId| &chart.steps[id.index()].name;
    match trigger {
        Trigger::Event(events) => match events.first() {
            Some(event) => format!("on {}", chart.events[event.index()].name),
            None => "on".to_string(),
        },
        Trigger::AnyEvent => "on *".to_string(),
        Trigger::Turn => "on turn".to_string(),
        Trigger::When => "when".to_string(),
        Trigger::StateDone(id) => format!("on done({})", chart.state(*id).path),
        Trigger::After(_) | Trigger::AfterTurns(_) => "after".to_string(),
        Trigger::Choice(id) => format!("may {}", chart.choices[id.index()].name),
        Trigger::StepDone(id) => format!("on done({})", step(*id)),
        Trigger::StepError(id) => format!("on error({})", step(*id)),
        Trigger::StepTimeout(id, _) => format!("timeout of {}", step(*id)),
        Trigger::StepDoubt(id) => format!("on doubt({})", step(*id)),
        Trigger::StepElse(id) => format!("else of {}", step(*id)),
        Trigger::Error(pattern) => format!("on error.{pattern}"),
        Trigger::LimitWarn(pattern) => format!("on limit.warn.{pattern}"),
    }
}
