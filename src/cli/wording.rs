//! Formats what happened in a run as text.

use chartc_core::expr::Value;

/// The maximum number of characters of an answer that are shown.
const SHOWN: usize = 100;

/// Formats an action of an agent, with the artifact that it is about.
pub(super) fn action_call(action: &str, arguments: &Value) -> String {
    let about = match arguments {
        Value::Map(map) => map.get("artifact_id").or_else(|| map.get("artifact")),
        _ => None,
    };
    match about {
        Some(Value::Text(id)) => format!("{action} {id}"),
        Some(_) | None => action.to_owned(),
    }
}

/// Formats the result of an action and the changes it made, or the reason why it failed.
pub(super) fn outcome(
    (value, changes): (&Value, &[String]),
    (failed, why): (&str, &str),
) -> String {
    let changes = changes.join(", ");
    match (failed, value, changes.as_str()) {
        ("", Value::None, "") => "ok".into(),
        ("", Value::None, _) => changes,
        ("", value, "") => short(&json(value)),
        ("", value, _) => format!("{} ({changes})", short(&json(value))),
        (failed, ..) => short(&format!("{failed}: {why}")),
    }
}

/// Formats the arguments of an option: a list in parentheses, anything else as JSON.
pub(super) fn arguments(value: &Value) -> String {
    match value {
        Value::List(values) => {
            format!("({})", values.iter().map(json).collect::<Vec<_>>().join(", "))
        }
        _ => format!(" {}", json(value)),
    }
}

pub(super) fn fallback(why: &str) -> &'static str {
    match why {
        "no_option" => "no option is enabled, so `else`",
        "unusable" => "no usable answer, so `else`",
        "stale" => "the option no longer holds, so `else`",
        "failed" => "the call failed, so `else`",
        _ => "no outcome line holds, so the state stays",
    }
}

/// Formats an action with its reason; other values as JSON.
pub(super) fn said(value: &Value) -> String {
    if let Value::Map(map) = value
        && let Some(Value::Text(action)) = map.get("action")
    {
        return match map.get("reasoning") {
            Some(Value::Text(reason)) if !reason.is_empty() => format!("{action}, {reason}"),
            Some(_) | None => action.clone(),
        };
    }
    json(value)
}

pub(super) fn json(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

pub(super) fn object(value: &Value) -> String {
    match value {
        Value::Map(map) if map.is_empty() => String::new(),
        _ => json(value),
    }
}

pub(super) fn short(text: &str) -> String {
    let line = text.replace('\n', " ");
    if line.chars().count() <= SHOWN {
        return line;
    }
    let head: String = line.chars().take(SHOWN).collect();
    format!("{head}…")
}

/// The message about a server that reported more output tokens than `max_tokens`.
pub(super) fn more_tokens(reported: u64, allowed: u64) -> String {
    format!("the server reports {reported} output tokens, {allowed} were allowed")
}

/// Formats the trigger of a transition with the alternatives of its guard that held, as in `when: tries >= 3`.
pub(super) fn trigger(trigger: &str, held: &[String]) -> String {
    if held.is_empty() { trigger.to_owned() } else { format!("{trigger}: {}", held.join("; ")) }
}
