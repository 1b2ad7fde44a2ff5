//! Totals of runs: how they ended, what was asked, what failed, and what each state cost.

use super::super::columns::columns;
use super::count::{State, Tool, Transition};
use super::read::Read;
use super::tell::{number, state, time};
use crate::cli::output::Page;
use chartc_runtime::trace::{Line, What};
use serde::Serialize;
use std::collections::BTreeMap;

/// Version of the JSON.
const VERSION: u32 = 1;

/// Totals by chart.
#[derive(Debug, Default, Serialize)]
pub(super) struct Summary {
    version: u32,
    traces: usize,
    unread: usize,
    charts: BTreeMap<String, Chart>,
}

type Counts = BTreeMap<String, u64>;

/// The runs of one chart, including those that `run` steps started.
#[derive(Debug, Default, Serialize)]
struct Chart {
    runs: u64,
    /// By status; `open` for those that had not ended.
    ended: Counts,
    /// Runs that ended stuck, or raised an `error.stuck.*`; and their share.
    stuck: u64,
    stuck_rate: f64,
    time_ms: u64,
    turns: u64,
    /// Questions, including those to people and repeated ones.
    questions: u64,
    /// By step.
    steps: Counts,
    /// Answers by their rung.
    rungs: Counts,
    unusable: u64,
    /// Calls without an answer, by the kind of error.
    failures: Counts,
    /// Attempts that followed a failed one.
    retries: u64,
    /// By their reason.
    fallbacks: Counts,
    input_tokens: u64,
    output_tokens: u64,
    /// What calls cost, in the unit that prices are in.
    cost: f64,
    /// Calls with unknown usage.
    assumed: u64,
    tools: BTreeMap<String, Tool>,
    /// What agents did in their world.
    actions: BTreeMap<String, Tool>,
    /// Why actions, or the thinking before them, failed.
    setbacks: Counts,
    /// Tools that were named where they may not be called.
    forbidden: u64,
    /// Moves that no `allow` line permits.
    denied: u64,
    /// Events that nothing handled.
    refused: u64,
    /// `error.*` events.
    errors: Counts,
    states: BTreeMap<String, State>,
    transitions: Vec<Transition>,
    #[serde(skip)]
    taken: BTreeMap<(String, u32), Transition>,
}

/// One run while its totals are computed.
#[derive(Default)]
struct Run {
    chart: String,
    /// The time at which each active state was entered.
    since: BTreeMap<String, u64>,
    /// The leaf that a step was started for.
    leaves: BTreeMap<String, String>,
    begun: u64,
    is_stuck: bool,
    status: Option<String>,
}

impl Summary {
    /// The totals of all traces together.
    pub(super) fn of(traces: &[Read]) -> Self {
        let unread = traces.iter().map(|trace| trace.faults.len()).sum();
        let mut summary =
            Self { version: VERSION, traces: traces.len(), unread, ..Self::default() };
        for trace in traces {
            summary.add(trace);
        }
        for chart in summary.charts.values_mut() {
            chart.transitions = std::mem::take(&mut chart.taken).into_values().collect();
            chart.stuck_rate = chart.stuck as f64 / chart.runs.max(1) as f64;
        }
        summary
    }

    fn add(&mut self, trace: &Read) {
        let mut runs: BTreeMap<&str, Run> = BTreeMap::new();
        for line in &trace.lines {
            if let What::Run { chart, .. } = &line.what {
                let run = Run { chart: chart.clone(), begun: line.at_ms, ..Run::default() };
                if let Some(over) = runs.insert(&line.child, run) {
                    self.close(over, line.at_ms);
                }
                self.charts.entry(chart.clone()).or_default().runs += 1;
                continue;
            }
            // Without its first line, a trace does not name its chart.
            let run = runs.entry(&line.child).or_default();
            self.charts.entry(run.chart.clone()).or_default().line(run, line);
        }
        for run in runs.into_values() {
            self.close(run, trace.end());
        }
    }

    fn close(&mut self, run: Run, at: u64) {
        let chart = self.charts.entry(run.chart).or_default();
        // A run that has ended has left all its states.
        for (path, since) in run.since {
            chart.states.entry(path).or_default().time_ms += at - since.min(at);
        }
        if run.status.is_none() {
            chart.time_ms += at - run.begun.min(at);
        }
        chart.stuck += u64::from(run.is_stuck);
        *chart.ended.entry(run.status.unwrap_or_else(|| "open".into())).or_default() += 1;
    }

