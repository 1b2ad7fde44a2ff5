//! Formats values for messages about tests.

use chartc_core::expr::Value;

/// Formats a value as JSON.
pub(super) fn value(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "…".to_owned())
}

/// Formats a text as a JSON string.
pub(super) fn quoted(text: &str) -> String {
    value(&Value::Text(text.to_owned()))
}

/// Joins the words of a text into one line, and cuts it after `most` characters.
pub(crate) fn short(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
