//! How a run goes on: in ticks, or with a loop for each agent.
//!
//! The problem: agents think for different times, and the result must not depend on threads. The idea: both kinds of run are made of the
//! same parts. A *round* lets all agents continue that can; if none can, `pass` lets time pass. When an agent has finished
//! thinking, its action is executed, and the requests that the action made. A run in ticks waits for all agents before the first one acts,
//! so that all of them see the same world; in an autonomous run, each acts at once and then sleeps:
//!
//! ```text
//! ticks        ada and ben begin; rounds until both have thought; the seed says: ben acts, then ada; summary of tick 1; wait for tick 2
//! autonomous   ada and ben begin; ada has thought: it acts, and sleeps for `interval`; ben still thinks; ada's next turn begins; …
//!              every `delay` milliseconds: a summary
//! ```

use super::slot::{Loop, Mail, Share};
use super::{Engine, Maker, Output, Recipe};
use crate::census::Census;
use crate::config::Exhaustion;
use crate::gate::Closed;
use crate::rates::{Refusal, Spent};
use crate::request::{Notice, Request};
use crate::state::Moment;
use chartc_core::expr::{Map, Value};
use chartc_core::host::Machine;
use chartc_core::machine::Instant;
use chartc_runtime::agent::ACTIONS;
use chartc_runtime::clock::Clock;
use chartc_runtime::oracle::FailureKind;
use chartc_runtime::trace::view::{CallName, Callee, Happening, Outcome};
use chartc_runtime::trace::{Cause, Line, Logged, TraceEvent};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::Duration;

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
        self.tell_census();
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
        self.tell_census();
        let slots = &self.slots;
        let is_alive = |index: &usize| {
            slots.get(*index).and_then(Option::as_ref).is_some_and(|slot| !slot.mode.is_over())
        };
        self.takers.retain(is_alive);
        for nth in 0..self.takers.len() {
            let index = self.takers[nth];
            match self.want_turn(index) {
                Wanted::Begun | Wanted::Nothing => continue,
                Wanted::Later(_) => {}
                Wanted::Never(why) => self.pause_for(index, why)?,
            }
            self.tick_stats.summary.skipped += 1;
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

    /// Tells the world how many agents are in each state, if that has changed.
    fn tell_census(&mut self) {
        if std::mem::take(&mut self.is_census_new) {
            self.world.set_census(&self.census);
        }
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
        let slots = self.slots.iter().flatten();
        let paused = slots.filter(|slot| matches!(slot.mode, Loop::Paused(_))).count();
        let summary =
            Summary { paused, ..self.tick_stats.take(self.tick, self.now(), world, &self.census) };
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
        let actions = lines.iter().filter_map(|(_, line)| match line.event().what {
            Happening::Action { action, outcome } => {
                Some((action.is_some(), !outcome.failed.is_empty()))
            }
            _ => None,
        });
        let (mut has_acted, mut has_failed) = (false, false);
        let mut is_failed_turn = slot.agent.session().failed_step().is_some();
        for (is_tried, is_failed) in actions {
            has_acted |= is_tried;
            has_failed |= is_failed;
            is_failed_turn |= !is_tried;
        }
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
            self.turns.set(&index, Some(now));
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
    /// The number of model calls that have ended. A call that is denied was not made.
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
    /// The number of agents that are paused at its end.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub paused: usize,
    /// The number of agents in each basic state, by chart. States without agents are omitted.
    pub states: BTreeMap<String, BTreeMap<String, u64>>,
    /// The first notable events, as text.
    pub highlights: Vec<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(count: &usize) -> bool {
    *count == 0
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
    /// The call whose answer was counted last.
    #[serde(default)]
    answered: String,
}

impl TickStats {
    /// Counts a line of an agent's trace. Returns what it says about the use of models.
    pub(super) fn count_line(&mut self, agent: &str, line: &Line) -> Spent {
        let event = line.event();
        let mut spent = Spent::default();
        match event.what {
            Happening::CallEnded(call, outcome) => {
                spent.llm_calls = u64::from(self.note_call(agent, &event, call, outcome));
                self.summary.llm_calls += spent.llm_calls as usize;
            }
            Happening::CallUsage(_, usage) => {
                spent.llm_tokens = usage.input_tokens.saturating_add(usage.output_tokens);
                spent.cost = (usage.cost * 1e6).round() as u64;
                let all = &mut self.summary.total_llm_tokens;
                *all = all.saturating_add(spent.llm_tokens);
            }
            Happening::Action { action, outcome } => {
                if let Some((action, _)) = action {
                    // A model may invent a name. It must not become a key of the summary.
                    self.act(if ACTIONS.contains(&action) { action } else { "unknown" });
                }
                self.summary.errors += usize::from(!outcome.failed.is_empty());
            }
            Happening::Ended { status, .. } if event.child.is_empty() => {
                self.note(format!("{agent} has ended: {status}"));
            }
            _ => {}
        }
        spent
    }

    /// Notes a call that has ended. Returns whether it was made, and a model was asked.
    fn note_call(
        &mut self,
        agent: &str,
        event: &TraceEvent<'_>,
        call: CallName<'_>,
        outcome: Outcome<'_>,
    ) -> bool {
        let is_model = call.callee == Callee::Model;
        let name = || format!("{agent} {} {} {:?}", event.child, call.name, call.which);
        match outcome {
            Outcome::Answer { .. } if is_model => {
                self.answered = name();
                true
            }
            // An answer that the machine rejects has a line as an answer before.
            Outcome::Unusable(_) if is_model => std::mem::take(&mut self.answered) != name(),
            Outcome::Failed(failure) => is_model && failure.error != FailureKind::Denied.word(),
            _ => false,
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
            "auction_resolved" if text("winner").is_empty() => {
                "the auction had no winner".to_owned()
            }
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
            "paused" | "resumed" | "stopped" => {
                format!("{} is {}, by {}", text("agent"), notice.event, text("by"))
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
        let Self { summary, active, .. } = std::mem::take(self);
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

// Autonomous runs: each agent has a loop of its own, and acts as soon as it has finished thinking.

impl<M: Machine + Send, K: Maker<M>, O: Output> Engine<M, K, O> {
    /// Runs until a time on the world's clock, until every agent has ended, or until the run is stopped. Turns under way are finished.
    ///
    /// # Errors
    /// The output cannot be written, or the books of the world do not balance.
    pub async fn until(&mut self, end: Instant) -> io::Result<()> {
        self.total = Some(end);
        self.begin()?;
        let mut period = self.begin_period();
        let mut acts = 0;
        loop {
            let is_last = self.is_stopped() || self.now() >= end || self.is_over();
            if is_last {
                self.finish_turns();
            } else {
                self.begin_turns()?;
            }
            self.tell_census();
            // If the run never waits, the task that stops it must still get a chance to run.
            tokio::task::yield_now().await;
            if self.round()? {
                if !self.thought.is_empty() {
                    acts += 1;
                    let thought: Vec<usize> = self.thought.iter().copied().collect();
                    self.act_all(acts).await?;
                    for index in thought {
                        self.sleep(index)?;
                    }
                }
                continue;
            }
            if is_last && self.thinking.is_empty() {
                break;
            }
            let limit = (!is_last).then(|| period.min(end).min(self.turns.first().unwrap_or(end)));
            if self.pass(limit).await == Passed::Nothing {
                break;
            }
            if self.now() >= period {
                self.summarise()?;
                period = self.begin_period();
                // A run that continues from the checkpoint of this summary also counts from here.
                acts = 0;
            }
        }
        if self.now() > self.began || !self.tick_stats.is_empty() {
            self.summarise()?;
        }
        for slot in self.slots.iter_mut().flatten() {
            // A paused agent would not go on in a longer run either.
            if !slot.mode.is_over() && !matches!(slot.mode, Loop::Paused(_)) {
                slot.mode = Loop::Stopped;
            }
        }
        self.close()
    }

    /// Lets agents finish their turns under way, and begin no others.
    fn finish_turns(&mut self) {
        for index in &self.thinking {
            if let Some(slot) =
                self.slots[*index].as_mut().filter(|slot| slot.mode == Loop::Running)
            {
                slot.mode = Loop::Stopping;
            }
        }
    }

    fn begin_period(&mut self) -> Instant {
        self.tick += 1;
        self.world.renew();
        let now = self.now();
        self.began = now;
        now.saturating_add(self.settings.delay.max(1))
    }

    /// Begins a turn of each agent whose time has come.
    fn begin_turns(&mut self) -> io::Result<()> {
        let now = self.now();
        for index in self.turns.take_due(now) {
            let mode = self.slots[index].as_ref().map(|slot| &slot.mode);
            let is_due = match mode {
                Some(Loop::Starting) => true,
                Some(Loop::Sleeping(until)) => until.is_some_and(|until| until <= now),
                Some(
                    Loop::Running
                    | Loop::Paused(_)
                    | Loop::Stopping
                    | Loop::Stopped
                    | Loop::Broken(_),
                )
                | None => false,
            };
            if !is_due {
                continue;
            }
            let mode = match self.want_turn(index) {
                Wanted::Begun => continue,
                // The chart does nothing in a turn; only events and deadlines drive it.
                Wanted::Nothing => Loop::Sleeping(None),
                Wanted::Later(until) => {
                    self.tick_stats.summary.skipped += 1;
                    let next = now.saturating_add(self.settings.interval.max(1));
                    Loop::Sleeping(Some(match self.settings.exhaustion {
                        Exhaustion::Skip => next,
                        Exhaustion::Block => until.max(now.saturating_add(1)),
                    }))
                }
                Wanted::Never(why) => {
                    self.pause_for(index, why)?;
                    continue;
                }
            };
            if let Loop::Sleeping(Some(until)) = mode {
                self.turns.set(&index, Some(until));
            }
            if let Some(slot) = self.slots[index].as_mut() {
                slot.mode = mode;
                slot.is_changed = true;
            }
        }
        Ok(())
    }

    /// Puts an agent that has acted to sleep: longer after failures. After too many failures it is paused.
    fn sleep(&mut self, index: usize) -> io::Result<()> {
        let now = self.now();
        let settings = &self.settings;
        let Some(slot) = self.slots[index].as_mut() else { return Ok(()) };
        if slot.mode.is_over() || matches!(slot.mode, Loop::Paused(_)) {
            return Ok(());
        }
        if settings.max_errors > 0 && slot.failures >= settings.max_errors {
            let why = format!("{} turns in a row have failed", slot.failures);
            return self.pause_for(index, why);
        }
        // The shift is bounded, so that it cannot overflow. `max_backoff` limits the result anyway.
        let doubled = settings.interval.saturating_mul(1 << slot.failures.min(20));
        let wait = doubled.min(settings.max_backoff).max(settings.interval).max(1);
        let until = now.saturating_add(wait);
        slot.mode = Loop::Sleeping(Some(until));
        self.turns.set(&index, Some(until));
        Ok(())
    }

    /// Pauses an agent for a reason of the run, and says so in the log and in the summary.
    fn pause_for(&mut self, index: usize, why: String) -> io::Result<()> {
        let Some(slot) = self.slots.get_mut(index).and_then(Option::as_mut) else { return Ok(()) };
        let name = slot.name.to_string();
        self.tick_stats.note(format!("{name} is paused: {why}"));
        slot.mode = Loop::Paused(why.clone());
        slot.is_changed = true;
        let data = [("agent", name), ("why", why)];
        let data = data.map(|(name, text)| (name.into(), Value::Text(text)));
        self.say("paused", data.into_iter().collect())
    }

    /// Lets a paused agent take turns again.
    pub fn resume(&mut self, name: &str) -> bool {
        let index = self.by_name.get(name).copied();
        let slot = index.and_then(|index| self.slots.get_mut(index)?.as_mut());
        match slot {
            Some(slot) if matches!(slot.mode, Loop::Paused(_)) => {
                slot.failures = 0;
                slot.is_changed = true;
                if slot.agent.is_in_turn() {
                    slot.mode = Loop::Running;
                } else {
                    slot.mode = Loop::Starting;
                    self.turns.set(&index.unwrap_or_default(), Some(self.clock.now()));
                }
                true
            }
            Some(_) | None => false,
        }
    }

    /// Pauses an agent: it takes no turns until it is resumed. It finishes a turn under way, and still handles events and deadlines.
    pub fn pause(&mut self, name: &str, why: &str) -> bool {
        let index = self.by_name.get(name).copied();
        let slot = index.and_then(|index| self.slots.get_mut(index)?.as_mut());
        match slot {
            Some(slot) if !slot.mode.is_over() => {
                slot.mode = Loop::Paused(why.to_owned());
                slot.is_changed = true;
                true
            }
            Some(_) | None => false,
        }
    }
}

// Rounds: all agents that can continue do so, then time passes.

/// The number of agents that continue before their lines are taken. This bounds the number of lines in memory.
const AT_ONCE: usize = 1024;

impl<M: Machine + Send, K: Maker<M>, O: Output> Engine<M, K, O> {
    /// Lets all agents continue that can. If none can, first admits calls that wait at the gate. Returns whether any agent continued.
    pub(super) fn round(&mut self) -> io::Result<bool> {
        if self.run_ready()? {
            return Ok(true);
        }
        // Only when no agent can continue are calls admitted: the set of waiting calls is then the same in every run.
        let order = |name: &str| self.by_name.get(name).copied();
        self.gate_opens = self.gate.admit(self.now(), order);
        let is_woken = !self.woken.all().is_empty();
        if is_woken { self.run_ready() } else { Ok(false) }
    }

    fn run_ready(&mut self) -> io::Result<bool> {
        let now = self.now();
        let tick = Some(self.tick).filter(|tick| *tick > 0);
        self.world.set_moment(Moment { tick, now_ms: now, total_ms: self.total });
        let mut ready = self.woken.take();
        ready.extend(self.timers.take_due(now));
        // Services, which are parts of the world, can change it. So they continue before any agent, in a round of their own.
        let is_service = |index: &usize| {
            self.slots.get(*index).and_then(Option::as_ref).is_some_and(|slot| slot.is_service())
        };
        let services: BTreeSet<usize> = ready.iter().copied().filter(is_service).collect();
        if !services.is_empty() {
            self.woken.all().extend(ready.difference(&services));
            ready = services;
        }
        let is_world = !ready.is_empty() && ready.iter().all(is_service);
        let mut ready = ready.into_iter();
        let mut is_any = false;
        loop {
            let take = |index: usize| Some((index, self.slots.get_mut(index)?.take()?));
            let share: Vec<_> = ready.by_ref().filter_map(take).take(AT_ONCE).collect();
            if share.is_empty() {
                break;
            }
            is_any = true;
            self.go_together(share, now)?;
        }
        if is_any && is_world {
            self.after_action(&Cause::default())?;
        }
        match &self.no_model {
            // The calls of others end first: one that is given up is in doubt when the run continues.
            Some(why) if self.open_calls() == 0 => Err(io::Error::other(why.clone())),
            Some(_) | None => Ok(is_any),
        }
    }

    /// Lets these agents continue together, then takes their lines, one agent after the other.
    fn go_together(&mut self, share: Share<M>, now: Instant) -> io::Result<()> {
        for (index, slot) in self.worker_pool.go(share, now) {
            // An agent must not be due again at the same moment, or a round could repeat for ever without time passing.
            let due = slot.next_change().map(|at| at.max(now.saturating_add(1)));
            self.timers.set(&index, due);
            let (lines, name) = (slot.lines.take(), slot.name.clone());
            let is_over = slot.mode.is_over();
            let has_ended = slot.agent.session().status().is_some();
            let has_thought = slot.has_thought();
            let broken = slot.mode.broken().map(str::to_owned);
            if self.no_model.is_none() {
                self.no_model.clone_from(&slot.no_model);
            }
            self.slots[index] = Some(slot);
            self.write(&name, lines)?;
            if has_thought && self.thinking.remove(&index) {
                self.thought.push_back(index);
            }
            if let Some(why) = broken.filter(|_| self.thinking.remove(&index) || is_over) {
                self.broken(&name, &why)?;
            } else if has_ended && !has_thought {
                self.thinking.remove(&index);
                self.stop_slot(index);
            }
        }
        Ok(())
    }

    /// Writes the lines of an agent to the log.
    pub(super) fn write(
        &mut self,
        name: &str,
        lines: Vec<(Option<Cause>, Line)>,
    ) -> io::Result<()> {
        let index = self.by_name.get(name).copied().unwrap_or_default();
        let slot = self.slots.get(index).and_then(Option::as_ref);
        let is_service = slot.is_some_and(|slot| slot.is_service());
        let mut agent = name.to_owned();
        for (by, line) in lines {
            let spent = self.tick_stats.count_line(name, &line);
            self.spent.add(spent);
            if !is_service {
                self.census.observe(name, &line);
                self.is_census_new = true;
            }
            let logged = Logged { agent, by, line };
            self.out.logged(&logged)?;
            agent = logged.agent;
        }
        Ok(())
    }

    /// Stops an agent whose chart has ended.
    pub(super) fn stop_slot(&mut self, index: usize) {
        if let Some(slot) = self.slots.get_mut(index).and_then(Option::as_mut)
            && !slot.mode.is_over()
        {
            slot.mode = Loop::Stopped;
            slot.is_changed = true;
        }
        self.timers.set(&index, None);
    }

    /// Waits until an agent can continue, at most until `limit`.
    pub(super) async fn pass(&mut self, limit: Option<Instant>) -> Passed {
        let timers = self.timers.first();
        let others = self.clock.next_wake().into_iter().chain(self.gate_opens);
        let earliest = timers.into_iter().chain(others).min();
        let until = earliest.into_iter().chain(limit).min();
        if self.settings.is_real {
            let woken = self.woken.clone();
            let stopped = self.is_stopped();
            let is_woken = || !woken.all().is_empty() || (!stopped && self.is_stopped());
            match until {
                Some(at) => {
                    let at = self.origin + Duration::from_millis(at.saturating_sub(self.first));
                    let sleep = tokio::time::sleep_until(at);
                    tokio::pin!(sleep);
                    while !is_woken() {
                        tokio::select! {
                            () = woken.notify.notified() => {}
                            () = &mut sleep => break,
                        }
                    }
                }
                None if self.open_calls() == 0 => return Passed::Nothing,
                None => {
                    while !is_woken() {
                        woken.notify.notified().await;
                    }
                }
            }
            let passed = u64::try_from(self.origin.elapsed().as_millis()).unwrap_or(u64::MAX);
            let now = self.first.saturating_add(passed);
            self.clock.move_to(now);
            return if limit.is_some_and(|limit| limit <= now) {
                Passed::Limit
            } else {
                Passed::Something
            };
        }
        match (earliest, limit) {
            (Some(at), limit) if limit.is_none_or(|limit| at <= limit) => {
                self.clock.move_to(at);
                Passed::Something
            }
            (_, Some(limit)) => {
                self.clock.move_to(limit);
                Passed::Limit
            }
            (_, None) => Passed::Nothing,
        }
    }

    /// The number of calls under way of all agents.
    fn open_calls(&self) -> usize {
        let slots = self.slots.iter().flatten().filter(|slot| !slot.mode.is_over());
        slots.map(|slot| slot.agent.session().open_calls()).sum()
    }

    /// Lets agents continue until none can at this moment.
    pub(super) fn rounds(&mut self) -> io::Result<()> {
        while self.round()? {}
        Ok(())
    }
}
