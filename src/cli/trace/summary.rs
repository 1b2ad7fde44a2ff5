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

use super::read::{self, Read};
use crate::cli::output::{StyledText, align_columns, complain};
use chartc_compiler::compile::Checked;
use chartc_core::arena::TransitionId;
use chartc_core::expr::Value;
use chartc_core::model;
use chartc_core::plan::Plan;
use chartc_core::wording::counted;
use chartc_runtime::trace::view::{
    ActionOutcome, CallUsage, EventFate, Fate, Happening, Outcome, StepPhase, state, time,
};
use chartc_runtime::trace::{Line, LineName, TraceEvent};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

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

impl RunTotals {
    fn leaf(&self, step: &str) -> &str {
        self.leaves.get(step).map_or("", String::as_str)
    }
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

    /// Formats the totals as JSON on one line, with those of the ticks of a world as a further field.
    pub(super) fn json(&self, ticks: Option<&impl Serialize>) -> String {
        #[derive(Serialize)]
        struct Both<'s, T> {
            #[serde(flatten)]
            summary: &'s Summary,
            #[serde(skip_serializing_if = "Option::is_none")]
            ticks: Option<&'s T>,
        }
        let text = serde_json::to_string(&Both { summary: self, ticks }).unwrap_or_default();
        format!("{text}\n")
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
        let event = line.event();
        if let Happening::Begun { chart, .. } = event.what {
            let chart = chart.to_owned();
            let run = RunTotals { chart: chart.clone(), begun: line.at_ms, ..RunTotals::default() };
            if let Some(over) = runs.insert(line.child.clone(), run) {
                self.summary.close(over, line.at_ms);
            }
            self.summary.charts.entry(chart).or_default().runs += 1;
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
            chart.add(run, &event);
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

/// Counts an action, and its failure.
pub(super) fn count_action(
    actions: &mut BTreeMap<String, Tool>,
    setbacks: &mut Counts,
    (action, outcome): (Option<(&str, &Value)>, ActionOutcome<'_>),
) {
    if let Some((action, _)) = action {
        actions.entry(action.to_owned()).or_default().add(outcome.failed.is_empty());
    }
    if !outcome.failed.is_empty() {
        count(setbacks, outcome.failed);
    }
}

pub(super) fn count(counts: &mut Counts, name: &str) {
    *counts.entry(name.to_owned()).or_default() += 1;
}

impl Chart {
    fn state(&mut self, path: &str) -> &mut StateCost {
        self.states.entry(path.to_owned()).or_default()
    }

    fn add(&mut self, run: &mut RunTotals, event: &TraceEvent<'_>) {
        let (step, at) = (event.subject, event.at_ms);
        match event.what {
            Happening::Turn(_) => self.turns += 1,
            Happening::Entered(state) => {
                run.since.insert(state.to_owned(), at);
                self.state(state).visits += 1;
            }
            Happening::Exited(state) => {
                let since = run.since.remove(state).unwrap_or(at);
                self.state(state).time_ms += at - since.min(at);
            }
            Happening::Step(StepPhase::Started(state)) => {
                run.leaves.insert(step.to_owned(), state.to_owned());
            }
            Happening::Step(StepPhase::Retried) => self.retries += 1,
            Happening::Step(StepPhase::Fallback(why)) => count(&mut self.fallbacks, why),
            Happening::CallBegun(call, _) if call.is_tool() => self.tool(call.name).calls += 1,
            Happening::CallBegun(..) => {
                self.questions += 1;
                count(&mut self.steps, step);
                self.state(run.leaf(step)).questions += 1;
            }
            Happening::CallEnded(call, outcome) => match outcome {
                Outcome::Answer { rung, .. } => count(&mut self.rungs, rung),
                Outcome::Unusable(_) => self.unusable += 1,
                Outcome::Failed(..) if call.is_tool() => self.tool(call.name).failed += 1,
                Outcome::Failed(failure) => {
                    count(&mut self.failures, failure.error);
                    self.state(run.leaf(step)).failed += 1;
                }
                Outcome::Returned(_) | Outcome::GivenUp | Outcome::Late => {}
            },
            Happening::CallUsage(_, usage) => self.spend(run.leaf(step), usage),
            Happening::Action { action, outcome } => {
                count_action(&mut self.actions, &mut self.setbacks, (action, outcome));
            }
            Happening::Forbidden { .. } => self.forbidden += 1,
            Happening::Transition(_, Fate::Denied) => self.denied += 1,
            Happening::Transition(line, Fate::Taken(_)) => self.take(line),
            Happening::Event { fate: EventFate::Refused, .. } => self.refused += 1,
            Happening::Error(error) => {
                count(&mut self.errors, error);
                run.is_stuck |= error.starts_with("stuck.");
            }
            Happening::Ended { status, .. } => {
                run.is_stuck |= status == "stuck";
                run.status = Some(status.to_owned());
                self.time_ms += at - run.begun.min(at);
            }
            _ => {}
        }
    }

    fn spend(&mut self, leaf: &str, usage: CallUsage) {
        self.input_tokens += usage.input_tokens;
        self.output_tokens += usage.output_tokens;
        self.cost += usage.cost;
        self.assumed += u64::from(usage.assumed);
        let state = self.state(leaf);
        state.tokens += usage.input_tokens + usage.output_tokens;
        state.cost += usage.cost;
    }

    fn tool(&mut self, name: &str) -> &mut Tool {
        self.tools.entry(name.to_owned()).or_default()
    }

    fn take(&mut self, taken: &LineName) {
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
}

// Formats totals for people.

impl Summary {
    /// Formats all totals.
    pub(super) fn text(&self) -> StyledText {
        let mut out = StyledText::default();
        for (name, chart) in &self.charts {
            if !out.is_empty() {
                out.line("");
            }
            out.add(&chart.text(name));
        }
        out
    }

    /// Formats the costs of the states, by chart.
    pub(super) fn states(&self) -> StyledText {
        let mut out = StyledText::default();
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

impl Chart {
    fn text(&self, name: &str) -> StyledText {
        let name = if name.is_empty() { "a chart without its `run` line" } else { name };
        let mut out = StyledText::default();
        out.line(format!("{name}: {}, {}", counted(self.runs, "run"), list(&self.ended)));
        out.row(
            "stuck",
            some(
                self.stuck,
                format!("{} ({:.0}%)", counted(self.stuck, "run"), 100.0 * self.stuck_rate),
            ),
        );
        out.row("turns", self.turns.to_string());
        out.row("time", time(self.time_ms));
        out.row(
            "questions",
            some(self.questions, format!("{}: {}", self.questions, list(&self.steps))),
        );
        out.row("answers", self.answers());
        out.row("failures", list(&self.failures));
        out.row("retries", some(self.retries, self.retries.to_string()));
        out.row("fallbacks", list(&self.fallbacks));
        let tokens = self.input_tokens + self.output_tokens;
        out.row("tokens", some(tokens, self.tokens()));
        out.row("tools", Tool::list(&self.tools));
        out.row("actions", Tool::list(&self.actions));
        out.row("setbacks", list(&self.setbacks));
        out.row(
            "forbidden",
            some(self.forbidden, format!("{} of tools", counted(self.forbidden, "call"))),
        );
        out.row("denied", some(self.denied, counted(self.denied, "move")));
        out.row("refused", some(self.refused, counted(self.refused, "event")));
        out.row("errors", list(&self.errors));
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
            text.push_str(&format!("; assumed for {}", counted(self.assumed, "call")));
        }
        text
    }

    fn states(&self) -> StyledText {
        let is_shown = |(path, row): &(&String, &StateCost)| !path.is_empty() || row.questions > 0;
        let rows: Vec<(&String, &StateCost)> = self.states.iter().filter(is_shown).collect();
        let tokens = rows.iter().any(|(_, row)| row.tokens > 0);
        let cost = rows.iter().any(|(_, row)| row.cost > 0.0);
        let failed = rows.iter().any(|(_, row)| row.failed > 0);
        let mut head = vec!["state", "visits", "time", "questions"];
        head.extend(failed.then_some("failed"));
        head.extend(tokens.then_some("tokens"));
        head.extend(cost.then_some("cost"));
        let cells = |(path, row): &(&String, &StateCost)| {
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
        align_columns(&head, &rows, &[1, 2, 3, 4, 5, 6])
    }

    fn moves(&self) -> StyledText {
        let rows = self.transitions.iter().map(|row| {
            let to = if row.targets.is_empty() { "(stays)".into() } else { row.targets.join(", ") };
            vec![row.taken.to_string(), state(&row.state).to_owned(), row.trigger.clone(), to]
        });
        align_columns(&["taken", "state", "line", "to"], &rows.collect::<Vec<_>>(), &[0])
    }
}

/// The text of a count that is not 0.
pub(super) fn some(count: u64, text: String) -> String {
    if count > 0 { text } else { String::new() }
}

pub(super) fn list(counts: &Counts) -> String {
    counts.iter().map(|(name, n)| format!("{name} {n}")).collect::<Vec<_>>().join(", ")
}

// Counts of tool calls, states and transitions.

/// The number of calls of a tool, and of those that failed.
#[derive(Debug, Default, Serialize)]
pub(super) struct Tool {
    pub(super) calls: u64,
    pub(super) failed: u64,
}

impl Tool {
    /// Counts one more call.
    pub(super) fn add(&mut self, is_good: bool) {
        self.calls += 1;
        self.failed += u64::from(!is_good);
    }

    /// All counts on one line.
    pub(super) fn list(all: &BTreeMap<String, Self>) -> String {
        let each = all.iter().map(|(tool, row)| match row.failed {
            0 => format!("{tool} {}", row.calls),
            failed => format!("{tool} {} ({failed} failed)", row.calls),
        });
        each.collect::<Vec<_>>().join(", ")
    }
}

/// The cost of a state. Its time includes that of its descendants; its questions, tokens and money are only those asked with this state as
/// the leaf.
#[derive(Debug, Default, Clone, Serialize)]
pub(super) struct StateCost {
    pub(super) visits: u64,
    pub(super) time_ms: u64,
    pub(super) questions: u64,
    pub(super) failed: u64,
    pub(super) tokens: u64,
    pub(super) cost: f64,
}

/// The number of times that a transition was taken.
#[derive(Debug, Default, Clone, Serialize)]
pub(super) struct Transition {
    pub(super) state: String,
    pub(super) nth: u32,
    pub(super) trigger: String,
    pub(super) targets: Vec<String>,
    pub(super) taken: u64,
}

// Counts how often runs took the transitions of a chart.

/// Counts each transition over all traces. Returns `None` if there are no traces.
///
/// # Errors
/// A trace cannot be read, or has no run of this chart.
pub(in crate::cli) fn taken(
    checked: &Checked,
    traces: &[PathBuf],
) -> miette::Result<Option<BTreeMap<TransitionId, u64>>> {
    if traces.is_empty() {
        return Ok(None);
    }
    let chart = checked.chart();
    let own = format!("{:016x}", Plan::new(chart).tables().hash);
    let mut counts: BTreeMap<TransitionId, u64> = BTreeMap::new();
    for path in traces {
        let trace = read::read(path)?;
        for fault in &trace.faults {
            complain(format!("warning: {fault}"));
        }
        let charts = trace.charts();
        if !charts.values().any(|name| *name == chart.name) {
            let names: Vec<&str> = charts.values().copied().collect();
            return Err(miette::miette!(
                help = "name the chart of the trace",
                "{} is a run of {}, not of `{}`",
                trace.name,
                names.join(", "),
                chart.name
            ));
        }
        let is_other = |line: &Line| match line.event().what {
            Happening::Begun { chart: name, hash, .. } => {
                name == chart.name && !hash.is_empty() && hash != own
            }
            _ => false,
        };
        if trace.lines.iter().any(is_other) {
            complain(format!(
                "warning: {} is a run of another version of `{}`: transitions are counted by their position",
                trace.name, chart.name
            ));
        }
        for line in &trace.lines {
            if let Happening::Transition(name, Fate::Taken(_)) = line.event().what
                && charts.get(line.child.as_str()).is_some_and(|of| *of == chart.name)
                && let Some(id) = find(chart, name)
            {
                *counts.entry(id).or_default() += 1;
            }
        }
    }
    Ok(Some(together(checked, &counts)))
}

/// The transition that a trace names by its source state and number.
fn find(chart: &model::Chart, name: &LineName) -> Option<TransitionId> {
    let source = chart.state_ids().find(|id| chart.state(*id).path == name.state)?;
    let mut own = (0..chart.transitions.len()).map(TransitionId::at);
    let nth = name.nth.checked_sub(1)? as usize;
    own.by_ref().filter(|id| chart.transition(*id).source == source).nth(nth)
}

/// Gives all transitions of one source line the sum of their counts: a picture shows the line once.
fn together(
    checked: &Checked,
    counts: &BTreeMap<TransitionId, u64>,
) -> BTreeMap<TransitionId, u64> {
    let whole = |id: TransitionId| checked.map().transition(id).whole;
    let mut written = BTreeMap::new();
    for (id, times) in counts {
        *written.entry(whole(*id)).or_insert(0) += times;
    }
    let all = (0..checked.chart().transitions.len()).map(TransitionId::at);
    all.filter_map(|id| Some((id, *written.get(&whole(id))?))).collect()
}
