//! Leaves that only `when` transitions leave, and that a run can enter with a value for which none of their guards holds. For example:
//!
//! ```text
//! state asking  { llm judge { returns Verdict into v } -> sorting }
//! state sorting { when v.good -> published  when v.score > 3 -> writing }
//! ```
//!
//! An answer with `good: false` and `score: 1` leads to `sorting`, and nothing leads from there.

use crate::facts::Facts;
use crate::facts::cover::keys;
use crate::facts::gap::only_case;
use crate::facts::uses::{assigned, walk};
use crate::turn::flow::with_values;
use chartc_core::arena::{StateId, TransitionId, VarId};
use chartc_core::expr::Value;
use chartc_core::model::{
    Action, Chart, Expr, ExprKind, StateKind, Transition, Trigger, VariableKind,
};
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of earlier transitions that are compared with the one that leads there.
const MOST: usize = 20;

/// A leaf that a run cannot leave once it has entered it with a certain value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stuck {
    pub leaf: StateId,
    /// The transition that leads there and stores the value.
    pub by: TransitionId,
    /// The variables, or their fields, with values for which no guard holds.
    pub case: Vec<(Expr, Value)>,
}

/// Finds these leaves, each with the first transition that brings such a value: an answer or data of an event that the transition or the
/// step stores in a variable. Only `when` transitions over such variables leave the leaf, and nothing changes them while it is active.
pub(super) fn stuck(chart: &Chart, facts: &Facts) -> Vec<Stuck> {
    let mut found = Vec::new();
    let mut into: BTreeMap<StateId, Vec<TransitionId>> = BTreeMap::new();
    for (leaf, guards) in waiting(chart, facts) {
        if into.is_empty() {
            for (i, transition) in chart.transitions.iter().enumerate() {
                transition
                    .targets
                    .iter()
                    .for_each(|t| into.entry(t.state).or_default().push(TransitionId::at(i)));
            }
        }
        let transitions = into.get(&leaf).into_iter().flatten();
        let mut taken = transitions.filter(|transition| facts.reach.can_take(**transition));
        found.extend(taken.find_map(|transition| stays(chart, leaf, &guards, *transition)));
    }
    found
}

/// The leaves that only `when` transitions over variables leave, with their guards.
fn waiting<'c>(chart: &'c Chart, facts: &Facts) -> Vec<(StateId, Vec<&'c Expr>)> {
    let alone = |leaf: StateId| {
        chart.ancestors(leaf).all(|s| {
            let row = chart.state(s);
            let quiet = s == leaf || row.transitions.is_empty();
            quiet && row.steps.is_empty() && !matches!(row.kind, StateKind::Parallel)
        })
    };
    let leaves =
        facts.reach.leaves(chart).filter(|leaf| !chart.state(*leaf).transitions.is_empty());
    let guards = |leaf: StateId| {
        let lines = chart.state(leaf).transitions.iter().map(|id| chart.transition(*id));
        lines
            .map(|transition| {
                let out = transition.trigger == Trigger::When && !transition.targets.is_empty();
                transition.guard.as_ref().filter(|guard| out && is_still(chart, guard))
            })
            .collect::<Option<Vec<_>>>()
    };
    leaves.filter(|leaf| alone(*leaf)).filter_map(|leaf| Some((leaf, guards(leaf)?))).collect()
}

/// Whether a condition reads only params and variables that outlast the turn.
fn is_still(chart: &Chart, guard: &Expr) -> bool {
    let mut still = true;
    walk(chart, guard, &mut |e| {
        still &= match &e.kind {
            ExprKind::Variable(id) => match chart.variables[id.index()].kind {
                VariableKind::Var { per_turn } => !per_turn,
                VariableKind::Param { .. } => true,
                VariableKind::Input => false,
            },
            ExprKind::Payload(_)
            | ExprKind::Answer(_)
            | ExprKind::Observable(_)
            | ExprKind::Call(..)
            | ExprKind::Unknown(_) => false,
            _ => true,
        };
    });
    still
}

/// A case in which the transition stores values for which none of the guards holds; `None` if there is none.
fn stays(chart: &Chart, leaf: StateId, guards: &[&Expr], id: TransitionId) -> Option<Stuck> {
    let transition = chart.transition(id);
    let kept = kept(chart, transition);
    // The values that `enter` blocks set afterwards are not followed.
    let entry = chart.ancestors(leaf).flat_map(|s| &chart.state(s).entry);
    let changed: BTreeSet<VarId> = entry.flat_map(|block| assigned(block)).collect();
    if kept.is_empty() || kept.keys().any(|id| changed.contains(id)) {
        return None;
    }
    // An earlier transition for the same trigger takes the values for which its guard holds.
    let before = chart.state(transition.source).transitions.iter().take_while(|l| **l != id);
    let same = before.map(|l| chart.transition(*l)).filter(|other| {
        let own = keys(transition);
        keys(other).iter().any(|key| own.contains(key))
    });
    let before: Option<Vec<&Expr>> = same.map(|other| other.guard.as_ref()).collect();
    let before = before.filter(|before| before.len() <= MOST)?;
    let put: Vec<Expr> = guards
        .iter()
        .map(|guard| with_values(chart, guard, &|id| kept.get(&id).cloned()))
        .collect();
    let mut goals: Vec<(&Expr, bool)> = put.iter().map(|guard| (guard, false)).collect();
    goals.extend(before.into_iter().map(|guard| (guard, false)));
    goals.extend(transition.guard.iter().map(|guard| (guard, true)));
    let case = only_case(chart, &goals)?;
    let case: Option<Vec<_>> =
        case.into_iter().map(|(term, value)| Some((back(chart, &term, &kept)?, value))).collect();
    Some(Stuck { leaf, by: id, case: case? })
}

/// The values that a transition, or its step, stores in variables: data of the event or the answer, whole or a field.
fn kept(chart: &Chart, transition: &Transition) -> BTreeMap<VarId, Expr> {
    let mut kept = BTreeMap::new();
    if let Trigger::StepDone(step) = transition.trigger {
        let row = &chart.steps[step.index()];
        let answer = Expr { kind: ExprKind::Answer(step), ty: row.returns.clone() };
        kept.extend(row.into.map(|id| (id, answer)));
    }
    for action in &transition.actions {
        if let Action::Assign(id, value) = action {
            let given = matches!(
                crate::facts::term::root(value).kind,
                ExprKind::Payload(_) | ExprKind::Answer(_)
            );
            kept.remove(id);
            kept.extend(given.then(|| (*id, value.clone())));
        } else {
            for id in assigned(std::slice::from_ref(action)) {
                kept.remove(&id);
            }
        }
    }
    kept
}

/// The variable, or its field, in which the term was stored.
fn back(chart: &Chart, term: &Expr, kept: &BTreeMap<VarId, Expr>) -> Option<Expr> {
    if let Some((id, _)) = kept.iter().find(|(_, value)| value.kind == term.kind) {
        let ty = chart.variables[id.index()].ty.clone();
        return Some(Expr { kind: ExprKind::Variable(*id), ty });
    }
    let ExprKind::Field(base, field) = &term.kind else { return None };
    let base = Box::new(back(chart, base, kept)?);
    Some(Expr { kind: ExprKind::Field(base, field.clone()), ty: term.ty.clone() })
}
