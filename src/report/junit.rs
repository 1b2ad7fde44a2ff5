//! JUnit XML: a suite for each file, a case for each finding, and a case that passes for a file without findings.

use super::xml::escaped;
use super::{Findings, Report, positions};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::span::FileId;
use std::collections::BTreeMap;

/// A finding that fails the check is a case that fails. Any other is a case that passes and has the finding as its output.
pub(super) static REPORT: Report = Report { name: "junit", format };

fn format(findings: &Findings<'_>) -> String {
    let mut files: BTreeMap<FileId, Vec<&Diagnostic>> = BTreeMap::new();
    for (id, _) in findings.sources.iter() {
        files.insert(id, Vec::new());
    }
    for found in findings.diagnostics {
        files.entry(found.span.file).or_default().push(found);
    }
    let fails = |found: &&Diagnostic| findings.fails(found);
    let tests: usize = files.values().map(|found| found.len().max(1)).sum();
    let failures = findings.diagnostics.iter().filter(fails).count();
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"chartc check\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\">\n"
    );
    for (file, own) in files {
        let name = escaped(&findings.sources.get(file).name);
        let failures = own.iter().copied().filter(fails).count();
        text.push_str(&format!(
            "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{failures}\" errors=\"0\" skipped=\"0\">\n",
            own.len().max(1)
        ));
        if own.is_empty() {
            text.push_str(&format!(
                "    <testcase name=\"check\" classname=\"{name}\" file=\"{name}\"/>\n"
            ));
        }
        for found in own {
            text.push_str(&case(found, &name, findings, fails(&found)));
        }
        text.push_str("  </testsuite>\n");
    }
    text.push_str("</testsuites>\n");
    text
}

fn case(found: &Diagnostic, file: &str, findings: &Findings<'_>, fails: bool) -> String {
    let (start, _) = positions(found.span, findings.sources);
    let (code, line) = (found.rule.code, start.line);
    let mut body = format!(
        "{}:{line}:{}: {}[{code}] {}",
        findings.sources.get(found.span.file).name,
        start.column,
        found.severity.word(),
        found.message
    );
    if let Some(help) = &found.help {
        body.push_str(&format!("\nhelp: {help}"));
    }
    let name = escaped(&format!("{code} {} at {line}:{}", found.rule.name, start.column));
    let (message, body) = (escaped(&found.message), escaped(&body));
    let inner = if fails {
        format!("<failure message=\"{message}\" type=\"{code}\">{body}</failure>")
    } else {
        format!("<system-out>{body}</system-out>")
    };
    format!(
        "    <testcase name=\"{name}\" classname=\"{file}\" file=\"{file}\" line=\"{line}\">\n      {inner}\n    </testcase>\n"
    )
}
