//! A stream, as long as this process holds it.

use crate::entry::{EntryId, Raw};
use crate::queues::KeyQueues;

/// How far the reading of a stream is.
pub(crate) enum Stage {
    /// What was delivered to others is taken over, from here on.
    Claims(String),
    /// Own entries that were not acknowledged, behind this one.
    Pending(EntryId),
    New,
}

/// A stream that is held.
pub(crate) struct Shard {
    pub(crate) stage: Stage,
    pub(crate) queues: KeyQueues,
    pub(crate) lease: u64,
    /// The last entry that was delivered.
    pub(crate) last: EntryId,
    /// The last one that was pending at the beginning.
    pub(crate) pending: EntryId,
    /// Whether there may be entries that were not read.
    pub(crate) has_more: bool,
    /// It goes to another process, once nothing is under way.
    pub(crate) is_leaving: bool,
    /// Events under way.
    pub(crate) in_flight: usize,
    pub(crate) done: Vec<EntryId>,
    pub(crate) dead: Vec<(Raw, String)>,
}

impl Shard {
    pub(crate) fn new(lease: u64, last: EntryId) -> Self {
        Self {
            stage: Stage::Claims("0-0".into()),
            queues: KeyQueues::default(),
            lease,
            last,
            pending: EntryId::default(),
            has_more: true,
            is_leaving: false,
            in_flight: 0,
            done: Vec::new(),
            dead: Vec::new(),
        }
    }

    /// Whether all that was pending at the beginning is done with.
    pub(crate) fn is_fresh(&self) -> bool {
        let is_read = matches!(self.stage, Stage::New);
        is_read && self.queues.oldest().is_none_or(|oldest| oldest > self.pending)
    }
}
