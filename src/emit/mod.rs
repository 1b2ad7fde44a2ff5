//! From model to text. To add an emitter: a file or folder with an `EMITTER`, and its row in [`EMITTERS`].

pub mod dot;
pub mod mermaid;
pub mod outline;
mod picture;
pub mod rust;

use crate::compile::Checked;
use crate::diagnostic::Diagnostic;
use chartc_core::arena::{StateId, TransitionId};
use std::collections::{BTreeMap, BTreeSet};

/// One output format.
#[derive(Debug)]
pub struct Emitter {
    /// As given to `--format`.
    pub name: &'static str,
    /// Ending of the files it makes, without the dot.
    pub extension: &'static str,
    /// What it makes.
    pub kind: Kind,
    /// The text, or what the format cannot carry (C05xx).
    pub emit: fn(&Checked, &Options) -> Result<String, Vec<Diagnostic>>,
}

/// What an emitter makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A drawing: `chartc graph`.
    Picture,
    /// A program: `chartc build`.
    Code,
}

/// What a picture shows besides the chart; code has no use for it.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// What the colours mean.
    pub legend: bool,
    /// States that stand out; those above them do so more faintly.
    pub highlight: BTreeSet<StateId>,
    /// How often each line was taken in runs; what is not in it never was. Without it no line is weighed.
    pub taken: Option<BTreeMap<TransitionId, u64>>,
}

impl Options {
    /// How often a line was taken, if lines are weighed.
    fn times(&self, line: TransitionId) -> Option<u64> {
        Some(self.taken.as_ref()?.get(&line).copied().unwrap_or(0))
    }
}

/// All emitters.
pub const EMITTERS: &[&Emitter] =
    &[&dot::EMITTER, &mermaid::EMITTER, &outline::EMITTER, &rust::EMITTER];
