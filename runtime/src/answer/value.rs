//! Which value an answer to an `llm` step means.

use super::prose::{mentions, taken_back};
use super::{Reading, Rung, Unusable, bounded, clean, json};
use crate::schema;
use chartc_core::expr::{Map, Value};

/// Reads `text` as a value. An empty schema wants an action object: `{reasoning, action, …}`, in which the seeds' spellings are
/// put right. Whether the value fits its type is for the machine to say.
///
/// # Errors
/// No value is meant, or more than one may be.
pub fn value(text: &str, wanted: &str) -> Result<Reading<Value>, Unusable> {
    let text = bounded(text)?.trim();
    let kind = schema::kind(wanted);
    let bare = clean::unfenced(text).map_or(text, str::trim);
    let whole = json::read(bare, 0).filter(|r| r.repairs.is_empty() && r.end == bare.len());
    let (cleaned, found) = clean::without_reasoning(bare);
    let cleaned = clean::unfenced(cleaned.trim()).unwrap_or(cleaned.trim()).trim();
    let mut repairs = Vec::new();
    if found {
        repairs.push("reasoning removed".to_owned());
    }
    if let Some(names) = schema::names(wanted) {
        return name(bare, cleaned, &names, repairs);
    }
    if kind.as_deref() == Some("string") {
        let meant = match whole {
            Some(json::Read { value: Value::Text(text), .. }) => text,
            Some(_) | None if cleaned.is_empty() => {
                return Err(Unusable::none("there is nothing but reasoning"));
            }
            Some(_) | None => cleaned.to_owned(),
        };
        let rung = if found { Rung::Cleaned } else { Rung::Whole };
        return Ok(Reading { meant: Value::Text(meant), rung, repairs });
    }
    if let Some(read) = whole {
        return finished(read.value, wanted, Rung::Whole, Vec::new());
    }
    let open = match kind.as_deref() {
        Some("array") => '[',
        Some("object") | None => '{',
        Some(_) => {
            return match json::read(cleaned, 0).filter(|r| r.end == cleaned.len()) {
                Some(read) => {
                    repairs.extend(read.repairs);
                    finished(read.value, wanted, Rung::Cleaned, repairs)
                }
                None => Err(Unusable::none("the answer is not the value alone")),
            };
        }
    };
    let mut values = json::find(cleaned, open);
    let first = values.first().map(|r| r.value.clone());
    let (before, after) = clean::around(cleaned, &values);
    if values.iter().any(|r| Some(&r.value) != first.as_ref()) {
        return Err(Unusable::ambiguous("several values that differ"));
    }
    if values.is_empty() {
        return Err(Unusable::none("there is no JSON in the answer"));
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
    repairs.extend(read.repairs);
    if !cleaned.starts_with(open) || read.end != cleaned.len() {
        repairs.push("prose around the answer".to_owned());
    }
    finished(read.value, wanted, Rung::Cleaned, repairs)
}

fn name(
    bare: &str,
    cleaned: &str,
    names: &[String],
    mut repairs: Vec<String>,
) -> Result<Reading<Value>, Unusable> {
    let plain = |text: &str| {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let find = |text: &str| -> Option<Value> {
        if let Some(name) = names.iter().find(|n| *n == text) {
            return Some(Value::Text(name.clone()));
        }
        let bare: String = plain(text);
        let mut hits = names.iter().filter(|n| plain(n) == bare);
        let hit = hits.next()?;
        hits.next().is_none().then(|| Value::Text(hit.clone()))
    };
    if let Some(meant) = find(bare) {
        return Ok(Reading { meant, rung: Rung::Whole, repairs });
    }
    if let Some(meant) = find(cleaned) {
        return Ok(Reading { meant, rung: Rung::Cleaned, repairs });
    }
    let known: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    let mentions = mentions(cleaned, &known);
    match (mentions.names.as_slice(), mentions.turn) {
        ([], _) => Err(Unusable::none("none of the names is in the answer")),
        ([index], None) => {
            repairs.push("prose around the answer".to_owned());
            Ok(Reading { meant: Value::Text(names[*index].clone()), rung: Rung::Mention, repairs })
        }
        ([index], Some(word)) => Err(Unusable::ambiguous(format!(
            "`{}` is named beside `{word}`, which may take it back",
            names[*index]
        ))),
        ([a, b, ..], _) => {
            Err(Unusable::ambiguous(format!("both `{}` and `{}` are named", names[*a], names[*b])))
        }
    }
}

fn finished(
    value: Value,
    wanted: &str,
    rung: Rung,
    mut repairs: Vec<String>,
) -> Result<Reading<Value>, Unusable> {
    if !wanted.is_empty() {
        return Ok(Reading { meant: value, rung, repairs });
    }
    match value {
        Value::Map(map) => {
            let (meant, renamed) = action(map);
            if renamed {
                repairs.push("spelled as `{reasoning, action, …}`".to_owned());
            }
            Ok(Reading { meant: Value::Map(meant), rung, repairs })
        }
        Value::List(_) => Ok(Reading { meant: value, rung, repairs }),
        Value::None
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Text(_)
        | Value::Duration(_) => {
            Err(Unusable::none("an object with `reasoning` and `action` is wanted"))
        }
    }
}

/// `thought_process`, or else `action_rationale`, becomes `reasoning`, and `action: {action_type: "x", …}` becomes `action: "x", …`.
fn action(map: Map) -> (Map, bool) {
    let mut out = Map::new();
    let mut renamed = false;
    let has_reasoning = map.get("reasoning").is_some();
    let has_thoughts = has_reasoning || map.get("thought_process").is_some();
    for (key, value) in map {
        match (key.as_str(), value) {
            ("thought_process", value) if !has_reasoning => {
                renamed = true;
                out.insert("reasoning".to_owned(), value);
            }
            ("action_rationale", value) if !has_thoughts => {
                out.insert("reasoning".to_owned(), value.clone());
                out.insert(key, value);
            }
            ("action", Value::Map(inner)) => {
                let named =
                    ["action_type", "type", "name"].into_iter().find(|k| inner.get(k).is_some());
                let Some(named) = named else {
                    out.insert(key, Value::Map(inner));
                    continue;
                };
                renamed = true;
                for (name, value) in inner {
                    let name = if name == named { "action".to_owned() } else { name };
                    if name == "action" || out.get(&name).is_none() {
                        out.insert(name, value);
                    }
                }
            }
            (_, value) => out.insert(key, value),
        }
    }
    (out, renamed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn means(text: &str, wanted: &str, json: &str, rung: Rung) {
        match value(text, wanted) {
            Ok(reading) => {
                let got = serde_json::to_string(&reading.meant).expect("a value is JSON");
                assert_eq!((got.as_str(), reading.rung), (json, rung), "{text}");
            }
            Err(why) => panic!("{text}: {why:?}"),
        }
    }

    #[test]
    fn an_action_in_the_spellings_that_exist() {
        let noop = r#"{"reasoning":"r","action":"noop"}"#;
        means(noop, "", noop, Rung::Whole);
        means(r#"{"thought_process":"r","action":{"action_type":"noop"}}"#, "", noop, Rung::Whole);
        means(
            r#"{"situation_assessment":"s","action_rationale":"r","action":{"action_type":"noop"}}"#,
            "",
            r#"{"situation_assessment":"s","reasoning":"r","action_rationale":"r","action":"noop"}"#,
            Rung::Whole,
        );
        means(&format!("Sure!\n```json\n{noop}\n```"), "", noop, Rung::Cleaned);
        means(
            r#"{"reasoning":"r","action":{"action_type":"read_artifact","artifact_id":"a"}}"#,
            "",
            r#"{"reasoning":"r","action":"read_artifact","artifact_id":"a"}"#,
            Rung::Whole,
        );
    }

    #[test]
    fn declared_types() {
        means("<think>hm</think> all good", r#"{"type":"string"}"#, r#""all good""#, Rung::Cleaned);
        means(r#""all good""#, r#"{"type":"string"}"#, r#""all good""#, Rung::Whole);
        means("42", r#"{"type":"integer"}"#, "42", Rung::Whole);
        means("Good.", r#"{"enum":["good","bad"]}"#, r#""good""#, Rung::Whole);
        means("It looks bad", r#"{"enum":["good","bad"]}"#, r#""bad""#, Rung::Mention);
        means("scores: [1, 2,]", r#"{"type":"array"}"#, "[1,2]", Rung::Cleaned);
    }

    #[test]
    fn no_value_or_several() {
        for (text, wanted, why) in [
            ("I will wait", "", "no JSON"),
            ("7", "", "`action`"),
            (r#"{"action":"a"} or {"action":"b"}"#, "", "differ"),
            ("about 42", r#"{"type":"integer"}"#, "alone"),
            ("not bad", r#"{"enum":["good","bad"]}"#, "take it back"),
            ("good, bad", r#"{"enum":["good","bad"]}"#, "both"),
        ] {
            let got = value(text, wanted).expect_err(text);
            assert!(got.why.contains(why), "{text}: {got:?}");
        }
    }
}
