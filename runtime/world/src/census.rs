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

#[cfg(test)]
mod tests;

use chartc_core::model::{Chart, StateKind};
use chartc_runtime::trace::Line;
use chartc_runtime::trace::view::Happening;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

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
            if let Some(tick) = line.event().tick() {
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
        match line.event().what {
            Happening::Begun { chart, .. } => {
                let number = self.number(agent);
                self.clear(number);
                let chart = self.chart(chart);
                self.join(number, chart);
            }
            Happening::Resumed { chart, .. } => {
                let number = self.number(agent);
                let chart = self.chart(chart);
                // The states are known from its earlier lines, unless the census began later than the run.
                if self.members[number as usize].chart != Some(chart) {
                    self.clear(number);
                    self.join(number, chart);
                }
            }
            Happening::Entered(state) => self.enter(agent, state),
            Happening::Exited(state) => self.exit(agent, state),
            Happening::Ended { status, .. } => self.end(agent, status),
            _ => {}
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

    /// The numbers alone, without the agents: as large as the charts, not as the population.
    pub(crate) fn numbers(&self) -> Self {
        let state = |row: &StateRow| StateRow {
            path: row.path.clone(),
            ended: row.ended.clone(),
            present: BTreeSet::new(),
            counted: row.present.len() as u64,
            ..*row
        };
        let rows = |rows: &Rows| Rows {
            chart: rows.chart.clone(),
            agents: rows.agents,
            states: rows.states.iter().map(state).collect(),
            by_path: rows.by_path.clone(),
            by_name: rows.by_name.clone(),
        };
        Self { charts: self.charts.iter().map(rows).collect(), ..Self::default() }
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

    fn counts(&self) -> Vec<Count> {
        let mut counts = Vec::new();
        for (chart, rows) in self.charts.iter().enumerate() {
            counts.extend(rows.counts().map(|(state, count)| (chart, state, count)));
        }
        counts
    }
}

// Resolves the name of a state in a query.

/// The error of a query for a state that cannot be resolved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unknown {
    /// No chart has a state with this name.
    #[error("no agent's chart has a state `{state}`")]
    State {
        /// The name in the query.
        state: String,
        /// All valid names: charts, paths, last segments of paths, and paths after the name of their chart.
        known: Vec<String>,
    },
    /// Several states have this name.
    #[error("`{state}` is ambiguous: {}", several.join(", "))]
    Ambiguous {
        /// The name in the query.
        state: String,
        /// The paths of these states.
        several: Vec<String>,
    },
}

impl Census {
    /// The states that a name stands for, as charts and rows. They are several only if several charts have a state with the same path.
    fn find(&self, state: &str) -> Result<Vec<(ChartIndex, usize)>, Unknown> {
        let exact: Vec<(ChartIndex, usize)> = (self.charts.iter().enumerate())
            .filter(|(_, rows)| !state.is_empty() || rows.agents() > 0)
            .filter_map(|(chart, rows)| Some((chart, rows.by_path(state)?)))
            .collect();
        if !exact.is_empty() {
            return Ok(exact);
        }
        // An exact path has priority over `Chart.path`, and that over the last segment of a path.
        let (chart, inside) = state.split_once('.').unwrap_or((state, ""));
        let named = self.charts.iter().position(|rows| !chart.is_empty() && rows.chart() == chart);
        if let Some(chart) = named {
            let rows = &self.charts[chart];
            if let Some(index) = rows.by_path(inside) {
                return Ok(vec![(chart, index)]);
            }
            return self.only(state, rows.by_name(inside).iter().map(|index| (chart, *index)));
        }
        let named =
            self.charts.iter().enumerate().flat_map(|(chart, rows)| {
                rows.by_name(state).iter().map(move |index| (chart, *index))
            });
        self.only(state, named)
    }

    /// Returns the rows if all of them have the same path.
    fn only(
        &self,
        state: &str,
        rows: impl Iterator<Item = (ChartIndex, usize)>,
    ) -> Result<Vec<(ChartIndex, usize)>, Unknown> {
        let rows: Vec<(ChartIndex, usize)> = rows.collect();
        let path = |(chart, index): &(ChartIndex, usize)| self.charts[*chart].path(*index);
        let paths: BTreeSet<&str> = rows.iter().map(path).collect();
        match paths.len() {
            0 => Err(Unknown::State { state: state.to_owned(), known: self.known() }),
            1 => Ok(rows),
            _ => Err(Unknown::Ambiguous {
                state: state.to_owned(),
                several: paths.into_iter().map(str::to_owned).collect(),
            }),
        }
    }

    /// All names that a query can use.
    fn known(&self) -> Vec<String> {
        let mut known = BTreeSet::new();
        for rows in &self.charts {
            known.insert(rows.chart().to_owned());
            for path in rows.paths().filter(|path| !path.is_empty()) {
                known.insert(path.to_owned());
                known.insert(last(path).to_owned());
                known.insert(format!("{}.{path}", rows.chart()));
            }
        }
        known.into_iter().filter(|name| !name.is_empty()).collect()
    }
}

// The states of one chart, with the agents in them.

/// The states of a chart, each after its parent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Rows {
    chart: String,
    agents: u64,
    states: Vec<StateRow>,
    by_path: BTreeMap<String, usize>,
    /// The states by the last segment of their paths.
    by_name: BTreeMap<String, Vec<usize>>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct StateRow {
    path: String,
    parent: Option<usize>,
    /// The position in document order and whether the state is basic (atomic or final), if the chart is known.
    known: Option<(u32, bool)>,
    has_children: bool,
    present: BTreeSet<AgentNumber>,
    /// The number of agents in a census of numbers alone.
    #[serde(skip)]
    counted: u64,
    /// The number of agents of which this is an innermost active state.
    basic: u64,
    /// The number of those whose run has ended, by status.
    ended: BTreeMap<String, u64>,
}

impl Rows {
    fn new(chart: &str) -> Self {
        Self { chart: chart.to_owned(), ..Self::default() }
    }

    fn chart(&self) -> &str {
        &self.chart
    }

    fn agents(&self) -> u64 {
        self.agents
    }

    fn join(&mut self) {
        self.agents += 1;
    }

    /// Removes one agent from the number of the chart's agents. It must have been removed from all states.
    fn leave(&mut self, number: AgentNumber) {
        debug_assert!(self.states.iter().all(|row| !row.present.contains(&number)));
        self.agents -= 1;
    }

    fn know(&mut self, chart: &Chart) {
        for (nth, state) in chart.states.iter().enumerate() {
            let is_basic = match state.kind {
                StateKind::Atomic | StateKind::Final { .. } => true,
                StateKind::Compound { .. } | StateKind::Parallel => false,
                StateKind::History { .. } => continue,
            };
            let index = self.index(&state.path);
            self.states[index].known = Some((nth as u32, is_basic));
        }
    }

    /// The row of a path. If there is none, it is added, after rows for its ancestors.
    fn index(&mut self, path: &str) -> usize {
        if let Some(index) = self.by_path.get(path) {
            return *index;
        }
        let parent = (!path.is_empty()).then(|| {
            let parent = self.index(path.rsplit_once('.').map_or("", |(parent, _)| parent));
            self.states[parent].has_children = true;
            parent
        });
        let index = self.states.len();
        self.states.push(StateRow { path: path.to_owned(), parent, ..StateRow::default() });
        self.by_path.insert(path.to_owned(), index);
        self.by_name.entry(last(path).to_owned()).or_default().push(index);
        index
    }

    fn by_path(&self, path: &str) -> Option<usize> {
        self.by_path.get(path).copied()
    }

    fn by_name(&self, name: &str) -> &[usize] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    fn path(&self, index: usize) -> &str {
        &self.states[index].path
    }

    fn paths(&self) -> impl Iterator<Item = &str> {
        self.states.iter().map(|row| row.path.as_str())
    }

    fn present(&self, index: usize) -> impl Iterator<Item = AgentNumber> {
        self.states[index].present.iter().copied()
    }

    fn count(&self, index: usize) -> u64 {
        let row = &self.states[index];
        row.counted.max(row.present.len() as u64)
    }

    fn has_active_child(&self, active: &[usize], index: usize) -> bool {
        active.iter().any(|other| self.states[*other].parent == Some(index))
    }

    /// Adds an agent to a state and its ancestors. `active` are the agent's active states.
    fn enter(&mut self, number: AgentNumber, index: usize, active: &mut Vec<usize>) {
        if active.contains(&index) {
            return;
        }
        if let Some(parent) = self.states[index].parent {
            self.enter(number, parent, active);
            // The parent had no active child until now, so it counted as an innermost state.
            if !self.has_active_child(active, parent) {
                self.states[parent].basic -= 1;
            }
        }
        active.push(index);
        self.states[index].present.insert(number);
        self.states[index].basic += 1;
    }

    /// Removes an agent from a state and its descendants.
    fn exit(&mut self, number: AgentNumber, index: usize, active: &mut Vec<usize>) {
        while let Some(child) =
            active.iter().rev().find(|other| self.states[**other].parent == Some(index)).copied()
        {
            self.exit(number, child, active);
        }
        active.retain(|other| *other != index);
        self.states[index].present.remove(&number);
        self.states[index].basic -= 1;
        if let Some(parent) = self.states[index].parent
            && active.contains(&parent)
            && !self.has_active_child(active, parent)
        {
            self.states[parent].basic += 1;
        }
    }

    /// Counts an agent whose run ended in these states.
    fn ended(&mut self, active: &[usize], status: &str) {
        for index in self.basic(active) {
            *self.states[index].ended.entry(status.to_owned()).or_default() += 1;
        }
    }

    /// Reverts [`Self::ended`] for an agent that starts again.
    fn unended(&mut self, active: &[usize], status: &str) {
        for index in self.basic(active) {
            let ended = &mut self.states[index].ended;
            if let Some(count) = ended.get_mut(status) {
                *count -= 1;
            }
            ended.retain(|_, count| *count > 0);
        }
    }

    fn basic(&self, active: &[usize]) -> Vec<usize> {
        active.iter().copied().filter(|index| !self.has_active_child(active, *index)).collect()
    }

    /// The innermost states that have agents, with the numbers of these.
    fn counts(&self) -> impl Iterator<Item = (usize, u64)> {
        let rows = self.states.iter().enumerate();
        rows.filter(|(_, row)| row.basic > 0).map(|(index, row)| (index, row.basic))
    }

    /// The rows to show: basic states in document order, then those without a known position by name.
    fn ordered(&self) -> Vec<usize> {
        let is_shown = |row: &StateRow| {
            row.basic > 0 || row.known.map_or(!row.has_children, |(_, is_basic)| is_basic)
        };
        let mut shown: Vec<usize> =
            (0..self.states.len()).filter(|index| is_shown(&self.states[*index])).collect();
        let key = |index: &usize| {
            let row = &self.states[*index];
            (row.known.map_or(u32::MAX, |(nth, _)| nth), &row.path)
        };
        shown.sort_by(|a, b| key(a).cmp(&key(b)));
        shown
    }

    fn distribution(&self) -> Distribution {
        let in_state = |index: usize| {
            let row = &self.states[index];
            InState { state: row.path.clone(), count: row.basic, ended: row.ended.clone() }
        };
        Distribution {
            chart: self.chart.clone(),
            agents: self.agents,
            states: self.ordered().into_iter().map(in_state).collect(),
        }
    }
}

fn last(path: &str) -> &str {
    path.rsplit_once('.').map_or(path, |(_, last)| last)
}

// The counts of agents over time, in bounded memory.
//
// A series keeps at most one sample in each step of time. When it has too many samples, the step doubles, and of each two neighbours only
// the later one is kept: with at most 4 samples, those at 0, 1, 2, 3 and 4 become those at 1, 3 and 4.

/// The maximum number of samples. Beyond it, every second one is removed.
const MOST: usize = 1000;
/// The maximum number of counts in all samples together, because samples of many charts are long.
const MOST_COUNTS: usize = 200_000;
/// The minimum number of samples, however long they are.
const LEAST: usize = 16;

/// The number of agents in an innermost state, after the chart and the row of the state.
type Count = (ChartIndex, usize, u64);

/// The unit of time of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Milliseconds of the world's clock.
    #[default]
    Milliseconds,
    /// Ticks, in a world that runs in ticks.
    Ticks,
}

