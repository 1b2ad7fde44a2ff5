//! Ticked runs: all agents think about the same world at the same time, and then act one after the other.

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

/// What came of wanting a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wanted {
    /// It begins.
    Begun,
    /// The agent takes no turn, or has one under way.
    Nothing,
    /// There is no room for it before this time.
    Later(Instant),
    /// There is none for good: why.
    Never(String),
}

impl<M: Machine + Send, K: Maker<M>, O: Output> Engine<M, K, O> {
    /// Ticks until so many are done in all, until every agent has ended, or until the run is stopped.
    ///
    /// # Errors
    /// The output cannot be written, or the books of the world do not add up.
    pub async fn ticks(&mut self, count: u32) -> io::Result<()> {
        self.total = Some(self.settings.delay.saturating_mul(u64::from(count)));
        self.begin()?;
        while self.tick < count && !self.is_stopped() && !self.is_over() {
            self.tick().await?;
            // Where nobody is waited for, whoever stops the run has to get on, too.
            tokio::task::yield_now().await;
        }
        self.close()
    }

    /// Checks all books at the end of a run.
    pub(super) fn close(&self) -> io::Result<()> {
        self.world.audit().map_err(io::Error::other)
    }

    /// Before the first turn: agents enter their initial states, and what was given to them at the beginning is in the log and in no summary.
    pub(super) fn begin(&mut self) -> io::Result<()> {
        if self.tick > 0 {
            // It goes on from a checkpoint: what is due at that moment comes in its turn, as if the run had not been interrupted.
            return Ok(());
        }
        self.rounds()?;
        self.after_action(&Cause::default())?;
        self.world.take_summary();
        self.tally.clear();
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
                self.tally.summary.skipped += 1;
            }
        }
        // Nothing in the world changes while agents think: all see the same.
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

    /// An agent is to begin a turn, if it takes any, the last one is over, and its limits leave room for one.
    pub(super) fn want_turn(&mut self, index: usize) -> Wanted {
        let now = self.now();
        let Some(slot) = self.slots.get_mut(index).and_then(Option::as_mut) else {
            return Wanted::Nothing;
        };
        let is_ready = match slot.mode {
            Loop::Starting | Loop::Sleeping(_) => slot.has_turns,
            Loop::Running => slot.has_turns && !slot.agent.is_in_turn(),
            Loop::Paused(_) | Loop::Stopping | Loop::Stopped | Loop::Broken(_) => false,
        };
        if !is_ready {
            return Wanted::Nothing;
        }
        if !slot.is_service() {
            let may = match self.gate.may_think(&slot.name, &slot.provider, now) {
                // Its calls wait at the gate.
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

    /// Ends a tick: its summary is written.
    pub(super) fn summarise(&mut self) -> io::Result<()> {
        let world = self.world.take_summary();
        let summary = self.tally.take(self.tick, self.now(), world, &self.census);
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
