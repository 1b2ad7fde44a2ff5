//! From text to syntax. To add a front end: a folder with a `FRONTEND`, and its row in [`FRONTENDS`].

pub mod agent;
pub mod chart;

use crate::diagnostic::Diagnostic;
use crate::source::Source;
use crate::span::FileId;
use crate::syntax;

/// One way of writing charts.
#[derive(Debug)]
pub struct Frontend {
    /// As shown to the user.
    pub name: &'static str,
    /// Whether a file of this name is meant for it.
    pub takes: fn(file_name: &str) -> bool,
    /// Reads a source. Always gives a tree; what cannot be read is reported and left out or kept as `Bad`.
    pub parse: fn(FileId, &Source, &mut Vec<Diagnostic>) -> syntax::File,
}

/// All front ends; the first that takes a file reads it.
pub const FRONTENDS: &[&Frontend] = &[&chart::FRONTEND, &agent::FRONTEND];

/// Reads a source with the front end that takes its name; a name that none takes is read as a chart.
pub fn parse(id: FileId, source: &Source, diagnostics: &mut Vec<Diagnostic>) -> syntax::File {
    let name = source.name.rsplit('/').next().unwrap_or(&source.name);
    let front = FRONTENDS.iter().find(|f| (f.takes)(name)).unwrap_or(&FRONTENDS[0]);
    (front.parse)(id, source, diagnostics)
}
