//! Intervals of whole numbers, and what comparisons say about them. An overflow of a bound makes it unbounded.

use chartc_core::arena::VarId;
use chartc_core::model::{CompareOp, Expr, ExprKind, Type};

/// An interval from the least to the greatest value, both included. `None` is unbounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Range {
    /// The least value.
    pub low: Option<i64>,
    /// The greatest value.
    pub high: Option<i64>,
}

impl Range {
    pub(crate) fn one(value: i64) -> Self {
        Self { low: Some(value), high: Some(value) }
    }

    pub(crate) fn is_empty(self) -> bool {
        matches!((self.low, self.high), (Some(low), Some(high)) if low > high)
    }

    /// The smallest interval that contains both intervals.
    pub(crate) fn join(self, other: Self) -> Self {
        Self {
            low: self.low.zip(other.low).map(|(a, b)| a.min(b)),
            high: self.high.zip(other.high).map(|(a, b)| a.max(b)),
        }
    }

    /// The intersection.
    pub(crate) fn meet(self, other: Self) -> Self {
        let both = |a: Option<i64>, b: Option<i64>, pick: fn(i64, i64) -> i64| match (a, b) {
            (Some(a), Some(b)) => Some(pick(a, b)),
            (one, other) => one.or(other),
        };
        Self {
            low: both(self.low, other.low, i64::max),
            high: both(self.high, other.high, i64::min),
        }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        let sum = |(a, b): (i64, i64)| a.checked_add(b);
        Self {
            low: self.low.zip(other.low).and_then(sum),
            high: self.high.zip(other.high).and_then(sum),
        }
    }

    pub(crate) fn negated(self) -> Self {
        Self {
            low: self.high.and_then(i64::checked_neg),
            high: self.low.and_then(i64::checked_neg),
        }
    }
}

/// The ordering that holds if a comparison by `op` has the value `wanted`: `<` for a `>=` that is false. `None` for `!=` and `in`.
pub(crate) fn order(op: CompareOp, wanted: bool) -> Option<CompareOp> {
    Some(match (op, wanted) {
        (CompareOp::Less, true) | (CompareOp::GreaterEqual, false) => CompareOp::Less,
        (CompareOp::LessEqual, true) | (CompareOp::Greater, false) => CompareOp::LessEqual,
        (CompareOp::Greater, true) | (CompareOp::LessEqual, false) => CompareOp::Greater,
        (CompareOp::GreaterEqual, true) | (CompareOp::Less, false) => CompareOp::GreaterEqual,
        (CompareOp::Equal, true) | (CompareOp::NotEqual, false) => CompareOp::Equal,
        (CompareOp::Equal, false) | (CompareOp::NotEqual, true) => return None,
        (CompareOp::In | CompareOp::NotIn, _) => return None,
    })
}

/// The same ordering with its sides swapped.
pub(crate) fn turned(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Less => CompareOp::Greater,
        CompareOp::LessEqual => CompareOp::GreaterEqual,
        CompareOp::Greater => CompareOp::Less,
        CompareOp::GreaterEqual => CompareOp::LessEqual,
        _ => op,
    }
}

/// The values that are in the relation `op` to some value of `other`: for `<` and 1..=5, the values up to 4.
pub(crate) fn within(op: CompareOp, other: Range) -> Range {
    match op {
        CompareOp::Less => Range { low: None, high: other.high.and_then(|n| n.checked_sub(1)) },
        CompareOp::LessEqual => Range { low: None, high: other.high },
        CompareOp::Greater => Range { low: other.low.and_then(|n| n.checked_add(1)), high: None },
        CompareOp::GreaterEqual => Range { low: other.low, high: None },
        CompareOp::Equal => other,
        CompareOp::NotEqual | CompareOp::In | CompareOp::NotIn => Range::default(),
    }
}

/// The bounds of a variable as conditions, `low <= variable` and `variable <= high`.
pub(crate) fn conditions((id, range): (VarId, Range)) -> Vec<Expr> {
    let compare = |op: CompareOp, n: i64| {
        let side = |kind: ExprKind| Expr { kind, ty: Type::Int };
        let (left, right) = (side(ExprKind::Variable(id)), side(ExprKind::Int(n)));
        Expr { kind: ExprKind::Compare(Box::new(left), vec![(op, right)]), ty: Type::Bool }
    };
    let low = range.low.map(|n| compare(CompareOp::GreaterEqual, n));
    low.into_iter().chain(range.high.map(|n| compare(CompareOp::LessEqual, n))).collect()
}
