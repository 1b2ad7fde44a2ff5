//! Formats of findings. To add one: a file with a `REPORT`, its `mod` line and its row in [`REPORTS`].

pub(crate) mod fingerprint;
mod github;
mod gitlab;
#[cfg(feature = "cli")]
mod human;
mod json;
mod junit;
#[cfg(feature = "cli")]
mod plain;
mod sarif;
mod short;
pub(crate) mod xml;

use chartc_check::allow::Suppressed;
use chartc_core::visible;
use chartc_text::diagnostic::{Diagnostic, Severity};
use chartc_text::source::{Position, Sources};
use chartc_text::span::{FileId, Span};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// A format of findings.
#[derive(Debug)]
pub struct Report {
    /// The name, as given to `--format`.
    pub name: &'static str,
    /// Formats all findings, in the given order, with any frame; the result ends in a newline unless it is empty.
    pub format: fn(&Findings<'_>) -> String,
}

impl Report {
    /// Formats findings of which an error fails the check.
    pub fn render(
        &self,
        diagnostics: &[Diagnostic],
        sources: &Sources,
        terminal: Terminal,
    ) -> String {
        (self.format)(&Findings::new(diagnostics, sources, terminal))
    }
}

/// What a report says.
#[derive(Debug, Clone, Copy)]
pub struct Findings<'f> {
    /// The findings, by file and position.
    pub diagnostics: &'f [Diagnostic],
    /// The findings that comments suppress.
    pub suppressed: &'f [Suppressed],
    /// The sources of their spans.
    pub sources: &'f Sources,
    /// The lowest level that fails the check, for each source; it is that of errors for sources beyond these.
    pub bars: &'f [Severity],
    /// The properties of the output.
    pub terminal: Terminal,
}

impl<'f> Findings<'f> {
    /// Findings of which an error fails the check, and none of which are suppressed.
    pub fn new(diagnostics: &'f [Diagnostic], sources: &'f Sources, terminal: Terminal) -> Self {
        Self { diagnostics, suppressed: &[], sources, bars: &[], terminal }
    }

    /// Whether a finding fails the check.
    pub fn fails(&self, found: &Diagnostic) -> bool {
        let bar = self.bars.get(found.span.file.0 as usize).copied();
        found.severity >= bar.unwrap_or(Severity::Error)
    }
}

/// Properties of the output.
#[derive(Debug, Clone, Copy)]
pub struct Terminal {
    /// Whether it shows colours.
    pub colour: bool,
    /// The width in columns.
    pub width: usize,
}

/// All formats.
pub const REPORTS: &[&Report] = &[
    #[cfg(feature = "cli")]
    &human::REPORT,
    &short::REPORT,
    &json::REPORT,
    &sarif::REPORT,
    &github::REPORT,
    &gitlab::REPORT,
    &junit::REPORT,
];

/// The format of this name, which must be one of the table.
///
/// # Panics
/// There is none.
#[cfg(feature = "cli")]
pub(crate) fn format(name: &str) -> &'static Report {
    REPORTS.iter().find(|report| report.name == name).expect("a format of the table")
}

/// Formats one finding per line, for people and build scripts: `file:line:column: error[C0102] message`.
pub fn short(diagnostics: &[Diagnostic], sources: &Sources) -> String {
    short::REPORT.render(diagnostics, sources, Terminal { colour: false, width: 100 })
}

/// Draws one finding for people, without a summary.
#[cfg(feature = "cli")]
pub fn one(diagnostic: &Diagnostic, sources: &Sources, terminal: Terminal) -> String {
    human::one(diagnostic, sources, terminal)
}

/// `2 errors, 1 warning in 3 files`; the files are those that have findings.
pub fn summary(diagnostics: &[Diagnostic], files: usize) -> String {
    let counted =
        [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Note, "note")]
            .into_iter()
            .map(|(severity, word)| {
                (diagnostics.iter().filter(|d| d.severity == severity).count(), word)
            })
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| plural(count, word))
            .collect::<Vec<_>>();
    let found = if counted.is_empty() { "no findings".to_owned() } else { counted.join(", ") };
    format!("{found} in {}", plural(files, "file"))
}

fn plural(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

/// The most findings of one file that are shown to people; the others are counted.
const MOST_SHOWN: usize = 100;

/// The most bytes of a message that are shown: a name in it may be as long as a file.
const LONGEST_MESSAGE: usize = 400;

/// Selects the findings to show, in their order, and counts those of each file that are left out: the least severe, and of these the last.
fn shown(diagnostics: &[Diagnostic]) -> (Vec<&Diagnostic>, BTreeMap<FileId, usize>) {
    let mut files: BTreeMap<FileId, Vec<usize>> = BTreeMap::new();
    for (i, found) in diagnostics.iter().enumerate() {
        files.entry(found.span.file).or_default().push(i);
    }
    let mut left_out = BTreeMap::new();
    let mut kept = Vec::new();
    for (file, mut found) in files {
        if found.len() > MOST_SHOWN {
            left_out.insert(file, found.len() - MOST_SHOWN);
            found.sort_by_key(|i| Reverse(diagnostics[*i].severity));
            found.truncate(MOST_SHOWN);
        }
        kept.extend(found);
    }
    kept.sort_unstable();
    (kept.into_iter().map(|i| &diagnostics[i]).collect(), left_out)
}

/// Formats, for each file, how many findings are not shown.
fn more(left_out: &BTreeMap<FileId, usize>, sources: &Sources) -> String {
    let line = |(file, count): (&FileId, &usize)| {
        let name = &sources.get(*file).name;
        format!("{}: {} more not shown\n", visible::line(name), plural(*count, "finding"))
    };
    left_out.iter().map(line).collect()
}

/// Cuts a very long message in the middle.
fn cut(message: &str) -> Cow<'_, str> {
    if message.len() <= LONGEST_MESSAGE {
        return Cow::Borrowed(message);
    }
    let head = message.floor_char_boundary(LONGEST_MESSAGE / 2);
    let tail = message.ceil_char_boundary(message.len() - LONGEST_MESSAGE / 4);
    Cow::Owned(format!("{}…{}", &message[..head], &message[tail..]))
}

/// The start and end of a span, as line and column.
fn positions(span: Span, sources: &Sources) -> (Position, Position) {
    let source = sources.get(span.file);
    (source.position(span.start), source.position(span.end))
}
