//! Runs in ticks. In each tick, all agents first decide what to do, and all see the same state of the world. Then they act one after the
//! other.

use super::slot::{Loop, Mail};
use super::{Engine, Maker, Output, Recipe};
use crate::census::Census;
use crate::config::Exhaustion;
use crate::gate::Closed;
use crate::rates::Refusal;
use crate::request::{Notice, Request};
use chartc_core::expr::{Map, Value};
use chartc_core::host::Machine;
use chartc_core::machine::Instant;
use chartc_runtime::agent::ACTIONS;
use chartc_runtime::clock::Clock;
use chartc_runtime::trace::{Cause, Line, What};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// The result of an attempt to begin a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wanted {
    /// The turn begins.
    Begun,
    /// The agent takes no turn, or has one under way.
    Nothing,
    /// The limits leave no room for it before this time.
    Later(Instant),
    /// The limits will never leave room for it, for this reason.
    Never(String),
}

impl<M: Machine + Send, K: Maker<M>, O: Output> Engine<M, K, O> {
    /// Runs until this number of ticks is reached in total, until every agent has ended, or until the run is stopped.
    ///
    /// # Errors
    /// The output cannot be written, or the books of the world do not balance.
    pub async fn ticks(&mut self, count: u32) -> io::Result<()> {
        self.total = Some(self.settings.delay.saturating_mul(u64::from(count)));
        self.begin()?;
        while self.tick < count && !self.is_stopped() && !self.is_over() {
            self.tick().await?;
            // If the run never waits, the task that stops it must still get a chance to run.
            tokio::task::yield_now().await;
        }
        self.close()
    }

    /// Audits all books at the end of a run.
    pub(super) fn close(&self) -> io::Result<()> {
        self.world.audit().map_err(io::Error::other)
    }

    /// Lets agents enter their initial states before the first tick. Their endowments are in the log, but in no summary.
    pub(super) fn begin(&mut self) -> io::Result<()> {
        if self.tick > 0 {
            // The run continues from a checkpoint: what is due at this moment comes in its usual order, as without the interruption.
            return Ok(());
        }
        self.rounds()?;
        self.after_action(&Cause::default())?;
        self.world.take_summary();
        self.tick_stats.clear();
        Ok(())
    }

    async fn tick(&mut self) -> io::Result<()> {
        self.tick += 1;
        let begin = self.now();
        self.world.renew();
        let slots = &self.slots;
        let is_alive = |index: &usize| {
            slots.get(*index).and_then(Option::as_ref).is_some_and(|slot| !slot.mode.is_over())
        };
        self.takers.retain(is_alive);
        for nth in 0..self.takers.len() {
            let index = self.takers[nth];
            if let Wanted::Later(_) | Wanted::Never(_) = self.want_turn(index) {
                self.tick_stats.summary.skipped += 1;
            }
        }
        // The world does not change while agents think, so all of them see the same.
        loop {
            if self.round()? {
                continue;
            }
            if self.thinking.is_empty() || self.pass(None).await == Passed::Nothing {
                break;
            }
        }
        self.act_all(0).await?;
        self.rounds()?;
        self.after_action(&Cause::default())?;
        let end = begin.saturating_add(self.settings.delay).max(self.now());
        while self.pass(Some(end)).await != Passed::Limit && !self.is_stopped() {
            self.rounds()?;
        }
        self.rounds()?;
        self.summarise()
    }

