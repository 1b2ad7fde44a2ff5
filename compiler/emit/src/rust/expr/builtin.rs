//! Writes calls of the language's functions: as Rust's own functions where they mean the same, otherwise as the interpreter's.

use super::{Binding, Code, Constant, Error, Fragment, Use, Writer, code};
use chartc_core::model::{Builtin, Expr, Type};

impl Writer<'_> {
    pub(super) fn builtin(&mut self, function: Builtin, arguments: &[Expr], ty: &Type) -> Code {
        let codes: Vec<Code> = arguments.iter().map(|a| self.expr(a)).collect();
        let native = match (function, codes.as_slice()) {
            (Builtin::Len, [x]) => Self::len(x),
            (Builtin::Min | Builtin::Max, [_, _, ..]) => self.extreme(function, &codes, ty),
            (Builtin::Abs, [x]) if x.ty == Type::Int => {
                Some(self.operation("abs", &[x], Type::Int))
            }
            (Builtin::Abs, [x]) if x.ty == Type::Float => {
                Some(Code::owned(code!("f64::abs({x})", x = self.own(x)), Type::Float))
            }
            (Builtin::Round, [x]) if x.ty == Type::Int => Some(x.clone()),
            (Builtin::Round, [x]) if x.ty == Type::Float => {
                Some(self.operation("round", &[x], Type::Int))
            }
            (Builtin::Round, [x, digits]) if digits.ty == Type::Int => self.round_to(x, digits),
            (Builtin::Lower, [x]) if x.ty == Type::Text => Self::text_method(x, "to_lowercase()"),
            (Builtin::Upper, [x]) if x.ty == Type::Text => Self::text_method(x, "to_uppercase()"),
            (Builtin::StartsWith, [x, prefix]) if x.ty == Type::Text && prefix.ty == Type::Text => {
                let (x, prefix) = (x.within(Binding::Whole), prefix.lend());
                Some(Code::owned(code!("{x}.starts_with({prefix})", x, prefix), Type::Bool))
            }
            (Builtin::Concat, [_, ..]) if codes.iter().all(|c| c.ty == Type::Text) => {
                let parts = Fragment::joined(codes.iter().map(Code::lend), ", ");
                let text = code!("[{parts}].concat()", parts).using(Use::Allocator);
                Some(Code::owned(text, Type::Text))
            }
            (Builtin::Str, [x]) if x.ty == Type::Text => Some(x.clone()),
            (Builtin::Int | Builtin::Float | Builtin::Bool, [x]) => self.scalar(function, x),
            _ => None,
        };
        native.unwrap_or_else(|| self.dynamic_builtin(function, codes, ty))
    }

    /// Writes a call of a function of `ops` that may fail.
    pub(super) fn operation(&self, name: &str, arguments: &[&Code], ty: Type) -> Code {
        let arguments = Fragment::joined(arguments.iter().map(|code| self.own(code)), ", ");
        self.tries(code!("ops::{name}({arguments})", arguments), ty, Error::Fault)
    }

    fn dynamic_builtin(&mut self, function: Builtin, codes: Vec<Code>, ty: &Type) -> Code {
        let values = self.values(codes);
        let call = code!("expr::builtin(model::Builtin::{function:?}, {values})", values);
        let value = self.tries(call, Type::Json, Error::Evaluation);
        self.convert(value, ty)
    }

    fn len(x: &Code) -> Option<Code> {
        let x = match x.ty {
            // The language counts characters, Rust's `len` counts bytes.
            Type::Text => code!("{x}.chars().count()", x = x.within(Binding::Whole)),
            Type::List(_) | Type::Map(_) => code!("{x}.len()", x = x.within(Binding::Whole)),
            Type::Bool
            | Type::Int
            | Type::Float
            | Type::Duration
            | Type::Json
            | Type::Optional(_)
            | Type::Named(_) => return None,
        };
        Some(Code::owned(code!("{x} as i64", x), Type::Int).bound(Binding::Cast))
    }

    /// Writes the minimum or maximum of several numbers or durations; `None` for other types.
    fn extreme(&mut self, function: Builtin, codes: &[Code], ty: &Type) -> Option<Code> {
        let all = |ty: &Type| codes.iter().all(|c| c.ty == *ty);
        let numbers = codes.iter().all(|c| matches!(c.ty, Type::Int | Type::Float));
        let name = if function == Builtin::Min { "min" } else { "max" };
        let (path, ty) = if all(&Type::Int) || all(&Type::Duration) {
            (format!("core::cmp::{name}"), codes[0].ty.clone())
        } else if numbers && *ty == Type::Float {
            (format!("generated::{name}"), Type::Float)
        } else {
            return None;
        };
        let mut codes = codes.iter().map(|c| {
            let code = self.convert(literal(c, &ty), &ty);
            self.own(&code)
        });
        let first = codes.next()?;
        Some(Code::owned(codes.fold(first, |a, b| code!("{path}({a}, {b})", a, b)), ty))
    }

    fn round_to(&self, x: &Code, digits: &Code) -> Option<Code> {
        let (name, ty) = match x.ty {
            Type::Int => ("round_int", Type::Int),
            Type::Float => ("round_to", Type::Float),
            Type::Bool
            | Type::Text
            | Type::Duration
            | Type::Json
            | Type::List(_)
            | Type::Map(_)
            | Type::Optional(_)
            | Type::Named(_) => return None,
        };
        Some(self.operation(name, &[x, digits], ty))
    }

    fn text_method(x: &Code, method: &str) -> Option<Code> {
        let text = code!("{x}.{method}", x = x.within(Binding::Whole));
        Some(Code::owned(text.using(Use::Allocator), Type::Text))
    }

    /// Writes `int(x)`, `float(x)` or `bool(x)`; `None` for other types.
    fn scalar(&mut self, function: Builtin, x: &Code) -> Option<Code> {
        let compare = |text: Fragment| Some(Code::owned(text, Type::Bool).bound(Binding::Compare));
        match (function, &x.ty) {
            (Builtin::Int, Type::Int)
            | (Builtin::Float, Type::Float)
            | (Builtin::Bool, Type::Bool) => Some(x.clone()),
            (Builtin::Int, Type::Bool) => {
                Some(Code::owned(code!("i64::from({x})", x = self.own(x)), Type::Int))
            }
            (Builtin::Int, Type::Float) => Some(self.operation("to_int", &[x], Type::Int)),
            (Builtin::Float, Type::Int) => {
                Some(self.convert(literal(x, &Type::Float), &Type::Float))
            }
            (Builtin::Bool, Type::Int) => {
                compare(code!("{x} != 0", x = self.operand(x, Binding::Sum)))
            }
            (Builtin::Bool, Type::Float) => {
                compare(code!("{x} != 0.0", x = self.operand(x, Binding::Sum)))
            }
            (Builtin::Bool, Type::Text | Type::List(_) | Type::Map(_)) => {
                let text = code!("!{x}.is_empty()", x = x.within(Binding::Whole));
                Some(Code::owned(text, Type::Bool).bound(Binding::Prefix))
            }
            (Builtin::Bool, Type::Json) => {
                Some(Code::owned(code!("expr::truth({x})", x = x.lend()), Type::Bool))
            }
            _ => None,
        }
    }
}

/// Writes an Int literal as a Float literal where a Float is wanted.
fn literal(code: &Code, want: &Type) -> Code {
    match (code.constant, want) {
        (Some(Constant::Int(i)), Type::Float) if code.ty == Type::Int => super::float(i as f64),
        _ => code.clone(),
    }
}
