//! Writes arithmetic.

use super::{Binding, Code, Error, ExprKind, Fragment, Type, Use, Writer, code, float, integer};
use chartc_core::model::{BinaryOp, Expr};

impl Writer<'_> {
    pub(super) fn negate(&mut self, of: &Expr) -> Code {
        let code = self.expr(of);
        if code.ty == Type::Int {
            if let ExprKind::Int(i @ 1..) = of.kind {
                return integer(-i);
            }
            return self.operation("neg", &[&code], Type::Int);
        }
        if code.ty == Type::Float {
            let text = code!("-{of}", of = self.operand(&code, Binding::Prefix));
            return Code::owned(text, Type::Float).bound(Binding::Prefix);
        }
        let call = code!("expr::unary(model::UnaryOp::Negate, &{of})", of = self.json(code));
        self.tries(call, Type::Json, Error::Evaluation)
    }

    pub(super) fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Code {
        match op {
            BinaryOp::And => self.logic(left, right, false),
            BinaryOp::Or => self.logic(left, right, true),
            BinaryOp::Add
            | BinaryOp::Subtract
            | BinaryOp::Multiply
            | BinaryOp::Divide
            | BinaryOp::FloorDivide
            | BinaryOp::Modulo
            | BinaryOp::Power => self.arithmetic(op, left, right),
        }
    }

    fn arithmetic(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Code {
        let (a, b) = (self.expr(left), self.expr(right));
        match (&a.ty, &b.ty) {
            (Type::Int, Type::Int) => self.integers(op, &a, &b, &right.kind),
            (Type::Int | Type::Float, Type::Int | Type::Float) => {
                let (a, b) = (self.as_float(&a, left), self.as_float(&b, right));
                self.floats(op, &a, &b)
            }
            (Type::Duration, right) if duration_function(op, right).is_some() => {
                let (name, ty) = duration_function(op, right).unwrap_or(("", Type::Duration));
                self.explained(name, &a, &b, ty)
            }
            (Type::Text, Type::Text) if op == BinaryOp::Add => {
                let text = code!("[{a}, {b}].concat()", a = a.lend(), b = b.lend());
                Code::owned(text.using(Use::Allocator), Type::Text)
            }
            (ta, tb) => {
                let ty = if ta == tb { ta.clone() } else { Type::Json };
                let (a, b) = (self.json(a.clone()), self.json(b.clone()));
                let call = code!("expr::binary(model::BinaryOp::{op:?}, &{a}, &{b})", a, b);
                let value = self.tries(call, Type::Json, Error::Evaluation);
                self.convert(value, &ty)
            }
        }
    }

    fn integers(&self, op: BinaryOp, a: &Code, b: &Code, right: &ExprKind) -> Code {
        match op {
            BinaryOp::Add => self.operation("add", &[a, b], Type::Int),
            BinaryOp::Subtract => self.operation("sub", &[a, b], Type::Int),
            BinaryOp::Multiply => self.operation("mul", &[a, b], Type::Int),
            BinaryOp::Divide => self.divided("div", a, b, Type::Float),
            BinaryOp::FloorDivide => self.divided("floor_div", a, b, Type::Int),
            BinaryOp::Modulo => self.divided("modulo", a, b, Type::Int),
            // Only with such an exponent is the result an Int.
            BinaryOp::Power if matches!(right, ExprKind::Int(0..)) => {
                self.operation("power", &[a, b], Type::Int)
            }
            BinaryOp::Power => self.explained("power", a, b, Type::Float),
            // Never reached: `binary` passes them to `logic`.
            BinaryOp::And | BinaryOp::Or => self.operation("", &[a, b], Type::Bool),
        }
    }

    /// Writes a call of a function with several reasons for failure. With an allocator, a variant that names the reason is called.
    fn divided(&self, name: &str, a: &Code, b: &Code, ty: Type) -> Code {
        if self.context.bare {
            self.operation(name, &[a, b], ty)
        } else {
            self.explained(name, a, b, ty)
        }
    }

    /// Like [`Writer::divided`], for functions other than operators on numbers.
    fn explained(&self, name: &str, a: &Code, b: &Code, ty: Type) -> Code {
        let (path, error) = if self.context.bare {
            ("generated", Error::Fault)
        } else {
            ("generated::explained", Error::Failure)
        };
        let call = code!("{path}::{name}({a}, {b})", a = self.own(a), b = self.own(b));
        self.tries(call, ty, error)
    }

    fn floats(&self, op: BinaryOp, a: &Code, b: &Code) -> Code {
        let infix = |sign: &str, binding: Binding, tighter: Binding| {
            let (a, b) = (self.operand(a, binding), self.operand(b, tighter));
            Code::owned(code!("{a} {sign} {b}", a, b), Type::Float).bound(binding)
        };
        match op {
            BinaryOp::Add => infix("+", Binding::Sum, Binding::Product),
            BinaryOp::Subtract => infix("-", Binding::Sum, Binding::Product),
            BinaryOp::Multiply => infix("*", Binding::Product, Binding::Cast),
            BinaryOp::Divide => self.divided("div_float", a, b, Type::Float),
            BinaryOp::FloorDivide => self.divided("floor_div_float", a, b, Type::Float),
            BinaryOp::Modulo => self.divided("modulo_float", a, b, Type::Float),
            BinaryOp::Power => self.divided("power_float", a, b, Type::Float),
            BinaryOp::And | BinaryOp::Or => self.operation("", &[a, b], Type::Float),
        }
    }

    /// Writes `place op= right`, if the place is a Float and the expression updates it so.
    pub(in super::super) fn changed(
        &mut self,
        place: &str,
        expr: &Expr,
        is_it: impl Fn(&Expr) -> bool,
    ) -> Option<Fragment> {
        let ExprKind::Binary(op, left, right) = &expr.kind else { return None };
        let sign = match op {
            BinaryOp::Add => "+=",
            BinaryOp::Subtract => "-=",
            BinaryOp::Multiply => "*=",
            BinaryOp::Divide
            | BinaryOp::FloorDivide
            | BinaryOp::Modulo
            | BinaryOp::Power
            | BinaryOp::And
            | BinaryOp::Or => return None,
        };
        if !is_it(left) || !matches!(right.ty, Type::Int | Type::Float) {
            return None;
        }
        let code = self.expr(right);
        if !matches!(code.ty, Type::Int | Type::Float) {
            return None;
        }
        let code = self.as_float(&code, right);
        Some(code!("{place} {sign} {value};\n", value = self.own(&code)))
    }

    /// Writes an Int literal as a Float literal; other code is converted.
    fn as_float(&mut self, code: &Code, expr: &Expr) -> Code {
        if let ExprKind::Int(i) = expr.kind {
            return float(i as f64);
        }
        self.convert(code.clone(), &Type::Float)
    }
}

/// Returns the function of `generated` for a Duration and an operand of type `right`, with its result type.
fn duration_function(op: BinaryOp, right: &Type) -> Option<(&'static str, Type)> {
    match (op, right) {
        (BinaryOp::Add, Type::Duration) => Some(("add_duration", Type::Duration)),
        (BinaryOp::Subtract, Type::Duration) => Some(("sub_duration", Type::Duration)),
        (BinaryOp::Divide, Type::Duration) => Some(("div_duration", Type::Float)),
        (BinaryOp::Multiply, Type::Int) => Some(("mul_duration", Type::Duration)),
        _ => None,
    }
}
