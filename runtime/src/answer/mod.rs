//! Reads the texts of models and people: the same rules for all oracles.
//!
//! The problem: models rarely answer in exactly the form that was asked for, and a wrong guess moves the chart. The idea: three rungs,
//! from strict to tolerant, and no guesses:
//!
//! 1. `whole`: the text is the JSON or the name that was asked for;
//! 2. `cleaned`: it is, after reasoning, tags, wrappers and prose are removed and JSON is repaired;
//! 3. `mention`: its prose chooses one option, name or number, in a sentence that does nothing but choose.
//!
//! The value is then converted to the wanted type. The answer must have a single meaning: if it names two options, negates or doubts, it
//! is unusable, and the machine asks again. With the options `close` and `stay`:
//!
//! ```text
//! answer             <think>They are happy.</think> I would go with `close`.
//! clean              "I would go with `close`."        repair: "reasoning removed"
//! JSON, name         there is no JSON, and the text is not the name of an option
//! claim              `i would go with` are words of a choosing sentence, and `close` is the only candidate → `close`, rung `mention`
//!
//! answer             close, but maybe later            `but` may take the choice back → unusable
//! ```

mod claim;
mod fit;
mod json;
mod option;
mod words;

pub use fit::{cut_text, value};
pub use option::{calls, exact_option, option};

use chartc_core::expr::Value;
use claim::taken_back;

/// The maximum length of an answer, in bytes (1 MiB). A longer answer is unusable.
pub const MAX_BYTES: usize = 1 << 20;

/// How far the text of an answer had to be searched for its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rung {
    /// The text is exactly what the question asks for, perhaps within a code fence.
    Whole,
    /// The meaning was found after reasoning, tags or prose were removed, or JSON was repaired.
    Cleaned,
    /// The prose chooses one option, name or number, and does nothing but choose it.
    Mention,
}

impl Rung {
    /// The name of the rung in the trace.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Cleaned => "cleaned",
            Self::Mention => "mention",
        }
    }
}

/// The meaning of an answer, and how it was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading<T> {
    /// The meaning.
    pub meant: T,
    /// How far the text had to be searched.
    pub rung: Rung,
    /// The repairs of the text, in the order in which they were made.
    pub repairs: Vec<String>,
}

/// The reason why an answer has no single meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unusable {
    /// Whether the answer may mean several things. If not, it means nothing.
    pub ambiguous: bool,
    /// The reason, for the trace and for the prompt that asks again.
    pub why: String,
}

impl Unusable {
    fn none(why: impl Into<String>) -> Self {
        Self { ambiguous: false, why: why.into() }
    }

    fn ambiguous(why: impl Into<String>) -> Self {
        Self { ambiguous: true, why: why.into() }
    }
}

/// Refuses answers that are empty or longer than [`MAX_BYTES`].
fn bounded(text: &str) -> Result<&str, Unusable> {
    if text.len() > MAX_BYTES {
        return Err(Unusable::none("the answer is longer than a mebibyte"));
    }
    if text.trim().is_empty() {
        return Err(Unusable::none("the answer is empty"));
    }
    Ok(text)
}

// Removes what surrounds an answer: reasoning, channel marks, tags and code fences.

/// The tags of reasoning.
const TAGS: [&str; 4] = ["think", "thinking", "reasoning", "thought"];

/// The languages of a code fence that may hold an answer. Fences of other languages hold code.
const LANGUAGES: [&str; 9] =
    ["", "json", "jsonc", "json5", "text", "txt", "plaintext", "markdown", "md"];

/// Removes blocks of reasoning such as `<think>…</think>`. A block may lack its closing tag (then it reaches to the end of the text) or
/// its opening tag (then it begins at the start). Returns whether any was found.
fn without_reasoning(text: &str) -> (String, bool) {
    let mut rest = text.to_owned();
    let mut found = false;
    for tag in TAGS {
        let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
        // Only ASCII letters are lowered, so that byte offsets are the same in both strings.
        let low = rest.to_ascii_lowercase();
        let (mut kept, mut from, mut inside, mut any) = (String::new(), 0, false, false);
        for (i, _) in low.match_indices('<') {
            if !inside && low[i..].starts_with(&open) {
                kept.push_str(&rest[from..i]);
                (inside, any) = (true, true);
            } else if low[i..].starts_with(&close) {
                if !inside {
                    // Some servers drop the opening tag, so everything before a lone closing tag is reasoning.
                    kept.clear();
                }
                (inside, any) = (false, true);
                from = i + close.len();
            }
        }
        if any {
            if !inside {
                kept.push_str(&rest[from..]);
            }
            rest = kept;
            found = true;
        }
    }
    (rest, found)
}

/// The tags that mark the answer.
const ANSWERS: [&str; 6] = ["answer", "final_answer", "final", "output", "response", "result"];

/// An answer without what models and their servers put around it.
struct CleanAnswer {
    text: String,
    /// Descriptions of what was removed, for the trace.
    repairs: Vec<String>,
}

/// Removes reasoning, channel marks, tags of answers, and a code fence around the whole answer.
fn said(text: &str) -> CleanAnswer {
    let mut repairs = Vec::new();
    let (mut rest, found) = without_reasoning(text.trim());
    if found {
        repairs.push("reasoning removed".to_owned());
    }
    if let Some(last) = channel(&rest) {
        repairs.push("channels removed".to_owned());
        rest = last;
    }
    if let Some(inner) = tagged(&rest) {
        repairs.push("tag around the answer".to_owned());
        rest = inner;
    }
    // A fence around the answer is common and harmless, so it does not count as a repair.
    let text = unfenced(rest.trim()).unwrap_or(&rest).trim().to_owned();
    CleanAnswer { text, repairs }
}