/// The samples so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Series {
    unit: Unit,
    /// The length of time that a sample covers, which doubles when there are too many samples.
    step: u64,
    now: u64,
    samples: Vec<Taken>,
    /// The number of counts in all samples.
    counts: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Taken {
    at: u64,
    counts: Vec<Count>,
}

/// The counts at one time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Sample<'c> {
    /// The time, in the [`Unit`] of the census.
    pub at: u64,
    /// The innermost states that had agents.
    pub counts: Vec<Place<'c>>,
}

/// The number of agents in an innermost state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Place<'c> {
    /// The name of the chart.
    pub chart: &'c str,
    /// The dotted path of the state.
    pub state: &'c str,
    /// The number of agents.
    pub count: u64,
}

impl Default for Series {
    fn default() -> Self {
        Self { unit: Unit::default(), step: 1, now: 0, samples: Vec::new(), counts: 0 }
    }
}

impl Series {
    fn unit(&self) -> Unit {
        self.unit
    }

    /// Whether a time is in a later step than the current one, so that the current one needs a sample.
    fn is_past(&self, at_ms: u64) -> bool {
        self.unit == Unit::Milliseconds && at_ms / self.step > self.now / self.step
    }

    /// Adds a sample for the current step, which is over.
    fn pass(&mut self, counts: Vec<Count>) {
        self.keep(self.now, counts);
    }

