//! Snapshots of an engine: lines of JSON, a header and then a line for each agent in the order of their names.

use super::ids::{HashedIds, Ids, read_packed};
use super::{Memory, Slot, locked};
use crate::agents::Reply;
use crate::clock::Clock;
use crate::error::RunError;
use crate::session::{Saved, Session};
use crate::trace;
use chartc_core::host::Machine;
use chartc_core::machine::Instant;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, Write};
use std::sync::Arc;

/// The version of the format. Version 1 had packed ids.
const VERSION: u32 = 2;

/// The first line of a snapshot.
#[derive(Serialize, Deserialize)]
struct Head {
    engine: u32,
    now: Instant,
    agents: usize,
    /// The key of the hashes of long ids in version 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<(u64, u64)>,
}

/// A line of a snapshot.
#[derive(Serialize, Deserialize)]
struct Line {
    agent: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    taken: Vec<(Box<str>, Reply)>,
    /// The packed ids of version 1. In version 2, those of which only hashes are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    ids: Vec<[u64; 3]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<(u64, u64)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stopped: Option<Box<str>>,
    run: Saved,
}

/// The reason why a snapshot could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// An agent's machine is of a kind that cannot be saved.
    #[error("agent `{0}` cannot be saved: its machine has no snapshots")]
    NotSaved(String),
    /// The input is not a snapshot of an engine, has another version, or is damaged.
    #[error("line {line} of the snapshot: {why}")]
    Line {
        /// The number of the line, from 1.
        line: usize,
        /// The reason.
        why: String,
    },
    /// An agent cannot continue from its saved state.
    #[error("agent `{agent}` cannot be restored: {why}")]
    Agent {
        /// The name of the agent.
        agent: String,
        /// The reason.
        why: RunError,
    },
    /// The snapshot cannot be written or read.
    #[error("the snapshot: {0}")]
    Io(#[from] std::io::Error),
}

impl<'e, M: Machine, T: trace::Sink> Memory<'e, M, T> {
    /// Writes all agents, with the ids of the events that they have taken. Events that are fired meanwhile wait. Calls under way are
    /// saved as open; [`Session::restore`] describes how they continue.
    ///
    /// # Errors
    /// See [`SnapshotError`].
    pub fn save(&self, to: &mut impl Write) -> Result<(), SnapshotError> {
        let _alone = locked(&self.at_work);
        let agents: Vec<_> = locked(&self.agents).values().cloned().collect();
        // All locks are held together, so that the snapshot shows a single moment.
        let mut slots: Vec<_> = agents.iter().map(|slot| locked(slot)).collect();
        slots.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        let head = Head { engine: VERSION, now: self.clock.now(), agents: slots.len(), key: None };
        let written = |error: serde_json::Error| SnapshotError::Io(error.into());
        serde_json::to_writer(&mut *to, &head).map_err(written)?;
        to.write_all(b"\n")?;
        for slot in slots {
            let run = slot.session.save_all();
            let run = run.ok_or_else(|| SnapshotError::NotSaved(slot.name.to_string()))?;
            let hashed = slot.ids.hashed();
            let line = Line {
                agent: slot.name.to_string(),
                taken: slot.ids.all().map(|(id, reply)| (id.into(), *reply)).collect(),
                ids: hashed.map(|hashed| hashed.ids.clone()).unwrap_or_default(),
                key: hashed.map(|hashed| hashed.key),
                stopped: slot.stopped.clone(),
                run,
            };
            serde_json::to_writer(&mut *to, &line).map_err(written)?;
            to.write_all(b"\n")?;
        }
        Ok(())
    }

    /// An engine with the agents that [`Memory::save`] wrote. `clock` gets the time of the snapshot, at which the new clock must start.
    /// `make` is as in [`Memory::new`]; its sessions continue from their saved states.
    ///
    /// # Errors
    /// See [`SnapshotError`].
    pub fn restore(
        from: impl BufRead,
        clock: impl FnOnce(Instant) -> Arc<dyn Clock>,
        make: impl Fn(&str, Arc<dyn Clock>) -> Result<Session<M, T>, RunError> + Send + Sync + 'e,
    ) -> Result<Self, SnapshotError> {
        let wrong = |line: usize, why: &dyn ToString| {
            let why = why.to_string();
            SnapshotError::Line { line: line + 1, why }
        };
        let mut lines = from.lines().enumerate();
        let (_, first) = lines.next().ok_or_else(|| wrong(0, &"it is missing"))?;
        let head: Head = serde_json::from_str(&first?).map_err(|why| wrong(0, &why))?;
        if !(1..=VERSION).contains(&head.engine) {
            let why = format!("it has format version {}, not {VERSION}", head.engine);
            return Err(wrong(0, &why));
        }
        let engine = Self::new(clock(head.now), make);
        let mut last = 0;
        for (nth, line) in lines {
            let Line { agent, taken, ids, key, stopped, run } =
                serde_json::from_str(&line?).map_err(|why| wrong(nth, &why))?;
            if engine.slot(&agent).is_some() {
                return Err(wrong(nth, &format!("agent `{agent}` is there already")));
            }
            let ids = match (key, head.key) {
                (None, Some(key)) => read_packed(key, ids),
                (key, _) => Ids::of(taken, key.map(|key| HashedIds { key, ids })),
            };
            let does_not_fit = |why| SnapshotError::Agent { agent: agent.clone(), why };
            let mut session = (engine.make)(&agent, engine.shared.clone()).map_err(does_not_fit)?;
            session.restore(&run).map_err(does_not_fit)?;
            let slot = engine.add(Slot { stopped, ..Slot::new(&agent, session, ids) });
            let mut slot = locked(&slot);
            let is_ready = slot.stopped.is_none() && !slot.session.is_idle();
            slot.note(&mut locked(&engine.lists), is_ready);
            last = nth;
        }
        if last != head.agents {
            return Err(wrong(last + 1, &format!("{last} agents of {} are there", head.agents)));
        }
        Ok(engine)
    }
}