    /// Begins a turn of an agent if it takes turns, its last turn is over, and its limits leave room.
    pub(super) fn want_turn(&mut self, index: usize) -> Wanted {
        let now = self.now();
        let Some(slot) = self.slots.get_mut(index).and_then(Option::as_mut) else {
            return Wanted::Nothing;
        };
        let is_ready = match slot.mode {
            Loop::Starting | Loop::Sleeping(_) => slot.has_turns,
            Loop::Running => slot.has_turns && !slot.agent.is_in_turn(),
            _ => false,
        };
        if !is_ready {
            return Wanted::Nothing;
        }
        if !slot.is_service() {
            let may = match self.gate.ensure_can_call(&slot.name, &slot.provider, now) {
                // The turn begins, and its calls wait at the gate.
                Err(Closed::Rate(Refusal::Full { .. }))
                    if self.settings.exhaustion == Exhaustion::Block =>
                {
                    Ok(())
                }
                may => may,
            };
            let may = may
                .and_then(|()| self.gate.take(&slot.name, "actions", 1, now).map_err(Closed::Rate));
            match may {
                Ok(()) => {}
                Err(why @ Closed::Budget(_)) => return Wanted::Never(why.to_string()),
                Err(Closed::Rate(Refusal::Full { until, .. })) => return Wanted::Later(until),
                Err(why @ Closed::Rate(Refusal::TooLarge { .. })) => {
                    return Wanted::Never(why.to_string());
                }
            }
        }
        slot.mode = Loop::Running;
        slot.wants_turn = true;
        self.thinking.insert(index);
        self.woken.put(index);
        Wanted::Begun
    }

    /// Ends a tick and writes its summary.
    pub(super) fn summarise(&mut self) -> io::Result<()> {
        let world = self.world.take_summary();
        let summary = self.tick_stats.take(self.tick, self.now(), world, &self.census);
        let data = summary.data();
        self.say("tick_summary", data)?;
        if self.out.keeps() {
            let checkpoint = self.checkpoint()?;
            self.out.keep(checkpoint)?;
        }
        self.out.summary(&summary)?;
        self.world.audit_changes().map_err(io::Error::other)
    }
}

// Executes the actions that agents have chosen, one after the other.

impl<M: Machine + Send, K: Maker<M>, O: Output> Engine<M, K, O> {
    /// Executes the actions of all agents that have finished thinking, in an order given by the seed. Returns the number of these agents.
    pub(super) async fn act_all(&mut self, of: u64) -> io::Result<usize> {
        let mut order: Vec<usize> = self.thought.drain(..).collect();
        // Sorted first, so that the seed alone decides, and not the order in which agents finished thinking.
        order.sort_unstable();
        self.chance(of).shuffle(&mut order);
        for index in &order {
            self.act(*index).await?;
        }
        Ok(order.len())
    }

    /// Executes the action that an agent's turn has chosen.
    async fn act(&mut self, index: usize) -> io::Result<()> {
        let Some(mut slot) = self.slots.get_mut(index).and_then(Option::take) else {
            return Ok(());
        };
        if slot.mode.is_over() {
            // The agent was stopped in the meantime, so its action is not executed.
            self.slots[index] = Some(slot);
            return Ok(());
        }
        // The action's line follows the last one of the trace, so events that it causes name this line as their cause.
        let before = Cause { agent: slot.name.to_string(), seq: slot.agent.session().seq() };
        let done = slot.agent.act_on_turn().await;
        slot.is_changed = true;
        let lines = slot.lines.take();
        let has_acted = lines.iter().any(|(_, line)| matches!(line.what, What::Acted { .. }));
        let has_failed = lines.iter().any(|(_, line)| {
            matches!(line.what, What::NotActed { .. })
                || matches!(&line.what, What::Acted { failed, .. } if !failed.is_empty())
        });
        let is_failed_turn =
            lines.iter().any(|(_, line)| matches!(line.what, What::NotActed { .. }))
                || slot.agent.session().failed_step().is_some();
        slot.failures = if has_failed || is_failed_turn { slot.failures + 1 } else { 0 };
        let (name, is_service) = (slot.name.clone(), slot.is_service());
        let has_ended = slot.agent.session().status().is_some();
        if let Err(why) = done {
            slot.mode = Loop::Broken(why.to_string());
        }
        let broken = slot.mode.broken().map(str::to_owned);
        self.slots[index] = Some(slot);
        self.write(&name, lines)?;
        if !is_service && !is_failed_turn {
            self.tick_stats.count_active(&name);
            if !has_acted {
                self.tick_stats.act("noop");
            }
        }
        if let Some(why) = broken {
            self.broken(&name, &why)?;
        } else if has_ended {
            self.stop_slot(index);
        }
        self.after_action(&before)
    }

    /// Handles an agent that cannot continue.
    pub(super) fn broken(&mut self, name: &str, why: &str) -> io::Result<()> {
        self.tick_stats.summary.errors += 1;
        self.tick_stats.note(format!("{name} cannot go on: {why}"));
        let mut data = Map::new();
        data.insert("agent".into(), Value::Text(name.to_owned()));
        data.insert("why".into(), Value::Text(why.to_owned()));
        self.say("broken", data)
    }

