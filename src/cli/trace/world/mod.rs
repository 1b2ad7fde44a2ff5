//! `chartc trace` for the log of a world with many agents.
//!
//! A log is a trace whose lines name their agents. It may have millions of lines, so each view reads it once and keeps only counts.
//! The view `--agents-in busy --at 40` of a log:
//!
//! 1. [`Log::read`] parses the head of each line, and the whole line only for the kinds in [`states`], such as `entered`.
//! 2. Each of these moves an agent in a census.
//! 3. The world's `tick_summary` of tick 40 ends the reading.
//! 4. The agents that the census has in `busy` are printed.

mod chain;
mod log;
mod money;
mod overview;
mod states;
mod ticks;

pub(in crate::cli) use log::{Log, names_agent};

use super::read::{Read, of_lines};
use super::summary::Sums;
use crate::cli::Exit;
use crate::cli::glance::{Style, plot};
use crate::cli::output::{complain, is_unicode, print, print_json};
use crate::report::Terminal;
use chartc_runtime::trace::Line;
use chartc_text::diagnostic::nearest;
use log::LogHead;
use std::ops::ControlFlow;

/// The version of the JSON format of all views.
const VERSION: u32 = 1;

/// What to show of a log.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Logs of worlds with many agents")]
pub(super) struct Views {
    /// Show the trace of one agent; the other options for traces apply to it
    #[arg(long, value_name = "NAME", conflicts_with = "view")]
    agent: Option<String>,
    /// List the agents in a state: a path, its last segment, or Chart.state
    #[arg(long, value_name = "STATE", group = "view")]
    agents_in: Option<String>,
    /// Show how many agents are in each state
    #[arg(long, group = "view")]
    distribution: bool,
    /// Show what the actions of an agent caused: who received events, moved, and acted in turn
    #[arg(long, value_name = "AGENT", group = "view")]
    cascade: Option<String>,
    /// Show who had effects on whom, the longest cascade and the most influential agents
    #[arg(long, group = "view")]
    cascades: bool,
    /// Plot how many agents were in each state over time
    #[arg(long, group = "view")]
    plot: bool,
    /// For --agents-in and --distribution: at the end of a tick, as 40, or at a time, as 90s [default: the end]
    #[arg(long, value_name = "TICK|TIME")]
    at: Option<String>,
    /// Draw with ASCII only
    #[arg(long)]
    ascii: bool,
}

impl Views {
    /// The name of the first given option that applies only to a log.
    pub(super) fn given(&self) -> Option<&'static str> {
        let all = [
            (self.agent.is_some(), "--agent"),
            (self.agents_in.is_some(), "--agents-in"),
            (self.distribution, "--distribution"),
            (self.cascade.is_some(), "--cascade"),
            (self.cascades, "--cascades"),
            (self.plot, "--plot"),
            (self.at.is_some(), "--at"),
        ];
        all.into_iter().find(|(is, _)| *is).map(|(_, name)| name)
    }

    /// The agent whose trace is to be shown.
    pub(super) fn agent(&self) -> Option<&str> {
        self.agent.as_deref()
    }

    fn style(&self, terminal: Terminal) -> Style {
        Style { width: terminal.width, is_unicode: is_unicode() && !self.ascii }
    }
}

/// Shows a log in the view that the options select; without one, the overview.
pub(super) fn run(
    mut log: Log,
    views: &Views,
    is_summary: bool,
    is_json: bool,
    terminal: Terminal,
) -> miette::Result<Exit> {
    if views.at.is_some() && views.agents_in.is_none() && !views.distribution {
        return Err(miette::miette!("--at needs --agents-in or --distribution"));
    }
    if is_summary && views.given().is_some() {
        return Err(miette::miette!(
            "--summary is a view of its own: omit {}",
            views.given().unwrap_or_default()
        ));
    }
    if is_summary {
        summary(&mut log, is_json)?;
    } else if let Some(state) = &views.agents_in {
        states::agents_in(&mut log, state, views.at.as_deref(), is_json)?;
    } else if views.distribution {
        states::distribution(
            &mut log,
            views.at.as_deref(),
            is_json,
            (views.style(terminal), terminal),
        )?;
    } else if let Some(agent) = &views.cascade {
        chain::tree(&mut log, agent, is_json, terminal)?;
    } else if views.cascades {
        chain::sums(&mut log, is_json)?;
    } else if views.plot {
        let census = states::census(&mut log, None)?;
        if is_json {
            print_json(&states::series(&census))?;
        } else {
            print(&plot(&census, views.style(terminal), terminal))?;
        }
    } else {
        overview::show(&mut log, is_json, terminal)?;
    }
    Ok(told(&log))
}