    /// Moves to a later time. Earlier times are ignored: agents on different threads may write their lines slightly out of order.
    fn reach(&mut self, at_ms: u64) {
        if self.unit == Unit::Milliseconds {
            self.now = self.now.max(at_ms);
        }
    }

    /// Adds a sample at the end of a tick. The first tick changes the unit to ticks, and drops the samples in milliseconds.
    fn tick(&mut self, tick: u64, counts: Vec<Count>) {
        if self.unit == Unit::Milliseconds {
            *self = Self { unit: Unit::Ticks, ..Self::default() };
        }
        self.now = self.now.max(tick);
        self.keep(tick, counts);
    }

    fn keep(&mut self, at: u64, counts: Vec<Count>) {
        // A later sample of the same step replaces the earlier one.
        let step = at / self.step;
        if let Some(last) = self.samples.pop_if(|last| last.at / self.step >= step) {
            self.counts -= last.counts.len();
        }
        self.counts += counts.len();
        self.samples.push(Taken { at, counts });
        while self.samples.len() > MOST || (self.counts > MOST_COUNTS && self.samples.len() > LEAST)
        {
            self.halve();
        }
    }

    /// Doubles the step, and keeps only the last sample in each step.
    fn halve(&mut self) {
        self.step *= 2;
        let steps: Vec<u64> = self.samples.iter().map(|sample| sample.at / self.step).collect();
        let mut nth = 0;
        self.samples.retain(|_| {
            nth += 1;
            steps.get(nth).is_none_or(|next| *next != steps[nth - 1])
        });
        self.counts = self.samples.iter().map(|sample| sample.counts.len()).sum();
    }

    /// All samples with names, followed by the present counts.
    fn moments<'c>(&self, now: &[Count], charts: &'c [Rows]) -> Vec<Sample<'c>> {
        let place = |(chart, state, count): &Count| Place {
            chart: charts[*chart].chart(),
            state: charts[*chart].path(*state),
            count: *count,
        };
        let named = |counts: &[Count]| counts.iter().map(place).collect();
        let mut moments: Vec<Sample<'c>> = (self.samples.iter())
            .map(|sample| Sample { at: sample.at, counts: named(&sample.counts) })
            .collect();
        moments.pop_if(|last| last.at >= self.now);
        moments.push(Sample { at: self.now, counts: named(now) });
        moments
    }
}
