//! Snapshots: all agents of an engine as lines of JSON, a header and then one line per agent in the order of their names.

use super::hash::Key;
use super::ids::Ids;
use super::{Memory, SEEN};
use crate::clock::Clock;
use crate::error::RunError;
use crate::session::{Saved, Session};
use crate::trace;
use chartc_core::host::Machine;
use chartc_core::machine::Instant;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, Write};
use std::sync::Arc;

/// The version of the format.
const VERSION: u32 = 1;

/// The first line of a snapshot.
#[derive(Serialize, Deserialize)]
struct Head {
    engine: u32,
    now: Instant,
    agents: usize,
    /// The key of the hashes of long ids. Without it, the restored engine would not recognise them.
    key: (u64, u64),
}

#[derive(Serialize)]
struct Written<'a> {
    agent: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ids: Vec<[u64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<&'a str>,
    run: Saved,
}

#[derive(Deserialize)]
struct Read {
    agent: String,
    #[serde(default)]
    ids: Vec<[u64; 3]>,
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
        // All locks are held together, so that the snapshot shows a single moment.
        let shards: Vec<_> = self.shards.iter().map(|shard| shard.agents()).collect();
        let slots = shards.iter().flat_map(|agents| &agents.slots);
        let mut slots: Vec<_> = slots.collect();
        slots.sort_unstable_by(|a, b| a.name.bytes().cmp(b.name.bytes()));
        let (now, key) = (self.clock.now(), (self.key.0, self.key.1));
        let head = Head { engine: VERSION, now, agents: slots.len(), key };
        let written = |error: serde_json::Error| SnapshotError::Io(error.into());
        serde_json::to_writer(&mut *to, &head).map_err(written)?;
        to.write_all(b"\n")?;
        for slot in slots {
            let run = slot.session.save_all();
            let run = run.ok_or_else(|| SnapshotError::NotSaved(slot.name.text().to_owned()))?;
            let (agent, stopped) = (slot.name.text(), slot.stopped.as_deref());
            let line = Written { agent, ids: slot.ids.save(), stopped, run };
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
        if head.engine != VERSION {
            let why = format!("it has format version {}, not {VERSION}", head.engine);
            return Err(wrong(0, &why));
        }
        let mut engine = Self::new(clock(head.now), make);
        engine.key = Key(head.key.0, head.key.1);
        let mut last = 0;
        for (nth, line) in lines {
            let Read { agent, ids, stopped, run } =
                serde_json::from_str(&line?).map_err(|why| wrong(nth, &why))?;
            let home = engine.home(&agent);
            let does_not_fit = |why| SnapshotError::Agent { agent: agent.clone(), why };
            let mut session = (engine.make)(&agent, engine.shared.clone()).map_err(does_not_fit)?;
            session.restore(&run).map_err(does_not_fit)?;
            let mut agents = engine.shards[home.shard].agents();
            if agents.find(home.hash, &agent).is_some() {
                return Err(wrong(nth, &format!("agent `{agent}` is there already")));
            }
            let place = agents.add(home.hash, &agent, session);
            let slot = &mut agents.slots[place as usize];
            (slot.ids, slot.stopped) = (Ids::load(&ids, SEEN), stopped);
            agents.touch(place, true);
            last = nth;
        }
        if last != head.agents {
            return Err(wrong(last + 1, &format!("{last} agents of {} are there", head.agents)));
        }
        Ok(engine)
    }
}
