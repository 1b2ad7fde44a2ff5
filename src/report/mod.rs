//! Findings as text. To add a format: one file with a `REPORT`, its `mod` line and its row in [`REPORTS`].

#[cfg(feature = "cli")]
mod human;
mod json;
mod short;

use crate::diagnostic::{Diagnostic, Severity};
use crate::source::{Position, Sources};
use crate::span::Span;

/// One way of showing findings.
#[derive(Debug)]
pub struct Report {
    /// As given to `--format`.
    pub name: &'static str,
    /// All findings, in the order given, with whatever stands around them; ends in a line end unless empty.
    pub render: fn(&[Diagnostic], &Sources, Paper) -> String,
}

/// What the text is written on.
#[derive(Debug, Clone, Copy)]
pub struct Paper {
    /// Whether it shows colours.
    pub colour: bool,
    /// Columns.
    pub width: usize,
}

/// All formats.
pub const REPORTS: &[&Report] = &[
    #[cfg(feature = "cli")]
    &human::REPORT,
    &short::REPORT,
    &json::REPORT,
];

/// One finding a line, for people and build scripts: `file:line:column: error[C0102] message`.
pub fn short(diagnostics: &[Diagnostic], sources: &Sources) -> String {
    (short::REPORT.render)(diagnostics, sources, Paper { colour: false, width: 100 })
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

/// Start and end of a span as people count.
fn positions(span: Span, sources: &Sources) -> (Position, Position) {
    let source = sources.get(span.file);
    (source.position(span.start), source.position(span.end))
}
