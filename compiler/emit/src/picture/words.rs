//! Writes a transition in words: the label of its edge, or its row in a state's label.

use super::text::{WIDTH, short};
use chartc_check::notation;
use chartc_core::arena::StepId;
use chartc_core::model::{Action, Chart, ChoiceKind, StateKind, Transition, Trigger};

/// The maximum number of characters of an action block on an edge. The tooltip shows the whole block.
const LONG: usize = 58;

/// The keyword of the transition's trigger, and the text after it.
pub(crate) fn head(chart: &Chart, transition: &Transition) -> (&'static str, String) {
    let step = |s: &StepId| notation::name(notation::step_name(chart, *s));
    match &transition.trigger {
        Trigger::Event(events) => {
            let payload = notation::payload(transition);
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
            let guard = transition.guard.as_ref().map(|g| notation::expression(chart, g));
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

/// The trigger in a few words and signs, such as `◷ after 5s`.
pub(crate) fn title(chart: &Chart, transition: &Transition) -> String {
    let (word, text) = head(chart, transition);
    match &transition.trigger {
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

/// The guard. `None` for a `when` transition, whose title shows it.
pub(crate) fn guard(chart: &Chart, transition: &Transition) -> Option<String> {
    if transition.trigger == Trigger::When {
        return None;
    }
    let payload = notation::payload(transition);
    transition.guard.as_ref().map(|g| notation::expression_in(chart, g, &payload))
}

/// The actions of a transition.
pub(crate) fn actions(chart: &Chart, transition: &Transition) -> String {
    joined(chart, &transition.actions, &notation::payload(transition))
}

/// Joins actions with more than blanks, because a picture wraps its text at blanks.
pub(crate) fn joined(chart: &Chart, actions: &[Action], payload: &[&str]) -> String {
    notation::joined(chart, actions, payload, "; ")
}

/// The description of the option for the model, if the transition is an option.
pub(crate) fn told(chart: &Chart, transition: &Transition) -> Option<String> {
    let Trigger::Choice(choice) = &transition.trigger else { return None };
    let text = chart.choices[choice.index()].text.as_ref()?;
    Some(notation::template_text(chart, text, &[]))
}

/// All parts of an edge's label; each starts a new line.
pub(crate) fn parts(chart: &Chart, transition: &Transition, is_each: bool) -> Vec<String> {
    let each = if is_each { "each " } else { "" };
    let mut parts = vec![format!("{each}{}", title(chart, transition))];
    if let Some(text) = told(chart, transition) {
        parts.push(format!("“{}”", short(&text, 2 * WIDTH)));
    }
    if let Some(guard) = guard(chart, transition) {
        parts.push(format!("[{guard}]"));
    }
    let except = excepted(chart, transition);
    if !except.is_empty() {
        parts.push(format!("except {}", except.join(" | ")));
    }
    if !transition.actions.is_empty() {
        parts.push(format!("/ {}", short(&actions(chart, transition), LONG)));
    }
    parts
}

/// The states after `except` of a `from` line, without those in which the line does not apply anyway: its targets and final states.
pub(crate) fn excepted(chart: &Chart, transition: &Transition) -> Vec<String> {
    let Some(scope) = &transition.scope else { return Vec::new() };
    (scope.none_of.iter())
        .filter(|s| !transition.targets.iter().any(|t| t.state == **s))
        .filter(|s| !matches!(chart.state(**s).kind, StateKind::Final { .. }))
        .map(|s| chart.state(*s).path.clone())
        .collect()
}

/// The whole transition in one line, as in a chart, but with the signs of [`title`].
pub(crate) fn whole(chart: &Chart, transition: &Transition) -> String {
    let mut text = title(chart, transition);
    if let Some(guard) = guard(chart, transition) {
        text.push_str(&format!(" if {guard}"));
    }
    let targets: Vec<&str> =
        transition.targets.iter().map(|t| chart.state(t.state).path.as_str()).collect();
    text.push_str(&format!(" -> {}", targets.join(", ")));
    if !transition.actions.is_empty() {
        text.push_str(&format!(" {{ {} }}", actions(chart, transition)));
    }
    text
}
