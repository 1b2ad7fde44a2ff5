//! The formats that continuous integration reads: GitHub, GitLab, JUnit and SARIF.

use super::findings::{Findings, Report, fingerprints, positions, summary};
use chartc_compiler::syntax::diagnostic::{Diagnostic, Fix, Rule, Severity};
use chartc_compiler::syntax::source::{FileId, Sources, Span};
use chartc_core::visible;
use serde_json::{Map, Value, json};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The maximum number of annotations of one level that GitHub shows for a step.
const SHOWN: usize = 10;

/// Writes `::error file=…,line=…::message` for each finding, then the total. The most severe come first, because GitHub shows only ten of
/// each level.
pub(super) static GITHUB: Report = Report {
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

// GitLab's code quality report.

/// Writes a JSON array with an object for each finding.
pub(super) static GITLAB: Report = Report {
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

// JUnit XML: a suite for each file, a case for each finding, and a case that passes for a file without findings.

/// A finding that fails the check is a case that fails. Any other is a case that passes and has the finding as its output.
pub(super) static JUNIT: Report = Report { name: "junit", format: format_junit };

fn format_junit(findings: &Findings<'_>) -> String {
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

// SARIF 2.1.0, which GitHub's code scanning and other tools read.

/// Writes one run with all findings, also the suppressed ones.
pub(super) static SARIF: Report = Report { name: "sarif", format: format_sarif };

fn format_sarif(findings: &Findings<'_>) -> String {
    let sources = findings.sources;
    let suppressed = findings.suppressed.iter().map(|s| (&s.finding, Some(s.reason.as_str())));
    let all: Vec<(&Diagnostic, Option<&str>)> =
        findings.diagnostics.iter().map(|found| (found, None)).chain(suppressed).collect();
    let rules: BTreeMap<&str, &Rule> =
        all.iter().map(|(found, _)| (found.rule.code, found.rule)).collect();
    // Results refer to rules by their index in the list of rules.
    let index: BTreeMap<&str, usize> = rules.keys().enumerate().map(|(i, c)| (*c, i)).collect();
    let prints = fingerprints(all.iter().map(|(found, _)| *found), sources, str::to_owned);
    let results: Vec<Value> = all
        .iter()
        .zip(prints)
        .map(|((found, reason), print)| {
            let mut result = result(found, sources);
            result["ruleIndex"] = json!(index[found.rule.code]);
            result["partialFingerprints"] = json!({ "chartc/v1": print });
            if let Some(reason) = reason {
                result["suppressions"] = json!([{ "kind": "inSource", "justification": reason }]);
            }
            result
        })
        .collect();
    let document = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "chartc",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": rules.values().map(|rule| page(rule)).collect::<Vec<_>>(),
            } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    format!("{}\n", visible::json(&format!("{document:#}")))
}

/// A rule, with its page as help.
fn page(rule: &Rule) -> Value {
    let title = rule.page.lines().next().unwrap_or_default().trim_start_matches('#').trim();
    json!({
        "id": rule.code,
        "name": rule.name,
        "shortDescription": { "text": if title.is_empty() { rule.name } else { title } },
        "help": { "text": rule.page, "markdown": rule.page },
        "defaultConfiguration": {
            "enabled": rule.severity != Severity::Off,
            "level": level(rule.severity),
        },
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Off | Severity::Note => "note",
    }
}

fn result(found: &Diagnostic, sources: &Sources) -> Value {
    let mut message = found.message.clone();
    if let Some(help) = &found.help {
        message.push_str("\nhelp: ");
        message.push_str(help);
    }
    let related: Vec<Value> = (found.related.iter().enumerate())
        .map(|(id, (span, what))| {
            let mut place = place(*span, sources);
            place["id"] = json!(id);
            place["message"] = json!({ "text": what });
            place
        })
        .collect();
    let mut result = json!({
        "ruleId": found.rule.code,
        "level": level(found.severity),
        "message": { "text": message },
        "locations": [place(found.span, sources)],
    });
    if !related.is_empty() {
        result["relatedLocations"] = json!(related);
    }
    if let Some(fix) = &found.fix {
        result["fixes"] = json!([change(fix, found, sources)]);
    }
    result
}

fn place(span: Span, sources: &Sources) -> Value {
    json!({ "physicalLocation": {
        "artifactLocation": { "uri": uri(&sources.get(span.file).name) },
        "region": region(span, sources),
    } })
}

fn region(span: Span, sources: &Sources) -> Value {
    let (start, end) = positions(span, sources);
    json!({
        "startLine": start.line,
        "startColumn": start.column,
        "endLine": end.line,
        "endColumn": end.column,
    })
}

fn change(fix: &Fix, found: &Diagnostic, sources: &Sources) -> Value {
    let mut files: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for (span, text) in &fix.edits {
        files.entry(uri(&sources.get(span.file).name)).or_default().push(json!({
            "deletedRegion": region(*span, sources),
            "insertedContent": { "text": text },
        }));
    }
    let changes: Vec<Value> = files
        .into_iter()
        .map(|(uri, edits)| json!({ "artifactLocation": { "uri": uri }, "replacements": edits }))
        .collect();
    let what = found.help.as_deref().unwrap_or(&found.message);
    let mut change = Map::new();
    change.insert("description".to_owned(), json!({ "text": what }));
    change.insert("artifactChanges".to_owned(), json!(changes));
    Value::Object(change)
}

/// The URI of a file: relative, or with the scheme `file` if the path is absolute.
fn uri(name: &str) -> String {
    let mut uri = String::new();
    if name.starts_with('/') {
        uri.push_str("file://");
    // A Windows path with a drive letter, such as `C:/x`.
    } else if name.as_bytes().get(1) == Some(&b':') {
        uri.push_str("file:///");
    }
    for byte in name.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
                uri.push(char::from(byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

// Escapes text for XML.

/// Escapes text for XML: element content or the value of an attribute.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible::text(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            // A parser turns raw line ends and tabs in attributes into spaces.
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            // XML 1.0 does not allow these two characters, not even as references.
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn xml_holds_any_text() {
        assert_eq!(
            super::escaped("a<b & \"c\">'\n\u{1}"),
            "a&lt;b &amp; &quot;c&quot;&gt;&apos;&#10;\\u{1}"
        );
    }
}
