//! Autonomous runs: each agent has a loop of its own, and acts as soon as it has finished thinking.

use super::slot::{Loop, Share};
use super::ticks::{Passed, Wanted};
use super::{Engine, Maker, Output};
use crate::config::Exhaustion;
use crate::state::Moment;
use chartc_core::host::Machine;
use chartc_core::machine::Instant;
use chartc_runtime::clock::Clock;
use chartc_runtime::trace::{Cause, Line, Logged};
use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

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
                self.begin_turns();
            }
            // If the run never waits, the task that stops it must still get a chance to run.
            tokio::task::yield_now().await;
            if self.round()? {
                if !self.thought.is_empty() {
                    acts += 1;
                    let thought: Vec<usize> = self.thought.iter().copied().collect();
                    self.act_all(acts).await?;
                    for index in thought {
                        self.sleep(index);
                    }
                }
                continue;
            }
            if is_last && self.thinking.is_empty() {
                break;
            }
            let limit = (!is_last)
                .then(|| period.min(end).min(self.turns.first().map_or(end, |(at, _)| *at)));
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
            if !slot.mode.is_over() {
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
    fn begin_turns(&mut self) {
        let now = self.now();
        while let Some((at, index)) = self.turns.first().copied().filter(|(at, _)| *at <= now) {
            self.turns.remove(&(at, index));
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
                Wanted::Never(why) => Loop::Paused(why),
            };
            if let Loop::Sleeping(Some(until)) = mode {
                self.turns.insert((until, index));
            }
            if let Some(slot) = self.slots[index].as_mut() {
                slot.mode = mode;
                slot.is_changed = true;
            }
        }
    }

    /// Puts an agent that has acted to sleep: longer after failures. After too many failures it is paused.
    fn sleep(&mut self, index: usize) {
        let now = self.now();
        let settings = &self.settings;
        let Some(slot) = self.slots[index].as_mut() else { return };
        if slot.mode.is_over() || matches!(slot.mode, Loop::Paused(_)) {
            return;
        }
        if settings.max_errors > 0 && slot.failures >= settings.max_errors {
            slot.mode = Loop::Paused(format!("{} turns in a row have failed", slot.failures));
            return;
        }
        // The shift is bounded, so that it cannot overflow. `max_backoff` limits the result anyway.
        let doubled = settings.interval.saturating_mul(1 << slot.failures.min(20));
        let wait = doubled.min(settings.max_backoff).max(settings.interval).max(1);
        let until = now.saturating_add(wait);
        slot.mode = Loop::Sleeping(Some(until));
        self.turns.insert((until, index));
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
                    self.turns.insert((self.clock.now(), index.unwrap_or_default()));
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
        while let Some((at, index)) = self.timers.first().copied().filter(|(at, _)| *at <= now) {
            self.timers.remove(&(at, index));
            self.due[index] = None;
            ready.insert(index);
        }
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
            self.set_due(index, slot.next_change().map(|at| at.max(now.saturating_add(1))));
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
            self.tick_stats.count_line(name, &line);
            if !is_service {
                self.census.observe(name, &line);
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
        }
        self.set_due(index, None);
    }

    pub(super) fn set_due(&mut self, index: usize, at: Option<Instant>) {
        if let Some(old) = self.due[index].take() {
            self.timers.remove(&(old, index));
        }
        if let Some(at) = at {
            self.timers.insert((at, index));
            self.due[index] = Some(at);
        }
    }

    /// Waits until an agent can continue, at most until `limit`.
    pub(super) async fn pass(&mut self, limit: Option<Instant>) -> Passed {
        let timers = self.timers.first().map(|(at, _)| *at);
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
