//! From text to syntax. To add a front end: a folder with a `FRONTEND`, and its row in [`FRONTENDS`].

pub mod agent;
pub mod chart;
pub mod scxml;

use crate::diagnostic::Diagnostic;
use crate::source::Source;
use crate::span::FileId;
use crate::syntax;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The files around the one that is read, for front ends that read several as one. Paths are taken from its folder.
pub trait Nearby {
    /// The names of what a folder holds; `None` where there is no such folder.
    fn names(&mut self, folder: &str) -> Option<Arc<BTreeSet<String>>>;

    /// A text and the id that places in it have. It becomes a source of the compilation.
    ///
    /// # Errors
    /// Why it could not be read, as shown to the user.
    fn read(&mut self, path: &str) -> Result<(FileId, Arc<Source>), String>;
}

/// No file around: a text alone.
#[derive(Debug, Clone, Copy, Default)]
pub struct Alone;

impl Nearby for Alone {
    fn names(&mut self, _folder: &str) -> Option<Arc<BTreeSet<String>>> {
        None
    }

    fn read(&mut self, _path: &str) -> Result<(FileId, Arc<Source>), String> {
        Err("there is no such file".to_owned())
    }
}

/// One way of writing charts.
#[derive(Debug)]
pub struct Frontend {
    /// As shown to the user.
    pub name: &'static str,
    /// Whether a file of this name is meant for it.
    pub takes: fn(file_name: &str) -> bool,
    /// Whether a text without a telling name, as on standard input, looks like one for it.
    pub looks: fn(text: &str) -> bool,
    /// Reads a source. Always gives a tree; what cannot be read is reported and left out or kept as `Bad`.
    pub parse: fn(FileId, &Source, &mut dyn Nearby, &mut Vec<Diagnostic>) -> syntax::File,
}

/// All front ends; the first that takes a file reads it.
pub const FRONTENDS: &[&Frontend] = &[&chart::FRONTEND, &agent::FRONTEND, &scxml::FRONTEND];

/// Reads a source by itself, as [`parse_among`] does with the files around it.
pub fn parse(id: FileId, source: &Source, diagnostics: &mut Vec<Diagnostic>) -> syntax::File {
    parse_among(id, source, &mut Alone, diagnostics)
}

/// Reads a source with the front end that takes its name, else the one that its text looks like, else as a chart.
pub fn parse_among(
    id: FileId,
    source: &Source,
    nearby: &mut dyn Nearby,
    diagnostics: &mut Vec<Diagnostic>,
) -> syntax::File {
    let name = source.name.rsplit('/').next().unwrap_or(&source.name);
    let named = FRONTENDS.iter().find(|f| (f.takes)(name));
    let looking = || FRONTENDS.iter().find(|f| (f.looks)(&source.text));
    let front = named.or_else(looking).unwrap_or(&FRONTENDS[0]);
    (front.parse)(id, source, nearby, diagnostics)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_a_name_is_read_as_what_it_looks_like() {
        let looks = |text: &str| FRONTENDS.iter().find(|f| (f.looks)(text)).map(|f| f.name);
        assert_eq!(looks("\n# an agent\nid: builder\n"), Some("agent.yaml"));
        assert_eq!(looks("---\nworkflow:\n  steps: []\n"), Some("agent.yaml"));
        assert_eq!(looks("// a chart\nchart A {\n  meta { id: 1 }\n}\n"), None);
        assert_eq!(looks(""), None);
    }
}
