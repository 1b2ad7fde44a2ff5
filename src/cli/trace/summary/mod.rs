//! Computes totals of runs: how they ended, what was asked, what failed, and the cost of each state.
//!
//! Lines are added one by one to the run that they belong to, so that the log of a world need not fit into memory:
//!
//! ```text
//! run Ticket        charts["Ticket"].runs = 1, and a new `RunTotals`
//! entered open      states["open"].visits = 1, since["open"] = 0 ms
//! started triage    leaves["triage"] = "open"
//! question triage   questions = 1, and for the leaf: states["open"].questions = 1
//! exited open       states["open"].time_ms = 900
//! ended ok          ended["ok"] is counted when the run is closed
//! ```

mod shown;

pub(super) use shown::list;

use super::count::{StateCost, Tool, Transition};
use super::read::Read;
use chartc_runtime::trace::{Line, What};
use serde::Serialize;
use std::collections::BTreeMap;

/// The version of the JSON format.
const VERSION: u32 = 1;

/// The totals of each chart.
#[derive(Debug, Default, Serialize)]
pub(super) struct Summary {
    version: u32,
    traces: usize,
    unread: usize,
    charts: BTreeMap<String, Chart>,
}

type Counts = BTreeMap<String, u64>;

/// The totals of all runs of a chart, including those that `run` steps started.
#[derive(Debug, Default, Serialize)]
struct Chart {
    runs: u64,
    /// Runs by their status; `open` for those without an end in the trace.
    ended: Counts,
    /// Runs that ended `stuck` or raised an `error.stuck.*`, and their share of all runs, from 0 to 1.
    stuck: u64,
    stuck_rate: f64,
    time_ms: u64,
    turns: u64,
    /// Questions to models and people, including repeated ones.
    questions: u64,
    /// Questions by step.
    steps: Counts,
    /// Answers by their rung.
    rungs: Counts,
    unusable: u64,
    /// Calls without an answer, by kind of error.
    failures: Counts,
    /// Attempts after a failed one.
    retries: u64,
    /// Fallbacks by reason.
    fallbacks: Counts,
    input_tokens: u64,
    output_tokens: u64,
    /// The cost of all calls, in the unit of the prices.
    cost: f64,
    /// Calls whose usage nobody reported. What was reserved for them counts instead.
    assumed: u64,
    tools: BTreeMap<String, Tool>,
    /// Actions of agents in their world, by name.
    actions: BTreeMap<String, Tool>,
    /// Failed actions, and steps that gave no action, by reason.
    setbacks: Counts,
    /// Calls of tools in states that do not permit them.
    forbidden: u64,
    /// Moves that no `allow` line permitted.
    denied: u64,
    /// Events that nothing handled.
    refused: u64,
    /// `error.*` events by name, without `error.`.
    errors: Counts,
    states: BTreeMap<String, StateCost>,
    transitions: Vec<Transition>,
    #[serde(skip)]
    taken: BTreeMap<(String, u32), Transition>,
}

/// The state of a run while its lines are added.
#[derive(Default)]
struct RunTotals {
    chart: String,
    /// The time at which each active state was entered, by path.
    since: BTreeMap<String, u64>,
    /// The leaf for which each step was last started, by step.
    leaves: BTreeMap<String, String>,
    begun: u64,
    is_stuck: bool,
    status: Option<String>,
}

impl Summary {
    /// The totals of all traces together.
    pub(super) fn from_traces(traces: &[Read]) -> Self {
        let mut sums = Sums::new(traces.len());
        for trace in traces {
            for line in &trace.lines {
                sums.add("", line);
            }
            sums.close(trace.end());
        }
        sums.summary(traces.iter().map(|trace| trace.faults.len()).sum())
    }

