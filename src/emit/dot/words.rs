//! A line in words: what its edge or its row in a label says.

use super::text::{WIDTH, short, wrap};
use crate::notation;
use chartc_core::arena::StepId;
use chartc_core::model::{Action, Chart, ChoiceKind, StateKind, Transition, Trigger};

/// Characters of an action block on an edge before it is cut; the tooltip has it whole.
const LONG: usize = 58;

/// What makes the line a candidate, in a few words.
pub(super) fn title(chart: &Chart, line: &Transition) -> String {
    let step = |s: &StepId| notation::name(notation::step_name(chart, *s));
    match &line.trigger {
        Trigger::Event(events) => {
            let payload = notation::payload(chart, &line.trigger);
            let pattern = notation::event_pattern(chart, events);
            if payload.is_empty() { pattern } else { format!("{pattern}({})", payload.join(", ")) }
        }
        Trigger::AnyEvent => "on *".to_string(),
        Trigger::Turn => "on turn".to_string(),
        Trigger::When => match &line.guard {
            Some(guard) => format!("when {}", notation::expression(chart, guard)),
            None => "when true".to_string(),
        },
        Trigger::StateDone(state) => {
            format!("done({})", notation::path(&chart.state(*state).path))
        }
        Trigger::After(time) => format!("◷ after {}", notation::expression(chart, time)),
        Trigger::AfterTurns(n) => format!("◷ after {} turns", notation::expression(chart, n)),
        Trigger::Choice(choice) => {
            let choice = &chart.choices[choice.index()];
            match &choice.kind {
                ChoiceKind::Option(fields) if fields.is_empty() => {
                    format!("may {}", notation::name(&choice.name))
                }
                ChoiceKind::Option(fields) => {
                    let fields: Vec<&str> = fields.iter().map(|f| f.name.as_str()).collect();
                    format!("may {}({})", notation::name(&choice.name), fields.join(", "))
                }
                ChoiceKind::Call(..) => format!("may call {}", notation::name(&choice.name)),
            }
        }
        Trigger::StepDone(s) => format!("✓ {}", step(s)),
        Trigger::StepError(s) => format!("✗ {}", step(s)),
        Trigger::StepTimeout(s, time) => {
            format!("◷ {} {}", step(s), notation::expression(chart, time))
        }
        Trigger::StepDoubt(s) => format!("doubt({})", step(s)),
        Trigger::StepElse(s) => format!("else ({})", step(s)),
        Trigger::Error(pattern) => format!("error.{pattern}"),
        Trigger::LimitWarn(pattern) => format!("limit.warn.{pattern}"),
    }
}

/// The guard; none for a `when` line, whose title it is.
pub(super) fn guard(chart: &Chart, line: &Transition) -> Option<String> {
    if line.trigger == Trigger::When {
        return None;
    }
    let payload = notation::payload(chart, &line.trigger);
    line.guard.as_ref().map(|g| notation::expression_in(chart, g, &payload))
}

/// The line's actions.
pub(super) fn actions(chart: &Chart, line: &Transition) -> String {
    joined(chart, &line.actions, &notation::payload(chart, &line.trigger))
}

/// Actions in a row: a picture wraps lines at blanks, so it takes more than blanks to keep them apart.
pub(super) fn joined(chart: &Chart, actions: &[Action], payload: &[&str]) -> String {
    actions.iter().map(|a| notation::action(chart, a, payload)).collect::<Vec<_>>().join("; ")
}

/// All lines of an edge's label.
pub(super) fn lines(chart: &Chart, line: &Transition, is_each: bool) -> Vec<String> {
    let each = if is_each { "each " } else { "" };
    let mut lines = wrap(&format!("{each}{}", title(chart, line)), WIDTH);
    if let Trigger::Choice(choice) = &line.trigger
        && let Some(text) = &chart.choices[choice.index()].text
    {
        let text = notation::template_text(chart, text, &[]);
        lines.extend(wrap(&format!("“{}”", short(&text, 2 * WIDTH)), WIDTH));
    }
    if let Some(guard) = guard(chart, line) {
        lines.extend(wrap(&format!("[{guard}]"), WIDTH));
    }
    let except = excepted(chart, line);
    if !except.is_empty() {
        lines.extend(wrap(&format!("except {}", except.join(" | ")), WIDTH));
    }
    if !line.actions.is_empty() {
        lines.extend(wrap(&format!("/ {}", short(&actions(chart, line), LONG)), WIDTH));
    }
    lines
}

/// States that a `from` line leaves out, other than its targets and final children of its scope.
fn excepted(chart: &Chart, line: &Transition) -> Vec<String> {
    let Some(scope) = &line.scope else { return Vec::new() };
    (scope.none_of.iter())
        .filter(|s| !line.targets.iter().any(|t| t.state == **s))
        .filter(|s| !matches!(chart.state(**s).kind, StateKind::Final { .. }))
        .map(|s| chart.state(*s).path.clone())
        .collect()
}

/// The line as it might stand in a chart.
pub(super) fn tooltip(chart: &Chart, line: &Transition) -> String {
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
