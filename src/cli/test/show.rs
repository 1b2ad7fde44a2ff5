//! Formats tests as text: results, and the ends of traces.

use crate::cli::output::StyledText;
use crate::scenario::{Played, short};
use chartc_runtime::trace::Line;

/// The number of trace lines that are shown of a failed test.
const TAIL: usize = 12;

/// Adds a line with the result of a test.
pub(super) fn went(out: &mut StyledText, played: &Played, test: &str) {
    if played.failure.is_some() {
        out.led("31", "FAILED", format!(" {test}"));
    } else {
        out.led("32", "ok", format!("     {test}"));
    }
}

/// Formats the last lines of the trace.
pub(super) fn last(played: &Played) -> Vec<String> {
    let from = played.lines.len().saturating_sub(TAIL);
    played.lines[from..].iter().map(words).collect()
}

/// Formats the final states and the last lines of the trace.
pub(super) fn tail(played: &Played) -> StyledText {
    let states = match played.states.join(", ") {
        states if states.is_empty() => "nowhere".to_owned(),
        states => states,
    };
    let mut out = StyledText::default();
    out.line(format!("  at {states}; the last that happened:"));
    for line in last(played) {
        out.line(format!("    {line}"));
    }
    out
}

/// Formats a trace line: its kind, then its fields.
fn words(line: &Line) -> String {
    let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(&line.what) else {
        return String::new();
    };
    let mut text = if line.child.is_empty() { String::new() } else { format!("{}: ", line.child) };
    text.push_str(fields.get("kind").and_then(serde_json::Value::as_str).unwrap_or_default());
    if let Some(line) = fields.get("line") {
        let word = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
        let targets = line["targets"].as_array().into_iter().flatten();
        let targets: Vec<&str> = targets.filter_map(serde_json::Value::as_str).collect();
        text.push_str(&format!(" {} {}", word("state"), word("trigger")));
        if !targets.is_empty() {
            text.push_str(&format!(" -> {}", targets.join(", ")));
        }
    }
    for (key, value) in &fields {
        if matches!(key.as_str(), "kind" | "line" | "hash" | "oracle") {
            continue;
        }
        let value = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
        if !value.is_empty() {
            text.push_str(&format!(" {key}={}", short(&value, 80)));
        }
    }
    text
}
