//! Names of a chart's parts for traces and notes: states, triggers, transitions, blocks.

use crate::arena::{StateId, StepId, TransitionId};
use crate::program::Block;
use crate::tables::{Tables, TriggerRow};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Names the guard of a transition, as in ``guard of the `on pay` line of `checkout` ``.
pub fn guard_of(tables: &Tables, line: TransitionId) -> String {
    format!("guard of {}", self::line(tables, line))
}

/// Names the `if` of a step.
pub fn if_of(tables: &Tables, step: StepId) -> String {
    format!("`if` of `{}`", name(tables, step))
}

/// Names the `if` of the `nth` `allow` line by its target.
pub fn permission_of(tables: &Tables, nth: usize) -> String {
    let to = tables.permissions.get(nth).map_or(StateId(0), |row| row.to);
    format!("`if` of an `allow` line to {}", state(tables, to))
}

/// Names the `ends turn` of a step.
pub fn end_of(tables: &Tables, step: StepId) -> String {
    format!("`ends turn` of `{}`", name(tables, step))
}

/// Names the duration or number of turns of an `after` or `timeout` trigger.
pub fn bound_of(tables: &Tables, line: TransitionId) -> String {
    format!("bound of {}", self::line(tables, line))
}

/// Names the arguments of a transition for a final state.
pub fn arguments_of(tables: &Tables, line: TransitionId) -> String {
    format!("arguments of {}", self::line(tables, line))
}

/// Names a `code` step.
pub fn code_of(tables: &Tables, step: StepId) -> String {
    format!("`{}`", name(tables, step))
}

/// Names the list of a step with an `each`.
pub fn list_of(tables: &Tables, step: StepId) -> String {
    format!("`each` of `{}`", name(tables, step))
}

/// The reason why a step with an `each` fails: its list has more than `most` elements.
pub fn too_many(size: u32, most: u32) -> String {
    format!("the list has {size} elements, and `each` takes {most} at most")
}

/// Names the prompt of a step.
pub fn prompt_of(tables: &Tables, step: StepId) -> String {
    format!("prompt of `{}`", name(tables, step))
}

/// Names an action block.
pub fn actions_of(tables: &Tables, block: Block) -> String {
    match block {
        Block::Entry(id, _) => format!("`enter` of {}", state(tables, id)),
        Block::Exit(id, _) => format!("`exit` of {}", state(tables, id)),
        Block::Default(id) => format!("default of {}", state(tables, id)),
        Block::Transition(id) => format!("actions of {}", line(tables, id)),
        Block::Asking(id) => format!("what `{}` asks", name(tables, id)),
        Block::Calling(nth) => format!("the call of {}", tool_line_of(tables, nth as usize)),
    }
}

/// Names a `tool` line of a step, as in ``the `tool fs.write` line of `report` ``.
pub fn tool_line_of(tables: &Tables, nth: usize) -> String {
    let holds = |row: &&crate::tables::StepRow| row.tool_lines.range().contains(&nth);
    let step = tables.steps.iter().find(holds).map_or("", |row| &*row.name);
    let tools = tables.tool_lines[nth].tools.of(&tables.tool_pool).iter();
    let tools = tools.map(|tool| &*tables.tools[tool.index()].name);
    format!("the `tool {}` line of `{step}`", tools.collect::<Vec<_>>().join(" | "))
}

/// Names a transition, as in ``the `on pay` line of `checkout` ``.
pub fn line(tables: &Tables, id: TransitionId) -> String {
    let row = &tables.transitions[id.index()];
    format!("the `{}` line of {}", heading(tables, row.trigger), state(tables, row.source))
}

/// Names a state by its path in backticks; the root is "the chart".
pub fn state(tables: &Tables, id: StateId) -> String {
    let path = &*tables.states[id.index()].path;
    if path.is_empty() { "the chart".to_string() } else { format!("`{path}`") }
}

fn name(tables: &Tables, step: StepId) -> &str {
    &tables.steps[step.index()].name
}

