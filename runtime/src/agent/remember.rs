//! What an agent recalls before a turn, and what it remembers of it afterwards.

use super::turn::word;
use super::{Agent, Life};
use crate::agents::AgentState;
use crate::error::RunError;
use crate::memory::{Memo, Memory, MemoryError, MemoryKind, Rag, RecallError};
use crate::session::{Session, TurnOutcome};
use crate::trace::{self, What};
use crate::world::{self, Entry, cut, is_action};
use chartc_core::expr::{Map, Value};
use chartc_core::host::Machine;
use std::sync::Arc;

/// The input that holds what is recalled, and what the trace's lines about it are about.
const MEMORIES: &str = "memories";
/// Another name of the active states, as agents know it.
const STATE: &str = "_current_state";
/// Bytes of a query that the trace shows.
const SHOWN: usize = 200;
/// Bytes of the model's reasons that are remembered with an action.
const REASONS: usize = 400;

/// An agent's long-term memory, and how it recalls.
pub struct LongTerm {
    memory: Arc<dyn Memory>,
    rag: Option<Rag>,
    /// The agent's name, where nothing else says `agent_id`.
    name: String,
    /// It was told that nothing reads what would be recalled.
    is_unread: bool,
}

impl LongTerm {
    /// The memory of an agent of this name; without [`Rag`], or where it is not enabled, it is written only.
    pub fn new(memory: Arc<dyn Memory>, rag: Option<Rag>, name: &str) -> Self {
        Self { memory, rag, name: name.to_owned(), is_unread: false }
    }
}

impl<M: Machine, T: trace::Sink> Agent<M, T> {
    /// Sets the input `memories` to what the memory brings for the query of this turn, unless the host has given it. `context` is what
    /// the agent's record and world say, names that the chart does not declare among it.
    pub(super) fn recall(&mut self, context: &Map) -> Result<(), RunError> {
        let Some(LongTerm { memory, rag: Some(rag), name, is_unread }) = self.memory.as_deref_mut()
        else {
            return Ok(());
        };
        if !rag.enabled || self.given.contains(MEMORIES) {
            return Ok(());
        }
        let say = |text: String| What::HostNote { about: MEMORIES.into(), text };
        let now: Map = self.session.machine().variables().into_iter().collect();
        let Some(before) = now.get(MEMORIES) else {
            if !std::mem::replace(is_unread, true) {
                let text = "nothing is recalled: nothing in the chart reads `memories`".to_owned();
                self.session.say(say(text))?;
            }
            return Ok(());
        };
        let tick = self.session.turns() + 1;
        let leaves = || Value::Text(self.session.configuration().join(", "));
        let value_of = |wanted: &str| {
            let known = now.get(wanted).or_else(|| context.get(wanted)).cloned();
            known.or_else(|| match wanted {
                STATE => Some(leaves()),
                "agent_id" => Some(Value::Text(name.clone())),
                "tick" => Some(Value::Int(i64::from(tick))),
                _ => None,
            })
        };
        let includes = self.life.as_ref().is_some_and(|life| {
            life.profile.working_memory.enabled && life.profile.working_memory.include_in_rag
        });
        let more = if includes { context.get("working_memory") } else { None };
        let (text, memos) = match rag.recall(memory.as_ref(), &value_of, more) {
            Ok((query, memos)) => {
                let query = query.split_whitespace().collect::<Vec<_>>().join(" ");
                let short = cut(&query, SHOWN);
                let more = if short.len() < query.len() { "…" } else { "" };
                let text = format!("{} recalled for: {short}{more}", memos.len());
                (text.trim_end().to_owned(), memos)
            }
            Err(RecallError::Memory(fault)) => return Err(fault.into()),
            // A query that cannot be written is the chart's fault: the turn goes on as if there was nothing to recall.
            Err(why @ RecallError::Query(_)) => {
                self.session.say(say(format!("nothing is recalled: {why}")))?;
                (String::new(), Vec::new())
            }
        };
        let memories = Value::List(memos.iter().map(Memo::value).collect());
        if *before == memories {
            return Ok(());
        }
        if !text.is_empty() {
            self.session.say(say(text))?;
        }
        self.session.input(MEMORIES, memories)
    }

    /// Remembers the action of the turn with its result, or why there was none.
    pub(super) fn remember(&mut self) -> Result<(), RunError> {
        let Some(LongTerm { memory, .. }) = self.memory.as_deref() else { return Ok(()) };
        let heard = self.session.turn_outcome();
        let action = heard.actions.iter().rev().map(|(_, answer)| answer).find(|a| is_action(a));
        let turn = self.session.turns();
        let of_turn = |entry: Option<&Entry>| entry.filter(|entry| entry.turn == turn).cloned();
        let (done, failed) = match &self.life {
            Some(Life { record, .. }) => record.with(|record| {
                let failed = record.failures.back().filter(|entry| entry.nth == 0);
                (of_turn(record.history.back()), of_turn(failed))
            }),
            None => (None, None),
        };
        let tick = u64::from(turn);
        if let Some(entry) = failed {
            memory.record(told(MemoryKind::Observation, tick, &entry, None))?;
        } else if let Some(entry) = done {
            memory.record(told(MemoryKind::Action, tick, &entry, action))?;
        } else if self.life.is_none()
            && let Some(memo) = of_heard(heard, tick)
        {
            memory.record(memo)?;
        }
        Ok(())
    }
}

