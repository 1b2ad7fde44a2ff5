//! The alternatives of a guard: the operands of the `or` at its top.

use super::{BinaryOp, Chart, Expr, ExprKind};
use crate::arena::TransitionId;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

impl Chart {
    /// The most alternatives of one guard that are told apart: a guard with more counts as a single condition.
    pub const MOST_ALTERNATIVES: usize = 64;

    /// The operands of the `or` at the top of a transition's guard, from left to right. A named condition that is itself an `or` stands for
    /// its operands. Empty for a guard without such an `or`, and for one that calls host functions or loops: its operands are not evaluated
    /// a second time.
    pub fn alternatives(&self, line: TransitionId) -> Vec<&Expr> {
        let Some(guard) = &self.transition(line).guard else { return Vec::new() };
        let mut found = Vec::new();
        let mut open = Vec::from([guard]);
        while let Some(expr) = open.pop() {
            if found.len() + open.len() >= Self::MOST_ALTERNATIVES {
                return Vec::new();
            }
            if let ExprKind::Binary(BinaryOp::Or, left, right) = &self.named(expr).kind {
                open.extend([&**right, &**left]);
            } else {
                found.push(expr);
            }
        }
        if found.len() < 2 || !self.is_repeatable(guard) { Vec::new() } else { found }
    }

    /// The expression of a named condition; another expression as it is.
    fn named<'c>(&'c self, mut expr: &'c Expr) -> &'c Expr {
        // A faulty chart may have a condition that stands for itself.
        for _ in 0..Self::MOST_ALTERNATIVES {
            let ExprKind::Predicate(id) = expr.kind else { break };
            let Some(predicate) = self.predicates.get(id.index()) else { break };
            expr = &predicate.expr;
        }
        expr
    }

    /// Whether an expression costs little and is not noticed by the host, so that it may be evaluated again.
    fn is_repeatable(&self, expr: &Expr) -> bool {
        let mut seen = BTreeSet::new();
        let mut open = Vec::from([expr]);
        while let Some(expr) = open.pop() {
            if matches!(expr.kind, ExprKind::Call(..) | ExprKind::Comprehension { .. }) {
                return false;
            }
            if let ExprKind::Predicate(id) = expr.kind
                && seen.insert(id)
                && let Some(predicate) = self.predicates.get(id.index())
            {
                open.push(&predicate.expr);
            }
            expr.each_part(&mut |part| open.push(part));
        }
        true
    }
}