/// The text of the last channel, for models whose server left the marks in: `<|channel|>final<|message|>…`. Empty if the last channel is
/// not the final one. `None` if there are no marks.
fn channel(text: &str) -> Option<String> {
    let (before, last) = text.rsplit_once("<|message|>")?;
    let is_last = before.trim_end().ends_with("final") || !before.contains("<|channel|>");
    let last = last.split("<|").next().unwrap_or_default();
    Some(if is_last { last.to_owned() } else { String::new() })
}

/// The content of a tag that marks the answer. The tag must begin a line and end the text.
fn tagged(text: &str) -> Option<String> {
    let low = text.trim_end().to_ascii_lowercase();
    ANSWERS.iter().find_map(|tag| {
        let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
        let from = low.find(&open)?;
        let inner = low[from + open.len()..].strip_suffix(&close)?;
        let begins = low[..from].trim_end_matches(' ');
        let is_one = !inner.contains(&open) && !inner.contains(&close);
        (is_one && (begins.is_empty() || begins.ends_with('\n')))
            .then(|| text[from + open.len()..from + open.len() + inner.len()].to_owned())
    })
}

/// Removes a box around the answer, as in `$\boxed{42}$`, and the marks of a single code fence within prose.
fn flat(text: &str) -> String {
    let mut text = text.to_owned();
    if text.matches("\\boxed{").count() == 1
        && let Some((before, rest)) = text.split_once("\\boxed{")
        && let Some((inner, after)) = rest.split_once('}')
    {
        let before = before.trim_end_matches(['$', '(', '[', '\\']);
        let after = after.trim_start_matches(['$', ')', ']', '\\']);
        text = format!("{before}{inner}{after}");
    }
    if text.matches("```").count() == 2
        && let Some((before, rest)) = text.split_once("```")
        && let Some((block, after)) = rest.split_once("```")
        && let Some(inner) = unfenced(&format!("```{block}```"))
    {
        text = format!("{before}\n{inner}\n{after}");
    }
    text
}

/// The content of `text` if all of it is one fenced block without a language or with one of [`LANGUAGES`].
fn unfenced(text: &str) -> Option<&str> {
    let inner = text.trim().strip_prefix("```")?.strip_suffix("```")?;
    if inner.contains("```") {
        return None;
    }
    Some(match inner.split_once('\n') {
        Some((language, body)) if LANGUAGES.contains(&language.trim().to_lowercase().as_str()) => {
            body
        }
        Some((language, _)) if language.trim().chars().all(char::is_alphanumeric) => return None,
        Some(_) | None => inner,
    })
}

/// The text before the first of the found JSON values, and the text between and after them.
fn around<'t>(text: &'t str, found: &[json::Read]) -> (&'t str, String) {
    let mut from = found.first().map_or(text.len(), |read| read.start);
    let before = &text[..from];
    let mut after = String::new();
    for read in found {
        after.push_str(&text[from..read.start]);
        after.push('\n');
        from = read.end;
    }
    after.push_str(&text[from..]);
    (before, after)
}

/// Whether text outside of the JSON that was found has braces or a quoted key: parts of JSON that could not be parsed.
fn has_shreds(text: &str) -> bool {
    text.contains(['{', '}']) || text.contains("\":") || text.contains("':")
}

// Finds the single JSON value in an answer.

/// A JSON value, and the text around it.
struct Found<'t> {
    value: Value,
    repairs: Vec<String>,
    /// Whether the value is all of the text and was not repaired.
    is_whole: bool,
    before: &'t str,
    after: String,
}

/// Finds the JSON value in `text`: the whole text if that is JSON; otherwise the values that begin with the first character of `text`
/// that is in `opening`. Several equal values count as one.
///
/// # Errors
/// There are several different values, one is cut off, or the text around the value may take it back.
fn json<'t>(text: &'t str, opening: &[char]) -> Result<Option<Found<'t>>, Unusable> {
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
    let (before, after) = around(text, &values);
    let Some(first) = values.first() else { return Ok(None) };
    if values.iter().any(|read| read.is_cut) {
        return Err(Unusable::none("the JSON in the answer is cut off"));
    }
    if values.iter().any(|read| read.value != first.value) {
        return Err(Unusable::ambiguous("several values that differ"));
    }
    if has_shreds(before) || has_shreds(&after) {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, left: &str) {
        assert_eq!(without_reasoning(text).0, left, "{text}");
    }

    #[test]
    fn reasoning_closed_open_and_headless() {
        check("<think>ship? no</think>pivot", "pivot");
        check("a<THINK>x</think>b<think>y</think>c", "abc");
        check("pivot <think>or rather", "pivot ");
        check("well, ship</think> pivot", " pivot");
        check("<think>a</think> x </think> y", " y");
        check("no tags", "no tags");
    }

    #[test]
    fn one_fence_is_a_fence_two_are_not() {
        assert_eq!(unfenced("```json\n{}\n```"), Some("{}\n"));
        assert_eq!(unfenced("```ship```"), Some("ship"));
        assert_eq!(unfenced("```\na\n```\n```\nb\n```"), None);
    }
}
