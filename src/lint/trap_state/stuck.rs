//! States that only conditions on values lead out of, and a value among those that a run brings which none of them is about.

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

/// Most lines before the one that leads there which are looked at.
const MOST: usize = 20;

/// A state that a run cannot leave once it has come there with a value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stuck {
    /// The state, a leaf.
    pub leaf: StateId,
    /// The line that leads there and keeps the value.
    pub by: TransitionId,
    /// Variables, or fields of them, with the values that keep it there.
    pub case: Vec<(Expr, Value)>,
}

/// Every such state with the first line that brings the value: an answer or data of an event that the line, or the step, puts into a
/// variable. All that leads out of the state are `when` lines over such variables, which nothing changes as long as it is active.
pub(super) fn stuck(chart: &Chart, facts: &Facts) -> Vec<Stuck> {
    let mut found = Vec::new();
    let mut into: BTreeMap<StateId, Vec<TransitionId>> = BTreeMap::new();
    for (leaf, guards) in waiting(chart, facts) {
        if into.is_empty() {
            for (i, line) in chart.transitions.iter().enumerate() {
                line.targets
                    .iter()
                    .for_each(|t| into.entry(t.state).or_default().push(TransitionId::at(i)));
            }
        }
        let lines = into.get(&leaf).into_iter().flatten();
        let mut taken = lines.filter(|line| facts.reach.takes(**line));
        found.extend(taken.find_map(|line| stays(chart, leaf, &guards, *line)));
    }
    found
}

/// Leaves that only `when` lines over variables leave, with their conditions.
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
            .map(|line| {
                let out = line.trigger == Trigger::When && !line.targets.is_empty();
                line.guard.as_ref().filter(|guard| out && is_still(chart, guard))
            })
            .collect::<Option<Vec<_>>>()
    };
    leaves.filter(|leaf| alone(*leaf)).filter_map(|leaf| Some((leaf, guards(leaf)?))).collect()
}

/// Whether a condition reads only what lines and steps set.
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
            ExprKind::None
            | ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Text(_)
            | ExprKind::Duration(_)
            | ExprKind::Enum(..)
            | ExprKind::Local(_)
            | ExprKind::Predicate(_)
            | ExprKind::Field(..)
            | ExprKind::Index(..)
            | ExprKind::Slice(..)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Compare(..)
            | ExprKind::If(..)
            | ExprKind::Default(..)
            | ExprKind::Builtin(..)
            | ExprKind::List(_)
            | ExprKind::Map(_)
            | ExprKind::Record(..)
            | ExprKind::Comprehension { .. } => true,
        };
    });
    still
}

/// Whether the line brings a value that none of the conditions is about.
fn stays(chart: &Chart, leaf: StateId, guards: &[&Expr], id: TransitionId) -> Option<Stuck> {
    let line = chart.transition(id);
    let kept = kept(chart, line);
    let entry = chart.ancestors(leaf).flat_map(|s| &chart.state(s).entry);
    let changed: BTreeSet<VarId> = entry.flat_map(|block| assigned(block)).collect();
    if kept.is_empty() || kept.keys().any(|id| changed.contains(id)) {
        return None;
    }
    let before = chart.state(line.source).transitions.iter().take_while(|l| **l != id);
    let same = before.map(|l| chart.transition(*l)).filter(|other| {
        let own = keys(line);
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
    goals.extend(line.guard.iter().map(|guard| (guard, true)));
    let case = only_case(chart, &goals)?;
    let case: Option<Vec<_>> =
        case.into_iter().map(|(term, value)| Some((back(chart, &term, &kept)?, value))).collect();
    Some(Stuck { leaf, by: id, case: case? })
}

/// What a line, or the step that it belongs to, puts into variables: data of the event or the answer, as a whole or a field of it.
fn kept(chart: &Chart, line: &Transition) -> BTreeMap<VarId, Expr> {
    let mut kept = BTreeMap::new();
    if let Trigger::StepDone(step) = line.trigger {
        let row = &chart.steps[step.index()];
        let answer = Expr { kind: ExprKind::Answer(step), ty: row.returns.clone() };
        kept.extend(row.into.map(|id| (id, answer)));
    }
    for action in &line.actions {
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

/// The variable, or the field of it, that something was put into.
fn back(chart: &Chart, term: &Expr, kept: &BTreeMap<VarId, Expr>) -> Option<Expr> {
    if let Some((id, _)) = kept.iter().find(|(_, value)| value.kind == term.kind) {
        let ty = chart.variables[id.index()].ty.clone();
        return Some(Expr { kind: ExprKind::Variable(*id), ty });
    }
    let ExprKind::Field(base, field) = &term.kind else { return None };
    let base = Box::new(back(chart, base, kept)?);
    Some(Expr { kind: ExprKind::Field(base, field.clone()), ty: term.ty.clone() })
}
