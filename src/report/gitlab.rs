//! GitLab's code quality report.

use super::fingerprint::fingerprints;
use super::{Report, positions};
use chartc_core::visible;
use chartc_text::diagnostic::{Diagnostic, Severity};
use serde_json::{Value, json};

/// Writes a JSON array with an object for each finding.
pub(super) static REPORT: Report = Report {
    name: "gitlab",
    format: |findings| {
        let sources = findings.sources;
        let prints = fingerprints(findings.diagnostics, sources, str::to_owned);
        let issue = |(found, print): (&Diagnostic, String)| {
            let (start, end) = positions(found.span, sources);
            let mut issue = json!({
                "description": found.message,
                "check_name": format!("{} {}", found.rule.code, found.rule.name),
                "fingerprint": print,
                "severity": severity(found.severity),
                "location": {
                    "path": sources.get(found.span.file).name,
                    "lines": { "begin": start.line, "end": end.line },
                },
            });
            if let Some(help) = &found.help {
                issue["content"] = json!({ "body": help });
            }
            issue
        };
        let issues: Vec<Value> = findings.diagnostics.iter().zip(prints).map(issue).collect();
        format!("{}\n", visible::json(&format!("{:#}", Value::Array(issues))))
    },
};

fn severity(level: Severity) -> &'static str {
    match level {
        Severity::Error => "critical",
        Severity::Warning => "minor",
        Severity::Off | Severity::Note => "info",
    }
}