    /// As JSON, on one line.
    pub(super) fn json(&self) -> String {
        let mut text = serde_json::to_string(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// For people.
    pub(super) fn text(&self) -> Page {
        let mut out = Page::default();
        for (name, chart) in &self.charts {
            if !out.is_empty() {
                out.line("");
            }
            out.add(&chart.text(name));
        }
        out
    }

    /// What the states cost, chart by chart.
    pub(super) fn states(&self) -> Page {
        let mut out = Page::default();
        for (name, chart) in &self.charts {
            if !out.is_empty() {
                out.line("");
            }
            if self.charts.len() > 1 {
                out.line(name);
            }
            out.add(&chart.states());
        }
        out
    }
}

fn count(counts: &mut Counts, name: &str) {
    *counts.entry(name.to_owned()).or_default() += 1;
}

impl Chart {
    fn state(&mut self, path: &str) -> &mut State {
        self.states.entry(path.to_owned()).or_default()
    }

    fn line(&mut self, run: &mut Run, line: &Line) {
        let leaf = |run: &Run, step: &str| run.leaves.get(step).cloned().unwrap_or_default();
        match &line.what {
            What::Turn { .. } => self.turns += 1,
            What::Entered { state } => {
                run.since.insert(state.clone(), line.at_ms);
                self.state(state).visits += 1;
            }
            What::Exited { state } => {
                let since = run.since.remove(state).unwrap_or(line.at_ms);
                self.state(state).time_ms += line.at_ms - since.min(line.at_ms);
            }
            What::Started { step, state, .. } => {
                run.leaves.insert(step.clone(), state.clone());
            }
            What::Question { step, .. } => {
                self.questions += 1;
                count(&mut self.steps, step);
                self.state(&leaf(run, step)).questions += 1;
            }
            What::Answer { rung, .. } => count(&mut self.rungs, rung),
            What::Unusable { .. } => self.unusable += 1,
            What::CallFailed { step, error, .. } => {
                count(&mut self.failures, error);
                self.state(&leaf(run, step)).failed += 1;
            }
            What::Usage { step, input_tokens, output_tokens, cost, assumed, .. } => {
                self.input_tokens += input_tokens;
                self.output_tokens += output_tokens;
                self.cost += cost;
                self.assumed += u64::from(*assumed);
                let state = self.state(&leaf(run, step));
                state.tokens += input_tokens + output_tokens;
                state.cost += cost;
            }
            What::Retried { .. } => self.retries += 1,
            What::Fallback { why, .. } => count(&mut self.fallbacks, why),
            What::ToolCall { tool, .. } => self.tools.entry(tool.clone()).or_default().calls += 1,
            What::ToolFailed { tool, .. } => {
                self.tools.entry(tool.clone()).or_default().failed += 1;
            }
            What::Acted { action, failed, .. } => {
                self.actions.entry(action.clone()).or_default().add(failed.is_empty());
                if !failed.is_empty() {
                    count(&mut self.setbacks, failed);
                }
            }
            What::NotActed { failed, .. } => count(&mut self.setbacks, failed),
            What::Forbidden { .. } => self.forbidden += 1,
            What::Denied { .. } => self.denied += 1,
            What::Refused { .. } => self.refused += 1,
            What::Error { error } => {
                count(&mut self.errors, error);
                run.is_stuck |= error.starts_with("stuck.");
            }
            What::Taken { line: taken } => {
                let at = (taken.state.clone(), taken.nth);
                let row = self.taken.entry(at).or_insert_with(|| Transition {
                    state: taken.state.clone(),
                    nth: taken.nth,
                    trigger: taken.trigger.clone(),
                    targets: taken.targets.clone(),
                    taken: 0,
                });
                row.taken += 1;
            }
            What::Ended { status, .. } => {
                run.is_stuck |= status == "stuck";
                run.status = Some(status.clone());
                self.time_ms += line.at_ms - run.begun.min(line.at_ms);
            }
            What::Run { .. }
            | What::Resumed { .. }
            | What::Input { .. }
            | What::Event { .. }
            | What::Sent { .. }
            | What::Delivered { .. }
            | What::Posted { .. }
            | What::Undelivered { .. }
            | What::SendCanceled { .. }
            | What::PassedOn { .. }
            | What::NotTaken { .. }
            | What::Lost { .. }
            | What::Waiting { .. }
            | What::NotRetried { .. }
            | What::Cancelled { .. }
            | What::Called { .. }
            | What::ToolResult { .. }
            | What::Returned { .. }
            | What::NotReturned { .. }
            | What::Skipped { .. }
            | What::Done { .. }
            | What::Chosen { .. }
            | What::Unasked { .. }
            | What::Failed { .. }
            | What::Dropped { .. }
            | What::WalkEnded { .. }
            | What::Warned { .. }
            | What::Section { .. }
            | What::HostNote { .. }
            | What::World { .. }
            | What::TurnEnded { .. }
            | What::Note { .. } => {}
        }
    }

    fn text(&self, name: &str) -> Page {
        let name = if name.is_empty() { "a chart without its `run` line" } else { name };
        let mut out = Page::default();
        out.line(format!("{name}: {}, {}", number(self.runs, "run"), list(&self.ended)));
        let mut row = |what: &str, text: String| {
            if !text.is_empty() {
                out.line(format!("  {what:<12}{text}"));
            }
        };
        let some = |n: u64, text: String| if n > 0 { text } else { String::new() };
        row(
            "stuck",
            some(
                self.stuck,
                format!("{} ({:.0}%)", number(self.stuck, "run"), 100.0 * self.stuck_rate),
            ),
        );
        row("turns", self.turns.to_string());
        row("time", time(self.time_ms));
        row(
            "questions",
            some(self.questions, format!("{}: {}", self.questions, list(&self.steps))),
        );
        row("answers", self.answers());
        row("failures", list(&self.failures));
        row("retries", some(self.retries, self.retries.to_string()));
        row("fallbacks", list(&self.fallbacks));
        let tokens = self.input_tokens + self.output_tokens;
        row("tokens", some(tokens, self.tokens()));
        row("tools", Tool::list(&self.tools));
        row("actions", Tool::list(&self.actions));
        row("setbacks", list(&self.setbacks));
        row(
            "forbidden",
            some(self.forbidden, format!("{} of tools", number(self.forbidden, "call"))),
        );
        row("denied", some(self.denied, number(self.denied, "move")));
        row("refused", some(self.refused, number(self.refused, "event")));
        row("errors", list(&self.errors));
        out.line("");
        out.add(&self.states());
        if !self.transitions.is_empty() {
            out.line("");
            out.add(&self.moves());
        }
        out
    }

    fn answers(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        for (rung, words) in
            [("whole", "as asked"), ("cleaned", "cleaned"), ("mention", "by mention")]
        {
            if let Some(n) = self.rungs.get(rung) {
                parts.push(format!("{n} {words}"));
            }
        }
        if self.unusable > 0 {
            parts.push(format!("{} not usable", self.unusable));
        }
        parts.join(", ")
    }

    fn tokens(&self) -> String {
        let mut text = format!("{} in, {} out", self.input_tokens, self.output_tokens);
        if self.cost > 0.0 {
            text.push_str(&format!(", cost {:.4}", self.cost));
        }
        if self.assumed > 0 {
            text.push_str(&format!("; assumed for {}", number(self.assumed, "call")));
        }
        text
    }

    fn states(&self) -> Page {
        let is_shown = |(path, row): &(&String, &State)| !path.is_empty() || row.questions > 0;
        let rows: Vec<(&String, &State)> = self.states.iter().filter(is_shown).collect();
        let tokens = rows.iter().any(|(_, row)| row.tokens > 0);
        let cost = rows.iter().any(|(_, row)| row.cost > 0.0);
        let failed = rows.iter().any(|(_, row)| row.failed > 0);
        let mut head = vec!["state", "visits", "time", "questions"];
        head.extend(failed.then_some("failed"));
        head.extend(tokens.then_some("tokens"));
        head.extend(cost.then_some("cost"));
        let cells = |(path, row): &(&String, &State)| {
            let mut cells = vec![
                state(path).to_owned(),
                row.visits.to_string(),
                time(row.time_ms),
                row.questions.to_string(),
            ];
            cells.extend(failed.then(|| row.failed.to_string()));
            cells.extend(tokens.then(|| row.tokens.to_string()));
            cells.extend(cost.then(|| format!("{:.4}", row.cost)));
            cells
        };
        let rows: Vec<Vec<String>> = rows.iter().map(cells).collect();
        columns(&head, &rows, &[1, 2, 3, 4, 5, 6])
    }

    fn moves(&self) -> Page {
        let rows = self.transitions.iter().map(|row| {
            let to = if row.targets.is_empty() { "(stays)".into() } else { row.targets.join(", ") };
            vec![row.taken.to_string(), state(&row.state).to_owned(), row.trigger.clone(), to]
        });
        columns(&["taken", "state", "line", "to"], &rows.collect::<Vec<_>>(), &[0])
    }
}

fn list(counts: &Counts) -> String {
    counts.iter().map(|(name, n)| format!("{name} {n}")).collect::<Vec<_>>().join(", ")
}
