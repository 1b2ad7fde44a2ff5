//! Long-term memory around a turn: recalls memories before it, and stores what it has chosen after it.

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

/// The name of the input for the recalled memories, and the subject of the trace's lines about them.
const MEMORIES: &str = "memories";
/// The name by which queries refer to the active states.
const STATE: &str = "_current_state";
/// The maximum length of a query in the trace, in bytes.
const SHOWN: usize = 200;
/// The maximum length of the model's reasons that are stored with an action, in bytes.
const REASONS: usize = 400;

/// An agent's long-term memory, and the configuration of its recall.
pub struct LongTerm {
    memory: Arc<dyn Memory>,
    rag: Option<Rag>,
    /// The agent's name, used if neither the chart nor the context has `agent_id`.
    name: String,
    /// Whether the trace already says that nothing reads the recalled memories.
    is_unread: bool,
}

impl LongTerm {
    /// Creates the memory of an agent of this name. Without [`Rag`], or if that is not enabled, memories are only stored, not recalled.
    pub fn new(memory: Arc<dyn Memory>, rag: Option<Rag>, name: &str) -> Self {
        Self { memory, rag, name: name.to_owned(), is_unread: false }
    }
}

impl<M: Machine, T: trace::Sink> Agent<M, T> {
    /// Sets the input `memories` to the memories that match the query of this turn, unless the host has set it. `context` has all names
    /// of the context, including those that the chart does not declare.
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
            // A query that cannot be evaluated is the chart's fault: the turn continues with no memories.
            Err(why @ RecallError::Query(_)) => {
                self.session.say(say(format!("nothing is recalled: {why}")))?;
                (String::new(), Vec::new())
            }
        };
        let memories = Value::List(memos.iter().map(Memo::value).collect());
        // An unchanged input is not set again, so that the trace does not repeat it every turn.
        if *before == memories {
            return Ok(());
        }
        if !text.is_empty() {
            self.session.say(say(text))?;
        }
        self.session.input(MEMORIES, memories)
    }

    /// Stores the action of the turn with its result, or the reason why there was none.
    pub(super) fn remember(&mut self) -> Result<(), RunError> {
        let Some(LongTerm { memory, .. }) = self.memory.as_deref() else { return Ok(()) };
        let heard = self.session.turn_outcome();
        let action = heard.actions.iter().rev().map(|(_, answer)| answer).find(|a| is_action(a));
        let turn = self.session.turns();
        // The record may end with an entry of an earlier turn, if this one has done nothing.
        let of_turn = |entry: Option<&Entry>| entry.filter(|entry| entry.turn == turn).cloned();
        let (done, failed) = match &self.life {
            Some(Life { record, .. }) => record.with(|record| {
                // The number 0 marks a turn that failed to choose an action.
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

/// The operations for an engine, which owns the sessions itself.
impl LongTerm {
    /// The new value of the input `memories` for the next turn of a session in this state; `None` if it does not change or nothing is
    /// recalled.
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
            // A query that cannot be evaluated is the chart's fault: the turn continues with no memories.
            Err(RecallError::Query(_)) => Vec::new(),
        };
        let memories = Value::List(memos.iter().map(Memo::value).collect());
        Ok((*before != memories).then_some(memories))
    }

    /// Stores what the last turn of a session has chosen, if its walk has ended. Repeated calls for the same turn of `run` store it once.
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
        // After a crash, the engine may call this again for the same commit: the key makes it idempotent.
        match of_heard(session.turn_outcome(), u64::from(turn)) {
            Some(memo) => self.memory.record_once(&format!("{run}:{turn}"), memo).map(drop),
            None => Ok(()),
        }
    }
}

/// The memory of a turn without a world: the chosen action, which nobody performs, or the failed step.
fn of_heard(heard: &TurnOutcome, tick: u64) -> Option<Memo> {
    if let Some(step) = &heard.failed {
        let text = format!("step {step} failed");
        return Some(Memo { kind: MemoryKind::Observation, tick, text, data: Value::None });
    }
    let action = heard.actions.iter().rev().map(|(_, answer)| answer).find(|a| is_action(a))?;
    let (text, data) = chosen(action);
    Some(Memo { kind: MemoryKind::Action, tick, text, data })
}

/// The memory of an action that was performed, or of a turn that failed to choose one.
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

/// The text and data of an action that was chosen but not performed.
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

/// The model's reasons for an action. They say more about its purpose than its name does.
fn because(action: Option<&Map>) -> String {
    match action.and_then(world::reason) {
        Some(said) => format!(", because: {}", cut(&said, REASONS)),
        None => String::new(),
    }
}