/// Reports the errors found in the log, and returns the exit code.
fn told(log: &Log) -> Exit {
    for fault in &log.faults {
        complain(format!("warning: {fault}"));
    }
    if log.faults.is_empty() { Exit::Clean } else { Exit::Findings }
}

/// Shows the totals of all agents, and those of the ticks.
fn summary(log: &mut Log, is_json: bool) -> miette::Result<()> {
    let mut sums = Sums::new(1);
    let mut all = ticks::Totals::default();
    log.read(
        |_| true,
        |logged| {
            if logged.agent.is_empty() {
                all.line(&logged.line);
            } else {
                sums.add(&logged.agent, &logged.line);
            }
            ControlFlow::Continue(())
        },
    )?;
    sums.close(log.at_ms);
    let summary = sums.summary(log.faults.len());
    if is_json {
        return print_json(&summary.json_with(&all));
    }
    let mut page = all.text();
    if !page.is_empty() {
        page.line("");
    }
    page.add(&summary.text());
    print(&page)
}

/// The trace of one agent.
pub(super) fn trace_of(mut log: Log, agent: &str) -> miette::Result<Read> {
    let lines = lines_of(&mut log, agent)?;
    let name = format!("{} ({agent})", log.name);
    Ok(of_lines(name, lines, log.faults))
}

/// The lines of one agent.
fn lines_of(log: &mut Log, agent: &str) -> miette::Result<Vec<Line>> {
    let mut lines = Vec::new();
    let names = Names::default();
    log.read(
        |head| {
            names.see(head);
            head.agent.as_deref() == Some(agent)
        },
        |logged| {
            lines.push(logged.line);
            ControlFlow::Continue(())
        },
    )?;
    if lines.is_empty() || agent.is_empty() {
        return Err(names.unknown(&log.name, agent));
    }
    Ok(lines)
}

/// The trace of one agent in a log, as text.
///
/// # Errors
/// The log cannot be read, or does not name the agent.
pub(in crate::cli) fn text_of(mut log: Log, agent: &str) -> miette::Result<String> {
    let lines = lines_of(&mut log, agent)?;
    told(&log);
    let texts = lines.iter().map(serde_json::to_string).collect::<Result<Vec<String>, _>>();
    let texts = texts.map_err(|why| miette::miette!("{}: {why}", log.name))?;
    Ok(texts.join("\n"))
}

/// The names of the agents seen so far.
#[derive(Default)]
struct Names(std::cell::RefCell<std::collections::BTreeSet<String>>);

impl Names {
    fn see(&self, head: &LogHead<'_>) {
        let agent = head.agent.as_deref().unwrap_or_default();
        let mut names = self.0.borrow_mut();
        if !agent.is_empty() && !names.contains(agent) {
            names.insert(agent.to_owned());
        }
    }

    /// The error that no agent has this name.
    fn unknown(&self, log: &str, agent: &str) -> miette::Report {
        unknown(log, agent, self.0.borrow().iter().map(String::as_str))
    }
}

/// The error that no agent has this name, with the nearest name or a few of those that there are.
fn unknown<'n>(
    log: &str,
    agent: &str,
    names: impl Iterator<Item = &'n str> + Clone,
) -> miette::Report {
    match nearest(agent, names.clone()) {
        Some(near) => miette::miette!("{log} has no agent `{agent}`; did you mean `{near}`?"),
        None => {
            let all = names.clone().count();
            let some: Vec<&str> = names.take(8).collect();
            let dots = if all > some.len() { ", …" } else { "" };
            miette::miette!(
                help = format!("its agents: {}{dots}", some.join(", ")),
                "{log} has no agent `{agent}`"
            )
        }
    }
}
