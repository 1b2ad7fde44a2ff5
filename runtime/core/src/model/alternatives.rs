//! The alternatives of a guard: the operands of the `or` at its top. A trace tells which of them held.

use super::{BinaryOp, Chart, Expr, ExprKind};
use crate::arena::TransitionId;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

impl Chart {
    /// The maximum number of alternatives of one guard. A guard with more counts as a single condition.
    pub const MOST_ALTERNATIVES: usize = 64;

    /// The operands of the `or` at the top of a transition's guard, from left to right. A named condition that is itself an `or` counts as
    /// its operands. Empty for a guard without such an `or`, and for one that calls host functions or loops, whose operands must not be
    /// evaluated a second time.
    pub fn alternatives(&self, line: TransitionId) -> Vec<&Expr> {
        let Some(guard) = &self.transition(line).guard else { return Vec::new() };
        let mut found = Vec::new();
        let mut open = Vec::from([guard]);
        while let Some(expr) = open.pop() {
            if found.len() + open.len() >= Self::MOST_ALTERNATIVES {
                return Vec::new();
            }
            if let ExprKind::Binary(BinaryOp::Or, left, right) = &self.named(expr).kind {
                // The last one pushed is visited first, so the left operand comes before the right one.
                open.extend([&**right, &**left]);
            } else {
                found.push(expr);
            }
        }
        if found.len() < 2 || !self.is_repeatable(guard) { Vec::new() } else { found }
    }

    /// The expression that a named condition stands for; any other expression itself.
    fn named<'c>(&'c self, mut expr: &'c Expr) -> &'c Expr {
        // In a faulty chart a condition may stand for itself, so the search is bounded.
        for _ in 0..Self::MOST_ALTERNATIVES {
            let ExprKind::Predicate(id) = expr.kind else { break };
            let Some(predicate) = self.predicates.get(id.index()) else { break };
            expr = &predicate.expr;
        }
        expr
    }

    /// Whether an expression may be evaluated again: it is cheap and calls no host function.
    fn is_repeatable(&self, expr: &Expr) -> bool {
        let mut seen = BTreeSet::new();
        let mut open = Vec::from([expr]);
        while let Some(expr) = open.pop() {
            if matches!(expr.kind, ExprKind::Call(..) | ExprKind::Comprehension { .. }) {
                return false;
            }
            // Each condition is visited once: it may be used often, and in a faulty chart within itself.
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
