//! The format with one finding per line.

use super::findings::{Findings, Report, cut, more, positions, shown};
use chartc_compiler::syntax::diagnostic::Diagnostic;
use chartc_compiler::syntax::source::Sources;
use chartc_core::visible;

/// Writes `file:line:column: error[C0102] message` for each finding.
pub(super) static REPORT: Report = Report {
    name: "short",
    format: |&Findings { diagnostics, sources, .. }| {
        let (shown, left_out) = shown(diagnostics);
        let lines: String = shown.into_iter().map(|d| line(d, sources)).collect();
        lines + &more(&left_out, sources)
    },
};

fn line(found: &Diagnostic, sources: &Sources) -> String {
    let (start, _) = positions(found.span, sources);
    let name = &sources.get(found.span.file).name;
    let (word, code) = (found.severity.word(), found.rule.code);
    let text =
        format!("{name}:{}:{}: {word}[{code}] {}", start.line, start.column, cut(&found.message));
    format!("{}\n", visible::inert(&visible::line(&text)))
}
