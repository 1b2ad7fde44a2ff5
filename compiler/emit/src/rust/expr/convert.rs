//! Converts code from the type of its expression to the wanted type.

use super::{Binding, Code, Constant, Error, Form, Fragment, Use, Writer, code};
use chartc_core::model::{Expr, Type};

impl Writer<'_> {
    /// Converts `code` to `want`. Types without a conversion rule are converted through a `Value`, which fails if the value does not fit.
    pub(in super::super) fn convert(&mut self, code: Code, want: &Type) -> Code {
        if code.ty == *want {
            return code;
        }
        match (&code.ty, want) {
            (Type::Int, Type::Float) => {
                let text = code!("{of} as f64", of = self.operand(&code, Binding::Cast));
                Code::owned(text, Type::Float).bound(Binding::Cast)
            }
            (_, Type::Json) => Code::owned(self.json(code), Type::Json),
            (Type::Optional(inner), Type::Optional(_)) => {
                let inner = (**inner).clone();
                self.inside(&code, &inner, want)
            }
            (Type::Json, Type::Optional(_)) => self.typed(code, want),
            (_, Type::Optional(inner)) => {
                let inner = self.convert(code, inner);
                Code::owned(code!("Some({inner})", inner = self.own(&inner)), want.clone())
            }
            (Type::Optional(inner), _) => {
                let inner = (**inner).clone();
                let value = self.unwrapped(&code, inner);
                self.convert(value, want)
            }
            (Type::List(_), Type::List(_)) | (Type::Map(_), Type::Map(_))
                if self.same_rust(&code.ty, want) =>
            {
                code.of_type(want)
            }
            _ => self.typed(code, want),
        }
    }

    /// Writes the inner value of an optional; a missing one is an error.
    fn unwrapped(&self, code: &Code, inner: Type) -> Code {
        let (function, error) =
            if self.context.bare { ("set", Error::Fault) } else { ("some", Error::Failure) };
        let copy = self.context.facts.is_copy(&code.ty);
        match code.form {
            Form::Place | Form::Lent if !copy => {
                let whole = code.within(Binding::Whole);
                let text = code!("generated::{function}({whole}.as_ref())?", whole);
                Code::lent(text.using(Use::Failure), inner)
            }
            Form::Place | Form::Lent | Form::Owned => {
                let call = code!("generated::{function}({of})", of = self.own(code));
                self.tries(call, inner, error)
            }
        }
    }

    /// Writes the code as an owned `Value`.
    pub(in super::super) fn json(&self, code: Code) -> Fragment {
        let value = match (code.constant, &code.ty) {
            (_, Type::Json) => self.own(&code),
            (Some(Constant::None), _) => "Value::None".into(),
            // A number literal has no Rust type yet, so no conversion can be called on it.
            (Some(Constant::Int(_)), Type::Int) => code!("Value::Int({i})", i = code.text()),
            (_, Type::Float) if code.form == Form::Owned => {
                code!("Value::Float({x})", x = code.text())
            }
            // A `&str` converts to a value directly.
            (_, Type::Text) if code.form == Form::Lent => {
                code!("{text}.into_value()", text = code.within(Binding::Whole))
            }
            _ => code!("{value}.into_value()", value = self.operand(&code, Binding::Whole)),
        };
        value.using(Use::Allocator)
    }

    /// Writes a slice of values. A single value is borrowed, not copied.
    pub(in super::super) fn values(&self, codes: Vec<Code>) -> Fragment {
        match codes.as_slice() {
            [one] if one.ty == Type::Json && one.form != Form::Owned => {
                code!("core::slice::from_ref({one})", one = one.lend()).using(Use::Allocator)
            }
            _ => {
                let values = Fragment::joined(codes.into_iter().map(|code| self.json(code)), ", ");
                code!("&[{values}]", values)
            }
        }
    }

    /// Writes an expression of the type `want` as a `Value`.
    pub(in super::super) fn valued(&mut self, expr: &Expr, want: &Type) -> Fragment {
        let code = self.value_code(expr, want);
        if *want == Type::Json || code.constant.is_some() {
            return self.json(code);
        }
        let (rust, value) = (super::super::types::owned(self.context, want), self.own(&code));
        code!("{{ let value: {rust} = {value}; value.into_value() }}", value).using(Use::Braces)
    }

    /// Writes a conversion through a `Value`.
    fn typed(&self, code: Code, want: &Type) -> Code {
        let rust = super::super::types::owned(self.context, want);
        let call = code!("generated::typed::<{rust}>({value})", value = self.json(code));
        self.tries(call, want.clone(), Error::Failure)
    }

    /// Writes the conversion of one optional to another.
    fn inside(&mut self, code: &Code, inner: &Type, want: &Type) -> Code {
        let Type::Optional(wanted) = want else { return code.clone() };
        if self.same_rust(inner, wanted) {
            return code.clone().of_type(want);
        }
        let name = self.temporary();
        let item = self.convert(Code::place(name.as_str(), inner.clone()), wanted);
        let item = self.own(&item);
        // In a closure, `?` would not leave the body.
        if !item.has(Use::Failure) {
            let of = self.operand(code, Binding::Whole);
            return Code::owned(code!("{of}.map(|{name}| {item})", of, item), want.clone());
        }
        let of = self.own(code);
        let text = code!("match {of} {{ Some({name}) => Some({item}), None => None }}", of, item);
        Code::owned(text, want.clone()).bound(Binding::Block)
    }

    /// Whether two types of the chart have the same Rust type.
    fn same_rust(&self, a: &Type, b: &Type) -> bool {
        let name = |ty| super::super::types::owned(self.context, ty);
        name(a) == name(b)
    }
}
