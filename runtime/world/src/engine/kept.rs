//! A run as data, and its continuation from this data.

use super::slot::{Loop, Mail, Origin};
use super::{Engine, Lines, Maker, New, Output, Recipe};
use crate::census::Census;
use crate::gate::Counted;
use crate::keep::{Checkpoint, Loaded};
use crate::request::Spawn;
use chartc_core::expr::Value;
use chartc_core::host::Machine;
use chartc_core::machine::Instant;
use chartc_runtime::Saved;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::Arc;

/// The engine's own state.
#[derive(Serialize, Deserialize)]
struct Run {
    tick: u32,
    seq: u64,
    now: Instant,
    /// The agents in the order of their numbers.
    agents: Vec<(String, Origin)>,
    /// The counts of the gate.
    counted: Counted,
    /// The agents in each state.
    census: Census,
}

/// An agent.
#[derive(Serialize, Deserialize)]
struct One {
    mode: Loop,
    mail: VecDeque<Mail>,
    wants_turn: bool,
    failures: u32,
    /// The position of the code that answers it, such as the place in its script.
    position: Value,
    saved: Option<Saved>,
}

impl<M: Machine + Send, K: Maker<M>, O: Output> Engine<M, K, O> {
    /// The current state of the run, with the agents that have changed since the last checkpoint. The log is not part of it: its writer
    /// keeps it.
    ///
    /// # Errors
    /// A part cannot be written as JSON.
    pub(super) fn checkpoint(&mut self) -> io::Result<Checkpoint> {
        let mut agents = Vec::new();
        for slot in self.slots.iter_mut().flatten() {
            if !std::mem::replace(&mut slot.is_changed, false) {
                continue;
            }
            let one = One {
                mode: slot.mode.clone(),
                mail: slot.mail.clone(),
                wants_turn: slot.wants_turn,
                failures: slot.failures,
                position: self.maker.position(&slot.name),
                saved: slot.agent.save_all(),
            };
            agents.push((slot.name.to_string(), Some(serde_json::to_string(&one)?)));
        }
        let all = self.slots.iter().flatten().map(|slot| (slot.name.to_string(), slot.kind));
        let run = Run {
            tick: self.tick,
            seq: self.seq,
            now: self.now(),
            agents: all.collect(),
            counted: self.gate.save(),
            census: self.census.clone(),
        };
        Ok(Checkpoint {
            number: u64::from(self.tick),
            now_ms: run.now,
            world: Some(serde_json::to_string(&self.world.save())?),
            agents,
            meta: serde_json::to_string(&run)?,
            log: Vec::new(),
        })
    }

    /// Continues a saved run. The engine must be new, and its world must be restored already: agents that other agents have made are made
    /// again from the world.
    ///
    /// # Errors
    /// The reason why the run does not fit, such as another run file or another chart.
    pub fn restore(&mut self, kept: &Loaded) -> Result<(), String> {
        let told = |why: serde_json::Error| format!("the checkpoint cannot be read: {why}");
        let run: Run = serde_json::from_str(&kept.meta).map_err(told)?;
        let agents: BTreeMap<&str, &str> =
            kept.agents.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        self.gate.load(run.counted);
        self.census = run.census;
        self.clock.move_to(run.now);
        self.origin = tokio::time::Instant::now();
        self.first = run.now;
        (self.tick, self.seq) = (run.tick, run.seq);
        let spawned = self.world.spawned();
        let spawned: BTreeMap<&str, &Spawn> =
            spawned.iter().map(|spawn| (spawn.agent.as_str(), spawn)).collect();
        for (name, kind) in run.agents {
            let text = agents
                .get(name.as_str())
                .ok_or_else(|| format!("the checkpoint has no agent `{name}`"))?;
            let one: One = serde_json::from_str(text).map_err(told)?;
            let recipe = match kind {
                Origin::Configured(number) => Recipe::Configured(number),
                Origin::Service => Recipe::Service,
                Origin::Spawned => match spawned.get(name.as_str()) {
                    Some(spawn) => Recipe::Spawned(spawn),
                    // The agent was stopped: only its accounts are left.
                    None => continue,
                },
            };
            let (shared, lines) = (Arc::from(name.as_str()), Lines::default());
            let new = New {
                name: &shared,
                recipe,
                lines: lines.clone(),
                clock: self.clock(),
                saved: one.saved.as_ref(),
                position: &one.position,
            };
            let made = self.maker.make(new).map_err(|why| format!("agent `{name}`: {why}"))?;
            let index = self.slots.len();
            self.put(shared, kind, made, lines, one.mode.clone());
            let due = match &one.mode {
                Loop::Sleeping(until) => *until,
                Loop::Starting | Loop::Running => Some(run.now),
                _ => None,
            };
            self.turns.remove(&(run.now, index));
            self.turns.extend(due.map(|at| (at, index)));
            if let Some(slot) = self.slots[index].as_mut() {
                slot.mail = one.mail;
                slot.wants_turn = one.wants_turn;
                slot.failures = one.failures;
                slot.is_changed = false;
                if slot.agent.is_in_turn() && !slot.mode.is_over() {
                    self.thinking.insert(index);
                }
            }
        }
        Ok(())
    }
}
