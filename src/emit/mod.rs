//! From model to text. To add an emitter: a file or folder with an `EMITTER`, and its row in [`EMITTERS`].

pub mod dot;
pub mod rust;

use crate::compile::Checked;
use crate::diagnostic::Diagnostic;

/// One output format.
#[derive(Debug)]
pub struct Emitter {
    /// As given to `--format`.
    pub name: &'static str,
    /// Ending of the files it makes, without the dot.
    pub extension: &'static str,
    /// The text, or what the format cannot carry (C05xx).
    pub emit: fn(&Checked) -> Result<String, Vec<Diagnostic>>,
}

/// All emitters.
pub const EMITTERS: &[&Emitter] = &[&dot::EMITTER, &rust::EMITTER];
