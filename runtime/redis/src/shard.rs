//! The state of a stream while this process owns it.

use crate::entry::{EntryId, Raw};
use crate::queues::KeyQueues;

/// The stage of reading. It begins with entries that a former owner left behind, so that they keep their place before new ones.
pub(crate) enum Stage {
    /// Entries pending for other consumers are being claimed; the next batch begins at this id.
    Claims(String),
    /// Pending entries of this consumer are being read; the next page begins behind this id.
    Pending(EntryId),
    New,
}

/// A stream that this process owns.
pub(crate) struct Shard {
    pub(crate) stage: Stage,
    pub(crate) queues: KeyQueues,
    pub(crate) lease: u64,
    /// The id of the last entry that was delivered to the group.
    pub(crate) last: EntryId,
    /// The id of the last entry that was pending when this process took the stream.
    pub(crate) pending: EntryId,
    /// Whether the stream may have unread entries.
    pub(crate) has_more: bool,
    /// Whether the stream is to be released as soon as no delivery is under way.
    pub(crate) is_leaving: bool,
    /// The number of deliveries under way.
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

    /// Whether all entries that were pending at the start have been handled. Before that, their ids must not be forgotten.
    pub(crate) fn is_fresh(&self) -> bool {
        let is_read = matches!(self.stage, Stage::New);
        is_read && self.queues.oldest().is_none_or(|oldest| oldest > self.pending)
    }
}