/// The part of a memory for the runs of an engine, which has the sessions.
impl LongTerm {
    /// What the input `memories` is to be for the next turn of a session in this state; `None` where it stays, or where nothing is recalled.
    ///
    /// # Errors
    /// The memory cannot be read.
    pub fn recalled(&self, state: &AgentState) -> Result<Option<Value>, MemoryError> {
        let Self { memory, rag, name, .. } = self;
        let (Some(rag), Some(before)) = (rag, state.variables.get(MEMORIES)) else {
            return Ok(None);
        };
        if !rag.enabled {
            return Ok(None);
        }
        let value_of = |wanted: &str| {
            state.variables.get(wanted).cloned().or_else(|| match wanted {
                STATE => Some(Value::Text(state.configuration.join(", "))),
                "agent_id" => Some(Value::Text(name.clone())),
                "tick" => Some(Value::Int(i64::from(state.turns + 1))),
                _ => None,
            })
        };
        let memos = match rag.recall(memory.as_ref(), &value_of, None) {
            Ok((_, memos)) => memos,
            Err(RecallError::Memory(fault)) => return Err(fault),
            // A query that cannot be written is the chart's fault: the turn goes on as if there was nothing to recall.
            Err(RecallError::Query(_)) => Vec::new(),
        };
        let memories = Value::List(memos.iter().map(Memo::value).collect());
        Ok((*before != memories).then_some(memories))
    }

    /// Remembers what the last turn of a session has chosen, once its walk is over: once for each turn of `run`, also if it is told again.
    ///
    /// # Errors
    /// The memory cannot be written.
    pub fn remember<M: Machine, T: trace::Sink>(
        &self,
        run: &str,
        session: &Session<M, T>,
    ) -> Result<(), MemoryError> {
        let turn = session.turns();
        if turn == 0 || session.machine().is_walking() {
            return Ok(());
        }
        match of_heard(session.turn_outcome(), u64::from(turn)) {
            Some(memo) => self.memory.record_once(&format!("{run}:{turn}"), memo).map(drop),
            None => Ok(()),
        }
    }
}

/// What a turn has chosen, where nobody acts: it is all there is.
fn of_heard(heard: &TurnOutcome, tick: u64) -> Option<Memo> {
    if let Some(step) = &heard.failed {
        let text = format!("step {step} failed");
        return Some(Memo { kind: MemoryKind::Observation, tick, text, data: Value::None });
    }
    let action = heard.actions.iter().rev().map(|(_, answer)| answer).find(|a| is_action(a))?;
    let (text, data) = chosen(action);
    Some(Memo { kind: MemoryKind::Action, tick, text, data })
}

/// An action that was done, or the failure of thinking, as a memory.
fn told(kind: MemoryKind, tick: u64, entry: &Entry, action: Option<&Map>) -> Memo {
    let artifact = entry.artifact.as_deref().map_or_else(String::new, |id| format!("({id})"));
    let how = if entry.failed.is_some() { "FAILED" } else { "SUCCESS" };
    let mut text = format!("{}{artifact} -> {how}: {}", entry.action, entry.result);
    let mut data = Map::new();
    data.insert("action".into(), Value::Text(entry.action.clone()));
    if let Some(artifact) = &entry.artifact {
        data.insert("artifact_id".into(), Value::Text(artifact.clone()));
    }
    data.insert("success".into(), Value::Bool(entry.failed.is_none()));
    text.push_str(&because(action));
    Memo { kind, tick, text, data: Value::Map(data) }
}

/// An action that nobody does, as it was chosen.
fn chosen(action: &Map) -> (String, Value) {
    let word = word(action);
    let mut data = Map::new();
    data.insert("action".into(), Value::Text(word.clone()));
    let mut about = String::new();
    if let Some(Value::Text(id)) = action.get("artifact_id") {
        about = format!("({id})");
        data.insert("artifact_id".into(), Value::Text(id.clone()));
    }
    (format!("{word}{about}{}", because(Some(action))), Value::Map(data))
}

/// The model's own reasons: what an action was about is in them rather than in its name.
fn because(action: Option<&Map>) -> String {
    let said = |name: &&str| match action?.get(name) {
        Some(Value::Text(said)) if !said.trim().is_empty() => Some(said.clone()),
        Some(_) | None => None,
    };
    match world::REASONS.iter().filter(|name| **name != "action").find_map(said) {
        Some(said) => format!(", because: {}", cut(&said, REASONS)),
        None => String::new(),
    }
}
