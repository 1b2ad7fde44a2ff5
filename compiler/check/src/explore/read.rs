//! The ways in which conditions read counters, variables and slots; `relevant` determines them.
//!
//! Example: `on mail(n) { last = n }` and `when last > 3 -> done`. The guard decides something, so `last` is relevant, and so is the field
//! `n` from which it is assigned. Both are one class with the constant 3, so `n` is tried with 2, 3 and 4. A variable that only prompts
//! show is not relevant: keys omit it, and a slot from which it is assigned is tried with a single value.

use super::fixed::number;
use chartc_core::arena::{StateId, VarId};
use chartc_core::expr::Value;
use chartc_core::model::{CompareOp, Expr, StreakOf};
use std::collections::BTreeMap;

/// A constant expression with which a counter or variable is compared.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Comparand {
    expr: Expr,
    /// The operator of the comparison, with the counter on the left.
    op: CompareOp,
}

impl Comparand {
    pub(super) fn new(op: CompareOp, expr: &Expr) -> Self {
        Self { expr: expr.clone(), op }
    }

    /// The number from which on all greater ones are equivalent: `n >= 3` does not distinguish 4 from 3. `None` if it is not known.
    pub(super) fn above(&self, param: &dyn Fn(VarId) -> Option<Value>) -> Option<i64> {
        let is_at = matches!(self.op, CompareOp::GreaterEqual | CompareOp::Less);
        number(&self.expr, param).map(|n| n.saturating_add(i64::from(!is_at)))
    }

    /// The number from which on all smaller ones are equivalent: `n > 3` does not distinguish 2 from 3. `None` if it is not known.
    pub(super) fn below(&self, param: &dyn Fn(VarId) -> Option<Value>) -> Option<i64> {
        let is_at = matches!(self.op, CompareOp::Greater | CompareOp::LessEqual);
        number(&self.expr, param).map(|n| n.saturating_sub(i64::from(!is_at)))
    }
}

/// The precision with which a counter must be known.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) enum Read {
    /// Nothing reads the counter.
    #[default]
    Never,
    /// The counter is compared with these numbers; values beyond all of them are equivalent.
    UpTo(Vec<Comparand>),
    /// The exact value matters.
    Exactly,
}

impl Read {
    /// Adds a comparison.
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

/// The machine's own counters and values, as far as they decide anything.
#[derive(Debug, Clone, Default)]
pub(super) struct Counters {
    pub(super) turns: Read,
    pub(super) turns_here: Read,
    pub(super) turns_in: BTreeMap<StateId, Read>,
    pub(super) fails_here: Read,
    pub(super) streak: Read,
    /// By argument: the `streak` of its values.
    pub(super) streaks: Vec<(StreakOf, Read)>,
    /// Whether the machine raises an error for equal calls in succession, which the chart handles.
    pub(super) loops: bool,
    // Whether each of these is read at all.
    pub(super) repeated: bool,
    pub(super) last_result: bool,
    pub(super) time: bool,
    pub(super) advice: bool,
    /// Whether the name of the event that is being handled is read.
    pub(super) event: bool,
}

/// A class of slots whose values flow into each other, so that a constant compared with one of them matters to all.
#[derive(Debug, Clone, Default)]
pub(super) struct Class {
    /// The constants with which the slots are compared, or to which they are set.
    pub(super) constants: Vec<Value>,
    /// Whether the slots are used in more than comparisons with constants.
    pub(super) tangled: bool,
    /// Whether the slots are compared with each other, and only for equality.
    pub(super) opaque: bool,
}

/// The use of a variable as a counter.
#[derive(Debug, Clone, Default)]
pub(super) struct Counted {
    /// Whether some assignment adds to the variable.
    pub(super) up: bool,
    /// Whether some assignment subtracts from it.
    pub(super) down: bool,
    /// Whether it is read otherwise than in comparisons with constant expressions.
    pub(super) is_opaque: bool,
    /// The expressions with which it is compared.
    pub(super) bounds: Vec<Comparand>,
}
