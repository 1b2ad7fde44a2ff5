//! How counters, variables and the values of slots are read.

use super::fixed::number;
use chartc_core::arena::{StateId, VarId};
use chartc_core::expr::Value;
use chartc_core::model::{CompareOp, Expr, StreakOf};
use std::collections::BTreeMap;

/// What a counter or variable is compared with.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Comparand {
    expr: Expr,
    /// The operator, with the counter on the left.
    op: CompareOp,
}

impl Comparand {
    pub(super) fn new(op: CompareOp, expr: &Expr) -> Self {
        Self { expr: expr.clone(), op }
    }

    /// The number from which all greater ones are equivalent: `n >= 3` does not distinguish 3 from 4.
    pub(super) fn above(&self, param: &dyn Fn(VarId) -> Option<Value>) -> Option<i64> {
        let is_at = matches!(self.op, CompareOp::GreaterEqual | CompareOp::Less);
        number(&self.expr, param).map(|n| n.saturating_add(i64::from(!is_at)))
    }

    /// The number from which all smaller ones are equivalent.
    pub(super) fn below(&self, param: &dyn Fn(VarId) -> Option<Value>) -> Option<i64> {
        let is_at = matches!(self.op, CompareOp::Greater | CompareOp::LessEqual);
        number(&self.expr, param).map(|n| n.saturating_sub(i64::from(!is_at)))
    }
}

/// How exactly a counter must be known.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) enum Read {
    /// Nothing reads it.
    #[default]
    Never,
    /// It is compared with these; values beyond all of them are equivalent.
    UpTo(Vec<Comparand>),
    /// Its exact value matters.
    Exactly,
}

impl Read {
    pub(super) fn with(&mut self, bound: Comparand) {
        match self {
            Self::Never => *self = Self::UpTo(vec![bound]),
            Self::UpTo(bounds) => {
                if !bounds.contains(&bound) {
                    bounds.push(bound);
                }
            }
            Self::Exactly => {}
        }
    }
}

/// The machine's own counters, as far as they decide anything.
#[derive(Debug, Clone, Default)]
pub(super) struct Counters {
    pub(super) turns: Read,
    pub(super) turns_here: Read,
    pub(super) turns_in: BTreeMap<StateId, Read>,
    pub(super) fails_here: Read,
    pub(super) streak: Read,
    pub(super) streaks: Vec<(StreakOf, Read)>,
    /// Whether equal calls in succession raise an error.
    pub(super) loops: bool,
    pub(super) repeated: bool,
    pub(super) last_result: bool,
    pub(super) time: bool,
    pub(super) advice: bool,
    /// The event that is being handled.
    pub(super) event: bool,
}

/// Slots whose values flow into each other.
#[derive(Debug, Clone, Default)]
pub(super) struct Class {
    /// The constants that they are compared with or set to.
    pub(super) constants: Vec<Value>,
    /// They are used in more than comparisons with constants.
    pub(super) tangled: bool,
    /// They are compared with each other, and only for equality.
    pub(super) opaque: bool,
}

/// How a variable is used.
#[derive(Debug, Clone, Default)]
pub(super) struct Counted {
    pub(super) up: bool,
    pub(super) down: bool,
    /// Read otherwise than in comparisons with constant expressions.
    pub(super) is_opaque: bool,
    pub(super) bounds: Vec<Comparand>,
}
