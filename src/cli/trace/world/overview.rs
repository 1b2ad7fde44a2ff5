//! Shows an overview of a world.

use super::VERSION;
use super::chain::{KINDS as CAUSES, Sums};
use super::log::Log;
use super::money::World;
use super::states::{KINDS as STATES, json};
use super::ticks::Totals;
use crate::cli::columns::{padded, width};
use crate::cli::glance::{fullest, name};
use crate::cli::output::{StyledText, print, print_json};
use crate::cli::trace::count::Tool;
use crate::cli::trace::summary::list;
use crate::cli::trace::tell::{number, time};
use crate::report::Terminal;
use chartc_runtime::trace::{Line, What};
use chartc_world::{Cascades, Census, Distribution};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// The kinds of trace lines that are read in addition to those for states and cascades.
const KINDS: [&str; 4] = ["not_acted", "usage", "error", "question"];
/// The maximum number of influential agents that are named.
const MOST: usize = 3;

/// The content of the overview.
#[derive(Debug, Default, Serialize)]
struct Overview {
    version: u32,
    lines: u64,
    unread: usize,
    time_ms: u64,
    agents: u64,
    /// The number of agents by the status of their run.
    ended: BTreeMap<String, u64>,
    charts: Vec<Distribution>,
    ticks: u64,
    turns: u64,
    questions: u64,
    input_tokens: u64,
    output_tokens: u64,
    cost: f64,
    actions: BTreeMap<String, Tool>,
    /// Failed actions, and steps that gave no action, by reason.
    setbacks: BTreeMap<String, u64>,
    errors: BTreeMap<String, u64>,
    world: World,
    #[serde(skip_serializing_if = "Option::is_none")]
    cascades: Option<Sums>,
}

impl Overview {
    fn line(&mut self, line: &Line) {
        let count = |counts: &mut BTreeMap<String, u64>, name: &str| {
            *counts.entry(name.to_owned()).or_default() += 1;
        };
        if let What::Acted { action, failed, .. } = &line.what {
            self.actions.entry(action.clone()).or_default().add(failed.is_empty());
            if !failed.is_empty() {
                count(&mut self.setbacks, failed);
            }
        } else if let What::NotActed { failed, .. } = &line.what {
            count(&mut self.setbacks, failed);
        } else if let What::Usage { input_tokens, output_tokens, cost, .. } = &line.what {
            self.input_tokens += input_tokens;
            self.output_tokens += output_tokens;
            self.cost += cost;
        } else if let What::Error { error } = &line.what {
            count(&mut self.errors, error);
        } else if let What::Turn { .. } = &line.what {
            self.turns += u64::from(line.child.is_empty());
        } else if let What::Question { .. } = &line.what {
            self.questions += 1;
        }
    }

    fn text(&self, log: &str, terminal: Terminal) -> StyledText {
        let mut page = StyledText::on(terminal);
        let mut head = format!("{log}: {}", number(self.agents, "agent"));
        if self.charts.len() != 1 {
            head.push_str(&format!(" of {}", number(self.charts.len() as u64, "chart")));
        }
        if self.ticks > 0 {
            head.push_str(&format!(", {}", number(self.ticks, "tick")));
        }
        head.push_str(&format!(", {}, {}", time(self.time_ms), number(self.lines, "line")));
        page.styled("1", head);
        page.line("");
        let wide = self.charts.iter().map(|chart| width(name(&chart.chart))).max().unwrap_or(0);
        let digits = self.agents.to_string().len();
        for chart in &self.charts {
            let count = chart.agents.to_string();
            let room = terminal.width.saturating_sub(2 + wide + 2 + digits + 2).max(20);
            for (nth, states) in wrapped(&fullest(chart), room).iter().enumerate() {
                let (name, count) = if nth == 0 { (name(&chart.chart), &*count) } else { ("", "") };
                page.line(format!("  {}  {count:>digits$}  {states}", padded(name, wide)));
            }
        }
        page.line("");
        let mut row = |what: &str, text: String| {
            for (nth, text) in wrapped(&text, terminal.width.saturating_sub(14)).iter().enumerate()
            {
                let what = if nth == 0 { what } else { "" };
                page.line(format!("  {what:<12}{text}"));
            }
        };
        let some = |n: u64, text: String| if n > 0 { text } else { String::new() };
        row("runs", list(&self.ended));
        row("turns", some(self.turns, self.turns.to_string()));
        row("questions", some(self.questions, self.questions.to_string()));
        let cost = if self.cost > 0.0 { format!(", cost {:.4}", self.cost) } else { String::new() };
        let tokens = format!("{} in, {} out{cost}", self.input_tokens, self.output_tokens);
        row("tokens", some(self.input_tokens + self.output_tokens, tokens));
        row("actions", Tool::list(&self.actions));
        row("setbacks", list(&self.setbacks));
        row("errors", list(&self.errors));
        row("scrip", self.world.scrip());
        row("world", list(&self.world.others()));
        if let Some(sums) = &self.cascades {
            let longest = number(sums.longest.len() as u64, "step");
            row(
                "cascades",
                format!("{}; the longest has {longest}", number(sums.effects, "effect")),
            );
            let most = sums.influence.iter().map(|row| {
                let (effects, reached) =
                    (number(row.effects, "effect"), number(row.reached, "agent"));
                format!("{} {effects} on {reached}", row.agent)
            });
            row("influence", most.collect::<Vec<_>>().join(", "));
        }
        page
    }
}

/// Breaks a list after commas into lines of at most `columns` columns. An empty list has no line.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in text.split_inclusive(", ") {
        match lines.last_mut() {
            Some(last) if width(last) + width(part.trim_end()) <= columns => last.push_str(part),
            Some(_) | None => lines.push(part.to_owned()),
        }
    }
    lines.iter().map(|line| line.trim_end().to_owned()).collect()
}

pub(super) fn show(log: &mut Log, is_json: bool, terminal: Terminal) -> miette::Result<()> {
    let mut overview = Overview { version: VERSION, ..Overview::default() };
    let (mut census, mut cascades, mut ticks) = (Census::new(), Cascades::new(), Totals::default());
    let is_wanted =
        |kind: &str| STATES.contains(&kind) || CAUSES.contains(&kind) || KINDS.contains(&kind);
    log.read(
        |head| is_wanted(&head.kind),
        |logged| {
            census.observe(&logged.agent, &logged.line);
            cascades.observe(&logged);
            if logged.agent.is_empty() {
                ticks.line(&logged.line);
                overview.world.line(&logged.line);
            } else {
                overview.line(&logged.line);
            }
            ControlFlow::Continue(())
        },
    )?;
    overview.lines = log.lines;
    overview.unread = log.faults.len();
    overview.time_ms = log.at_ms;
    overview.agents = census.agents();
    overview.charts = census.state_distribution();
    overview.ticks = ticks.ticks;
    for agent in census.names().collect::<Vec<_>>() {
        let status = census.ended(agent).unwrap_or("open");
        *overview.ended.entry(status.to_owned()).or_default() += 1;
    }
    let sums = Sums::new(&cascades, MOST);
    overview.cascades = (sums.effects > 0).then_some(sums);
    if is_json {
        return print_json(&json(&overview));
    }
    print(&overview.text(&log.name, terminal))
}