    /// Executes the requests that an action has made, and reports its changes.
    pub(super) fn after_action(&mut self, cause: &Cause) -> io::Result<()> {
        for notice in self.world.take_notices() {
            self.tick_stats.notice(&notice);
            self.say(&notice.event, notice.data)?;
        }
        for request in self.world.take_requests() {
            match request {
                Request::Deliver { to, event, arguments, .. } => {
                    self.deliver(&to, &event, arguments, cause.clone());
                }
                Request::Spawn(spawn) => {
                    if let Err(why) = self.add(&spawn.agent, Recipe::Spawned(&spawn)) {
                        let mut data = Map::new();
                        data.insert("agent".into(), Value::Text(spawn.agent.clone()));
                        data.insert("parent".into(), Value::Text(spawn.parent.clone()));
                        data.insert("why".into(), Value::Text(why));
                        self.say("not_spawned", data)?;
                    }
                }
                Request::Pause { agent, by } => {
                    self.pause(&agent, &format!("`{by}` has paused it"));
                }
                Request::Resume { agent } => {
                    self.resume(&agent);
                }
                Request::Stop { agent } => {
                    if let Some(index) = self.by_name.get(&*agent).copied() {
                        self.thinking.remove(&index);
                        self.stop_slot(index);
                    }
                }
            }
        }
        Ok(())
    }

    /// Puts an event into an agent's mailbox.
    fn deliver(&mut self, to: &str, event: &str, arguments: Vec<Value>, cause: Cause) {
        let Some(index) = self.by_name.get(to).copied() else { return };
        let Some(slot) = self.slots.get_mut(index).and_then(Option::as_mut) else { return };
        let data = {
            let tables = slot.agent.session().machine().tables();
            chartc_runtime::data::by_position(tables, event, arguments)
        };
        slot.mail.push_back(Mail { event: event.to_owned(), data, cause });
        slot.is_changed = true;
        // A sleeping agent is woken by the event at once, before its next turn would begin.
        if matches!(slot.mode, Loop::Sleeping(_)) {
            let now = self.clock.now();
            slot.mode = Loop::Sleeping(Some(now));
            self.turns.insert((now, index));
        }
        self.woken.put(index);
    }
}

// The events of a tick in numbers.

/// The maximum number of notable events in the summary of a tick.
const HIGHLIGHTS: usize = 10;

/// The summary of a tick, or of a period of the same length in an autonomous run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Summary {
    /// Its number, from 1.
    pub tick: u32,
    /// The world's time at its end, in milliseconds.
    pub now_ms: u64,
    /// The number of agents whose turn has chosen an action, including `noop`. Each agent counts once.
    pub agents_active: usize,
    /// The number of actions that were tried, including `noop`.
    pub actions_executed: usize,
    /// The same by kind of action.
    pub actions_by_type: BTreeMap<String, usize>,
    /// The number of model calls.
    pub llm_calls: usize,
    /// Tokens of all calls, in and out.
    pub total_llm_tokens: u64,
    /// Scrip that was transferred between agents.
    pub total_scrip_transferred: u64,
    /// The number of new artifacts.
    pub artifacts_created: usize,
    /// The number of actions and turns that failed.
    pub errors: usize,
    /// The number of agents that were skipped because their limits left no room.
    pub skipped: usize,
    /// The number of agents in each basic state, by chart. States without agents are omitted.
    pub states: BTreeMap<String, BTreeMap<String, u64>>,
    /// The first notable events, as text.
    pub highlights: Vec<String>,
}

impl Summary {
    /// The summary as the data of a line of the log.
    pub(super) fn data(&self) -> Map {
        let text = serde_json::to_string(self);
        text.and_then(|text| serde_json::from_str(&text)).unwrap_or_default()
    }
}

/// The number of agents in each state.
fn states(census: &Census) -> BTreeMap<String, BTreeMap<String, u64>> {
    let all = census.state_distribution().into_iter().map(|row| {
        let present = row.states.into_iter().filter(|state| state.count > 0);
        (row.chart, present.map(|state| (state.state, state.count)).collect())
    });
    all.collect()
}

