//! One finding a line.

use super::{Report, positions};
use crate::diagnostic::Diagnostic;
use crate::source::Sources;

/// `file:line:column: error[C0102] message`.
pub(super) static REPORT: Report = Report {
    name: "short",
    render: |diagnostics, sources, _| diagnostics.iter().map(|d| line(d, sources)).collect(),
};

fn line(found: &Diagnostic, sources: &Sources) -> String {
    let (start, _) = positions(found.span, sources);
    let name = &sources.get(found.span.file).name;
    let (word, code) = (found.severity.word(), found.rule.code);
    format!("{name}:{}:{}: {word}[{code}] {}\n", start.line, start.column, found.message)
}
