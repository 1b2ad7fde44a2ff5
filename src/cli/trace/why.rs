//! Lists the inputs without effect, each with the transitions that could have been taken and the reasons why they were not.

use super::super::columns::cut;
use super::Filter;
use super::read::Read;
use super::tell::{fallback, line, loss, not_taken, number, place, time, value};
use crate::cli::output::StyledText;
use crate::report::Terminal;
use chartc_check::notation;
use chartc_runtime::trace::{Line, What};
use std::collections::BTreeMap;

/// An input to a chart, and what the trace says about its effect.
struct Input {
    title: String,
    at_ms: u64,
    turn: Option<u32>,
    child: String,
    /// The leaves when the input came, as far as the trace says.
    at: String,
    reasons: Vec<String>,
    steps: Vec<String>,
    has_moved: bool,
}

/// Formats the inputs without effect, each with its reasons.
pub(super) fn why(trace: &Read, filter: Filter<'_>, terminal: Terminal) -> StyledText {
    let inputs = inputs(trace);
    let wanted = inputs.iter().filter(|input| {
        filter.turn.is_none_or(|turn| input.turn == Some(turn))
            && filter.step.is_none_or(|step| input.steps.iter().any(|s| s == step))
    });
    let (moved, stayed): (Vec<&Input>, Vec<&Input>) = wanted.partition(|input| input.has_moved);
    let mut out = StyledText::on(terminal);
    out.line(format!(
        "{} of {} moved nothing",
        stayed.len(),
        number((moved.len() + stayed.len()) as u64, "input")
    ));
    for input in stayed {
        let time = if input.at_ms > 0 { format!("{}  ", time(input.at_ms)) } else { String::new() };
        let child =
            if input.child.is_empty() { String::new() } else { format!("{}: ", input.child) };
        let at = if input.at.is_empty() { String::new() } else { format!("  in {}", input.at) };
        let head = cut(&format!("{time}{child}{}{at}", input.title), terminal.width);
        out.line("");
        out.styled("1", head);
        if input.reasons.is_empty() {
            out.line("  no active state has a transition for it");
        }
        for reason in &input.reasons {
            out.line(format!("  {reason}"));
        }
    }
    out
}

/// The inputs of a trace, in order. An input of a child chart is an entry of its own.
fn inputs(trace: &Read) -> Vec<Input> {
    let mut all: Vec<Input> = Vec::new();
    // The current input and the active states of each chart.
    let mut open: BTreeMap<&str, usize> = BTreeMap::new();
    let mut states: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (line, turn) in trace.told() {
        let at = states.entry(&line.child).or_default();
        follow(at, line);
        let title = title(&line.what);
        if let Some(title) = title {
            open.insert(&line.child, all.len());
            all.push(Input {
                title,
                at_ms: line.at_ms,
                turn,
                child: line.child.clone(),
                at: leaves(at).join(", "),
                reasons: Vec::new(),
                steps: Vec::new(),
                has_moved: false,
            });
        }
        let input = open.get(line.child.as_str()).map(|index| &mut all[*index]);
        if let Some(input) = input {
            input.take(line);
        }
    }
    all
}

/// The title of an input; `None` if the line is not an input.
fn title(what: &What) -> Option<String> {
    if let What::Turn { turn } = what {
        return Some(format!("turn {turn}"));
    }
    if let What::Event { event, data } = what {
        return Some(format!("event {event} {}", value(data)).trim_end().to_owned());
    }
    if let What::Delivered { event } = what {
        return Some(format!("event {event}, sent by the chart"));
    }
    let What::NotTaken { input, .. } = what else { return None };
    Some(if input == "turn" { "a turn".into() } else { format!("event {input}") })
}

/// Updates the active states.
fn follow(active: &mut Vec<String>, line: &Line) {
    if let What::Entered { state } = &line.what {
        active.push(state.clone());
    }
    if let What::Exited { state } = &line.what {
        active.retain(|s| s != state);
    }
}

/// The leaves: the active states without active children.
fn leaves(active: &[String]) -> Vec<String> {
    let is_above = |state: &String| {
        state.is_empty()
            || active.iter().any(|other| {
                other.strip_prefix(state.as_str()).is_some_and(|rest| rest.starts_with('.'))
            })
    };
    active.iter().filter(|state| !is_above(state)).map(|state| place(state)).collect()
}

impl Input {
    /// Adds what a trace line says about the effect of the input.
    fn take(&mut self, told: &Line) {
        let reason = match &told.what {
            What::Taken { line, .. } if !line.targets.is_empty() => {
                self.has_moved = true;
                return;
            }
            What::Taken { line: taken, .. } => format!("{}: taken, and it stays", line(taken)),
            What::Lost { line: lost, why } => format!("{}: {}", line(lost), loss(why)),
            What::Denied { line: denied } => {
                format!("{}: no `allow` line permits its target", line(denied))
            }
            What::Refused { event } => {
                format!("`{event}`: no active state has a transition for it")
            }
            What::PassedOn { event } => {
                format!(
                    "`{event}`: this chart has no transition for it; its child charts are offered it"
                )
            }
            What::NotTaken { why, .. } => not_taken(why).to_owned(),
            What::Skipped { step } => format!("step `{step}`: skipped, its `if` is false"),
            What::Unusable { step, why, .. } => format!("step `{step}`: no usable answer: {why}"),
            What::CallFailed { step, error, why, .. } => format!("step `{step}`: {error}: {why}"),
            What::Cancelled { step, .. } => format!("step `{step}`: given up"),
            What::Fallback { step, why } => format!("step `{step}`: {}", fallback(why)),
            What::Answer { step, option, value: said, .. } => {
                self.steps.push(step.clone());
                format!("step `{step}` answered {}", super::tell::decision(option.as_ref(), said))
            }
            What::Forbidden { step, state, tool } => {
                format!("step `{step}`: `{tool}` may not be called in {}", place(state))
            }
            What::ToolFailed { step, tool, why, .. } => {
                format!("step `{step}`: `{tool}` failed: {why}")
            }
            What::Failed { step, element: None } => format!("step `{step}` failed"),
            What::Failed { step, element: Some(nth) } => format!("`{step}[{nth}]` failed"),
            What::WalkEnded { why, step, region } => match (why.as_str(), step) {
                ("failed", Some(step)) => format!("the turn ended at `{step}`, which failed"),
                ("calls", _) if !region.is_empty() => {
                    format!("region `{region}` has used up its model calls of the turn")
                }
                ("calls", _) => "the turn ended: its model calls are used up".into(),
                ("ends_turn", _) => "the turn ended: a step says that it ends there".into(),
                _ => return,
            },
            What::Error { error } => format!("{} was raised", notation::machine_event(error)),
            What::Acted { action, failed, why, .. } if !failed.is_empty() => {
                format!("`{action}` failed: {failed}: {why}")
            }
            What::NotActed { step, failed, why } => {
                format!("step `{step}` brought no action: {failed}: {why}")
            }
            What::Note { text, call: None } | What::HostNote { text, .. } => text.clone(),
            _ => return,
        };
        let text = cut(&reason, 400);
        if self.reasons.last() != Some(&text) {
            self.reasons.push(text);
        }
    }
}
