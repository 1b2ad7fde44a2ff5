//! Removes what surrounds an answer: reasoning, channel marks, tags and code fences.

/// The tags of reasoning.
const TAGS: [&str; 4] = ["think", "thinking", "reasoning", "thought"];

/// The languages of a code fence that may hold an answer. Fences of other languages hold code.
const LANGUAGES: [&str; 9] =
    ["", "json", "jsonc", "json5", "text", "txt", "plaintext", "markdown", "md"];

/// Removes blocks of reasoning such as `<think>…</think>`. A block may lack its closing tag (then it reaches to the end of the text) or
/// its opening tag (then it begins at the start). Returns whether any was found.
pub(super) fn without_reasoning(text: &str) -> (String, bool) {
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
pub(super) struct CleanAnswer {
    pub(super) text: String,
    /// Descriptions of what was removed, for the trace.
    pub(super) repairs: Vec<String>,
}

/// Removes reasoning, channel marks, tags of answers, and a code fence around the whole answer.
pub(super) fn said(text: &str) -> CleanAnswer {
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
pub(super) fn flat(text: &str) -> String {
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
pub(super) fn unfenced(text: &str) -> Option<&str> {
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
pub(super) fn around<'t>(text: &'t str, found: &[super::json::Read]) -> (&'t str, String) {
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
pub(super) fn has_shreds(text: &str) -> bool {
    text.contains(['{', '}']) || text.contains("\":") || text.contains("':")
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
