//! The one JSON value of an answer.

use super::claim::taken_back;
use super::{Unusable, clean, json};
use chartc_core::expr::Value;

/// A JSON value, and what stands around it.
pub(super) struct Found<'t> {
    pub(super) value: Value,
    pub(super) repairs: Vec<String>,
    /// Nothing stands around it, and nothing was repaired.
    pub(super) is_whole: bool,
    pub(super) before: &'t str,
    pub(super) after: String,
}

/// The value of `text` that begins with one of `opening`, the first of which that stands there; any value if it is all of the text.
/// Several that are equal are one.
///
/// # Errors
/// There are several, one is cut off, or what stands around it takes it back.
pub(super) fn json<'t>(text: &'t str, opening: &[char]) -> Result<Option<Found<'t>>, Unusable> {
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
    // `{}` and `{options}` in prose are no answers.
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
