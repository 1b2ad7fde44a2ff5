//! SARIF 2.1.0, which GitHub's code scanning and other tools read.

use super::fingerprint::fingerprints;
use super::{Findings, Report, positions};
use chartc_core::visible;
use chartc_text::diagnostic::{Diagnostic, Fix, Rule, Severity};
use chartc_text::source::Sources;
use chartc_text::span::Span;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Writes one run with all findings, also the suppressed ones.
pub(super) static REPORT: Report = Report { name: "sarif", format };

fn format(findings: &Findings<'_>) -> String {
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
