//! States that no run enters.

use super::{Context, Lint, words};
use crate::analysis::place::meet;
use crate::analysis::reach::is_history;
use crate::diagnostic::{Diagnostic, Rule, Severity};
use chartc_core::arena::{StateId, TransitionId};

pub(super) static LINT: Lint = Lint { rule: &RULE, run };

static RULE: Rule = Rule {
    code: "C0203",
    name: "unreachable-state",
    severity: Severity::Warning,
    page: include_str!("unreachable_state.md"),
};

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map } = context;
    for state in chart.state_ids().skip(1) {
        let row = chart.state(state);
        let inside = row.parent.is_some_and(|p| facts.reach.enters(p));
        if facts.reach.enters(state) || !inside || is_history(chart, state) {
            continue;
        }
        let name = words::state(chart, state);
        let found = RULE.at(map.state(state).name, format!("{name} can never be entered"));
        diagnostics.push(explain(context, state, found));
    }
}

/// Adds why the lines that lead to the state do not.
pub(super) fn explain(context: &Context<'_>, state: StateId, mut found: Diagnostic) -> Diagnostic {
    let Context { chart, facts, map } = context;
    let mut lines = 0;
    for (i, line) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        let leads = line.targets.iter().any(|t| chart.contains(state, t.state));
        let inside = chart.contains(state, line.source);
        if !leads || inside || lines == 3 {
            continue;
        }
        let closed: Vec<StateId> = facts
            .places
            .line(id)
            .within
            .iter()
            .filter(|s| !facts.reach.enters(**s))
            .copied()
            .collect();
        let why = if !facts.places.forbidden[i].is_empty() {
            format!(
                "{} leads here, but the table of `allow` lines forbids it",
                words::line(chart, id)
            )
        } else if closed.is_empty() || !meet(chart, &closed, &[state]).is_empty() {
            continue;
        } else {
            let from = words::states(chart, &closed);
            format!("{} leads here, but {from} can never be entered either", words::line(chart, id))
        };
        lines += 1;
        found = found.related(map.line(id).whole, why);
    }
    found.help(if lines == 0 {
        "no line leads here: add one, or remove the state"
    } else {
        "let one of these lines be taken, add another, or remove the state"
    })
}
