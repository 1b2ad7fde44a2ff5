//! The registers of machines with direct code, which keep little more than their configuration.

use super::snapshot::{FORMAT, Snapshot};
use super::{Phase, Scalars};
use crate::arena::{EventId, StateId};
use crate::machine::Status;
use crate::store::{Amounts, Fan, StepRegister, Walk, bits};
use crate::tables::{StateRowKind, Tables};
use alloc::vec;
use alloc::vec::Vec;

/// The registers that a machine with direct code has.
#[derive(Debug, Clone, Copy)]
pub struct Plain<'l> {
    /// `None` before the start. Afterwards the status of the run, if it has ended.
    pub ended: Option<Option<Status>>,
    /// The number of turns that have ended.
    pub turns: u32,
    /// Whether a turn is being walked.
    pub walking: bool,
    /// Whether the machine is in a dead end that was reported.
    pub dead: bool,
    /// The current host event.
    pub event: Option<EventId>,
    /// The active leaves.
    pub leaves: &'l [StateId],
}

impl Snapshot {
    /// A snapshot of a machine with direct code. Registers that the machine does not have get their initial values.
    pub fn plain(tables: &Tables<'_>, plain: Plain<'_>) -> Self {
        let (states, words) = (tables.states.len(), bits::words(tables.states.len()));
        let mut active = vec![0; words];
        for leaf in plain.leaves {
            let mut state = *leaf;
            bits::insert(&mut active, state.index());
            while state.index() > 0 {
                state = tables.state(state).parent;
                bits::insert(&mut active, state.index());
            }
        }
        let phase = match plain.ended {
            None => Phase::New,
            Some(None) => Phase::Running,
            Some(Some(status)) => Phase::Ended(status),
        };
        Self {
            format: FORMAT,
            hash: tables.hash,
            scalars: Scalars {
                phase,
                turns: plain.turns,
                events: 0,
                now: 0,
                started_at: 0,
                event: plain.event,
                queue_head: 0,
                queue_len: 0,
                sends: 0,
                walking: plain.walking,
                stopped: false,
                dead: plain.dead,
            },
            // Between two turns the sets of a turn equal the configuration, as in the snapshots of a stepper.
            bits: [active.clone(), vec![0; words * tables.histories()], active.clone(), active],
            entered_at: vec![0; states],
            counters: [vec![0; states], vec![0; states], vec![0; states], vec![0; states]],
            questions: vec![None; states],
            steps: vec![StepRegister::default(); tables.steps.len()],
            walks: vec![Walk::NEW; tables.walks.len()],
            fans: vec![Fan::default(); tables.fans()],
            amounts: vec![Amounts::default(); if tables.reads_amounts { states } else { 0 }],
            deadlines: vec![u64::MAX; tables.deadlines()],
            added: Vec::new(),
            sends: Vec::new(),
            queue: Vec::new(),
        }
    }

    /// The registers of a machine with direct code, but without the leaves.
    pub fn as_plain(&self) -> Plain<'static> {
        let Scalars { phase, turns, walking, dead, event, .. } = self.scalars;
        let ended = match phase {
            Phase::New => None,
            Phase::Running => Some(None),
            Phase::Ending(status) | Phase::Ended(status) => Some(Some(status)),
        };
        Plain { ended, turns, walking, dead, event, leaves: &[] }
    }

    /// The active leaves, in document order.
    pub fn leaves(&self, tables: &Tables<'_>) -> Vec<StateId> {
        let [active, ..] = &self.bits;
        let is_leaf = |state: &StateId| match tables.state(*state).kind {
            StateRowKind::Atomic | StateRowKind::Final(_) => true,
            StateRowKind::Compound(_) | StateRowKind::Parallel | StateRowKind::History { .. } => {
                false
            }
        };
        bits::iter(active).map(StateId::at).filter(is_leaf).collect()
    }
}
