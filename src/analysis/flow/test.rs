//! Conditions over cells: what can hold, and what then cannot be.

use super::super::dataflow::Value;
use super::super::uses::{own_expressions, own_walk, walk};
use super::cell::{Cells, Masks};
use chartc_core::arena::{PredicateId, StepId, VarId};
use chartc_core::expr::{Environment, Fuel, Value as Data, holds};
use chartc_core::model::{Action, BinaryOp, Builtin, Chart, Expr, ExprKind, Type, UnaryOp};
use std::collections::BTreeMap;

/// Most combinations of values that a condition is tried with.
const MOST: usize = 256;

/// Whether an expression only names a value: it is passed on.
pub(super) fn is_plain(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Variable(_) | ExprKind::Answer(_))
}

/// Adds what another may hold.
pub(super) fn merge(into: &mut Masks, other: &Masks) {
    into.iter_mut().zip(other).for_each(|(a, b)| *a |= b);
}

#[allow(clippy::wildcard_enum_match_arm, reason = "only what names a cell")]
pub(super) fn cell_of(cells: &Cells, expr: &Expr) -> Option<usize> {
    match expr.kind {
        ExprKind::Variable(id) => cells.variable(id),
        ExprKind::Answer(id) => cells.answer(id),
        _ => None,
    }
}

/// Whether an action may end its block.
pub(super) fn fails(action: &Action) -> bool {
    match action {
        Action::Assign(_, e) | Action::If(e, ..) | Action::For(_, e, _) => may_fail(e),
        Action::Log(_) | Action::Result(..) => own_expressions(action).into_iter().any(may_fail),
        Action::Do(..) | Action::Raise(..) | Action::Send { .. } => true,
        Action::Cancel(_) => false,
    }
}

#[allow(clippy::wildcard_enum_match_arm, reason = "whatever always has a value, for ever")]
fn may_fail(expr: &Expr) -> bool {
    let mut risky = false;
    own_walk(expr, &mut |e| {
        risky |= match &e.kind {
            ExprKind::Call(..)
            | ExprKind::Index(..)
            | ExprKind::Unknown(_)
            | ExprKind::Predicate(_) => true,
            ExprKind::Builtin(name, _) => !matches!(
                name,
                Builtin::Len | Builtin::Str | Builtin::Bool | Builtin::Concat | Builtin::IsA
            ),
            ExprKind::Binary(op, a, _) => {
                !matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Add | BinaryOp::Subtract)
                    || a.ty == Type::Json
            }
            ExprKind::Field(inner, _) => inner.ty == Type::Json,
            ExprKind::Observable(_) | ExprKind::Payload(_) | ExprKind::Answer(_) => {
                e.ty == Type::Json
            }
            _ => false,
        };
    });
    risky
}

/// A variable or an answer with one value.
struct One<'v> {
    of: &'v BTreeMap<Value, Data>,
}

impl Environment for One<'_> {
    fn variable(&self, id: VarId) -> Option<&Data> {
        self.of.get(&Value::Variable(id))
    }

    fn answer(&self, id: StepId) -> Option<&Data> {
        self.of.get(&Value::Answer(id))
    }
}

/// The only cell that an expression reads, if it reads nothing else.
#[allow(clippy::wildcard_enum_match_arm, reason = "whatever reads nothing")]
fn only_cell(cells: &Cells, expr: &Expr) -> Option<Option<usize>> {
    let mut only = None;
    let mut clear = true;
    own_walk(expr, &mut |e| match e.kind {
        ExprKind::Variable(_) | ExprKind::Answer(_) => {
            let cell = cell_of(cells, e);
            clear &= cell.is_some() && (only.is_none() || only == cell);
            only = cell;
        }
        ExprKind::Payload(_)
        | ExprKind::Predicate(_)
        | ExprKind::Observable(_)
        | ExprKind::Call(..)
        | ExprKind::Local(_)
        | ExprKind::Unknown(_) => clear = false,
        _ => {}
    });
    clear.then_some(only)
}

