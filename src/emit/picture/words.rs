//! A line in words: what its edge or its row in a label says.

use super::text::{WIDTH, short};
use crate::notation;
use chartc_core::arena::StepId;
use chartc_core::model::{Action, Chart, ChoiceKind, StateKind, Transition, Trigger};

/// Characters of an action block on an edge before it is cut; the tooltip has it whole.
const LONG: usize = 58;

/// Who moves the chart, in the word that the line begins with, and on what.
pub(in crate::emit) fn head(chart: &Chart, line: &Transition) -> (&'static str, String) {
    let step = |s: &StepId| notation::name(notation::step_name(chart, *s));
    match &line.trigger {
        Trigger::Event(events) => {
            let payload = notation::payload(line);
            let pattern = notation::event_pattern(chart, events);
            let text = if payload.is_empty() {
                pattern
            } else {
                format!("{pattern}({})", payload.join(", "))
            };
            ("on", text)
        }
        Trigger::AnyEvent => ("on", "*".to_string()),
        Trigger::AnyOccurrence => ("on", "**".to_string()),
        Trigger::Turn => ("on", "turn".to_string()),
        Trigger::When => {
            let guard = line.guard.as_ref().map(|g| notation::expression(chart, g));
            ("when", guard.unwrap_or_else(|| "true".to_string()))
        }
        Trigger::StateDone(state) => {
            ("on", format!("done({})", notation::path(&chart.state(*state).path)))
        }
        Trigger::After(time) => ("after", notation::expression(chart, time)),
        Trigger::AfterTurns(n) => ("after", format!("{} turns", notation::expression(chart, n))),
        Trigger::Choice(choice) => {
            let choice = &chart.choices[choice.index()];
            let name = notation::name(&choice.name);
            let text = match &choice.kind {
                ChoiceKind::Option(fields) if fields.is_empty() => name,
                ChoiceKind::Option(fields) => {
                    let fields: Vec<&str> = fields.iter().map(|f| f.name.as_str()).collect();
                    format!("{name}({})", fields.join(", "))
                }
                ChoiceKind::Call(..) => format!("call {}", notation::path(&choice.name)),
            };
            ("may", text)
        }
        Trigger::StepDone(s) => ("done", step(s)),
        Trigger::StepError(s) => ("error", step(s)),
        Trigger::StepTimeout(s, time) => {
            ("timeout", format!("{} {}", step(s), notation::expression(chart, time)))
        }
        Trigger::StepDoubt(s) => ("doubt", step(s)),
        Trigger::StepElse(s) => ("else", step(s)),
        Trigger::Error(pattern) => ("on", notation::machine_event(pattern)),
        Trigger::LimitWarn(pattern) => ("on", format!("limit.warn.{pattern}")),
    }
}

/// What makes the line a candidate, in a few words and signs.
pub(in crate::emit) fn title(chart: &Chart, line: &Transition) -> String {
    let (word, text) = head(chart, line);
    match &line.trigger {
        Trigger::Event(_) | Trigger::StateDone(_) | Trigger::Error(_) | Trigger::LimitWarn(_) => {
            text
        }
        Trigger::AnyEvent
        | Trigger::AnyOccurrence
        | Trigger::Turn
        | Trigger::When
        | Trigger::Choice(_) => format!("{word} {text}"),
        Trigger::After(_) | Trigger::AfterTurns(_) => format!("◷ {word} {text}"),
        Trigger::StepDone(_) => format!("✓ {text}"),
        Trigger::StepError(_) => format!("✗ {text}"),
        Trigger::StepTimeout(..) => format!("◷ {text}"),
        Trigger::StepDoubt(_) => format!("doubt({text})"),
        Trigger::StepElse(_) => format!("else ({text})"),
    }
}

/// The guard; none for a `when` line, whose title it is.
pub(in crate::emit) fn guard(chart: &Chart, line: &Transition) -> Option<String> {
    if line.trigger == Trigger::When {
        return None;
    }
    let payload = notation::payload(line);
    line.guard.as_ref().map(|g| notation::expression_in(chart, g, &payload))
}

/// The line's actions.
pub(in crate::emit) fn actions(chart: &Chart, line: &Transition) -> String {
    joined(chart, &line.actions, &notation::payload(line))
}

/// Actions in a row: a picture wraps lines at blanks, so it takes more than blanks to keep them apart.
pub(in crate::emit) fn joined(chart: &Chart, actions: &[Action], payload: &[&str]) -> String {
    notation::joined(chart, actions, payload, "; ")
}

/// What the model is told of the option that the line is.
pub(in crate::emit) fn told(chart: &Chart, line: &Transition) -> Option<String> {
    let Trigger::Choice(choice) = &line.trigger else { return None };
    let text = chart.choices[choice.index()].text.as_ref()?;
    Some(notation::template_text(chart, text, &[]))
}

/// All parts of an edge's label, each to stand on lines of its own.
pub(in crate::emit) fn parts(chart: &Chart, line: &Transition, is_each: bool) -> Vec<String> {
    let each = if is_each { "each " } else { "" };
    let mut parts = vec![format!("{each}{}", title(chart, line))];
    if let Some(text) = told(chart, line) {
        parts.push(format!("“{}”", short(&text, 2 * WIDTH)));
    }
    if let Some(guard) = guard(chart, line) {
        parts.push(format!("[{guard}]"));
    }
    let except = excepted(chart, line);
    if !except.is_empty() {
        parts.push(format!("except {}", except.join(" | ")));
    }
    if !line.actions.is_empty() {
        parts.push(format!("/ {}", short(&actions(chart, line), LONG)));
    }
    parts
}

/// States that a `from` line leaves out, other than its targets and final children of its scope.
pub(in crate::emit) fn excepted(chart: &Chart, line: &Transition) -> Vec<String> {
    let Some(scope) = &line.scope else { return Vec::new() };
    (scope.none_of.iter())
        .filter(|s| !line.targets.iter().any(|t| t.state == **s))
        .filter(|s| !matches!(chart.state(**s).kind, StateKind::Final { .. }))
        .map(|s| chart.state(*s).path.clone())
        .collect()
}

/// The line as it might stand in a chart.
pub(in crate::emit) fn whole(chart: &Chart, line: &Transition) -> String {
    let mut text = title(chart, line);
    if let Some(guard) = guard(chart, line) {
        text.push_str(&format!(" if {guard}"));
    }
    let targets: Vec<&str> =
        line.targets.iter().map(|t| chart.state(t.state).path.as_str()).collect();
    text.push_str(&format!(" -> {}", targets.join(", ")));
    if !line.actions.is_empty() {
        text.push_str(&format!(" {{ {} }}", actions(chart, line)));
    }
    text
}
