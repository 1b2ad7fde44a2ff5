//! The values that variables certainly have after the transitions of a path, because one of them assigned a literal.

use crate::facts::uses::assigned;
use chartc_core::arena::{StateId, VarId};
use chartc_core::model::{Action, Chart, CompareOp, Expr, ExprKind, Transition, Type, UnaryOp};
use std::collections::{BTreeMap, BTreeSet};

/// The variables with a known literal value: for each, the condition that it equals the literal.
#[derive(Debug)]
pub(crate) struct KnownValues<'d> {
    rows: BTreeMap<VarId, Expr>,
    /// Variables that actions of an `initial` or a history set.
    defaulted: &'d BTreeSet<VarId>,
}

/// The variables that actions of an `initial` or a history set anywhere in the chart.
pub(crate) fn defaulted(chart: &Chart) -> BTreeSet<VarId> {
    chart.states.iter().flat_map(|state| assigned(&state.default_actions)).collect()
}

impl<'d> KnownValues<'d> {
    /// The values before any transition: no variable is known.
    pub(crate) const fn new(defaulted: &'d BTreeSet<VarId>) -> Self {
        Self { rows: BTreeMap::new(), defaulted }
    }

    /// The conditions that hold after the transitions so far.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Expr> {
        self.rows.values()
    }

    /// Updates the conditions for a transition that is taken in the leaf `from` and enters the leaf `to`.
    pub(crate) fn follow(
        &mut self,
        chart: &Chart,
        transition: &Transition,
        (from, to): (StateId, StateId),
    ) {
        let mut later = BTreeSet::new();
        if !transition.targets.is_empty() {
            for state in chart.ancestors(from) {
                let left = chart.state(state).exit.iter().flat_map(|block| assigned(block));
                self.forget(left);
            }
            for state in chart.ancestors(to) {
                later.extend(chart.state(state).entry.iter().flat_map(|block| assigned(block)));
            }
            later.extend(self.defaulted);
        }
        self.forget(assigned(&transition.actions));
        self.forget(later.iter().copied());
        // A failing action ends its block, so only the leading literals, which never fail, are certainly assigned.
        let literal = |action: &Action| match action {
            Action::Assign(id, value) => Some((*id, equal(chart, *id, value)?)),
            _ => None,
        };
        let set: Vec<(VarId, Expr)> = transition.actions.iter().map_while(literal).collect();
        later.extend(assigned(&transition.actions[set.len()..]));
        self.rows.extend(set.into_iter().filter(|(id, _)| !later.contains(id)));
    }

    fn forget(&mut self, set: impl IntoIterator<Item = VarId>) {
        for id in set {
            self.rows.remove(&id);
        }
    }
}

/// The condition that a variable equals a literal. `None` if the value is no literal of a supported type.
fn equal(chart: &Chart, id: VarId, value: &Expr) -> Option<Expr> {
    let ty = chart.variables[id.index()].ty.clone();
    let variable = Expr { kind: ExprKind::Variable(id), ty };
    let kind = match (&value.kind, &variable.ty) {
        (ExprKind::Bool(true), Type::Bool) => return Some(variable),
        (ExprKind::Bool(false), Type::Bool) => ExprKind::Unary(UnaryOp::Not, Box::new(variable)),
        (ExprKind::Int(_), Type::Int) | (ExprKind::Enum(..), Type::Named(_)) => {
            let row = vec![(CompareOp::Equal, value.clone())];
            ExprKind::Compare(Box::new(variable), row)
        }
        _ => return None,
    };
    Some(Expr { kind, ty: Type::Bool })
}