    fn close(&mut self, run: RunTotals, at: u64) {
        let chart = self.charts.entry(run.chart).or_default();
        // The states of a run that has not ended are active until the last line.
        for (path, since) in run.since {
            chart.states.entry(path).or_default().time_ms += at - since.min(at);
        }
        if run.status.is_none() {
            chart.time_ms += at - run.begun.min(at);
        }
        chart.stuck += u64::from(run.is_stuck);
        *chart.ended.entry(run.status.unwrap_or_else(|| "open".into())).or_default() += 1;
    }

    /// Formats the totals as JSON on one line.
    pub(super) fn json(&self) -> String {
        let mut text = serde_json::to_string(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// As [`Self::json`], with the totals of `ticks` as a further field.
    pub(super) fn json_with(&self, ticks: &impl Serialize) -> String {
        #[derive(Serialize)]
        struct Both<'s, T> {
            #[serde(flatten)]
            summary: &'s Summary,
            ticks: &'s T,
        }
        let mut text = serde_json::to_string(&Both { summary: self, ticks }).unwrap_or_default();
        text.push('\n');
        text
    }
}

/// Totals to which lines can be added.
#[derive(Default)]
pub(super) struct Sums {
    summary: Summary,
    /// The open runs, by agent and by the path of `run` steps.
    runs: BTreeMap<String, BTreeMap<String, RunTotals>>,
}

impl Sums {
    pub(super) fn new(traces: usize) -> Self {
        let summary = Summary { version: VERSION, traces, ..Summary::default() };
        Self { summary, runs: BTreeMap::new() }
    }

    /// Adds a line of an agent. For a single run, the name of the agent is empty.
    pub(super) fn add(&mut self, agent: &str, line: &Line) {
        // `entry` would allocate a key for every line.
        if !self.runs.contains_key(agent) {
            self.runs.insert(agent.to_owned(), BTreeMap::new());
        }
        let Some(runs) = self.runs.get_mut(agent) else { return };
        if let What::Run { chart, .. } = &line.what {
            let run = RunTotals { chart: chart.clone(), begun: line.at_ms, ..RunTotals::default() };
            if let Some(over) = runs.insert(line.child.clone(), run) {
                self.summary.close(over, line.at_ms);
            }
            self.summary.charts.entry(chart.clone()).or_default().runs += 1;
            return;
        }
        if !runs.contains_key(&line.child) {
            // The trace does not begin with the run's first line, so the name of the chart is unknown.
            runs.insert(line.child.clone(), RunTotals::default());
        }
        let Some(run) = runs.get_mut(&line.child) else { return };
        if !self.summary.charts.contains_key(&run.chart) {
            self.summary.charts.insert(run.chart.clone(), Chart::default());
        }
        if let Some(chart) = self.summary.charts.get_mut(&run.chart) {
            chart.line(run, line);
        }
    }

    /// Ends all open runs at time `at`.
    pub(super) fn close(&mut self, at: u64) {
        for run in std::mem::take(&mut self.runs).into_values().flat_map(BTreeMap::into_values) {
            self.summary.close(run, at);
        }
    }

    /// Completes the totals. `unread` is the number of errors found in the traces.
    pub(super) fn summary(mut self, unread: usize) -> Summary {
        self.summary.unread = unread;
        for chart in self.summary.charts.values_mut() {
            chart.transitions = std::mem::take(&mut chart.taken).into_values().collect();
            chart.stuck_rate = chart.stuck as f64 / chart.runs.max(1) as f64;
        }
        self.summary
    }
}

fn count(counts: &mut Counts, name: &str) {
    *counts.entry(name.to_owned()).or_default() += 1;
}

impl Chart {
    fn state(&mut self, path: &str) -> &mut StateCost {
        self.states.entry(path.to_owned()).or_default()
    }

    fn line(&mut self, run: &mut RunTotals, line: &Line) {
        let leaf = |run: &RunTotals, step: &str| run.leaves.get(step).cloned().unwrap_or_default();
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
            What::Taken { line: taken, .. } => {
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
            _ => {}
        }
    }
}
