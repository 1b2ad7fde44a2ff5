//! Cascades: which action of which agent caused whose transitions.
//!
//! An action of one agent can send an event to another, which takes transitions, acts in a later turn, and so causes further events.
//! [`Cascades`] reads the lines of a log in order and keeps two kinds of records: actions, each with the effects that led to it, and
//! effects, each with the action that caused it.
//!
//! ```text
//! ada line 7  acted: invoke ben.offer       action (ada, 6)
//! ben line 3  event offer, by ada 6         effect: agent ben, by (ada, 6)
//! ben line 4  taken idle -> thinking        belongs to this effect
//! ben line 5  turn                          effects since the last action are now its causes
//! ben line 9  acted: transfer               action (ben, 8), after that effect
//! ```

mod sums;
mod tree;

pub use sums::{Edge, Influence, Link};
pub use tree::{Bounds, Caused, Deed, Tree};

use chartc_core::expr::Value;
use chartc_runtime::trace::{LineName, Logged, What};
use std::collections::BTreeMap;

/// The maximum number of transitions of one event that are kept as text. Further ones are only counted.
const MOST_MOVES: usize = 6;

/// The actions and effects in a log, linked by their causes.
///
/// Pass each line of the log to [`Self::observe`]. An action is attributed to the events that its agent received after its previous action
/// and before the turn began. A few bytes are kept for each action and each event with a cause, and nothing for other lines.
#[derive(Debug, Clone, Default)]
pub struct Cascades {
    numbers: BTreeMap<String, usize>,
    agents: Vec<CascadeAgent>,
    words: Words,
    effects: Vec<Effect>,
    edges: BTreeMap<(usize, usize), u64>,
}

/// The records of one agent. The world itself has an empty name.
#[derive(Debug, Clone, Default)]
struct CascadeAgent {
    name: String,
    /// Its actions, in the order of their `seq`.
    acts: Vec<Act>,
    /// The effects of its actions, by the `seq` of the action.
    effects: BTreeMap<u64, Vec<usize>>,
    /// The effect to which the next transitions belong.
    open: Option<usize>,
    /// The effects that it received since its last turn began.
    heard: Vec<usize>,
    /// The effects that it received before that turn and after its last action. They cause its next action.
    moved_by: Vec<usize>,
    /// The `seq` of its last line.
    last: u64,
    /// Whether its last line is an action.
    is_act: bool,
}

/// An action of an agent.
#[derive(Debug, Clone)]
struct Act {
    /// The `seq` of the line before its `acted` line, which is the one that a [`Cause`](chartc_runtime::trace::Cause) names.
    seq: u64,
    at_ms: u64,
    action: usize,
    has_failed: bool,
    /// The effects that caused it.
    after: Box<[usize]>,
}

/// An effect of an action on an agent: an event, or the creation of the agent.
#[derive(Debug, Clone)]
struct Effect {
    /// The agent that is affected.
    agent: usize,
    /// The `seq` of the event's line; 0 for a new agent.
    seq: u64,
    at_ms: u64,
    /// The action that caused it, as its agent and `seq`.
    by: (usize, u64),
    /// The word for the event; `None` for a new agent.
    event: Option<usize>,
    /// The words for its first transitions.
    moves: Vec<usize>,
    /// The number of all its transitions.
    moved: u64,
}

/// An interner of strings that occur often.
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
    /// Records of an empty log.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the next line of a log.
    pub fn observe(&mut self, logged: &Logged) {
        let line = &logged.line;
        let agent = self.agent(&logged.agent);
        let actor = &mut self.agents[agent];
        actor.last = line.seq;
        actor.is_act = false;
        if !line.child.is_empty() {
            return;
        }
        // An event, a turn, a result or an input ends the transitions of the effect before it.
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
            // Without a cause, the line still names the parent: its last line is taken for the cause.
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

    /// The action with this agent and `seq`, if the log has its line.
    fn act(&self, by: (usize, u64)) -> Option<&Act> {
        let acts = &self.agents[by.0].acts;
        acts.binary_search_by_key(&by.1, |act| act.seq).ok().map(|at| &acts[at])
    }

    fn word(&self, number: usize) -> &str {
        &self.words.texts[number]
    }
}

impl CascadeAgent {
    /// The `seq` with which its last action would be named as a cause.
    fn cause(&self) -> u64 {
        match self.acts.last() {
            Some(act) if self.is_act => act.seq,
            Some(_) | None => self.last,
        }
    }
}

/// Describes a transition by its source and its targets or, without targets, its trigger.
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
