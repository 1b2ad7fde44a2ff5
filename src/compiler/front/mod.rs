//! Front ends: from text to syntax. A new one needs a folder with a `FRONTEND`, and an entry in [`FRONTENDS`].

pub mod agent;
pub mod chart;
pub mod keys;
pub mod load;
pub mod scxml;

use crate::rules::{refused_file, unreadable_file};
use crate::syntax;
use crate::syntax::diagnostic::Diagnostic;
use crate::syntax::source::{FileId, Source, Span};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The files near the one that is read, for front ends that combine several files. Paths are relative to its folder.
pub trait Nearby {
    /// The names of the entries of a folder; `None` if there is no such folder.
    fn names(&mut self, folder: &str) -> Option<Arc<BTreeSet<String>>>;

    /// Reads a file, which becomes a source of the compilation. Returns its text, and its id in spans.
    ///
    /// # Errors
    /// The reason why the file is not read.
    fn read(&mut self, path: &str, link: Link) -> Result<(FileId, Arc<Source>), Unread>;
}

/// The way in which one file leads to another that was not named on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// The file contains the path of a chart.
    Import,
    /// The file contains the path of a script.
    Script,
    /// The file is the trace of a run and names the file of the chart.
    Trace,
    /// The other file is in an expected place: a component or the system prompt of an agent.
    Companion,
}

impl Link {
    /// Whether a file of this name can be what the link refers to.
    pub fn takes(self, file_name: &str) -> bool {
        match self {
            Self::Import => is_named_as_chart(file_name),
            Self::Script => file_name.to_ascii_lowercase().ends_with(".js"),
            Self::Trace => is_named_as_chart(file_name) || is_yaml(file_name),
            Self::Companion => true,
        }
    }

    /// Refuses a path whose file name shows that it is something else.
    ///
    /// # Errors
    /// [`Unread::Refused`], with the names that are accepted.
    pub fn permit(self, path: &str) -> Result<(), Unread> {
        if self.takes(path.rsplit('/').next().unwrap_or(path)) {
            return Ok(());
        }
        let (why, cure) = match self {
            Self::Import | Self::Trace | Self::Companion => (
                "by its name it is neither a chart nor an agent nor SCXML",
                "what is imported is called *.chart, *.scxml, agent.yaml or *.agent.yaml",
            ),
            Self::Script => ("by its name it is no script", "a script is called *.js"),
        };
        Err(Unread::Refused(Refusal { why: why.to_owned(), cure: cure.to_owned() }))
    }
}

/// The reason why a file that was not named on the command line is not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unread {
    /// The file cannot be read; the reason, as shown to the user.
    Unreadable(String),
    /// The file may not be read, whether it exists or not.
    Refused(Refusal),
}

/// The reason why a file is refused, as shown to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What is wrong with it: `it lies outside …`.
    pub why: String,
    /// What to do instead.
    pub cure: String,
}

impl Unread {
    /// The diagnostic at the place that refers to the file.
    pub fn at(&self, path: &str, span: Span) -> Diagnostic {
        match self {
            Self::Unreadable(why) => unreadable_file::asked_for(path, why, span),
            Self::Refused(refusal) => {
                refused_file::refused(path, &refusal.why, &refusal.cure, span)
            }
        }
    }
}

/// A [`Nearby`] without any files, for a text by itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct Alone;

impl Nearby for Alone {
    fn names(&mut self, _folder: &str) -> Option<Arc<BTreeSet<String>>> {
        None
    }

    fn read(&mut self, _path: &str, _link: Link) -> Result<(FileId, Arc<Source>), Unread> {
        Err(Unread::Unreadable("there is no such file".to_owned()))
    }
}

/// A notation in which charts are written.
#[derive(Debug)]
pub struct Frontend {
    /// The name, as shown to the user.
    pub name: &'static str,
    /// The characters that begin a comment, and those that end it.
    pub comment: (&'static str, &'static str),
    /// Whether this front end reads files of this name.
    pub takes: fn(file_name: &str) -> bool,
    /// Whether a text whose name says nothing, as on standard input, looks like this notation.
    pub looks: fn(text: &str) -> bool,
    /// Parses a source. Always returns a tree; unreadable parts are reported and left out, or kept as `Bad`.
    pub parse: fn(FileId, &Source, &mut dyn Nearby, &mut Vec<Diagnostic>) -> syntax::File,
}

