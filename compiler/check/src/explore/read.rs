//! How counters, variables and the values of slots are read.

use super::fixed::number;
use chartc_core::arena::{StateId, VarId};
use chartc_core::expr::Value;
use chartc_core::model::{CompareOp, Expr, StreakOf};
use std::collections::BTreeMap;

/// What something that counts is compared with.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bound {
    expr: Expr,
    /// As the one that counts stands on the left.
    op: CompareOp,
}

impl Bound {
    pub(super) fn of(op: CompareOp, expr: &Expr) -> Self {
        Self { expr: expr.clone(), op }
    }

    /// From where on all greater numbers are the same: `n >= 3` does not tell 3 from 4.
    pub(super) fn above(&self, param: &dyn Fn(VarId) -> Option<Value>) -> Option<i64> {
        let is_at = matches!(self.op, CompareOp::GreaterEqual | CompareOp::Less);
        number(&self.expr, param).map(|n| n.saturating_add(i64::from(!is_at)))
    }

    /// From where on all smaller numbers are.
    pub(super) fn below(&self, param: &dyn Fn(VarId) -> Option<Value>) -> Option<i64> {
        let is_at = matches!(self.op, CompareOp::Greater | CompareOp::LessEqual);
        number(&self.expr, param).map(|n| n.saturating_sub(i64::from(!is_at)))
    }
}

/// How exactly something that counts has to be known.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) enum Read {
    /// Nothing reads it.
    #[default]
    Never,
    /// It is compared with these; what is beyond all of them is all the same.
    UpTo(Vec<Bound>),
    /// Its value itself counts.
    Exactly,
}

impl Read {
    pub(super) fn with(&mut self, bound: Bound) {
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

/// What the machine itself counts, as far as it decides anything.
#[derive(Debug, Clone, Default)]
pub(super) struct Counters {
    pub(super) turns: Read,
    pub(super) turns_here: Read,
    pub(super) turns_in: BTreeMap<StateId, Read>,
    pub(super) fails_here: Read,
    pub(super) streak: Read,
    pub(super) streaks: Vec<(StreakOf, Read)>,
    pub(super) last_result: bool,
    pub(super) time: bool,
    pub(super) advice: bool,
    /// The event that is being handled.
    pub(super) event: bool,
}

/// Slots whose values flow into each other.
#[derive(Debug, Clone, Default)]
pub(super) struct Class {
    /// What they are compared with, or set to.
    pub(super) constants: Vec<Value>,
    /// More than comparison with constants is done with them.
    pub(super) tangled: bool,
    /// They are compared with each other, and only for equality.
    pub(super) opaque: bool,
}

/// How a variable is used.
#[derive(Debug, Clone, Default)]
pub(super) struct Counted {
    pub(super) up: bool,
    pub(super) down: bool,
    /// Read otherwise than by comparison with what is fixed.
    pub(super) odd: bool,
    pub(super) bounds: Vec<Bound>,
}
