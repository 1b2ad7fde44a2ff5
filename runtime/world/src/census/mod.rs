//! The census: the number of agents in each state, counted from the lines of their traces.
//!
//! [`Census`] updates its counts with each line, so a query takes time in proportion to its result, not to the population.
//!
//! ```text
//! ada  run Trader          ada is an agent of the chart Trader
//! ada  entered open        the sets of `open` and of the chart's root contain ada
//! ada  entered open.ask    `open.ask`, too; its count as an innermost state is 1, that of `open` 0
//! ada  exited open.ask, exited open
//! ada  ended ok            a run that ends exits all states: ada is put back into open.ask, as ended there
//! ```

mod find;
mod rows;
mod series;

pub use find::Unknown;
pub use series::{Place, Sample, Unit};

use chartc_core::expr::Value;
use chartc_core::model::Chart;
use chartc_runtime::trace::{Line, What};
use rows::Rows;
use serde::{Deserialize, Serialize};
use series::Series;
use std::collections::BTreeMap;

/// The number of an agent, in the order in which agents are first seen.
type AgentNumber = u32;
/// The index of a chart, in the order in which charts are first seen.
type ChartIndex = usize;

/// The agents of a world, by the states in which they are.
///
/// Pass the lines of all agents to [`Self::observe`]. It needs only lines that every session writes, for interpreted and generated charts
/// alike.
///
/// An agent in a state is also in the ancestors of the state. An agent whose run has ended counts in its last states. Child charts of `run`
/// steps are not agents, and do not count.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Census {
    numbers: BTreeMap<String, AgentNumber>,
    /// The agents, indexed by their numbers.
    members: Vec<CensusAgent>,
    charts: Vec<Rows>,
    series: Series,
}

/// The state of one agent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct CensusAgent {
    name: String,
    /// The chart; `None` until its run has begun.
    chart: Option<ChartIndex>,
    /// The active states, each after its parent.
    active: Vec<usize>,
    /// The states exited since the last one was entered. A run that ends exits all states, so they are those in which it ended.
    left: Vec<usize>,
    /// The status of its run, if it has ended.
    ended: Option<String>,
}

/// The distribution of the agents of a chart over its states.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Distribution {
    /// The name of the chart.
    pub chart: String,
    /// The number of its agents.
    pub agents: u64,
    /// The basic states (atomic or final) with their counts: in document order if [`Census::know`] was given the chart, otherwise by name.
    /// An agent in parallel regions counts once in each.
    pub states: Vec<InState>,
}

/// The number of agents in a basic state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InState {
    /// The dotted path of the state; empty for the chart itself.
    pub state: String,
    /// The number of agents in the state, including those whose run ended there.
    pub count: u64,
    /// The number of those whose run ended there, by status.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub ended: BTreeMap<String, u64>,
}

impl Census {
    /// A census without agents.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the states of a chart. This gives their document order, and allows queries for states that no agent has entered.
    pub fn know(&mut self, chart: &Chart) {
        let index = self.chart(&chart.name);
        self.charts[index].know(chart);
    }

    /// Reads a line of an agent's trace. The lines of the world itself have an empty agent.
    pub fn observe(&mut self, agent: &str, line: &Line) {
        if agent.is_empty() {
            if let Some(tick) = tick(line) {
                let counts = self.counts();
                self.series.tick(tick, counts);
            }
            return;
        }
        if self.series.is_past(line.at_ms) {
            let counts = self.counts();
            self.series.pass(counts);
        }
        self.series.reach(line.at_ms);
        if !line.child.is_empty() {
            return;
        }
        if let What::Run { chart, .. } = &line.what {
            let number = self.number(agent);
            self.clear(number);
            let chart = self.chart(chart);
            self.join(number, chart);
        } else if let What::Resumed { chart, .. } = &line.what {
            let number = self.number(agent);
            let chart = self.chart(chart);
            // The states are known from its earlier lines, unless the census began later than the run.
            if self.members[number as usize].chart != Some(chart) {
                self.clear(number);
                self.join(number, chart);
            }
        } else if let What::Entered { state } = &line.what {
            self.enter(agent, state);
        } else if let What::Exited { state } = &line.what {
            self.exit(agent, state);
        } else if let What::Ended { status, .. } = &line.what {
            self.end(agent, status);
        }
    }

    /// Removes an agent that was stopped for good. It counts nowhere any more.
    pub fn remove(&mut self, agent: &str) {
        if let Some(number) = self.numbers.get(agent).copied() {
            self.clear(number);
        }
    }

    /// The agents in a state, in the order in which they were first seen.
    ///
    /// `state` is a dotted path, or its last segment if only one path ends with it. `Chart.state` and `Chart` select a chart.
    ///
    /// # Errors
    /// No state has this name, or several have it.
    pub fn agents_in_state(&self, state: &str) -> Result<Vec<&str>, Unknown> {
        let mut numbers: Vec<AgentNumber> = Vec::new();
        for (chart, index) in self.find(state)? {
            numbers.extend(self.charts[chart].present(index));
        }
        numbers.sort_unstable();
        Ok(numbers.into_iter().map(|n| self.members[n as usize].name.as_str()).collect())
    }

    /// The number of agents in a state; see [`Self::agents_in_state`] for its name.
    ///
    /// # Errors
    /// No state has this name, or several have it.
    pub fn count_in(&self, state: &str) -> Result<u64, Unknown> {
        let found = self.find(state)?.into_iter();
        Ok(found.map(|(chart, index)| self.charts[chart].count(index)).sum())
    }

