//! Who is in which state: counted from the lines that agents write.

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

/// Number of an agent, in the order in which agents are first seen.
type AgentNumber = u32;
/// Index of a chart, in the order in which charts are first seen.
type ChartIndex = usize;

/// Who is in which state.
///
/// It is fed with the lines of all agents, by [`Self::observe`], and counts along. So a query costs what its answer is long, not
/// what the population is large. Every session writes the lines that it needs, of interpreted and of generated charts alike.
///
/// Being in a state is being in those around it, too. An agent whose run has ended counts where it ended. Charts that `run` steps
/// run are not agents, and do not count.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Census {
    numbers: BTreeMap<String, AgentNumber>,
    /// By their numbers.
    members: Vec<CensusAgent>,
    charts: Vec<Rows>,
    series: Series,
}

/// One agent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct CensusAgent {
    name: String,
    /// None until its run has begun.
    chart: Option<ChartIndex>,
    /// The states that it is in, each behind its parent.
    active: Vec<usize>,
    /// The states left since the last one was entered: a run that ends leaves all, and ended in these.
    left: Vec<usize>,
    /// The status with which its run has ended.
    ended: Option<String>,
}

/// Where the agents of a chart are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Distribution {
    /// The chart's name.
    pub chart: String,
    /// Its agents.
    pub agents: u64,
    /// The basic states with their counts: in document order if [`Census::know`] was given the chart, otherwise by name. An agent in
    /// parallel regions counts once in each.
    pub states: Vec<InState>,
}

/// How many agents are in a basic state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InState {
    /// Its dotted path; empty for the chart itself.
    pub state: String,
    /// How many are there, including those that have ended there.
    pub count: u64,
    /// Those of them whose run has ended, by status.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub ended: BTreeMap<String, u64>,
}

impl Census {
    /// Nobody yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Learns the states of a chart, for document order and for queries about states where nobody has been.
    pub fn know(&mut self, chart: &Chart) {
        let index = self.chart(&chart.name);
        self.charts[index].know(chart);
    }

    /// Takes a line of an agent; the world's own lines have an empty agent.
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
            // Where it was is known, unless its run began before the first line.
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

    /// Takes an agent out: it was stopped for good, and counts nowhere any more.
    pub fn remove(&mut self, agent: &str) {
        if let Some(number) = self.numbers.get(agent).copied() {
            self.clear(number);
        }
    }

    /// The agents in a state, in the order in which they were first seen.
    ///
    /// The state is a dotted path, or its last segment if only one path ends so; `Chart.state` and `Chart` pick the chart.
    ///
    /// # Errors
    /// There is no such state, or it is ambiguous.
    pub fn agents_in_state(&self, state: &str) -> Result<Vec<&str>, Unknown> {
        let mut numbers: Vec<AgentNumber> = Vec::new();
        for (chart, index) in self.find(state)? {
            numbers.extend(self.charts[chart].present(index));
        }
        numbers.sort_unstable();
        Ok(numbers.into_iter().map(|n| self.members[n as usize].name.as_str()).collect())
    }

    /// How many agents are in a state, as [`Self::agents_in_state`] names it.
    ///
    /// # Errors
    /// As [`Self::agents_in_state`].
    pub fn count_in(&self, state: &str) -> Result<u64, Unknown> {
        let found = self.find(state)?.into_iter();
        Ok(found.map(|(chart, index)| self.charts[chart].count(index)).sum())
    }

    /// How many agents are in each basic state (atomic or final), chart by chart in the order of their names.
    pub fn state_distribution(&self) -> Vec<Distribution> {
        let mut all: Vec<Distribution> =
            self.charts.iter().filter(|rows| rows.agents() > 0).map(Rows::distribution).collect();
        all.sort_by(|a, b| a.chart.cmp(&b.chart));
        all
    }

    /// How many agents there are.
    pub fn agents(&self) -> u64 {
        self.charts.iter().map(Rows::agents).sum()
    }

    /// Whether an agent of this name has been seen.
    pub fn has(&self, agent: &str) -> bool {
        self.numbers.contains_key(agent)
    }

    /// The names of all agents, in the order in which they were first seen.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|member| member.name.as_str())
    }

    /// The chart of an agent.
    pub fn chart_of(&self, agent: &str) -> Option<&str> {
        let chart = self.member(agent)?.chart?;
        Some(self.charts[chart].chart())
    }

    /// The status with which an agent's run has ended.
    pub fn ended(&self, agent: &str) -> Option<&str> {
        self.member(agent)?.ended.as_deref()
    }

    /// The basic states that an agent is in, as dotted paths in the order in which they were entered; after the end, the last ones.
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

    /// The counts over time. The last moment is now.
    pub fn series(&self) -> Vec<Sample<'_>> {
        self.series.moments(&self.counts(), &self.charts)
    }

    /// What the time of [`Self::series`] is counted in.
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

    /// Takes an agent out of its chart.
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

    /// The agent whose line it is, with the rows of its chart. Without its first line, a trace does not name its chart.
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

/// The number of the tick that a line of the world sums up.
fn tick(line: &Line) -> Option<u64> {
    let What::World { event, data: Value::Map(data) } = &line.what else { return None };
    match data.get("tick") {
        Some(Value::Int(tick)) if event == "tick_summary" => u64::try_from(*tick).ok(),
        Some(_) | None => None,
    }
}

#[cfg(test)]
mod tests;