/// The parts of a trigger's name, from which traces and notes build different texts.
enum Words<'t> {
    /// Complete as it is: `on turn`, `when`.
    Alone(&'static str),
    /// An `after` trigger; the unit is empty for time and ` turns` for turns.
    Deadline(&'static str),
    /// The names of host events.
    Events(Vec<&'t str>),
    /// The name of an option.
    Choice(&'t str),
    /// The name of the tools of a `may call` transition.
    Call(&'t str),
    /// The word for how a state or step ended, and its name.
    Outcome(&'static str, &'t str),
    /// The word for the fallback of a step without a usable outcome, and the step's name.
    Policy(&'static str, &'t str),
    /// A word, and a dotted pattern below it: `error`, `stuck.*`.
    Pattern(&'static str, &'t str),
}

fn words(tables: &Tables, trigger: TriggerRow) -> Words<'_> {
    let path = |id: StateId| &*tables.states[id.index()].path;
    let pattern = |at: u32| &*tables.name_pool[at as usize];
    match trigger {
        TriggerRow::Event(events) => {
            let events = events.of(&tables.event_pool).iter();
            Words::Events(events.map(|event| &*tables.events[event.index()].name).collect())
        }
        TriggerRow::AnyEvent => Words::Alone("on *"),
        TriggerRow::AnyOccurrence => Words::Alone("on **"),
        TriggerRow::Turn => Words::Alone("on turn"),
        TriggerRow::When => Words::Alone("when"),
        TriggerRow::StateDone(id) => Words::Outcome("done", path(id)),
        TriggerRow::After(_) => Words::Deadline(""),
        TriggerRow::AfterTurns(_) => Words::Deadline(" turns"),
        TriggerRow::Choice(id) => {
            let row = &tables.choices[id.index()];
            if row.tools.is_some() { Words::Call(&row.name) } else { Words::Choice(&row.name) }
        }
        TriggerRow::StepDone(id) => Words::Outcome("done", name(tables, id)),
        TriggerRow::StepError(id) => Words::Outcome("error", name(tables, id)),
        TriggerRow::StepTimeout(id, _) => Words::Policy("timeout", name(tables, id)),
        TriggerRow::StepDoubt(id) => Words::Outcome("doubt", name(tables, id)),
        TriggerRow::StepElse(id) => Words::Policy("else", name(tables, id)),
        // Limits are below `error`, but a chart writes `on limit.calls` for `on error.limit.calls`.
        TriggerRow::Error(at) if pattern(at).split('.').next() == Some("limit") => {
            Words::Events(alloc::vec![pattern(at)])
        }
        TriggerRow::Error(at) => Words::Pattern("error", pattern(at)),
        TriggerRow::LimitWarn(at) => Words::Pattern("limit.warn", pattern(at)),
    }
}

/// A number with its noun, as in `1 call` and `2 calls`.
pub fn counted(count: impl TryInto<u64>, word: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

/// The name of an error event, or of a pattern of such names, as charts write it: `error.stuck.*`, but `limit.calls`.
pub fn error_event(pattern: &str) -> String {
    let is_limit = pattern.split('.').next() == Some("limit");
    if is_limit { pattern.to_string() } else { format!("error.{pattern}") }
}

/// Names a trigger for traces: `on pay | refund`, `done fetch`, `after turns`.
pub fn trigger(tables: &Tables, trigger: TriggerRow) -> String {
    match words(tables, trigger) {
        Words::Alone(words) => words.to_string(),
        Words::Deadline(unit) => format!("after{unit}"),
        Words::Events(names) => format!("on {}", names.join(" | ")),
        Words::Choice(name) => format!("may {name}"),
        Words::Call(name) => format!("may call {name}"),
        Words::Outcome(word, name) | Words::Policy(word, name) => format!("{word} {name}"),
        Words::Pattern(below, pattern) => format!("on {below}.{pattern}"),
    }
}

/// Names a trigger for notes: `on pay`, `on done(fetch)`, `timeout of fetch`.
fn heading(tables: &Tables, trigger: TriggerRow) -> String {
    match words(tables, trigger) {
        Words::Deadline(_) => "after".to_string(),
        Words::Events(names) => names.first().map_or("on".to_string(), |name| format!("on {name}")),
        Words::Outcome(word, name) => format!("on {word}({name})"),
        Words::Policy(word, name) => format!("{word} of {name}"),
        _ => self::trigger(tables, trigger),
    }
}
