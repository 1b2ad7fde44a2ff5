//! Finds the single JSON value in an answer.

use super::claim::taken_back;
use super::{Unusable, clean, json};
use chartc_core::expr::Value;

/// A JSON value, and the text around it.
pub(super) struct Found<'t> {
    pub(super) value: Value,
    pub(super) repairs: Vec<String>,
    /// Whether the value is all of the text and was not repaired.
    pub(super) is_whole: bool,
    pub(super) before: &'t str,
    pub(super) after: String,
}

/// Finds the JSON value in `text`: the whole text if that is JSON; otherwise the values that begin with the first character of `text`
/// that is in `opening`. Several equal values count as one.
///
/// # Errors
/// There are several different values, one is cut off, or the text around the value may take it back.
pub(super) fn json<'t>(text: &'t str, opening: &[char]) -> Result<Option<Found<'t>>, Unusable> {
    // A text that is JSON as a whole needs no search, and may be any value.
    let whole = json::read(text, 0).filter(|read| read.end == text.len() && !read.is_cut);
    if let Some(read) = whole {
        let is_whole = read.repairs.is_empty();
        let (before, after) = ("", String::new());
        return Ok(Some(Found {
            value: read.value,
            repairs: read.repairs,
            is_whole,
            before,
            after,
        }));
    }
    let Some(open) = text.chars().find(|c| opening.contains(c)) else { return Ok(None) };
    let mut values = json::find(text, open);
    // An empty `{}` in prose, and the placeholder `{options}`, are not answers.
    values.retain(|read| !matches!(&read.value, Value::Map(map) if map.is_empty() && !read.is_cut));
    let (before, after) = clean::around(text, &values);
    let Some(first) = values.first() else { return Ok(None) };
    if values.iter().any(|read| read.is_cut) {
        return Err(Unusable::none("the JSON in the answer is cut off"));
    }
    if values.iter().any(|read| read.value != first.value) {
        return Err(Unusable::ambiguous("several values that differ"));
    }
    if clean::has_shreds(before) || clean::has_shreds(&after) {
        return Err(Unusable::ambiguous("the answer stands beside shreds of JSON"));
    }
    if let Some(word) = taken_back(before, &after) {
        return Err(Unusable::ambiguous(format!(
            "the answer stands beside `{word}`, which may take it back"
        )));
    }
    let read = values.swap_remove(0);
    let mut repairs = read.repairs;
    if !before.trim().is_empty() || !after.trim().is_empty() {
        repairs.push("prose around the answer".to_owned());
    }
    Ok(Some(Found { value: read.value, repairs, is_whole: false, before, after }))
}
