//! Transitions that no run takes although their source states are entered.

use super::{Context, Lint, words};
use crate::explore::witness::json;
use crate::facts::uses::reads;
use crate::notation::expression_in;
use chartc_core::arena::{StateId, TransitionId, VarId};
use chartc_core::expr::Value;
use chartc_core::model::{Trigger, VariableKind};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::DEAD_LINE;
use std::collections::BTreeSet;

pub(super) static LINT: Lint = Lint { rule: &DEAD_LINE, needs_whole: true, run };

/// The maximum number of values of a variable that are shown.
const SHOWN: usize = 5;

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    let Some(seen) = &context.runs.seen else { return };
    let mut found = Vec::new();
    for (i, transition) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        let (Some(guard), false) = (&transition.guard, seen.is_taken(id)) else { continue };
        let span = map.transitions[i].whole;
        // One line may define several transitions; one of the others may be taken.
        let is_alone = map.transitions.iter().filter(|other| other.whole == span).count() == 1;
        let place = facts.scopes.transition(id);
        let entered: Vec<StateId> =
            place.within.iter().copied().filter(|s| context.enters(*s)).collect();
        // If the source or the target is never entered, another rule reports that.
        let leads_nowhere = transition.targets.iter().any(|target| !context.enters(target.state));
        if !is_alone
            || !facts.reach.can_take(id)
            || entered.is_empty()
            || leads_nowhere
            || matches!(transition.trigger, Trigger::Error(_) | Trigger::LimitWarn(_))
        {
            continue;
        }
        let mut variables = BTreeSet::new();
        reads(chart, guard, &mut variables);
        let payload = crate::notation::payload(transition);
        let text = words::short(&expression_in(chart, guard, &payload));
        let there = words::states(chart, &entered);
        let mut one = DEAD_LINE.at(
            map.transitions[i].guard.unwrap_or(map.transitions[i].trigger),
            format!("no run takes this line: in {there}, `{text}` does not hold when the line could be taken"),
        );
        let values: Vec<String> =
            variables.into_iter().filter_map(|id| told_of(context, &entered, id)).collect();
        if !values.is_empty() {
            one = one.label(values.join("; "));
        }
        found.push(
            one.help("every run was tried: correct the condition, or remove the line").about(span),
        );
    }
    diagnostics.append(&mut found);
}

/// Describes the values of a variable in these states in the explored runs.
fn told_of(context: &Context<'_>, states: &[StateId], id: VarId) -> Option<String> {
    let Context { chart, .. } = context;
    let row = &chart.variables[id.index()];
    let seen = context.runs.seen.as_ref()?;
    if !matches!(row.kind, VariableKind::Var { .. }) {
        return None;
    }
    let mut values: Vec<&Value> = Vec::new();
    for value in states.iter().flat_map(|state| seen.values(chart, *state, id)) {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    let shown: Vec<String> = values.iter().take(SHOWN).map(|value| json(value)).collect();
    let more = if values.len() > SHOWN { ", …" } else { "" };
    (!shown.is_empty()).then(|| format!("`{}` is {}{more} there", row.name, shown.join(" or ")))
}
