//! Parts of a trace in words.

use chartc_core::expr::Duration;
use chartc_core::expr::Value;
use chartc_runtime::trace::LineName;

/// A value as JSON, or a text itself, on one line.
pub(super) fn value(value: &Value) -> String {
    let text = match value {
        Value::Text(text) => text.clone(),
        Value::Map(map) if map.is_empty() => String::new(),
        Value::None
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Duration(_)
        | Value::List(_)
        | Value::Map(_) => serde_json::to_string(value).unwrap_or_default(),
    };
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a model said: an option with its arguments, an action, or a value.
pub(super) fn decision(option: Option<&String>, said: &Value) -> String {
    match (option, said) {
        (Some(option), Value::List(arguments)) => {
            let arguments: Vec<String> = arguments.iter().map(value).collect();
            format!("{option}({})", arguments.join(", "))
        }
        (Some(option), Value::None) => option.clone(),
        (Some(option), other) => format!("{option} {}", value(other)),
        (None, Value::Map(map)) => match map.get("action") {
            Some(Value::Text(action)) => action.clone(),
            Some(_) | None => value(said),
        },
        (None, other) => value(other),
    }
}

/// The reason that an action states.
pub(super) fn reason(said: &Value) -> String {
    if let Value::Map(map) = said
        && let (Some(Value::Text(_)), Some(Value::Text(why))) =
            (map.get("action"), map.get("reasoning"))
    {
        return value(&Value::Text(why.clone()));
    }
    String::new()
}

/// How far an answer had to be searched, where that was further than usual.
pub(super) fn rung(rung: &str, repairs: &[String]) -> String {
    match (rung, repairs) {
        ("mention", _) => "the only option it mentions".into(),
        (_, []) => String::new(),
        (_, repairs) => repairs.join(", "),
    }
}

/// A state, the chart itself as `*`.
pub(super) fn state(path: &str) -> &str {
    if path.is_empty() { "*" } else { path }
}

/// The source and targets of a transition.
pub(super) fn way(line: &LineName) -> String {
    let from = state(&line.state);
    if line.targets.is_empty() {
        format!("{from} (stays)")
    } else {
        let targets = line.targets.iter().map(|to| beside(from, to));
        format!("{from} -> {}", targets.collect::<Vec<_>>().join(", "))
    }
}

/// A state relative to another one: the common path is omitted, as in `open.sorting -> .drafting`.
fn beside<'s>(from: &str, to: &'s str) -> &'s str {
    let mut shared = 0;
    for (end, _) in to.match_indices('.') {
        if from.get(..=end) == to.get(..=end) {
            shared = end;
        }
    }
    &to[shared..]
}

/// A transition, named so that it can be found in the chart.
pub(super) fn line(line: &LineName) -> String {
    let to = if line.targets.is_empty() {
        String::new()
    } else {
        format!(" -> {}", line.targets.join(", "))
    };
    format!("`{}{to}`, line {} of {}", line.trigger, line.nth, place(&line.state))
}

/// A state in the middle of a sentence.
pub(super) fn place(path: &str) -> String {
    if path.is_empty() { "the chart".into() } else { format!("`{path}`") }
}

/// Why a candidate lost.
pub(super) fn loss(why: &str) -> &str {
    match why {
        "guard" => "its condition is false",
        "fault" => "its guard failed, which counts as false",
        "scope" => "it is a `from` line, and none of its states is active",
        "preempted" => {
            "a transition of an inner state, or of an earlier region, exits the same states"
        }
        other => other,
    }
}

/// Why something fell back.
pub(super) fn fallback(why: &str) -> &str {
    match why {
        "no_option" => "no option is enabled, so `else`",
        "unusable" => "no usable answer, so `else`",
        "stale" => "the option no longer holds, so `else`",
        "failed" => "the call failed, so `else`",
        "no_line" => "no outcome line holds, so the state stays",
        other => other,
    }
}

/// Why an input was not taken.
pub(super) fn not_taken(why: &str) -> &str {
    match why {
        "closed" => "the run has ended",
        "busy" => "a turn is being walked",
        other => other,
    }
}

/// A time on the run's clock, or a duration.
pub(super) fn time(ms: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000)];
    if ms < 60_000 && !ms.is_multiple_of(1000) {
        return if ms < 1000 { format!("{ms}ms") } else { format!("{:.1}s", ms as f64 / 1000.0) };
    }
    if ms < 60_000 {
        return Duration(ms).to_string();
    }
    // Two units are precise enough.
    let mut parts = Vec::new();
    let mut rest = ms;
    for (unit, millis) in UNITS {
        if rest >= millis || !parts.is_empty() {
            parts.push(format!("{}{unit}", rest / millis));
            rest %= millis;
        }
    }
    parts.push(format!("{}s", rest / 1000));
    parts.truncate(2);
    parts.concat()
}

/// A count with its word.
pub(super) fn number(count: u64, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short() {
        for (ms, text) in [
            (0, "0s"),
            (20, "20ms"),
            (1000, "1s"),
            (1500, "1.5s"),
            (60_000, "1m0s"),
            (3_610_000, "1h0m"),
            (93_600_000, "1d2h"),
        ] {
            assert_eq!(time(ms), text);
        }
    }

    #[test]
    fn what_two_states_are_in_is_left_out() {
        for (from, to, seen) in [
            ("a.b", "a.c", ".c"),
            ("a.b.c", "a.b.d.e", ".d.e"),
            ("ab.c", "a.c", "a.c"),
            ("a", "a.b", "a.b"),
            ("a.b", "a", "a"),
            ("*", "a", "a"),
        ] {
            assert_eq!(beside(from, to), seen, "{from} {to}");
        }
    }
}
