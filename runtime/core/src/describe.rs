//! What notes call a place of a chart.

use crate::arena::{StateId, StepId, TransitionId};
use crate::program::Block;
use crate::tables::{Tables, TriggerRow};
use alloc::format;
use alloc::string::{String, ToString};

/// The guard of a line.
pub fn guard_of(tables: &Tables<'_>, line: TransitionId) -> String {
    format!("guard of {}", self::line(tables, line))
}

/// The `if` of a step.
pub fn if_of(tables: &Tables<'_>, step: StepId) -> String {
    format!("`if` of `{}`", name(tables, step))
}

/// The `if` of an `allow` line.
pub fn permission_of(tables: &Tables<'_>, nth: usize) -> String {
    let to = tables.permissions.get(nth).map_or(StateId(0), |row| row.to);
    format!("`if` of an `allow` line to {}", state(tables, to))
}

/// The `ends turn` of a step.
pub fn end_of(tables: &Tables<'_>, step: StepId) -> String {
    format!("`ends turn` of `{}`", name(tables, step))
}

/// The bound of an `after` or `timeout` line.
pub fn bound_of(tables: &Tables<'_>, line: TransitionId) -> String {
    format!("bound of {}", self::line(tables, line))
}

/// The arguments that a line gives a final state.
pub fn arguments_of(tables: &Tables<'_>, line: TransitionId) -> String {
    format!("arguments of {}", self::line(tables, line))
}

/// A `code` step.
pub fn code_of(tables: &Tables<'_>, step: StepId) -> String {
    format!("`{}`", name(tables, step))
}

/// The prompt of a step.
pub fn prompt_of(tables: &Tables<'_>, step: StepId) -> String {
    format!("prompt of `{}`", name(tables, step))
}

/// An action block.
pub fn actions_of(tables: &Tables<'_>, block: Block) -> String {
    match block {
        Block::Entry(id, _) => format!("`enter` of {}", state(tables, id)),
        Block::Exit(id, _) => format!("`exit` of {}", state(tables, id)),
        Block::Default(id) => format!("default of {}", state(tables, id)),
        Block::Transition(id) => format!("actions of {}", line(tables, id)),
    }
}

/// Such as ``the `on pay` line of `checkout` ``.
pub fn line(tables: &Tables<'_>, id: TransitionId) -> String {
    let row = &tables.transitions[id.index()];
    format!("the `{}` line of {}", trigger(tables, row.trigger), state(tables, row.source))
}

/// A state by its path, the root as the chart.
pub fn state(tables: &Tables<'_>, id: StateId) -> String {
    let path = tables.states[id.index()].path;
    if path.is_empty() { "the chart".to_string() } else { format!("`{path}`") }
}

fn name<'t>(tables: &Tables<'t>, step: StepId) -> &'t str {
    tables.steps[step.index()].name
}

fn trigger(tables: &Tables<'_>, trigger: TriggerRow<'_>) -> String {
    let step = |id| name(tables, id);
    match trigger {
        TriggerRow::Event(events) => match events.of(tables.event_pool).first() {
            Some(event) => format!("on {}", tables.events[event.index()].name),
            None => "on".to_string(),
        },
        TriggerRow::AnyEvent => "on *".to_string(),
        TriggerRow::AnyOccurrence => "on **".to_string(),
        TriggerRow::Turn => "on turn".to_string(),
        TriggerRow::When => "when".to_string(),
        TriggerRow::StateDone(id) => format!("on done({})", tables.states[id.index()].path),
        TriggerRow::After(_) | TriggerRow::AfterTurns(_) => "after".to_string(),
        TriggerRow::Choice(id) => format!("may {}", tables.choices[id.index()].name),
        TriggerRow::StepDone(id) => format!("on done({})", step(id)),
        TriggerRow::StepError(id) => format!("on error({})", step(id)),
        TriggerRow::StepTimeout(id, _) => format!("timeout of {}", step(id)),
        TriggerRow::StepDoubt(id) => format!("on doubt({})", step(id)),
        TriggerRow::StepElse(id) => format!("else of {}", step(id)),
        TriggerRow::Error(pattern) => format!("on error.{pattern}"),
        TriggerRow::LimitWarn(pattern) => format!("on limit.warn.{pattern}"),
    }
}
