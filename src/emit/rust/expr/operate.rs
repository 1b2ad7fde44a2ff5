//! Prefix and infix operators.

use super::{Binding, Code, Writer, float};
use chartc_core::model::{BinaryOp, Expr, ExprKind, Type};

impl Writer<'_> {
    pub(super) fn negate(&self, of: &Expr) -> Code {
        let code = self.expr(of);
        if code.ty == Type::Int {
            if let ExprKind::Int(i @ 1..) = of.kind {
                return Code::owned(format!("-{i}"), Type::Int).bound(Binding::Prefix);
            }
            return Code::owned(format!("ops::neg({})?", self.own(&code)), Type::Int);
        }
        if code.ty == Type::Float {
            let text = format!("-{}", self.operand(&code, Binding::Prefix));
            return Code::owned(text, Type::Float).bound(Binding::Prefix);
        }
        let text = format!("expr::unary(model::UnaryOp::Negate, &{})?", self.json(code));
        Code::owned(text, Type::Json)
    }

    pub(super) fn binary(&self, op: BinaryOp, left: &Expr, right: &Expr) -> Code {
        match op {
            BinaryOp::And => self.logic(left, right, "&&", Binding::And),
            BinaryOp::Or => self.logic(left, right, "||", Binding::Or),
            BinaryOp::Add
            | BinaryOp::Subtract
            | BinaryOp::Multiply
            | BinaryOp::Divide
            | BinaryOp::FloorDivide
            | BinaryOp::Modulo
            | BinaryOp::Power => self.arithmetic(op, left, right),
        }
    }

    fn logic(&self, left: &Expr, right: &Expr, sign: &str, binding: Binding) -> Code {
        let left = self.condition(left, binding);
        // The same operator on the right was written with parentheses, which mean nothing to it.
        let right = self.condition(right, binding);
        Code::owned(format!("{left} {sign} {right}"), Type::Bool).bound(binding)
    }

    fn arithmetic(&self, op: BinaryOp, left: &Expr, right: &Expr) -> Code {
        let (a, b) = (self.expr(left), self.expr(right));
        match (&a.ty, &b.ty) {
            (Type::Int, Type::Int) => self.integers(op, &a, &b, &right.kind),
            (Type::Int | Type::Float, Type::Int | Type::Float) => {
                let (a, b) = (self.as_float(&a, left), self.as_float(&b, right));
                self.floats(op, &a, &b)
            }
            (Type::Duration, Type::Duration | Type::Int)
                if duration_function(op, &b.ty).is_some() =>
            {
                let (name, ty) = duration_function(op, &b.ty).unwrap_or(("", Type::Duration));
                let path = if self.context.bare { "generated" } else { "generated::explained" };
                let text = format!("{path}::{name}({}, {})?", self.own(&a), self.own(&b));
                Code::owned(text, ty)
            }
            (Type::Text, Type::Text) if op == BinaryOp::Add => {
                self.allocates();
                Code::owned(format!("[{}, {}].concat()", a.lend(), b.lend()), Type::Text)
            }
            (ta, tb) => {
                let ty = if ta == tb { ta.clone() } else { Type::Json };
                let (a, b) = (self.json(a.clone()), self.json(b.clone()));
                let text = format!("expr::binary(model::BinaryOp::{op:?}, &{a}, &{b})?");
                self.convert(Code::owned(text, Type::Json), &ty)
            }
        }
    }

    fn integers(&self, op: BinaryOp, a: &Code, b: &Code, right: &ExprKind) -> Code {
        let (a, b) = (self.own(a), self.own(b));
        let (name, ty) = match op {
            BinaryOp::Add => ("add", Type::Int),
            BinaryOp::Subtract => ("sub", Type::Int),
            BinaryOp::Multiply => ("mul", Type::Int),
            BinaryOp::Divide => ("div", Type::Float),
            BinaryOp::FloorDivide => ("floor_div", Type::Int),
            BinaryOp::Modulo => ("modulo", Type::Int),
            BinaryOp::Power if matches!(right, ExprKind::Int(0..)) => {
                return Code::owned(format!("ops::power({a}, {b})?"), Type::Int);
            }
            BinaryOp::Power if self.context.bare => {
                return Code::owned(format!("generated::power({a}, {b})?"), Type::Float);
            }
            BinaryOp::Power => {
                return Code::owned(format!("generated::explained::power({a}, {b})?"), Type::Float);
            }
            BinaryOp::And | BinaryOp::Or => ("", Type::Bool),
        };
        Code::owned(format!("{}::{name}({a}, {b})?", self.arithmetic_of(op)), ty)
    }

    /// The module whose functions tell why they fail, where the operator can for more than one reason.
    fn arithmetic_of(&self, op: BinaryOp) -> &'static str {
        match op {
            BinaryOp::Divide | BinaryOp::FloorDivide | BinaryOp::Modulo if !self.context.bare => {
                "generated::explained"
            }
            BinaryOp::Power if !self.context.bare => "generated::explained",
            BinaryOp::Add
            | BinaryOp::Subtract
            | BinaryOp::Multiply
            | BinaryOp::Divide
            | BinaryOp::FloorDivide
            | BinaryOp::Modulo
            | BinaryOp::Power
            | BinaryOp::And
            | BinaryOp::Or => "ops",
        }
    }

    fn floats(&self, op: BinaryOp, a: &Code, b: &Code) -> Code {
        let infix = |sign: &str, binding: Binding, tighter: Binding| {
            let text = format!("{} {sign} {}", self.operand(a, binding), self.operand(b, tighter));
            Code::owned(text, Type::Float).bound(binding)
        };
        let call = |name: &str| {
            let path = self.arithmetic_of(op);
            Code::owned(format!("{path}::{name}({}, {})?", self.own(a), self.own(b)), Type::Float)
        };
        match op {
            BinaryOp::Add => infix("+", Binding::Sum, Binding::Product),
            BinaryOp::Subtract => infix("-", Binding::Sum, Binding::Product),
            BinaryOp::Multiply => infix("*", Binding::Product, Binding::Cast),
            BinaryOp::Divide => call("div_float"),
            BinaryOp::FloorDivide => call("floor_div_float"),
            BinaryOp::Modulo => call("modulo_float"),
            BinaryOp::Power => call("power_float"),
            BinaryOp::And | BinaryOp::Or => call(""),
        }
    }

    /// A literal Int becomes a literal Float.
    pub(super) fn as_float(&self, code: &Code, expr: &Expr) -> Code {
        if let ExprKind::Int(i) = expr.kind {
            return float(i as f64);
        }
        self.convert(code.clone(), &Type::Float)
    }
}

/// The function of `generated` for a Duration and something of type `right`, with the type of its result.
fn duration_function(op: BinaryOp, right: &Type) -> Option<(&'static str, Type)> {
    match (op, right) {
        (BinaryOp::Add, Type::Duration) => Some(("add_duration", Type::Duration)),
        (BinaryOp::Subtract, Type::Duration) => Some(("sub_duration", Type::Duration)),
        (BinaryOp::Divide, Type::Duration) => Some(("div_duration", Type::Float)),
        (BinaryOp::Multiply, Type::Int) => Some(("mul_duration", Type::Duration)),
        _ => None,
    }
}
