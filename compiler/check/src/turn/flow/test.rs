//! Conditions as tests of cells: which contents are possible if a condition has a value.
//!
//! For example, with the cell `mode` of the header of `flow`, `mode == "fast"` being true becomes `Within(mode, …)` with all bits but those
//! of "idle": its initial value and the constant. The bit of an unknown value stays, because that may be "fast", too.

use super::cell::Cells;
use crate::facts::uses::{own_expressions, own_walk, walk};
use crate::turn::dataflow::Value;
use chartc_core::arena::{PredicateId, StepId, VarId};
use chartc_core::expr::{Environment, Fuel, Value as Data, holds};
use chartc_core::model::{Action, BinaryOp, Builtin, Chart, Expr, ExprKind, Type, UnaryOp};
use std::collections::BTreeMap;

/// The maximum number of combinations of values with which a condition is evaluated.
const MOST: usize = 256;

/// Whether an expression only passes on the value of a variable or an answer.
pub(super) fn is_plain(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Variable(_) | ExprKind::Answer(_))
}

/// Adds the possible contents of `other`, cell by cell.
pub(super) fn merge(into: &mut [u16], other: &[u16]) {
    into.iter_mut().zip(other).for_each(|(a, b)| *a |= b);
}

/// The cell that an expression names; `None` for other expressions and for cells that are not followed.
pub(super) fn cell_of(cells: &Cells, expr: &Expr) -> Option<usize> {
    match expr.kind {
        ExprKind::Variable(id) => cells.variable(id),
        ExprKind::Answer(id) => cells.answer(id),
        _ => None,
    }
}

/// Whether an action may fail, which ends its block.
pub(super) fn fails(action: &Action) -> bool {
    match action {
        Action::Assign(_, e) | Action::If(e, ..) | Action::For(_, e, _) => may_fail(e),
        Action::Log(_) | Action::Result(..) => own_expressions(action).into_iter().any(may_fail),
        Action::Do(..) | Action::Raise(..) | Action::Send { .. } => true,
        Action::Cancel(_) => false,
    }
}

/// Whether the evaluation of an expression may fail. True in cases of doubt.
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

/// An environment in which only one cell can be read, with one value.
struct One<'v> {
    of: Value,
    is: &'v Data,
}

impl Environment for One<'_> {
    fn variable(&self, id: VarId) -> Option<&Data> {
        (self.of == Value::Variable(id)).then_some(self.is)
    }

    fn answer(&self, id: StepId) -> Option<&Data> {
        (self.of == Value::Answer(id)).then_some(self.is)
    }
}

/// The only cell that an expression reads: `Some(None)` if it reads nothing, `None` if it reads several cells or anything else.
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

/// The consequence for cells of a condition having a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Test {
    /// No consequence: all contents are possible.
    Open,
    /// The condition cannot have the value.
    Never,
    /// The cell (by index) has one of the contents of the mask.
    Within(usize, u16),
    /// Both tests apply, one after the other.
    Both(Box<Self>, Box<Self>),
    /// At least one of the tests applies.
    Either(Box<Self>, Box<Self>),
}

impl Test {
    /// Translates the condition that `expr` has the value `value`. The test has the size of the condition with its predicates expanded.
    pub(super) fn from_condition(chart: &Chart, cells: &Cells, expr: &Expr, value: bool) -> Self {
        match &expr.kind {
            ExprKind::Predicate(id) => {
                Self::from_condition(chart, cells, &chart.predicates[id.index()].expr, value)
            }
            // A condition whose evaluation fails is false, and so is its negation.
            ExprKind::Unary(UnaryOp::Not, inner) if value || !may_fail(inner) => {
                Self::from_condition(chart, cells, inner, !value)
            }
            ExprKind::Unary(UnaryOp::Not, _) => Self::Open,
            // If the left side fails, `or` is false although the right side may be true.
            ExprKind::Binary(BinaryOp::Or, a, _) if !value && may_fail(a) => Self::Open,
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                let a = Self::from_condition(chart, cells, a, value);
                let b = Self::from_condition(chart, cells, b, value);
                if (*op == BinaryOp::And) == value { Self::both(a, b) } else { Self::either(a, b) }
            }
            _ => match only_cell(cells, expr) {
                None => Self::Open,
                Some(None) => {
                    let held = holds(expr, &Nothing, &Fuel::default()).unwrap_or(false);
                    if held == value { Self::Open } else { Self::Never }
                }
                Some(Some(cell)) => {
                    let row = &cells.rows[cell];
                    let lacks = |data: &Data| {
                        let one = One { of: row.value, is: data };
                        // Contents are removed only if the condition has the other value for them; an unknown value always stays.
                        holds(expr, &one, &Fuel::default()).unwrap_or(false) != value
                    };
                    let gone = row.bits().filter(|(_, data)| lacks(data));
                    Self::within(cell, gone.fold(u16::MAX, |kept, (bit, _)| kept & !bit))
                }
            },
        }
    }

    const fn within(cell: usize, kept: u16) -> Self {
        if kept == u16::MAX { Self::Open } else { Self::Within(cell, kept) }
    }

    fn both(a: Self, b: Self) -> Self {
        match (a, b) {
            (Self::Never, _) | (_, Self::Never) => Self::Never,
            (Self::Open, test) | (test, Self::Open) => test,
            (Self::Within(a, one), Self::Within(b, two)) if a == b => Self::within(a, one & two),
            (a, b) => Self::Both(Box::new(a), Box::new(b)),
        }
    }

    fn either(a: Self, b: Self) -> Self {
        match (a, b) {
            (Self::Open, _) | (_, Self::Open) => Self::Open,
            (Self::Never, test) | (test, Self::Never) => test,
            (Self::Within(a, one), Self::Within(b, two)) if a == b => Self::within(a, one | two),
            (a, b) => Self::Either(Box::new(a), Box::new(b)),
        }
    }

    /// Removes the contents that are impossible. Returns `false` if a cell has none left; `masks` are then meaningless.
    pub(super) fn refine(&self, masks: &mut [u16]) -> bool {
        match self {
            Self::Open => true,
            Self::Never => false,
            Self::Within(cell, kept) => {
                masks[*cell] &= kept;
                masks[*cell] != 0
            }
            Self::Both(a, b) => a.refine(masks) && b.refine(masks),
            Self::Either(a, b) => {
                // The possible contents of each alternative, joined.
                let mut one = masks.to_vec();
                let first = a.refine(&mut one);
                let second = b.refine(masks);
                match (first, second) {
                    (true, true) => merge(masks, &one),
                    (true, false) => masks.copy_from_slice(&one),
                    (false, _) => {}
                }
                first || second
            }
        }
    }
}

/// An environment in which nothing can be read.
struct Nothing;

impl Environment for Nothing {}

/// The value that a condition has for all combinations of these contents of its cells. `None` if it has both values, reads anything else,
/// or has more than [`MOST`] combinations.
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
