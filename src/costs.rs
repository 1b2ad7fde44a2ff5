//! Formats model calls and money as text, for the command and for editors.

use chartc_compiler::analysis::turn::Driver;
use chartc_compiler::analysis::turn::cost::{CallBound, RunCost};
use chartc_compiler::lint::words;
use chartc_compiler::notation;
use chartc_core::arena::{StateId, StepId};
use chartc_core::machine::LimitKind;
use chartc_core::model::Chart;
use std::fmt::Write;

/// Formats an amount of money with at most six decimals and no trailing zeros.
pub(crate) fn amount_text(amount: f64) -> String {
    let text = format!("{amount:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The expression of a limit that the chart computes, such as `2 * n`, as `.chart` text; empty if the limit is not computed.
pub(crate) fn formula(chart: &Chart, kind: LimitKind) -> String {
    let limit = chart.state(StateId::at(0)).limits.formula(kind);
    limit.map_or_else(String::new, |limit| notation::expression(chart, limit))
}

/// The path of a state; for the root, which has no path, the name of the chart.
pub(crate) fn path(chart: &Chart, state: StateId) -> &str {
    let row = chart.state(state);
    if row.path.is_empty() { &row.name } else { &row.path }
}

pub(crate) fn name(chart: &Chart, step: StepId) -> &str {
    &chart.steps[step.index()].name
}

/// Formats what makes calls, such as `ask next 1 + 1 retry of client model`.
pub(crate) fn driver(chart: &Chart, driver: &Driver) -> String {
    let mut text = format!("{} 1", name(chart, driver.step));
    if driver.retries > 0 {
        let word = if driver.retries == 1 { "retry" } else { "retries" };
        let _ = write!(text, " + {} {word}", driver.retries);
    }
    let client = chart.steps[driver.step.index()].client.filter(|_| driver.of_client);
    if let Some(client) = client {
        let _ = write!(text, " of client {}", chart.clients[client.index()].name);
    }
    if driver.tools > 0 {
        let word = if driver.tools == 1 { "tool call" } else { "tool calls" };
        let _ = write!(text, " + {} {word}", driver.tools);
    }
    if driver.times > 1 {
        text = format!("{} × ({text})", driver.times);
    }
    text
}

/// Describes the limit that bounds the model calls of a run or, without one, the loop that repeats them.
pub(crate) fn bound(chart: &Chart, run: &RunCost) -> String {
    let round = || {
        let lines: Vec<String> =
            run.round.iter().take(4).map(|l| words::transition(chart, *l)).collect();
        let more = if run.round.len() > 4 { ", …" } else { "" };
        match lines.len() {
            0 => String::new(),
            1 => format!("; back by {}", lines[0]),
            _ => format!("; back by {}{more}", lines.join(", ")),
        }
    };
    match run.worst {
        CallBound::NoCalls => "no step calls a model".into(),
        CallBound::Calls(calls) => format!("limits {{ calls {calls} }}"),
        CallBound::Formula => format!("limits {{ calls {} }}", formula(chart, LimitKind::Calls)),
        CallBound::States(calls) => format!("limits {{ calls … }} of states, {calls} together"),
        CallBound::Turns { turns, each } => format!("{each} a turn, limits {{ turns {turns} }}"),
        CallBound::None { step, leaf: Some(leaf) } => {
            let (step, leaf) = (name(chart, step), path(chart, leaf));
            format!("{step} in every turn that begins in {leaf}{}", round())
        }
        CallBound::None { step, leaf: None } => {
            format!("{} whenever its event comes{}", name(chart, step), round())
        }
    }
}
