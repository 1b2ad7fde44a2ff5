//! Summaries over the cascades of all agents.

use super::Cascades;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The number of times that one agent's actions affected another agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Edge {
    /// The agent that acted; empty for the world itself.
    pub from: String,
    /// The agent that was affected.
    pub to: String,
    /// The number of effects.
    pub count: u64,
}

/// One link of a cascade: an action and one of its effects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Link {
    /// The agent that acted.
    pub from: String,
    /// The `seq` of the last line of that agent's trace before the action.
    pub seq: u64,
    /// The name of the action; empty if its line is not in the log.
    pub action: String,
    /// The agent that was affected.
    pub to: String,
    /// The name of the event; empty if the agent was spawned.
    pub event: String,
}

/// The effects of an agent's actions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Influence {
    /// The name of the agent.
    pub agent: String,
    /// The number of effects of its own actions.
    pub effects: u64,
    /// The number of transitions that other agents took immediately.
    pub transitions: u64,
    /// The number of effects of its own actions, and of everything that followed from them, each counted once.
    pub followed: u64,
    /// The number of other agents that were affected.
    pub reached: u64,
}

impl Cascades {
    /// The numbers of effects between agents, the largest first.
    pub fn edges(&self) -> Vec<Edge> {
        let edge = |((from, to), count): (&(usize, usize), &u64)| Edge {
            from: self.agents[*from].name.clone(),
            to: self.agents[*to].name.clone(),
            count: *count,
        };
        let mut edges: Vec<Edge> = self.edges.iter().map(edge).collect();
        edges.sort_by(|a, b| {
            b.count.cmp(&a.count).then_with(|| (&a.from, &a.to).cmp(&(&b.from, &b.to)))
        });
        edges
    }

    /// The longest chain of links, from its first action; the earliest one if several are equally long.
    pub fn longest(&self) -> Vec<Link> {
        // Effects are numbered in the order of the log, so the causes of an effect have smaller numbers.
        let mut depths: Vec<(u32, Option<usize>)> = Vec::with_capacity(self.effects.len());
        for (number, effect) in self.effects.iter().enumerate() {
            let causes = self.act(effect.by).map_or(&[][..], |act| &act.after);
            let before = causes.iter().filter(|cause| **cause < number);
            let deepest = before.max_by_key(|cause| (depths[**cause].0, usize::MAX - **cause));
            let depth = deepest.map_or(0, |cause| depths[*cause].0);
            depths.push((depth + 1, deepest.copied()));
        }
        let last = (0..depths.len()).max_by_key(|number| (depths[*number].0, usize::MAX - number));
        let mut links = Vec::new();
        let mut next = last;
        while let Some(number) = next {
            let effect = &self.effects[number];
            let (from, seq) = effect.by;
            let act = self.act(effect.by);
            links.push(Link {
                from: self.agents[from].name.clone(),
                seq,
                action: act.map_or_else(String::new, |act| self.word(act.action).to_owned()),
                to: self.agents[effect.agent].name.clone(),
                event: effect.event.map_or_else(String::new, |word| self.word(word).to_owned()),
            });
            next = depths[number].1;
        }
        links.reverse();
        links
    }

    /// The `most` agents whose own actions had the most effects, in this order.
    pub fn influence(&self, most: usize) -> Vec<Influence> {
        let mut own: BTreeMap<usize, u64> = BTreeMap::new();
        for ((from, _), count) in &self.edges {
            *own.entry(*from).or_default() += count;
        }
        let mut rows: Vec<(usize, u64)> =
            own.into_iter().filter(|(from, _)| !self.agents[*from].name.is_empty()).collect();
        rows.sort_by(|a, b| {
            let name = |row: &(usize, u64)| &self.agents[row.0].name;
            b.1.cmp(&a.1).then_with(|| name(a).cmp(name(b)))
        });
        rows.truncate(most);
        let row = |(agent, effects)| {
            let (followed, reached) = self.reach(agent);
            let own = self.agents[agent].effects.values().flatten();
            let transitions = own.map(|effect| self.effects[*effect].moved).sum();
            let agent = self.agents[agent].name.clone();
            Influence { agent, effects, transitions, followed, reached }
        };
        rows.into_iter().map(row).collect()
    }

    /// The number of all effects, and the number of agents that caused any.
    pub fn totals(&self) -> (u64, u64) {
        let from: BTreeSet<usize> = self.edges.keys().map(|(from, _)| *from).collect();
        (self.effects.len() as u64, from.len() as u64)
    }
}
