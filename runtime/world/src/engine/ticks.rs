//! Runs in ticks. In each tick, all agents first decide what to do, and all see the same state of the world. Then they act one after the
//! other.

use super::rounds::Passed;
use super::slot::Loop;
use super::{Engine, Maker, Output};
use crate::config::Exhaustion;
use crate::gate::Closed;
use crate::rates::Refusal;
use chartc_core::host::Machine;
use chartc_core::machine::Instant;
use chartc_runtime::trace::Cause;
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
