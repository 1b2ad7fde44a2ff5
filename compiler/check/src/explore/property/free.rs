//! Guards that the host can keep from holding, by the inputs that it sets.
//!
//! Tries one choice: the host sets all whole-number inputs to the current value of one variable of the chart. Then their differences are
//! known: with `clock` and `last` equal, the guard `clock - last >= 10` fails, so the host can make the walk skip that step.

use chartc_core::arena::VarId;
use chartc_core::model::{
    Action, BinaryOp, Chart, CompareOp, Expr, ExprKind, Step, StepKind, Type, UnaryOp, VariableKind,
};
use std::collections::BTreeMap;

/// The nesting beyond which an expression is unknown.
const DEEP: u32 = 64;

/// The value of an expression, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Worth {
    /// The value of the variable to which the inputs are set.
    Same,
    Int(i64),
    Bool(bool),
}

/// Whether the host can set the inputs so that the walk of a turn skips all these model steps, and no `code` among them fails.
pub(super) fn can_skip(chart: &Chart, steps: &[&Step]) -> bool {
    let is_kept = |id: &VarId| {
        let row = &chart.variables[id.index()];
        row.ty == Type::Int
            && row.default.is_some()
            && row.kind == VariableKind::Var { per_turn: false }
    };
    let anchors = (0..chart.variables.len()).map(VarId::at).filter(is_kept);
    steps.is_empty() || anchors.into_iter().any(|anchor| skips(chart, steps, anchor))
}

/// Whether the steps are skipped if all whole-number inputs have the value of the variable `anchor`.
fn skips(chart: &Chart, steps: &[&Step], anchor: VarId) -> bool {
    let mut worth: BTreeMap<VarId, Option<Worth>> = BTreeMap::from([(anchor, Some(Worth::Same))]);
    steps.iter().all(|step| {
        let known = ExprValues { chart, worth: &worth };
        let holds = step.guard.as_ref().map(|guard| known.of(guard, 0));
        match (&step.kind, holds) {
            (_, Some(Some(Worth::Bool(false)))) => true,
            (StepKind::Code(actions), None) => actions.iter().all(|action| {
                let Action::Assign(id, expr) = action else { return false };
                let value = ExprValues { chart, worth: &worth }.of(expr, 0);
                worth.insert(*id, value);
                value.is_some()
            }),
            _ => false,
        }
    })
}

/// Evaluates expressions, given the values that `code` has assigned so far.
struct ExprValues<'c> {
    chart: &'c Chart,
    worth: &'c BTreeMap<VarId, Option<Worth>>,
}

impl ExprValues<'_> {
    /// The value of an expression; `None` if it is not known, or if its evaluation may fail.
    fn of(&self, expr: &Expr, depth: u32) -> Option<Worth> {
        if depth > DEEP {
            return None;
        }
        let of = |expr: &Expr| self.of(expr, depth + 1);
        match &expr.kind {
            ExprKind::Int(n) => Some(Worth::Int(*n)),
            ExprKind::Bool(value) => Some(Worth::Bool(*value)),
            ExprKind::Variable(id) => match self.worth.get(id) {
                Some(worth) => *worth,
                None if self.is_input(*id) && expr.ty == Type::Int => Some(Worth::Same),
                None => None,
            },
            ExprKind::Field(of, _) => match &of.kind {
                ExprKind::Variable(id) if self.is_input(*id) && expr.ty == Type::Int => {
                    Some(Worth::Same)
                }
                _ => None,
            },
            ExprKind::Predicate(id) => of(&self.chart.predicates[id.index()].expr),
            ExprKind::Unary(UnaryOp::Not, inner) => match of(inner)? {
                Worth::Bool(value) => Some(Worth::Bool(!value)),
                Worth::Same | Worth::Int(_) => None,
            },
            // The left side decides alone whether the right side is evaluated.
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => match of(a)? {
                Worth::Bool(value) if value == (*op == BinaryOp::Or) => Some(Worth::Bool(value)),
                Worth::Bool(_) => of(b),
                Worth::Same | Worth::Int(_) => None,
            },
            ExprKind::Binary(BinaryOp::Subtract, a, b) => match (of(a)?, of(b)?) {
                (Worth::Same, Worth::Same) => Some(Worth::Int(0)),
                (Worth::Int(a), Worth::Int(b)) => a.checked_sub(b).map(Worth::Int),
                _ => None,
            },
            ExprKind::Compare(first, rest) => match &rest[..] {
                [(op, second)] => compare(*op, of(first)?, of(second)?).map(Worth::Bool),
                _ => None,
            },
            _ => None,
        }
    }

    fn is_input(&self, id: VarId) -> bool {
        self.chart.variables[id.index()].kind == VariableKind::Input
    }
}

fn compare(op: CompareOp, a: Worth, b: Worth) -> Option<bool> {
    let order = match (a, b) {
        (Worth::Same, Worth::Same) => std::cmp::Ordering::Equal,
        (Worth::Int(a), Worth::Int(b)) => a.cmp(&b),
        _ => return None,
    };
    Some(match op {
        CompareOp::Equal => order.is_eq(),
        CompareOp::NotEqual => order.is_ne(),
        CompareOp::Less => order.is_lt(),
        CompareOp::LessEqual => order.is_le(),
        CompareOp::Greater => order.is_gt(),
        CompareOp::GreaterEqual => order.is_ge(),
        CompareOp::In | CompareOp::NotIn => return None,
    })
}
