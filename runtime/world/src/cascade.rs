//! Cascades: which action of which agent caused whose transitions.
//!
//! An action of one agent can send an event to another, which takes transitions, acts in a later turn, and so causes further events. It
//! can also write an artifact that another reads, uses or sees among its `artifacts`, and give scrip to another. [`Cascades`] reads the
//! lines of a log in order and keeps two kinds of records: actions, each with the effects that led to it, and effects, each with the
//! action that caused it.
//!
//! ```text
//! ada line 7  acted: invoke ben.offer       action (ada, 6)
//! ben line 3  event offer, by ada 6         effect: agent ben, by (ada, 6)
//! ben line 4  taken idle -> thinking        belongs to this effect
//! ben line 5  turn                          effects since the last action are now its causes
//! ben line 9  acted: transfer               action (ben, 8), after that effect
//! world       transferred, from ben to eve  effect: agent eve, by (ben, 8)
//! ben line 12 acted: write_artifact post    action (ben, 11), which has written `post`
//! eve line 6  input artifacts: post         with the next action of eve: effect: agent eve, by (ben, 11)
//! ```

#[cfg(test)]
mod tests;

use crate::state::ENDOWMENT;
use chartc_core::expr::{Map, Value};
use chartc_runtime::trace::view::{EventFate, Fate, Happening, state};
use chartc_runtime::trace::{Line, LineName, Logged};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of transitions of one event that are kept as text. Further ones are only counted.
const MOST_MOVES: usize = 6;
/// The maximum number of artifacts of others that count as seen before an action: the newest ones.
const MOST_SEEN: usize = 10;

/// The actions and effects in a log, linked by their causes.
///
/// Pass each line of the log to [`Self::observe`]. An action is attributed to the events, the scrip and the artifacts of others that its
/// agent received after its previous action and before the turn began, and to artifacts that the turn itself has seen. A few bytes are kept
/// for each action, each effect and each artifact, and nothing for other lines.
#[derive(Debug, Clone, Default)]
pub struct Cascades {
    numbers: BTreeMap<String, usize>,
    agents: Vec<CascadeAgent>,
    words: Words,
    effects: Vec<Effect>,
    edges: BTreeMap<(usize, usize), u64>,
    /// By the word for its id, the last action that has written an artifact, and the number of that writing.
    written: BTreeMap<usize, ((usize, u64), u64)>,
    /// The number of all writings.
    writings: u64,
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
    /// The artifacts of others that it has seen since its last action: the action that has written each, and the word for its id.
    seen: Vec<((usize, u64), usize)>,
    /// The number of the newest writing that it has seen.
    seen_to: u64,
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

/// An effect of an action on an agent: an event, scrip, an artifact that it has read, used or seen, or the creation of the agent.
#[derive(Debug, Clone)]
struct Effect {
    /// The agent that is affected.
    agent: usize,
    /// The `seq` of the event's line, or of the last line before the effect; 0 for a new agent.
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
        match line.event().what {
            Happening::Event { event, fate: EventFate::Handled(_) } => {
                actor.open = None;
                if let Some(cause) = &logged.by {
                    let by = (self.agent(&cause.agent), cause.seq);
                    let event = Some(self.words.number(event));
                    let effect = self.effect(agent, line.seq, line.at_ms, by, event);
                    self.agents[agent].open = Some(effect);
                }
            }
            Happening::Turn(_) => {
                actor.open = None;
                let heard = std::mem::take(&mut actor.heard);
                actor.moved_by.extend(heard);
            }
            Happening::Event { fate: EventFate::Delivered | EventFate::Recalled, .. } => {
                actor.open = None;
            }
            Happening::Input { name, value } => {
                actor.open = None;
                if let ("artifacts", Value::List(rows)) = (name, value) {
                    self.see(agent, rows);
                }
            }
            Happening::Transition(taken, Fate::Taken(_)) => {
                if let Some(effect) = actor.open {
                    let word = self.words.number(&way(taken));
                    let effect = &mut self.effects[effect];
                    effect.moved += 1;
                    if effect.moves.len() < MOST_MOVES {
                        effect.moves.push(word);
                    }
                }
            }
            Happening::Action { action: Some((action, arguments)), outcome } => {
                actor.is_act = true;
                self.acts(agent, line, (action, arguments), !outcome.failed.is_empty());
            }
            Happening::World { event, data: Value::Map(data) } => self.world(logged, event, data),
            _ => {}
        }
    }

    /// Records an action, what led to it, and what it has read.
    fn acts(
        &mut self,
        agent: usize,
        line: &Line,
        (action, arguments): (&str, &Value),
        has_failed: bool,
    ) {
        let seq = line.seq.saturating_sub(1);
        for (by, artifact) in std::mem::take(&mut self.agents[agent].seen) {
            let event = format!("saw {}", self.word(artifact));
            let event = Some(self.words.number(&event));
            let effect = self.effect(agent, seq, line.at_ms, by, event);
            // It belongs to this action, and not to one of a later turn.
            self.agents[agent].heard.pop();
            self.agents[agent].moved_by.push(effect);
        }
        let after = std::mem::take(&mut self.agents[agent].moved_by).into_boxed_slice();
        let word = self.words.number(action);
        let act = Act { seq, at_ms: line.at_ms, action: word, has_failed, after };
        self.agents[agent].acts.push(act);
        if let (Value::Map(arguments), false) = (arguments, has_failed) {
            self.reads(agent, line, action, arguments);
        }
    }

