//! Wording of findings about moves that a permission never permits.

use super::{Context, words};
use chartc_core::arena::{StateId, StepId, TransitionId};
use chartc_core::model::Trigger;
use chartc_text::diagnostic::Diagnostic;
use std::collections::BTreeSet;

/// The maximum number of steps that are shown.
const SHOWN: usize = 3;

/// The effect of a permission whose condition never holds.
pub(super) struct Refused {
    /// The effect as a clause, such as "`s` can never move to `b`".
    pub(super) so: String,
    /// The steps whose moves are refused, because no other row permits them.
    steps: BTreeSet<StepId>,
}

/// Determines the moves that are refused if the condition of the row never holds.
pub(super) fn refused(context: &Context<'_>, row: usize) -> Refused {
    let Context { chart, facts, .. } = context;
    let permission = &chart.permissions[row];
    let goal = words::state(chart, permission.to);
    let inside = |outer: Option<StateId>, inner: Option<StateId>| match (outer, inner) {
        (None, _) => true,
        (Some(outer), Some(inner)) => chart.contains(outer, inner),
        (Some(_), None) => false,
    };
    let others = chart.permissions.iter().enumerate().filter(|(i, _)| *i != row);
    // Another row may permit the same moves.
    let is_alone = others.map(|(_, other)| other).all(|other| {
        let overlaps = inside(other.from, permission.from) || inside(permission.from, other.from);
        other.to != permission.to || !overlaps
    });
    let mut steps = BTreeSet::new();
    let mut options = Vec::new();
    for (i, transition) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        let meets =
            |s: &StateId| inside(permission.from, Some(*s)) || inside(Some(*s), permission.from);
        let here = facts.scopes.transition(id).within.iter().any(meets);
        if !is_alone || !here || !transition.targets.iter().any(|t| t.state == permission.to) {
            continue;
        }
        if matches!(transition.trigger, Trigger::Choice(_)) {
            options.push(words::transition(chart, id));
        }
        steps.extend(transition.trigger.step());
    }
    let movers: Vec<String> =
        steps.iter().map(|step| words::step(chart, *step)).chain(options).collect();
    let so = match (&movers[..], permission.from) {
        ([], _) => format!("this never permits the move to {goal}"),
        ([one], None) => format!("{one} can never move to {goal}"),
        ([one], Some(from)) => {
            format!("{one} can never move from {} to {goal}", words::state(chart, from))
        }
        (movers, _) => format!("{} can never move to {goal}", words::row(movers)),
    };
    Refused { so, steps }
}

impl Refused {
    /// Adds the positions of the steps to the finding.
    pub(super) fn related(&self, context: &Context<'_>, found: Diagnostic) -> Diagnostic {
        let steps = self.steps.iter().take(SHOWN);
        steps.fold(found, |found, step| {
            found.related(context.map.step(*step).name, "its move is always refused")
        })
    }
}
