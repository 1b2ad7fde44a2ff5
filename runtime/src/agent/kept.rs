//! Saving and resuming an agent: its record and the state of its world, together with its run.

use super::{Agent, Life};
use crate::error::RunError;
use crate::session::{Saved, SavedAgent};
use crate::trace;
use chartc_core::host::Machine;

impl<M: Machine, T: trace::Sink> Agent<M, T> {
    /// The state of the run and its agent; `None` before the start and after the end.
    pub fn save(&self) -> Option<Saved> {
        let saved = self.session.save()?;
        Some(match self.kept() {
            Some(kept) => saved.with_agent(kept),
            None => saved,
        })
    }

    /// The part of the saved state that belongs to the agent, not to its run; `None` without a world.
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

    /// Resumes a saved run: see [`Session::resume`](crate::Session::resume). Call [`Agent::take_back`] first, which checks that the state
    /// belongs to this agent.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn resume(&mut self, saved: &Saved) -> Result<(), RunError> {
        self.session.resume(saved)
    }

    /// Restores the agent's part of a saved state: record, world and given inputs. To be called before `resume`.
    ///
    /// # Errors
    /// The reason why the state is not this agent's: it has no world or this one has none, or version, configuration or world differ.
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
        // The last step that can fail. Nothing of this agent has changed before it.
        life.world.load(&kept.world)?;
        life.record.with(|record| record.clone_from(&kept.record));
        self.given.extend(kept.given.iter().cloned());
        self.is_open = kept.is_open;
        self.session.recall(kept.heard.clone(), kept.section.clone());
        Ok(())
    }
}
