//! `ok` final states that are reached only through failures.

use super::failing::needed;
use super::{Context, Lint, words};
use chartc_core::arena::TransitionId;
use chartc_core::model::Trigger;
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::SUCCESS_BY_FAILURE;

pub(super) static LINT: Lint = Lint { rule: &SUCCESS_BY_FAILURE, needs_whole: true, run };

/// The maximum number of alternative transitions that are shown.
const SHOWN: usize = 4;

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for id in needed(chart, facts) {
        let transition = chart.transition(id);
        let Some(goal) = transition.targets.first().map(|t| t.state) else { continue };
        let what = if let Trigger::StepElse(step) = transition.trigger {
            format!("where {} has no usable answer", words::step(chart, step))
        } else if let Trigger::StepTimeout(step, _) = transition.trigger {
            format!("where {} takes too long", words::step(chart, step))
        } else if let Trigger::StepError(step) = transition.trigger {
            format!("where {} fails", words::step(chart, step))
        } else {
            continue;
        };
        let spans = map.transition(id);
        let at = spans.targets.first().copied().unwrap_or(spans.whole);
        let message = format!(
            "a run ends `ok` only {what}: nothing else leads to {}",
            words::state(chart, goal)
        );
        let mut found = SUCCESS_BY_FAILURE
            .at(at, message)
            .help("lead a `done` line or an option there, or give the end its own status, such as `final f : error`");
        let others = chart.transitions.iter().enumerate().filter(|(i, other)| {
            let moves = matches!(other.trigger, Trigger::Choice(_) | Trigger::StepDone(_));
            let other = TransitionId::at(*i);
            moves
                && other != id
                && facts.reach.can_take(other)
                && facts
                    .scopes
                    .transition(id)
                    .within
                    .iter()
                    .any(|s| facts.scopes.transition(other).may_hold_in(chart, *s))
        });
        for (i, other) in others.take(SHOWN) {
            let to = other.targets.first().map_or_else(
                || "stays where it is".to_owned(),
                |t| format!("leads to {}", words::state(chart, t.state)),
            );
            found = found.related(
                map.transitions[i].whole,
                format!("{} {to}", words::transition(chart, TransitionId::at(i))),
            );
        }
        diagnostics.push(found);
    }
}
