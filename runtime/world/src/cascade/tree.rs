//! The tree of everything that followed from the actions of one agent.

use super::{Act, Cascades};
use serde::Serialize;
use std::collections::BTreeSet;

/// The maximum size of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The number of actions along a path.
    pub depth: usize,
    /// The number of actions of one agent, and of effects of one action.
    pub width: usize,
    /// The number of effects in the whole tree.
    pub total: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { depth: 8, width: 8, total: 200 }
    }
}

/// Everything that followed from the actions of one agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Tree {
    /// The name of the agent.
    pub agent: String,
    /// Its actions that had effects, in order.
    pub actions: Vec<Deed>,
    /// The number of further actions that are not in the tree.
    pub more: u64,
    /// The number of all effects that followed from its actions, directly or not, each counted once.
    pub effects: u64,
    /// The number of other agents that were affected.
    pub reached: u64,
}

/// An action with its effects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Deed {
    /// The `seq` of the last line of the agent's trace before the action.
    pub seq: u64,
    /// The time of the run, in milliseconds.
    pub at_ms: u64,
    /// The name of the action; empty if its line is not in the log.
    pub action: String,
    /// Whether the action failed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// The effects of the action.
    pub effects: Vec<Caused>,
    /// The number of further effects that are not in the tree.
    pub more: u64,
}

/// An effect on an agent, with what followed from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Caused {
    /// The name of the agent.
    pub agent: String,
    /// The `seq` of the event's line in its trace; 0 for a new agent.
    pub seq: u64,
    /// The time of the run, in milliseconds.
    pub at_ms: u64,
    /// The name of the event; empty if the agent was spawned.
    pub event: String,
    /// The transitions that the agent took immediately, as text.
    pub transitions: Vec<String>,
    /// The number of further transitions that are not listed.
    pub more_transitions: u64,
    /// The action of the agent that the effect led to, if there was one.
    pub actions: Vec<Deed>,
    /// The number of further actions that are not in the tree.
    pub more: u64,
    /// Whether the effect occurs in the tree before, with what followed. An action may have several causes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
}

/// The state of building a tree.
struct Growing<'c> {
    all: &'c Cascades,
    bounds: Bounds,
    /// The effects that are already in the tree.
    shown: BTreeSet<usize>,
}

impl Cascades {
    /// The tree of an agent's actions; `None` if the agent is not in the log.
    pub fn tree(&self, agent: &str, bounds: Bounds) -> Option<Tree> {
        let number = *self.numbers.get(agent)?;
        let mut growing = Growing { all: self, bounds, shown: BTreeSet::new() };
        let seqs: Vec<u64> = self.agents[number].effects.keys().copied().collect();
        let (actions, more) = growing.deeds(number, &seqs, 1);
        let (effects, reached) = self.reach(number);
        Some(Tree { agent: agent.to_owned(), actions, more, effects, reached })
    }

    /// The names of all agents in the log.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.numbers.keys().map(String::as_str).filter(|name| !name.is_empty())
    }

    /// The number of effects that followed from an agent's actions, directly or not, and the number of other agents affected.
    pub(super) fn reach(&self, agent: usize) -> (u64, u64) {
        let mut seen: BTreeSet<usize> = BTreeSet::new();
        let mut open: Vec<usize> = self.agents[agent].effects.values().flatten().copied().collect();
        while let Some(effect) = open.pop() {
            if seen.insert(effect)
                && let Some(act) = self.act_after(effect)
            {
                let of = &self.agents[self.effects[effect].agent];
                open.extend(of.effects.get(&act.seq).into_iter().flatten());
            }
        }
        let mut agents: BTreeSet<usize> = seen.iter().map(|e| self.effects[*e].agent).collect();
        agents.remove(&agent);
        (seen.len() as u64, agents.len() as u64)
    }

    /// The action to which an effect led, if there is one.
    pub(super) fn act_after(&self, effect: usize) -> Option<&Act> {
        let row = &self.effects[effect];
        let acts = &self.agents[row.agent].acts;
        let from = acts.partition_point(|act| act.seq < row.seq);
        acts[from..].iter().find(|act| act.after.contains(&effect))
    }
}

impl Growing<'_> {
    /// The actions of an agent with the given `seq`s, as far as the bounds allow, and the number of those left out.
    fn deeds(&mut self, agent: usize, seqs: &[u64], depth: usize) -> (Vec<Deed>, u64) {
        let mut deeds = Vec::new();
        for seq in seqs {
            if deeds.len() == self.bounds.width || depth > self.bounds.depth || self.is_full() {
                break;
            }
            deeds.push(self.deed(agent, *seq, depth));
        }
        let more = (seqs.len() - deeds.len()) as u64;
        (deeds, more)
    }

    fn deed(&mut self, agent: usize, seq: u64, depth: usize) -> Deed {
        let all = self.all;
        let act = all.act((agent, seq));
        let found = all.agents[agent].effects.get(&seq).map_or(&[][..], Vec::as_slice);
        let mut effects = Vec::new();
        for effect in found {
            if effects.len() == self.bounds.width || self.is_full() {
                break;
            }
            effects.push(self.caused(*effect, depth));
        }
        let first = found.first().map_or(0, |effect| all.effects[*effect].at_ms);
        Deed {
            seq,
            at_ms: act.map_or(first, |act| act.at_ms),
            action: act.map_or_else(String::new, |act| all.word(act.action).to_owned()),
            failed: act.is_some_and(|act| act.has_failed),
            more: (found.len() - effects.len()) as u64,
            effects,
        }
    }

    fn caused(&mut self, effect: usize, depth: usize) -> Caused {
        let all = self.all;
        let row = &all.effects[effect];
        // An effect with several causes is expanded only at its first place, so that the tree stays finite and small.
        let again = !self.shown.insert(effect);
        let act = all.act_after(effect).filter(|_| !again);
        let seqs: Vec<u64> = act.map(|act| act.seq).into_iter().collect();
        let (actions, more) = self.deeds(row.agent, &seqs, depth + 1);
        Caused {
            agent: all.agents[row.agent].name.clone(),
            seq: row.seq,
            at_ms: row.at_ms,
            event: row.event.map_or_else(String::new, |event| all.word(event).to_owned()),
            transitions: row.moves.iter().map(|word| all.word(*word).to_owned()).collect(),
            more_transitions: row.moved - row.moves.len() as u64,
            actions,
            more,
            again,
        }
    }

    fn is_full(&self) -> bool {
        self.shown.len() >= self.bounds.total
    }
}
