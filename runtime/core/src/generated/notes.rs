//! The notes that a machine keeps for the trace of its host.

use super::{Box, Vec};
use crate::host::{self, Note};
use crate::machine::Sink;

/// The notes that the host has not taken yet.
#[derive(Debug, Clone, Default)]
pub struct Notes {
    #[allow(
        clippy::box_collection,
        reason = "it is absent most of the time, and then takes one word"
    )]
    kept: Option<Box<Vec<Note>>>,
    is_deaf: bool,
}

impl Notes {
    /// No notes.
    pub const fn new() -> Self {
        Self { kept: None, is_deaf: false }
    }

    /// Called when an input begins. Until the next input, notes are kept only if the sink takes them.
    #[inline]
    pub fn heed<S: Sink + ?Sized>(&mut self, sink: &S) {
        self.is_deaf = !sink.takes_notes();
    }

    /// Adds a note. If nobody takes notes, it is not built.
    #[inline]
    pub(crate) fn add(&mut self, note: impl FnOnce() -> Note) {
        if !self.is_deaf {
            self.keep(note());
        }
    }

    /// Adds a note, even if nobody takes notes.
    pub(crate) fn keep(&mut self, note: Note) {
        host::note(self.kept.get_or_insert_default(), note);
    }

    /// Takes all notes.
    pub fn take(&mut self) -> Vec<Note> {
        self.kept.take().map_or_else(Vec::new, |notes| *notes)
    }
}
