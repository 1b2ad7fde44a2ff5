//! An agent as data: its record, and the state of its world, beside the run that they belong to.

use super::{Agent, Life};
use crate::error::RunError;
use crate::session::{Saved, SavedAgent};
use crate::trace;
use chartc_core::host::Machine;

impl<M: Machine, T: trace::Sink> Agent<M, T> {
    /// The run with its agent as they stand; `None` before the start and after the end.
    pub fn save(&self) -> Option<Saved> {
        let saved = self.session.save()?;
        Some(match self.kept() {
            Some(kept) => saved.with_agent(kept),
            None => saved,
        })
    }

    /// What belongs to the agent beside its run; `None` without a world.
    pub(super) fn kept(&self) -> Option<SavedAgent> {
        let Life { world, record, profile, .. } = self.life.as_ref()?;
        Some(SavedAgent {
            version: SavedAgent::VERSION,
            working_memory: profile.working_memory.clone(),
            record: record.with(|record| record.clone()),
            given: self.given.clone(),
            is_open: self.is_open,
            heard: self.session.turn_outcome().clone(),
            section: self.session.section().to_owned(),
            world: world.save(),
        })
    }

    /// Goes on where a run was saved: see [`Session::resume`](crate::Session::resume). Whether the agent belongs to it
    /// [`Agent::take_back`] has said.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn resume(&mut self, saved: &Saved) -> Result<(), RunError> {
        self.session.resume(saved)
    }

    /// Takes record and world of a saved run back, before it goes on.
    ///
    /// # Errors
    /// Why they are not this agent's: no world here or none there, another version, another configuration or another world.
    pub fn take_back(&mut self, saved: &Saved) -> Result<(), String> {
        let (life, kept) = match (&self.life, saved.agent()) {
            (None, None) => return Ok(()),
            (Some(life), Some(kept)) => (life, kept),
            (None, Some(_)) => {
                return Err("it is of an agent in a world: name the world again".into());
            }
            (Some(_), None) => return Err("it is of a run without a world".into()),
        };
        if kept.working_memory != life.profile.working_memory {
            return Err("its agent has another working memory".into());
        }
        let agent = life.record.with(|record| record.agent.clone());
        if kept.record.agent != agent {
            return Err(format!("it is of the agent `{}`, not of `{agent}`", kept.record.agent));
        }
        life.world.load(&kept.world)?;
        life.record.with(|record| record.clone_from(&kept.record));
        self.given.extend(kept.given.iter().cloned());
        self.is_open = kept.is_open;
        self.session.recall(kept.heard.clone(), kept.section.clone());
        Ok(())
    }
}