/// All front ends; the first one that takes a file reads it.
pub const FRONTENDS: &[&Frontend] = &[&chart::FRONTEND, &agent::FRONTEND, &scxml::FRONTEND];

/// Whether the name alone marks a file as a chart, an SCXML document or an agent. Only such files are imported or found in
/// folders; a file named on the command line may have any name.
pub fn is_named_as_chart(file_name: &str) -> bool {
    let name = file_name.to_ascii_lowercase();
    let is_agent = |ending: &&str| {
        name.strip_suffix(*ending).is_some_and(|stem| stem.is_empty() || stem.ends_with('.'))
    };
    name.ends_with(".chart")
        || name.ends_with(".scxml")
        || ["agent.yaml", "agent.yml"].iter().any(is_agent)
}

/// Whether a file may be a chart or an agent, because of its name, or because it contains a workflow.
pub fn may_be_chart(file_name: &str, text: &str) -> bool {
    is_named_as_chart(file_name) || text.lines().any(|line| line.starts_with("workflow:"))
}

/// Whether a file that is not named as a chart may still be one: its name has no ending or one that says little, and its text is empty,
/// looks like an agent or SCXML, or has a line that declares something.
pub fn looks_like_chart(file_name: &str, text: &str) -> bool {
    const ENDINGS: [&str; 4] = ["txt", "xml", "yaml", "yml"];
    const WORDS: [&str; 9] =
        ["chart", "import", "test", "enum", "type", "tool", "client", "fn", "event"];
    if let Some((_, ending)) = file_name.rsplit_once('.')
        && !ENDINGS.contains(&ending.to_ascii_lowercase().as_str())
    {
        return false;
    }
    let declares = |line: &str| {
        let end = line.find(|c: char| !c.is_alphanumeric()).unwrap_or(line.len());
        WORDS.contains(&&line[..end]) && line[end..].starts_with([' ', '\t'])
    };
    text.trim().is_empty()
        || may_be_chart(file_name, text)
        || FRONTENDS.iter().any(|front| (front.looks)(text))
        || text.lines().any(declares)
}

fn is_yaml(file_name: &str) -> bool {
    let name = file_name.to_ascii_lowercase();
    name.ends_with(".yaml") || name.ends_with(".yml")
}

/// Parses a source by itself, without the nearby files of [`parse_among`].
pub fn parse(id: FileId, source: &Source, diagnostics: &mut Vec<Diagnostic>) -> syntax::File {
    parse_among(id, source, &mut Alone, diagnostics)
}

/// Finds the front end of a source: by its name, else by the look of its text, else that of charts.
pub fn of(source: &Source) -> &'static Frontend {
    let name = source.name.rsplit('/').next().unwrap_or(&source.name);
    let named = FRONTENDS.iter().find(|f| (f.takes)(name));
    let looking = || FRONTENDS.iter().find(|f| (f.looks)(&source.text));
    named.or_else(looking).unwrap_or(&FRONTENDS[0])
}

/// Parses a source with its front end.
pub(crate) fn parse_among(
    id: FileId,
    source: &Source,
    nearby: &mut dyn Nearby,
    diagnostics: &mut Vec<Diagnostic>,
) -> syntax::File {
    (of(source).parse)(id, source, nearby, diagnostics)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_and_agents_have_names_of_their_own() {
        let named = ["a.chart", "A.CHART", "a.scxml", "agent.yaml", "agent.yml", "x.agent.yaml"];
        assert!(named.iter().all(|n| is_named_as_chart(n)));
        let others = ["docker.yaml", "myagent.yaml", "a.charts", ".env", "chart", "secrets.yml"];
        assert!(!others.iter().any(|n| is_named_as_chart(n)));
    }

    #[test]
    fn a_text_without_a_name_is_read_as_what_it_looks_like() {
        let looks = |text: &str| FRONTENDS.iter().find(|f| (f.looks)(text)).map(|f| f.name);
        assert_eq!(looks("\n# an agent\nid: builder\n"), Some("agent.yaml"));
        assert_eq!(looks("---\nworkflow:\n  steps: []\n"), Some("agent.yaml"));
        assert_eq!(looks("// a chart\nchart A {\n  meta { id: 1 }\n}\n"), None);
        assert_eq!(looks(""), None);
    }
}