    /// The number of agents in each basic state (atomic or final), by chart in alphabetical order.
    pub fn state_distribution(&self) -> Vec<Distribution> {
        let mut all: Vec<Distribution> =
            self.charts.iter().filter(|rows| rows.agents() > 0).map(Rows::distribution).collect();
        all.sort_by(|a, b| a.chart.cmp(&b.chart));
        all
    }

    /// The number of all agents.
    pub fn agents(&self) -> u64 {
        self.charts.iter().map(Rows::agents).sum()
    }

    /// Whether the census has lines of this agent.
    pub fn has(&self, agent: &str) -> bool {
        self.numbers.contains_key(agent)
    }

    /// The names of all agents, in the order in which they were first seen.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|member| member.name.as_str())
    }

    /// The name of an agent's chart.
    pub fn chart_of(&self, agent: &str) -> Option<&str> {
        let chart = self.member(agent)?.chart?;
        Some(self.charts[chart].chart())
    }

    /// The status of an agent's run, if it has ended.
    pub fn ended(&self, agent: &str) -> Option<&str> {
        self.member(agent)?.ended.as_deref()
    }

    /// The basic states of an agent, as dotted paths in the order in which they were entered; after the end of its run, the last ones.
    pub fn configuration(&self, agent: &str) -> Vec<&str> {
        let Some((member, rows)) = self.member(agent).and_then(|member| {
            let rows = self.charts.get(member.chart?)?;
            Some((member, rows))
        }) else {
            return Vec::new();
        };
        let basic = member.active.iter().filter(|s| !rows.has_active_child(&member.active, **s));
        basic.map(|s| rows.path(*s)).collect()
    }

    /// The counts over time. The last sample is that of the present.
    pub fn series(&self) -> Vec<Sample<'_>> {
        self.series.moments(&self.counts(), &self.charts)
    }

    /// The unit of time in [`Self::series`].
    pub fn unit(&self) -> Unit {
        self.series.unit()
    }

    fn member(&self, agent: &str) -> Option<&CensusAgent> {
        self.numbers.get(agent).map(|number| &self.members[*number as usize])
    }

    fn number(&mut self, agent: &str) -> AgentNumber {
        if let Some(number) = self.numbers.get(agent) {
            return *number;
        }
        let number = self.members.len() as AgentNumber;
        self.numbers.insert(agent.to_owned(), number);
        self.members.push(CensusAgent { name: agent.to_owned(), ..CensusAgent::default() });
        number
    }

    fn chart(&mut self, name: &str) -> ChartIndex {
        if let Some(index) = self.charts.iter().position(|rows| rows.chart() == name) {
            return index;
        }
        self.charts.push(Rows::new(name));
        self.charts.len() - 1
    }

    fn join(&mut self, number: AgentNumber, chart: ChartIndex) {
        self.members[number as usize].chart = Some(chart);
        self.charts[chart].join();
    }

    /// Removes an agent from its chart and states.
    fn clear(&mut self, number: AgentNumber) {
        let member = &mut self.members[number as usize];
        let Some(chart) = member.chart.take() else { return };
        let rows = &mut self.charts[chart];
        if let Some(status) = member.ended.take() {
            rows.unended(&member.active, &status);
        }
        while let Some(outermost) = member.active.first().copied() {
            rows.exit(number, outermost, &mut member.active);
        }
        rows.leave(number);
        member.left.clear();
    }

    /// The number and state of an agent, with the rows of its chart. An agent without its first line in the log belongs to a chart with an
    /// empty name.
    fn place(&mut self, agent: &str) -> (AgentNumber, &mut CensusAgent, &mut Rows) {
        let number = self.number(agent);
        if self.members[number as usize].chart.is_none() {
            let chart = self.chart("");
            self.join(number, chart);
        }
        let member = &mut self.members[number as usize];
        let chart = member.chart.unwrap_or_default();
        (number, member, &mut self.charts[chart])
    }

    fn enter(&mut self, agent: &str, state: &str) {
        let (number, member, rows) = self.place(agent);
        let index = rows.index(state);
        member.left.clear();
        rows.enter(number, index, &mut member.active);
    }

    fn exit(&mut self, agent: &str, state: &str) {
        let (number, member, rows) = self.place(agent);
        let index = rows.index(state);
        if member.active.contains(&index) {
            rows.exit(number, index, &mut member.active);
            member.left.push(index);
        }
    }

    fn end(&mut self, agent: &str, status: &str) {
        let (number, member, rows) = self.place(agent);
        // The states were exited from the inside out, so in reverse each comes after its parent.
        for index in std::mem::take(&mut member.left).into_iter().rev() {
            rows.enter(number, index, &mut member.active);
        }
        if let Some(before) = member.ended.replace(status.to_owned()) {
            rows.unended(&member.active, &before);
        }
        rows.ended(&member.active, status);
    }

    fn counts(&self) -> Vec<series::Count> {
        let mut counts = Vec::new();
        for (chart, rows) in self.charts.iter().enumerate() {
            counts.extend(rows.counts().map(|(state, count)| (chart, state, count)));
        }
        counts
    }
}

/// The number of the tick, if the line is the world's summary of a tick.
fn tick(line: &Line) -> Option<u64> {
    let What::World { event, data: Value::Map(data) } = &line.what else { return None };
    match data.get("tick") {
        Some(Value::Int(tick)) if event == "tick_summary" => u64::try_from(*tick).ok(),
        Some(_) | None => None,
    }
}

#[cfg(test)]
mod tests;