/// Leaves out what cells cannot be where a condition has a value; `false` if it cannot have.
#[allow(clippy::wildcard_enum_match_arm, reason = "whatever is taken as a whole")]
pub(super) fn refine(
    chart: &Chart,
    cells: &Cells,
    expr: &Expr,
    value: bool,
    masks: &mut Masks,
) -> bool {
    match &expr.kind {
        ExprKind::Predicate(id) => {
            refine(chart, cells, &chart.predicates[id.index()].expr, value, masks)
        }
        // A condition that fails does not hold, and neither does its opposite.
        ExprKind::Unary(UnaryOp::Not, inner) => {
            let mut same = masks.clone();
            let ok = refine(chart, cells, inner, !value, &mut same);
            if value || !may_fail(inner) {
                *masks = same;
                return ok;
            }
            true
        }
        ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
            if *op == BinaryOp::Or && !value && may_fail(a) {
                // It may have failed, whatever the other side is.
                true
            } else if (*op == BinaryOp::And) == value {
                refine(chart, cells, a, value, masks) && refine(chart, cells, b, value, masks)
            } else {
                let mut one = masks.clone();
                let first = refine(chart, cells, a, value, &mut one);
                let second = refine(chart, cells, b, value, masks);
                match (first, second) {
                    (true, true) => merge(masks, &one),
                    (true, false) => *masks = one,
                    (false, _) => {}
                }
                first || second
            }
        }
        _ => match only_cell(cells, expr) {
            None => true,
            Some(None) => {
                holds(expr, &One { of: &BTreeMap::new() }, &Fuel::default()).unwrap_or(false)
                    == value
            }
            Some(Some(cell)) => {
                let row = &cells.rows[cell];
                let mut kept = masks[cell];
                let mut of = BTreeMap::new();
                for bit in (0..16).map(|n| 1_u16 << n).filter(|bit| masks[cell] & bit != 0) {
                    let Some(data) = row.value(bit) else { continue };
                    of.insert(row.value, data.clone());
                    if holds(expr, &One { of: &of }, &Fuel::default()).unwrap_or(false) != value {
                        kept &= !bit;
                    }
                }
                masks[cell] = kept;
                kept != 0
            }
        },
    }
}

/// What a condition always gives where its cells hold no more than this; `None` if both, or if it reads anything else.
#[allow(clippy::wildcard_enum_match_arm, reason = "whatever reads nothing")]
pub(super) fn constant(
    chart: &Chart,
    cells: &Cells,
    guard: &Expr,
    seen: &[(usize, u16)],
) -> Option<bool> {
    let mut closed = true;
    walk(chart, guard, &mut |e| {
        closed &= match e.kind {
            ExprKind::Variable(_) | ExprKind::Answer(_) => {
                cell_of(cells, e).is_some_and(|c| seen.iter().any(|(cell, _)| *cell == c))
            }
            ExprKind::Payload(_)
            | ExprKind::Observable(_)
            | ExprKind::Call(..)
            | ExprKind::Comprehension { .. }
            | ExprKind::Unknown(_) => false,
            _ => true,
        };
    });
    let values: Vec<Vec<Data>> =
        seen.iter().map(|(cell, mask)| cells.rows[*cell].values(*mask)).collect::<Option<_>>()?;
    let count = values.iter().try_fold(1_usize, |n, v| n.checked_mul(v.len()))?;
    if !closed || count == 0 || count > MOST || seen.is_empty() {
        return None;
    }
    let mut given = None;
    for nth in 0..count {
        let mut rest = nth;
        let mut of = BTreeMap::new();
        for ((cell, _), values) in seen.iter().zip(&values) {
            of.insert(cells.rows[*cell].value, values[rest % values.len()].clone());
            rest /= values.len();
        }
        let environment = WithPredicates { chart, of: &of };
        let held = holds(guard, &environment, &Fuel::default()).unwrap_or(false);
        if given.is_some_and(|g| g != held) {
            return None;
        }
        given = Some(held);
    }
    given
}

struct WithPredicates<'v> {
    chart: &'v Chart,
    of: &'v BTreeMap<Value, Data>,
}

impl Environment for WithPredicates<'_> {
    fn variable(&self, id: VarId) -> Option<&Data> {
        self.of.get(&Value::Variable(id))
    }

    fn answer(&self, id: StepId) -> Option<&Data> {
        self.of.get(&Value::Answer(id))
    }

    fn predicate(&self, id: PredicateId) -> Option<&Expr> {
        Some(&self.chart.predicates[id.index()].expr)
    }
}
