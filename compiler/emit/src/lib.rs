//! From model to text. To add an emitter: a file or folder with an `EMITTER`, and its row in [`EMITTERS`].

pub mod dot;
pub mod mermaid;
pub mod outline;
mod picture;
pub mod rust;

use chartc_check::compile::Checked;
use chartc_core::arena::{StateId, TransitionId};
use chartc_text::diagnostic::Diagnostic;
use std::collections::{BTreeMap, BTreeSet};

/// One output format.
#[derive(Debug)]
pub struct Emitter {
    /// Its name for `--format`.
    pub name: &'static str,
    /// The extension of its files, without the dot.
    pub extension: &'static str,
    /// What it writes.
    pub kind: OutputKind,
    /// Returns the text, or diagnostics for what the format cannot express (C05xx).
    pub emit: fn(&Checked, &Options) -> Result<String, Vec<Diagnostic>>,
}

/// What an emitter writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputKind {
    /// A drawing: `chartc graph`.
    Picture,
    /// A program: `chartc build`.
    Code,
}

/// What a picture shows besides the chart; emitters of code ignore it.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Whether to explain the colours.
    pub legend: bool,
    /// The highlighted states; their ancestors are highlighted more faintly.
    pub highlight: BTreeSet<StateId>,
    /// How often each transition was taken in runs; a transition that is missing was never taken. `None`: the picture shows no counts.
    pub taken: Option<BTreeMap<TransitionId, u64>>,
}

impl Options {
    /// How often a transition was taken, if the picture shows counts.
    fn times(&self, transition: TransitionId) -> Option<u64> {
        Some(self.taken.as_ref()?.get(&transition).copied().unwrap_or(0))
    }
}

/// All emitters.
pub const EMITTERS: &[&Emitter] =
    &[&dot::EMITTER, &mermaid::EMITTER, &outline::EMITTER, &rust::EMITTER];
