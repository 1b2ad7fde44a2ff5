//! Annotations for GitHub Actions, as workflow commands.

use super::{Findings, Report, positions, summary};
use chartc_core::visible;
use chartc_text::diagnostic::{Diagnostic, Severity};
use chartc_text::source::Sources;
use std::cmp::Reverse;

/// The maximum number of annotations of one level that GitHub shows for a step.
const SHOWN: usize = 10;

/// Writes `::error file=…,line=…::message` for each finding, then the total. The most severe come first, because GitHub shows only ten of
/// each level.
pub(super) static REPORT: Report = Report {
    name: "github",
    format: |findings| {
        let mut sorted: Vec<&Diagnostic> = findings.diagnostics.iter().collect();
        // The sort is stable, so findings of one level stay in their order.
        sorted.sort_by_key(|d| Reverse(d.severity));
        let mut text: String = sorted.iter().map(|d| annotation(d, findings.sources)).collect();
        text.push_str(&total(findings));
        text
    },
};

fn total(findings: &Findings<'_>) -> String {
    let count = |level| findings.diagnostics.iter().filter(|d| d.severity == level).count();
    let levels = [Severity::Error, Severity::Warning, Severity::Note];
    let summary = summary(findings.diagnostics, findings.sources.iter().count());
    if levels.into_iter().any(|level| count(level) > SHOWN) {
        return format!("{summary}; GitHub shows {SHOWN} of each level for a step\n");
    }
    format!("{summary}\n")
}

fn annotation(found: &Diagnostic, sources: &Sources) -> String {
    let command = match found.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Off | Severity::Note => "notice",
    };
    let (start, end) = positions(found.span, sources);
    let mut properties = format!(
        "file={},line={},endLine={}",
        property(&sources.get(found.span.file).name),
        start.line,
        end.line
    );
    if start.line == end.line {
        // Columns have a meaning only within a line; the end is inclusive.
        let last = end.column.max(start.column + 1) - 1;
        properties.push_str(&format!(",col={},endColumn={last}", start.column));
    }
    let title = property(&format!("{} {}", found.rule.code, found.rule.name));
    let mut message = found.message.clone();
    if let Some(help) = &found.help {
        message.push_str("\nhelp: ");
        message.push_str(help);
    }
    format!("::{command} {properties},title={title}::{}\n", data(&message))
}

/// Escapes text after the `::` of a command.
fn data(text: &str) -> String {
    let text = visible::text(text);
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes the value of a property of a command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
