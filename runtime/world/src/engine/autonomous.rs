//! Autonomous runs: each agent has a loop of its own, and acts as soon as it has finished thinking.

use super::rounds::Passed;
use super::slot::Loop;
use super::ticks::Wanted;
use super::{Engine, Maker, Output};
use crate::config::Exhaustion;
use chartc_core::host::Machine;
use chartc_core::machine::Instant;
use chartc_runtime::clock::Clock;
use std::io;

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
