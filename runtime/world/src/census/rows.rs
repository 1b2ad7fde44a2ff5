//! The states of one chart, with the agents in them.

use super::{AgentNumber, Distribution, InState};
use chartc_core::model::{Chart, StateKind};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The states of a chart, each after its parent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Rows {
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
    /// The number of agents of which this is an innermost active state.
    basic: u64,
    /// The number of those whose run has ended, by status.
    ended: BTreeMap<String, u64>,
}

impl Rows {
    pub(super) fn new(chart: &str) -> Self {
        Self { chart: chart.to_owned(), ..Self::default() }
    }

    pub(super) fn chart(&self) -> &str {
        &self.chart
    }

    pub(super) fn agents(&self) -> u64 {
        self.agents
    }

    pub(super) fn join(&mut self) {
        self.agents += 1;
    }

    /// Removes one agent from the number of the chart's agents. It must have been removed from all states.
    pub(super) fn leave(&mut self, number: AgentNumber) {
        debug_assert!(self.states.iter().all(|row| !row.present.contains(&number)));
        self.agents -= 1;
    }

    pub(super) fn know(&mut self, chart: &Chart) {
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
    pub(super) fn index(&mut self, path: &str) -> usize {
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

    pub(super) fn by_path(&self, path: &str) -> Option<usize> {
        self.by_path.get(path).copied()
    }

    pub(super) fn by_name(&self, name: &str) -> &[usize] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    pub(super) fn path(&self, index: usize) -> &str {
        &self.states[index].path
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.states.iter().map(|row| row.path.as_str())
    }

    pub(super) fn present(&self, index: usize) -> impl Iterator<Item = AgentNumber> {
        self.states[index].present.iter().copied()
    }

    pub(super) fn count(&self, index: usize) -> u64 {
        self.states[index].present.len() as u64
    }

    pub(super) fn has_active_child(&self, active: &[usize], index: usize) -> bool {
        active.iter().any(|other| self.states[*other].parent == Some(index))
    }

    /// Adds an agent to a state and its ancestors. `active` are the agent's active states.
    pub(super) fn enter(&mut self, number: AgentNumber, index: usize, active: &mut Vec<usize>) {
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
    pub(super) fn exit(&mut self, number: AgentNumber, index: usize, active: &mut Vec<usize>) {
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
    pub(super) fn ended(&mut self, active: &[usize], status: &str) {
        for index in self.basic(active) {
            *self.states[index].ended.entry(status.to_owned()).or_default() += 1;
        }
    }

    /// Reverts [`Self::ended`] for an agent that starts again.
    pub(super) fn unended(&mut self, active: &[usize], status: &str) {
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
    pub(super) fn counts(&self) -> impl Iterator<Item = (usize, u64)> {
        let rows = self.states.iter().enumerate();
        rows.filter(|(_, row)| row.basic > 0).map(|(index, row)| (index, row.basic))
    }

    /// The rows to show: basic states in document order, then those without a known position by name.
    pub(super) fn ordered(&self) -> Vec<usize> {
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

    pub(super) fn distribution(&self) -> Distribution {
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

pub(super) fn last(path: &str) -> &str {
    path.rsplit_once('.').map_or(path, |(_, last)| last)
}
