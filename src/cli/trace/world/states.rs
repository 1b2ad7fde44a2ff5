//! Shows which agents are in which state.

use super::VERSION;
use super::log::Log;
use crate::cli::glance::{Style, bars};
use crate::cli::output::{StyledText, print, print_json};
use crate::report::Terminal;
use chartc_core::expr::{Duration, Value};
use chartc_runtime::trace::{Line, Logged, What};
use chartc_text::diagnostic::nearest;
use chartc_world::{Census, Distribution, Sample, Unit, Unknown};
use serde::Serialize;
use std::ops::ControlFlow;

/// The kinds of trace lines that a census needs.
pub(super) const KINDS: [&str; 6] = ["run", "resumed", "entered", "exited", "ended", "world"];

/// The time at which agents are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CountTime {
    /// The end of a tick.
    Tick(u64),
    /// A time in milliseconds. Everything that happened at it counts.
    Time(u64),
}

impl CountTime {
    fn read(text: &str) -> miette::Result<Self> {
        if let Ok(tick) = text.parse() {
            return Ok(Self::Tick(tick));
        }
        text.parse::<Duration>().map(|time| Self::Time(time.0)).map_err(|_| {
            miette::miette!(
                help = "a tick is a number, as 40; a time has a unit, as 90s, 5m or 1h",
                "--at: `{text}` is neither a tick nor a time"
            )
        })
    }

    /// Whether the line, and so every later one, comes after the time.
    fn is_before(self, line: &Line) -> bool {
        match self {
            Self::Tick(_) => false,
            Self::Time(time) => line.at_ms > time,
        }
    }
}

/// The tick that a line summarizes, if it does.
pub(super) fn tick(logged: &Logged) -> Option<u64> {
    let What::World { event, data: Value::Map(data) } = &logged.line.what else { return None };
    match data.get("tick") {
        Some(Value::Int(tick)) if event == "tick_summary" => u64::try_from(*tick).ok(),
        Some(_) | None => None,
    }
}

/// Counts the agents in each state at the time `at`, or at the end of the log.
pub(super) fn census(log: &mut Log, at: Option<&str>) -> miette::Result<Census> {
    let at = at.map(CountTime::read).transpose()?;
    let mut census = Census::new();
    let mut last = None;
    let mut is_over = false;
    log.read(
        |head| KINDS.contains(&&*head.kind),
        |logged| {
            if at.is_some_and(|at| at.is_before(&logged.line)) {
                is_over = true;
                return ControlFlow::Break(());
            }
            census.observe(&logged.agent, &logged.line);
            last = tick(&logged).or(last);
            // The summary is the last line of its tick.
            if at.is_some_and(|at| last.is_some_and(|last| CountTime::Tick(last) == at)) {
                is_over = true;
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        },
    )?;
    if let (Some(CountTime::Tick(tick)), false) = (at, is_over) {
        return Err(match last {
            Some(last) => miette::miette!("{} has no tick {tick}: its last is {last}", log.name),
            None => {
                miette::miette!(help = "name a time instead, as 90s", "{} has no ticks", log.name)
            }
        });
    }
    Ok(census)
}

/// Lists the agents in a state.
pub(super) fn agents_in(
    log: &mut Log,
    state: &str,
    at: Option<&str>,
    is_json: bool,
) -> miette::Result<()> {
    #[derive(Serialize)]
    struct Shown<'c> {
        version: u32,
        state: &'c str,
        count: usize,
        agents: Vec<&'c str>,
    }
    let census = census(log, at)?;
    let agents = census.agents_in_state(state).map_err(|why| refused(&log.name, why))?;
    if is_json {
        let shown = Shown { version: VERSION, state, count: agents.len(), agents };
        return print_json(&json(&shown));
    }
    let mut out = StyledText::default();
    for agent in agents {
        let end = census.ended(agent).map(|status| format!("  ended {status}"));
        out.line(format!("{agent}{}", end.unwrap_or_default()));
    }
    print(&out)
}

/// The error that a state cannot be found, with the nearest name.
fn refused(log: &str, why: Unknown) -> miette::Report {
    match &why {
        Unknown::State { state, known } => match nearest(state, known.iter().map(String::as_str)) {
            Some(near) => miette::miette!("{log}: {why}; did you mean `{near}`?"),
            None => miette::miette!(
                help = "`chartc trace LOG --distribution` lists the states",
                "{log}: {why}"
            ),
        },
        Unknown::Ambiguous { .. } => miette::miette!(help = "name the whole path", "{log}: {why}"),
    }
}

/// Shows how many agents are in each state.
pub(super) fn distribution(
    log: &mut Log,
    at: Option<&str>,
    is_json: bool,
    (style, terminal): (Style, Terminal),
) -> miette::Result<()> {
    #[derive(Serialize)]
    struct Shown {
        version: u32,
        agents: u64,
        charts: Vec<Distribution>,
    }
    let census = census(log, at)?;
    let charts = census.state_distribution();
    if is_json {
        let shown = Shown { version: VERSION, agents: census.agents(), charts };
        return print_json(&json(&shown));
    }
    print(&bars(&charts, style, terminal))
}

/// Formats counts over time as JSON.
pub(super) fn series(census: &Census) -> String {
    #[derive(Serialize)]
    struct Shown<'c> {
        version: u32,
        unit: Unit,
        series: Vec<Sample<'c>>,
    }
    json(&Shown { version: VERSION, unit: census.unit(), series: census.series() })
}

/// Formats a value as JSON on one line.
pub(super) fn json(shown: &impl Serialize) -> String {
    let mut text = serde_json::to_string(shown).unwrap_or_default();
    text.push('\n');
    text
}
