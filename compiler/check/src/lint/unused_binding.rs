//! Transitions that bind the data of their event and use none of it.

use super::{Context, Lint, words};
use crate::facts::uses::takes_payload;
use chartc_core::arena::TransitionId;
use chartc_core::model::Trigger;
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::UNUSED_BINDING;
use std::collections::BTreeSet;

pub(super) static LINT: Lint = Lint { rule: &UNUSED_BINDING, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    if !context.all_read {
        return;
    }
    // One line of source may define several transitions.
    let mut used = BTreeSet::new();
    let mut unused = Vec::new();
    for (i, transition) in chart.transitions.iter().enumerate() {
        // The parameters of an option are filled by the model and need not be used.
        if transition.bound.is_empty() || matches!(transition.trigger, Trigger::Choice(_)) {
            continue;
        }
        if takes_payload(transition) {
            used.insert(map.transitions[i].whole);
        } else {
            unused.push(TransitionId::at(i));
        }
    }
    let mut told = used;
    for id in unused {
        let spans = map.transition(id);
        if !told.insert(spans.whole) {
            continue;
        }
        let names = words::names(chart.transition(id).bound.iter().map(String::as_str));
        let message = format!("nothing uses {names}, which this line names");
        diagnostics.push(UNUSED_BINDING.at(spans.trigger, message).help(
            "use it in the condition, the target or the actions of the line, or leave the name out",
        ));
    }
}
