//! What followed from the actions of one agent.

use super::{Act, Cascades};
use serde::Serialize;
use std::collections::BTreeSet;

/// How much of a tree to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Actions that follow each other.
    pub depth: usize,
    /// Actions of one agent, and effects of one action.
    pub width: usize,
    /// Effects in the whole tree.
    pub total: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { depth: 8, width: 8, total: 200 }
    }
}

/// What followed from the actions of one agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Tree {
    /// The agent.
    pub agent: String,
    /// Its actions that had effects, in order.
    pub actions: Vec<Deed>,
    /// Further ones, which are not shown.
    pub more: u64,
    /// All effects of its actions, and those of what followed from them, each counted once.
    pub effects: u64,
    /// The agents to which something happened, itself left out.
    pub reached: u64,
}

/// An action with its effects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Deed {
    /// The last line of the agent's trace before it.
    pub seq: u64,
    /// When.
    pub at_ms: u64,
    /// Its name; empty if the log does not have its line.
    pub action: String,
    /// Whether it failed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// What it caused.
    pub effects: Vec<Caused>,
    /// Further effects, which are not shown.
    pub more: u64,
}

/// Something that happened to an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Caused {
    /// The agent.
    pub agent: String,
    /// The line of the event in its trace; 0 for a new agent.
    pub seq: u64,
    /// When.
    pub at_ms: u64,
    /// The event; empty for an agent that was spawned.
    pub event: String,
    /// The transitions that it took then, in words.
    pub transitions: Vec<String>,
    /// Further transitions, which are not named.
    pub more_transitions: u64,
    /// What the agent did next.
    pub actions: Vec<Deed>,
    /// Further actions, which are not shown.
    pub more: u64,
    /// It is shown above, with what followed: an action may have several causes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
}

/// A tree while it is made.
struct Growing<'c> {
    all: &'c Cascades,
    bounds: Bounds,
    /// Effects that are in the tree.
    shown: BTreeSet<usize>,
}

impl Cascades {
    /// What followed from the actions of an agent; `None` if the log does not name it.
    pub fn tree(&self, agent: &str, bounds: Bounds) -> Option<Tree> {
        let number = *self.numbers.get(agent)?;
        let mut growing = Growing { all: self, bounds, shown: BTreeSet::new() };
        let seqs: Vec<u64> = self.agents[number].effects.keys().copied().collect();
        let (actions, more) = growing.deeds(number, &seqs, 1);
        let (effects, reached) = self.reach(number);
        Some(Tree { agent: agent.to_owned(), actions, more, effects, reached })
    }

    /// The names of the agents in the log.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.numbers.keys().map(String::as_str).filter(|name| !name.is_empty())
    }

    /// How many effects an agent's actions have, with all that follows, and how many other agents they reach.
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

    /// The action that an effect led to, if there was one.
    pub(super) fn act_after(&self, effect: usize) -> Option<&Act> {
        let row = &self.effects[effect];
        let acts = &self.agents[row.agent].acts;
        let from = acts.partition_point(|act| act.seq < row.seq);
        acts[from..].iter().find(|act| act.after.contains(&effect))
    }
}

impl Growing<'_> {
    /// The actions of an agent that these `seq` name, with what followed.
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
