//! Emitters: from the checked model to text.
//!
//! To add an emitter, add a file or folder with an `EMITTER`, and its row in [`EMITTERS`]. No emitter validates anything: what reaches it
//! is [`Checked`], which only the checker creates.

// A new variant must be handled here knowingly.
#![warn(clippy::wildcard_enum_match_arm)]

pub mod draw;
pub mod rust;

use crate::compile::Checked;
use crate::syntax::diagnostic::Diagnostic;
use chartc_core::arena::{StateId, TransitionId};
pub use draw::{dot, mermaid, outline};
use std::collections::{BTreeMap, BTreeSet};

/// An output format.
#[derive(Debug)]
pub struct Emitter {
    /// The name for `--format`.
    pub name: &'static str,
    /// The extension of the files, without the dot.
    pub extension: &'static str,
    /// The kind of output.
    pub kind: OutputKind,
    /// Returns the text, or diagnostics for what the format cannot express (C05xx).
    pub emit: fn(&Checked, &Options) -> Result<String, Vec<Diagnostic>>,
}

/// The kind of an emitter's output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputKind {
    /// A drawing: `chartc graph`.
    Picture,
    /// A program: `chartc build`.
    Code,
}

/// The additions of a picture to the chart. Emitters of code ignore them.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Whether a legend explains the colours.
    pub legend: bool,
    /// The highlighted states; their ancestors are highlighted more faintly.
    pub highlight: BTreeSet<StateId>,
    /// How often each transition was taken in runs; an absent one was never taken. `None`: the picture shows no counts.
    pub taken: Option<BTreeMap<TransitionId, u64>>,
}

impl Options {
    /// How often a transition was taken, if the picture shows counts.
    fn times(&self, transition: TransitionId) -> Option<u64> {
        Some(self.taken.as_ref()?.get(&transition).copied().unwrap_or(0))
    }
}

/// All emitters. `chartc graph` uses the first one if nothing names a format.
pub const EMITTERS: &[&Emitter] =
    &[&dot::EMITTER, &mermaid::EMITTER, &outline::EMITTER, &rust::EMITTER];
