//! Who caused whose transitions.

mod sums;
mod tree;

pub use sums::{Edge, Influence, Link};
pub use tree::{Bounds, Caused, Deed, Tree};

use chartc_core::expr::Value;
use chartc_runtime::trace::{LineName, Logged, What};
use std::collections::BTreeMap;

/// Transitions of one event to name; the rest is counted.
const MOST_MOVES: usize = 6;

/// Who caused whose transitions: an action of one agent sends an event to another one, which takes transitions, acts itself in a
/// later turn, and so on.
///
/// It is fed with the lines of a log, by [`Self::observe`]. An action counts as caused by the events that its agent has received
/// since its action before, up to the beginning of the turn. It keeps a few bytes for each action and each event with a cause, and nothing of other lines.
#[derive(Debug, Clone, Default)]
pub struct Cascades {
    numbers: BTreeMap<String, usize>,
    agents: Vec<CascadeAgent>,
    words: Words,
    effects: Vec<Effect>,
    edges: BTreeMap<(usize, usize), u64>,
}

/// One agent; the world itself has an empty name.
#[derive(Debug, Clone, Default)]
struct CascadeAgent {
    name: String,
    /// In the order of their `seq`.
    acts: Vec<Act>,
    /// The effects of its actions, by the `seq` of their cause.
    effects: BTreeMap<u64, Vec<usize>>,
    /// The effect whose transitions follow.
    open: Option<usize>,
    /// What it has received since its last turn began; and before that, since its last action.
    heard: Vec<usize>,
    moved_by: Vec<usize>,
    /// The last line.
    last: u64,
    is_act: bool,
}

/// An action.
#[derive(Debug, Clone)]
struct Act {
    /// Of the line before its `acted` line: what [`Cause`](chartc_runtime::trace::Cause) names.
    seq: u64,
    at_ms: u64,
    action: usize,
    has_failed: bool,
    /// The effects that led to it.
    after: Box<[usize]>,
}

/// Something that an action caused.
#[derive(Debug, Clone)]
struct Effect {
    /// To whom it happened.
    agent: usize,
    /// The line of its event; 0 for a new agent.
    seq: u64,
    at_ms: u64,
    by: (usize, u64),
    /// None for an agent that was spawned.
    event: Option<usize>,
    /// Transitions, in words.
    moves: Vec<usize>,
    /// All transitions.
    moved: u64,
}

/// Words that occur often, each kept once.
#[derive(Debug, Clone, Default)]
struct Words {
    numbers: BTreeMap<String, usize>,
    texts: Vec<String>,
}

impl Words {
    fn number(&mut self, text: &str) -> usize {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        self.numbers.insert(text.to_owned(), self.texts.len());
        self.texts.push(text.to_owned());
        self.texts.len() - 1
    }
}

impl Cascades {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a line of a log.
    pub fn observe(&mut self, logged: &Logged) {
        let line = &logged.line;
        let agent = self.agent(&logged.agent);
        let actor = &mut self.agents[agent];
        actor.last = line.seq;
        actor.is_act = false;
        if !line.child.is_empty() {
            return;
        }
        if let What::Event { event, .. } = &line.what {
            actor.open = None;
            if let Some(cause) = &logged.by {
                let by = (self.agent(&cause.agent), cause.seq);
                let event = Some(self.words.number(event));
                let effect = self.effect(agent, line.seq, line.at_ms, by, event);
                self.agents[agent].open = Some(effect);
            }
        } else if let What::Turn { .. } = &line.what {
            actor.open = None;
            let heard = std::mem::take(&mut actor.heard);
            actor.moved_by.extend(heard);
        } else if matches!(line.what, What::Delivered { .. } | What::Input { .. }) {
            actor.open = None;
        } else if let What::Taken { line: taken, .. } = &line.what {
            if let Some(effect) = actor.open {
                let word = self.words.number(&way(taken));
                let effect = &mut self.effects[effect];
                effect.moved += 1;
                if effect.moves.len() < MOST_MOVES {
                    effect.moves.push(word);
                }
            }
        } else if let What::Acted { action, failed, .. } = &line.what {
            actor.is_act = true;
            let after = std::mem::take(&mut actor.moved_by).into_boxed_slice();
            let action = self.words.number(action);
            let has_failed = !failed.is_empty();
            let seq = line.seq.saturating_sub(1);
            let act = Act { seq, at_ms: line.at_ms, action, has_failed, after };
            self.agents[agent].acts.push(act);
        } else if let What::World { event, data: Value::Map(data) } = &line.what
            && event == "spawned"
            && let (Some(Value::Text(new)), Some(Value::Text(parent))) =
                (data.get("agent"), data.get("parent").or_else(|| data.get("by")))
        {
            let parent = self.agent(parent);
            let by = match &logged.by {
                Some(cause) => (self.agent(&cause.agent), cause.seq),
                None => (parent, self.agents[parent].cause()),
            };
            let new = self.agent(new);
            self.effect(new, 0, line.at_ms, by, None);
        }
    }

    fn effect(
        &mut self,
        agent: usize,
        seq: u64,
        at_ms: u64,
        by: (usize, u64),
        event: Option<usize>,
    ) -> usize {
        let number = self.effects.len();
        self.effects.push(Effect { agent, seq, at_ms, by, event, moves: Vec::new(), moved: 0 });
        self.agents[by.0].effects.entry(by.1).or_default().push(number);
        self.agents[agent].heard.push(number);
        *self.edges.entry((by.0, agent)).or_default() += 1;
        number
    }

    fn agent(&mut self, name: &str) -> usize {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        self.numbers.insert(name.to_owned(), self.agents.len());
        self.agents.push(CascadeAgent { name: name.to_owned(), ..CascadeAgent::default() });
        self.agents.len() - 1
    }

    /// The action that a cause names.
    fn act(&self, by: (usize, u64)) -> Option<&Act> {
        let acts = &self.agents[by.0].acts;
        acts.binary_search_by_key(&by.1, |act| act.seq).ok().map(|at| &acts[at])
    }

    fn word(&self, number: usize) -> &str {
        &self.words.texts[number]
    }
}

impl CascadeAgent {
    /// What its last action is called as a cause.
    fn cause(&self) -> u64 {
        match self.acts.last() {
            Some(act) if self.is_act => act.seq,
            Some(_) | None => self.last,
        }
    }
}

/// A transition in words: source and targets.
fn way(line: &LineName) -> String {
    let from = if line.state.is_empty() { "*" } else { &line.state };
    if line.targets.is_empty() {
        format!("{from} ({})", line.trigger)
    } else {
        format!("{from} -> {}", line.targets.join(", "))
    }
}

#[cfg(test)]
mod tests;
