//! Formats the results of tests for other programs: as JSON and as JUnit XML.

use super::PlayedTest;
use super::coverage::Coverage;
use super::show;
use crate::report::xml::escaped;
use chartc_text::source::Sources;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// The version of the JSON format.
const VERSION: u32 = 1;

/// Formats all results as one JSON object.
pub(super) fn json(
    rows: &[PlayedTest<'_>],
    coverage: Option<&[Coverage]>,
    sources: &Sources,
) -> String {
    let failed = rows.iter().filter(|row| row.played.failure.is_some()).count();
    let tests: Vec<Value> = rows.iter().map(|row| test(row, sources)).collect();
    let mut all = json!({
        "version": VERSION,
        "passed": rows.len() - failed,
        "failed": failed,
        "tests": tests,
    });
    if let Some(coverage) = coverage {
        all["coverage"] = json!(coverage);
    }
    format!("{all:#}\n")
}

fn test(row: &PlayedTest<'_>, sources: &Sources) -> Value {
    let at = |span: chartc_text::span::Span| {
        let source = sources.get(span.file);
        let place = source.position(span.start);
        (source.name.clone(), place.line, place.column)
    };
    let (file, line, _) = at(row.test.span);
    let related = row.finding.iter().flat_map(|finding| &finding.related);
    let places: Vec<Value> = related
        .map(|(span, what)| {
            let (file, line, column) = at(*span);
            json!({ "file": file, "line": line, "column": column, "what": what })
        })
        .collect();
    let failure = row.played.failure.as_ref().map(|failure| {
        let (file, line, column) = at(failure.span);
        json!({
            "file": file,
            "line": line,
            "column": column,
            "message": failure.message,
            "found": failure.found,
            "help": failure.help,
            "places": places,
            "trace": show::last(&row.played),
        })
    });
    json!({
        "file": file,
        "line": line,
        "name": row.test.name,
        "chart": row.checked.chart().name,
        "passed": failure.is_none(),
        "states": row.played.states,
        "ended": row.played.ended,
        "calls": row.played.calls,
        "failure": failure,
    })
}

/// Formats a JUnit report, with a suite for each file that has tests.
pub(super) fn junit(rows: &[PlayedTest<'_>], sources: &Sources) -> String {
    let mut files: BTreeMap<&str, Vec<&PlayedTest<'_>>> = BTreeMap::new();
    for row in rows {
        files.entry(&sources.get(row.test.span.file).name).or_default().push(row);
    }
    let failed =
        |rows: &[&PlayedTest<'_>]| rows.iter().filter(|r| r.played.failure.is_some()).count();
    let time = |rows: &[&PlayedTest<'_>]| seconds(rows.iter().map(|row| row.took).sum());
    let all: Vec<&PlayedTest<'_>> = rows.iter().collect();
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"chartc\" tests=\"{}\" failures=\"{}\" errors=\"0\" time=\"{}\">\n",
        all.len(),
        failed(&all),
        time(&all)
    );
    for (file, rows) in files {
        text.push_str(&format!(
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"0\" time=\"{}\">\n",
            escaped(file),
            rows.len(),
            failed(&rows),
            time(&rows)
        ));
        for row in rows {
            case(row, file, sources, &mut text);
        }
        text.push_str("  </testsuite>\n");
    }
    text.push_str("</testsuites>\n");
    text
}

/// Formats a time in seconds with six decimals, as JUnit reports have it.
fn seconds(took: Duration) -> String {
    format!("{:.6}", took.as_secs_f64())
}

fn case(row: &PlayedTest<'_>, file: &str, sources: &Sources, text: &mut String) {
    let line = sources.get(row.test.span.file).position(row.test.span.start).line;
    text.push_str(&format!(
        "    <testcase name=\"{}\" classname=\"{}\" file=\"{}\" line=\"{line}\" time=\"{}\"",
        escaped(&row.test.name),
        escaped(&row.checked.chart().name),
        escaped(file),
        seconds(row.took),
    ));
    let Some(failure) = &row.played.failure else {
        text.push_str("/>\n");
        return;
    };
    let source = sources.get(failure.span.file);
    let place = source.position(failure.span.start);
    let mut body = format!("{}:{}:{}: {}", source.name, place.line, place.column, failure.message);
    for more in failure.found.iter().chain(&failure.help) {
        body.push_str(&format!("\n{more}"));
    }
    for (span, what) in row.finding.iter().flat_map(|finding| &finding.related) {
        let source = sources.get(span.file);
        let place = source.position(span.start);
        body.push_str(&format!("\n{}:{}:{}: {what}", source.name, place.line, place.column));
    }
    body.push_str(&format!("\n{}", show::tail(&row.played).as_str()));
    text.push_str(&format!(
        ">\n      <failure message=\"{}\" type=\"failed-test\">{}</failure>\n    </testcase>\n",
        escaped(&failure.message),
        escaped(&body)
    ));
}