/// The summary of the current tick.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct TickStats {
    pub(super) summary: Summary,
    /// The active agents.
    active: BTreeSet<String>,
}

impl TickStats {
    /// Counts a line of an agent's trace.
    pub(super) fn count_line(&mut self, agent: &str, line: &Line) {
        let summary = &mut self.summary;
        if let What::Question { .. } = line.what {
            summary.llm_calls += 1;
        } else if let What::Usage { input_tokens, output_tokens, .. } = line.what {
            let both = input_tokens.saturating_add(output_tokens);
            summary.total_llm_tokens = summary.total_llm_tokens.saturating_add(both);
        } else if let What::Acted { action, failed, .. } = &line.what {
            // A model may invent a name. It must not become a key of the summary.
            self.act(if ACTIONS.contains(&action.as_str()) { action } else { "unknown" });
            self.summary.errors += usize::from(!failed.is_empty());
        } else if let What::NotActed { .. } = line.what {
            summary.errors += 1;
        } else if let What::Ended { status, .. } = &line.what
            && line.child.is_empty()
        {
            self.note(format!("{agent} has ended: {status}"));
        }
    }

    /// Counts an agent whose turn has chosen an action.
    pub(super) fn count_active(&mut self, agent: &str) {
        if !self.active.contains(agent) {
            self.active.insert(agent.to_owned());
        }
    }

    /// Counts an action that was tried.
    pub(super) fn act(&mut self, word: &str) {
        self.summary.actions_executed += 1;
        *self.summary.actions_by_type.entry(word.to_owned()).or_default() += 1;
    }

    /// Counts an event of the world.
    pub(super) fn notice(&mut self, notice: &Notice) {
        let number = |name: &str| match notice.data.get(name) {
            Some(Value::Int(n)) => u64::try_from(*n).unwrap_or(0),
            Some(_) | None => 0,
        };
        let text = |name: &str| match notice.data.get(name) {
            Some(Value::Text(text)) => text.clone(),
            Some(_) | None => String::new(),
        };
        let note = match notice.event.as_str() {
            // New agents have an event of their own, `spawned`.
            "created" if matches!(text("type").as_str(), "agent" | "memory") => return,
            "created" => format!("{} made {}", text("by"), text("artifact_id")),
            "auction_resolved" => {
                let (bid, price) = (number("bid"), number("price"));
                let (winner, won) = (text("winner"), text("artifact_id"));
                format!("{winner} won the auction with {won}, bid {bid} and paid {price} scrip")
            }
            "minted" => format!("{} scrip minted for {}", number("amount"), text("to")),
            "spawned" => format!("{} made the agent {}", text("by"), text("agent")),
            "sold" => {
                let price = number("price");
                format!("{} bought {} for {price} scrip", text("to"), text("artifact_id"))
            }
            "rejected" => {
                format!("{} wrote {}, which does not compile", text("by"), text("artifact_id"))
            }
            _ => return,
        };
        self.note(note);
    }

    /// Adds a notable event.
    pub(super) fn note(&mut self, text: String) {
        if self.summary.highlights.len() < HIGHLIGHTS {
            self.summary.highlights.push(text);
        }
    }

    /// Returns the summary, and begins the next one.
    pub(super) fn take(
        &mut self,
        tick: u32,
        now_ms: u64,
        world: crate::state::Summary,
        census: &Census,
    ) -> Summary {
        let Self { summary, active } = std::mem::take(self);
        Summary {
            tick,
            now_ms,
            agents_active: active.len(),
            states: states(census),
            total_scrip_transferred: u64::try_from(world.scrip_transferred).unwrap_or(0),
            artifacts_created: world.artifacts_created as usize,
            ..summary
        }
    }

    /// Resets all counts.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Whether nothing has happened.
    pub(super) fn is_empty(&self) -> bool {
        self.summary == Summary::default() && self.active.is_empty()
    }
}

/// The result of waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Passed {
    /// Time has passed, or an agent can continue.
    Something,
    /// The limit is reached.
    Limit,
    /// Nothing will happen any more.
    Nothing,
}
