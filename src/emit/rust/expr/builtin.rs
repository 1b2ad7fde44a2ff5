//! Functions of the language: Rust's own where they mean the same, else the interpreter's.

use super::{Binding, Code, Writer};
use chartc_core::model::{Builtin, Expr, Type};

impl Writer<'_> {
    pub(super) fn builtin(&self, function: Builtin, arguments: &[Expr], ty: &Type) -> Code {
        let codes: Vec<Code> = arguments.iter().map(|a| self.expr(a)).collect();
        let native = match (function, codes.as_slice()) {
            (Builtin::Len, [x]) => Self::len(x),
            (Builtin::Min | Builtin::Max, [_, _, ..]) => self.extreme(function, &codes, ty),
            (Builtin::Abs, [x]) if x.ty == Type::Int => {
                Some(Code::owned(format!("ops::abs({})?", self.own(x)), Type::Int))
            }
            (Builtin::Abs, [x]) if x.ty == Type::Float => {
                let text = format!("f64::abs({})", self.own(x));
                Some(Code::owned(text, Type::Float))
            }
            (Builtin::Round, [x]) if x.ty == Type::Int => Some(x.clone()),
            (Builtin::Round, [x]) if x.ty == Type::Float => {
                Some(Code::owned(format!("ops::round({})?", self.own(x)), Type::Int))
            }
            (Builtin::Round, [x, digits]) if digits.ty == Type::Int => self.round_to(x, digits),
            (Builtin::Lower, [x]) if x.ty == Type::Text => self.text_method(x, "to_lowercase()"),
            (Builtin::Upper, [x]) if x.ty == Type::Text => self.text_method(x, "to_uppercase()"),
            (Builtin::StartsWith, [x, prefix]) if x.ty == Type::Text && prefix.ty == Type::Text => {
                let text = format!("{}.starts_with({})", x.within(Binding::Whole), prefix.lend());
                Some(Code::owned(text, Type::Bool))
            }
            (Builtin::Concat, [_, ..]) if codes.iter().all(|c| c.ty == Type::Text) => {
                self.allocates();
                let parts: Vec<String> = codes.iter().map(Code::lend).collect();
                Some(Code::owned(format!("[{}].concat()", parts.join(", ")), Type::Text))
            }
            (Builtin::Str, [x]) if x.ty == Type::Text => Some(x.clone()),
            (Builtin::Int | Builtin::Float | Builtin::Bool, [x]) => self.to_scalar(function, x),
            _ => None,
        };
        native.unwrap_or_else(|| self.dynamic_builtin(function, codes, ty))
    }

    fn dynamic_builtin(&self, function: Builtin, codes: Vec<Code>, ty: &Type) -> Code {
        self.allocates();
        let codes: Vec<String> = codes.into_iter().map(|c| self.json(c)).collect();
        let text = format!("expr::builtin(model::Builtin::{function:?}, &[{}])?", codes.join(", "));
        self.convert(Code::owned(text, Type::Json), ty)
    }

    fn len(x: &Code) -> Option<Code> {
        let x = match x.ty {
            Type::Text => format!("{}.chars().count()", x.within(Binding::Whole)),
            Type::List(_) | Type::Map(_) => format!("{}.len()", x.within(Binding::Whole)),
            Type::Bool
            | Type::Int
            | Type::Float
            | Type::Duration
            | Type::Json
            | Type::Optional(_)
            | Type::Named(_) => return None,
        };
        Some(Code::owned(format!("{x} as i64"), Type::Int).bound(Binding::Cast))
    }

    /// The least or greatest of several numbers or durations.
    fn extreme(&self, function: Builtin, codes: &[Code], ty: &Type) -> Option<Code> {
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
        let mut codes = codes.iter().map(|c| self.own(&self.convert(literal(c, &ty), &ty)));
        let first = codes.next()?;
        Some(Code::owned(codes.fold(first, |a, b| format!("{path}({a}, {b})")), ty))
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
        let text = format!("ops::{name}({}, {})?", self.own(x), self.own(digits));
        Some(Code::owned(text, ty))
    }

    fn text_method(&self, x: &Code, method: &str) -> Option<Code> {
        self.allocates();
        Some(Code::owned(format!("{}.{method}", x.within(Binding::Whole)), Type::Text))
    }

    /// `int(x)`, `float(x)`, `bool(x)`.
    fn to_scalar(&self, function: Builtin, x: &Code) -> Option<Code> {
        let whole = || x.within(Binding::Whole);
        let compare = |text: String| Some(Code::owned(text, Type::Bool).bound(Binding::Compare));
        match (function, &x.ty) {
            (Builtin::Int, Type::Int)
            | (Builtin::Float, Type::Float)
            | (Builtin::Bool, Type::Bool) => Some(x.clone()),
            (Builtin::Int, Type::Bool) => {
                Some(Code::owned(format!("i64::from({})", self.own(x)), Type::Int))
            }
            (Builtin::Int, Type::Float) => {
                Some(Code::owned(format!("ops::to_int({})?", self.own(x)), Type::Int))
            }
            (Builtin::Float, Type::Int) => {
                Some(self.convert(literal(x, &Type::Float), &Type::Float))
            }
            (Builtin::Bool, Type::Int) => {
                compare(format!("{} != 0", self.operand(x, Binding::Sum)))
            }
            (Builtin::Bool, Type::Float) => {
                compare(format!("{} != 0.0", self.operand(x, Binding::Sum)))
            }
            (Builtin::Bool, Type::Text | Type::List(_) | Type::Map(_)) => {
                let text = format!("!{}.is_empty()", whole());
                Some(Code::owned(text, Type::Bool).bound(Binding::Prefix))
            }
            (Builtin::Bool, Type::Json) => {
                Some(Code::owned(format!("expr::truth({})", x.lend()), Type::Bool))
            }
            _ => None,
        }
    }
}

/// A literal Int where a Float is wanted is written as one.
fn literal(code: &Code, want: &Type) -> Code {
    match (code.text.parse::<i64>(), want) {
        (Ok(i), Type::Float) if code.ty == Type::Int => super::float(i as f64),
        _ => code.clone(),
    }
}
