//! What a machine has to say to its host's trace.

use super::{Box, Vec};
use crate::host::{self, Note};

/// Notes until the host takes them; they take no room while there are none.
#[derive(Debug, Clone, Default)]
#[allow(clippy::box_collection, reason = "it is absent most of the time, and then takes one word")]
pub struct Notes(Option<Box<Vec<Note>>>);

impl Notes {
    /// None.
    pub const fn new() -> Self {
        Self(None)
    }

    /// Adds a note, unless nobody takes them.
    pub(crate) fn push(&mut self, note: Note) {
        host::note(self.0.get_or_insert_default(), note);
    }

    /// Takes all.
    pub fn take(&mut self) -> Vec<Note> {
        self.0.take().map_or_else(Vec::new, |notes| *notes)
    }
}
