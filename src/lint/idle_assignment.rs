//! Assignments that change nothing.

use crate::diagnostic::{Diagnostic, Rule, Severity};
use crate::span::Span;
use chartc_core::arena::VarId;
use chartc_core::model::{BinaryOp, Expr, ExprKind, Type};

/// The rule.
pub static RULE: Rule = Rule {
    code: "C0422",
    name: "idle-assignment",
    severity: Severity::Warning,
    page: include_str!("idle_assignment.md"),
};

/// The finding, if the variable is set to what it holds already.
pub(crate) fn check(name: &str, id: VarId, value: &Expr, span: Span) -> Option<Diagnostic> {
    is_same(id, value).then(|| {
        RULE.at(span, format!("this changes nothing: `{name}` is set to what it is"))
            .help("correct the value, or remove the assignment")
    })
}

/// Whether the value is the variable's own: `x`, `x + 0`, `x - 0`, `x * 1`, `x / 1`.
fn is_same(id: VarId, value: &Expr) -> bool {
    if value.kind == ExprKind::Variable(id) {
        return true;
    }
    let ExprKind::Binary(op, a, b) = &value.kind else { return false };
    // Of a value of any type it could be a change of type.
    let own = |e: &Expr| e.kind == ExprKind::Variable(id) && e.ty == value.ty && e.ty != Type::Json;
    let is = |e: &Expr, n: i64| {
        e.kind == ExprKind::Int(n) || matches!(e.kind, ExprKind::Float(x) if x == n as f64)
    };
    match op {
        BinaryOp::Add => own(a) && is(b, 0) || own(b) && is(a, 0),
        BinaryOp::Subtract => own(a) && is(b, 0),
        BinaryOp::Multiply => own(a) && is(b, 1) || own(b) && is(a, 1),
        BinaryOp::Divide | BinaryOp::FloorDivide | BinaryOp::Power => own(a) && is(b, 1),
        BinaryOp::Modulo | BinaryOp::And | BinaryOp::Or => false,
    }
}
