//! Formats parts of a trace as text.

use chartc_core::expr::Duration;
use chartc_core::expr::Value;
use chartc_runtime::trace::LineName;

/// Formats a value on one line: a text verbatim, anything else as JSON.
pub(super) fn value(value: &Value) -> String {
    let text = match value {
        Value::Text(text) => text.clone(),
        Value::Map(map) if map.is_empty() => String::new(),
        _ => serde_json::to_string(value).unwrap_or_default(),
    };
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Formats the answer of a model: an option with its arguments, an action, or a value.
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

/// The reason that the model gives for an action; empty if it gives none.
pub(super) fn reason(said: &Value) -> String {
    if let Value::Map(map) = said
        && let (Some(Value::Text(_)), Some(Value::Text(why))) =
            (map.get("action"), map.get("reasoning"))
    {
        return value(&Value::Text(why.clone()));
    }
    String::new()
}

/// The rung of an answer as text; empty if the whole answer was used as it was.
pub(super) fn rung(rung: &str, repairs: &[String]) -> String {
    match (rung, repairs) {
        ("mention", _) => "the only option it mentions".into(),
        (_, []) => String::new(),
        (_, repairs) => repairs.join(", "),
    }
}

/// The name of a state; `*` for the chart itself.
pub(super) fn state(path: &str) -> &str {
    if path.is_empty() { "*" } else { path }
}

/// Formats the source and the targets of a transition.
pub(super) fn way(line: &LineName) -> String {
    let from = state(&line.state);
    if line.targets.is_empty() {
        format!("{from} (stays)")
    } else {
        let targets = line.targets.iter().map(|to| beside(from, to));
        format!("{from} -> {}", targets.collect::<Vec<_>>().join(", "))
    }
}

/// Shortens the path of a target by the path that it shares with the source, as in `open.sorting -> .drafting`.
fn beside<'s>(from: &str, to: &'s str) -> &'s str {
    let mut shared = 0;
    for (end, _) in to.match_indices('.') {
        if from.get(..=end) == to.get(..=end) {
            shared = end;
        }
    }
    &to[shared..]
}

/// Names a transition so that it can be found in the chart.
pub(super) fn line(line: &LineName) -> String {
    let to = if line.targets.is_empty() {
        String::new()
    } else {
        format!(" -> {}", line.targets.join(", "))
    };
    format!("`{}{to}`, line {} of {}", line.trigger, line.nth, place(&line.state))
}

/// Names a state within a sentence.
pub(super) fn place(path: &str) -> String {
    if path.is_empty() { "the chart".into() } else { format!("`{path}`") }
}

/// The reason why a transition was not taken.
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

/// The reason of a fallback.
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

/// The reason why an input was not taken.
pub(super) fn not_taken(why: &str) -> &str {
    match why {
        "closed" => "the run has ended",
        "busy" => "a turn is being walked",
        other => other,
    }
}

/// Formats a time on the run's clock, or a duration, in at most two units.
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