    /// Follows an event of the world that concerns several agents.
    fn world(&mut self, logged: &Logged, event: &str, data: &Map) {
        let text = |name: &str| match data.get(name) {
            Some(Value::Text(text)) => text.as_str(),
            Some(_) | None => "",
        };
        match event {
            "spawned" => self.spawned(logged, data),
            // The record and the memory of a new agent are no artifacts that it has written for others.
            "created" if matches!(text("type"), "agent" | "memory") => {}
            "created" | "written" => {
                let (by, artifact) =
                    (self.agent(text("by")), self.words.number(text("artifact_id")));
                let act = (by, self.agents[by].cause());
                self.writings += 1;
                self.written.insert(artifact, (act, self.writings));
            }
            "transferred" if text("why") != ENDOWMENT && !text("from").is_empty() => {
                let (from, to) = (self.agent(text("from")), self.agent(text("to")));
                let Some(Value::Int(amount)) = data.get("amount") else { return };
                if from != to {
                    let event = Some(self.words.number(&format!("got {amount} scrip")));
                    let (seq, by) = (self.agents[to].last, (from, self.agents[from].cause()));
                    self.effect(to, seq, logged.line.at_ms, by, event);
                }
            }
            _ => {}
        }
    }

    /// Notes which artifacts of others an agent sees for the first time since they were written.
    fn see(&mut self, agent: usize, rows: &[Value]) {
        let id = |row: &Value| match row {
            Value::Map(row) => match row.get("id") {
                Some(Value::Text(id)) => self.words.numbers.get(id).copied(),
                Some(_) | None => None,
            },
            _ => None,
        };
        let written = rows.iter().filter_map(id);
        let written = written.filter_map(|id| Some((*self.written.get(&id)?, id)));
        let seen_to = self.agents[agent].seen_to;
        let mut new: Vec<_> =
            written.filter(|((by, nth), _)| by.0 != agent && *nth > seen_to).collect();
        new.sort_by_key(|((_, nth), _)| *nth);
        let actor = &mut self.agents[agent];
        actor.seen_to = new.last().map_or(seen_to, |((_, nth), _)| *nth);
        actor.seen.extend(new.into_iter().map(|((by, _), id)| (by, id)));
        let too_many = actor.seen.len().saturating_sub(MOST_SEEN);
        actor.seen.drain(..too_many);
    }

    /// Records the effect of an artifact of another on the agent that has read or used it.
    fn reads(&mut self, agent: usize, line: &Line, action: &str, arguments: &Map) {
        let verb = match action {
            "read_artifact" => "read",
            "invoke_artifact" => "used",
            _ => return,
        };
        let id = arguments.get("artifact_id").or_else(|| arguments.get("artifact"));
        let Some(Value::Text(id)) = id else { return };
        // An agent that is invoked gets an event, which is an effect of its own.
        if verb == "used" && self.numbers.contains_key(id) {
            return;
        }
        let written = self.words.numbers.get(id).and_then(|id| self.written.get(id)).copied();
        if let Some((by, _)) = written.filter(|(by, _)| by.0 != agent) {
            let event = Some(self.words.number(&format!("{verb} {id}")));
            self.effect(agent, line.seq, line.at_ms, by, event);
        }
    }

    fn spawned(&mut self, logged: &Logged, data: &Map) {
        let parent = data.get("parent").or_else(|| data.get("by"));
        let (Some(Value::Text(new)), Some(Value::Text(parent))) = (data.get("agent"), parent)
        else {
            return;
        };
        let parent = self.agent(parent);
        // Without a cause, the line still names the parent: its last line is taken for the cause.
        let by = match &logged.by {
            Some(cause) => (self.agent(&cause.agent), cause.seq),
            None => (parent, self.agents[parent].cause()),
        };
        let new = self.agent(new);
        self.effect(new, 0, logged.line.at_ms, by, None);
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
    let from = state(&line.state);
    if line.targets.is_empty() {
        format!("{from} ({})", line.trigger)
    } else {
        format!("{from} -> {}", line.targets.join(", "))
    }
}

// Summaries over the cascades of all agents.

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
    /// The name of the event, or what reached the agent: `got 5 scrip`, `read X`, `used X`, `saw X`. Empty if the agent was spawned.
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

// The tree of everything that followed from the actions of one agent.

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
    /// The name of the event, or what reached the agent, as in [`Link`]; empty if the agent was spawned.
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
    fn reach(&self, agent: usize) -> (u64, u64) {
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
    fn act_after(&self, effect: usize) -> Option<&Act> {
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
