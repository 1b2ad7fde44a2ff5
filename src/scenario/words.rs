//! Tests in words: values and failures.

use chartc_core::expr::Value;

/// A value as JSON.
pub(super) fn value(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "…".to_owned())
}

/// A text in quotes.
pub(super) fn quoted(text: &str) -> String {
    value(&Value::Text(text.to_owned()))
}

/// A text of at most this many characters, on one line.
pub(crate) fn short(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
