//! Differences between the tools of charts and those of servers, with the places of both.

use crate::cli::output::StyledText;
use chartc_check::lower::Lowered;
use chartc_mcp::{Finding, FindingKind, Pool};
use chartc_text::source::{Position, Sources};
use serde_json::{Value, json};

/// A difference, and the position of the tool in the chart.
pub(in crate::cli) struct Found {
    pub(in crate::cli) finding: Finding,
    pub(in crate::cli) file: String,
    pub(in crate::cli) place: Position,
}

/// Compares the tools of charts with those of the servers. A difference in a tool that several charts share is reported once.
pub(in crate::cli) fn found(pool: &Pool, lowered: &[&Lowered], sources: &Sources) -> Vec<Found> {
    let charts: Vec<_> = lowered.iter().map(|one| &one.chart).collect();
    let mut all: Vec<Found> = Vec::new();
    for finding in pool.check(&charts) {
        let one = lowered[finding.chart];
        let nth = one.chart.tools.iter().position(|tool| tool.name == finding.tool);
        let span = nth.and_then(|nth| one.map.tools.get(nth)).copied().unwrap_or(one.map.name);
        let source = sources.get(span.file);
        let (file, place) = (source.name.clone(), source.position(span.start));
        let is_told = all.iter().any(|other| {
            other.file == file && other.place == place && other.finding.message == finding.message
        });
        if !is_told {
            all.push(Found { finding, file, place });
        }
    }
    all
}

/// Formats the differences for people.
pub(in crate::cli) fn write_findings(all: &[Found], out: &mut StyledText) {
    for Found { finding, file, place } in all {
        let Position { line, column } = place;
        let configured = match (&finding.configured, finding.kind) {
            (Some(configured), _) => format!(" ({configured})"),
            (None, _) => String::new(),
        };
        out.line(format!(
            "{file}:{line}:{column}: tool `{}`: {}{configured}",
            finding.tool, finding.message
        ));
        if !finding.help.is_empty() {
            out.line(format!("  help: {}", finding.help));
        }
    }
}

/// Formats a difference as JSON.
pub(in crate::cli) fn json(found: &Found) -> Value {
    let Found { finding, file, place } = found;
    let configured = finding.configured.as_ref();
    json!({
        "kind": finding.kind.word(),
        "tool": finding.tool,
        "file": file,
        "line": place.line,
        "column": place.column,
        "configured": configured.map(|place| json!({"file": place.file, "line": place.line})),
        "message": finding.message,
        "help": if finding.help.is_empty() { Value::Null } else { json!(finding.help) },
    })
}

impl Found {
    pub(in crate::cli) fn is_unmapped(&self) -> bool {
        self.finding.kind == FindingKind::Unmapped
    }
}
