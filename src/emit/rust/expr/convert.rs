//! From the type that an expression has to the type that is wanted.

use super::{Binding, Code, Form, Writer};
use chartc_core::model::Type;

impl Writer<'_> {
    /// `code` as a `want`. What no rule of the language converts goes by its value, and fails when it does not fit.
    pub(in super::super) fn convert(&self, code: Code, want: &Type) -> Code {
        if code.ty == *want {
            return code;
        }
        match (&code.ty, want) {
            (Type::Int, Type::Float) => {
                let text = format!("{} as f64", self.operand(&code, Binding::Cast));
                Code::owned(text, Type::Float).bound(Binding::Cast)
            }
            (_, Type::Json) => Code::owned(self.json(code), Type::Json),
            (Type::Optional(inner), Type::Optional(_)) => self.inside(&code, inner, want),
            (Type::Json, Type::Optional(_)) => self.typed(&code, want),
            (_, Type::Optional(inner)) => {
                let inner = self.convert(code, inner);
                Code::owned(format!("Some({})", self.own(&inner)), want.clone())
            }
            (Type::Optional(inner), _) => {
                let copy = self.context.facts.is_copy(&code.ty);
                let function = if self.context.bare { "set" } else { "some" };
                let text = match code.form {
                    Form::Place | Form::Lent if !copy => {
                        format!("generated::{function}({}.as_ref())?", code.within(Binding::Whole))
                    }
                    Form::Place | Form::Lent | Form::Owned => {
                        format!("generated::{function}({})?", self.own(&code))
                    }
                };
                let form = if copy { Form::Owned } else { code.form };
                let form = if form == Form::Place { Form::Lent } else { form };
                let lent = Code { text, ty: (**inner).clone(), form, binding: Binding::Whole };
                self.convert(lent, want)
            }
            (Type::List(_), Type::List(_)) | (Type::Map(_), Type::Map(_))
                if self.same_rust(&code.ty, want) =>
            {
                Code { ty: want.clone(), ..code }
            }
            _ => self.typed(&code, want),
        }
    }

    /// The code as a `Value` of its own.
    pub(in super::super) fn json(&self, code: Code) -> String {
        self.allocates();
        if code.ty == Type::Json {
            return self.own(&code);
        }
        if code.text == "None" {
            return "Value::None".to_owned();
        }
        // A number literal has no type of its own yet.
        let suffix = if code.ty == Type::Int && code.text.ends_with(|c: char| c.is_ascii_digit()) {
            "Int"
        } else if code.ty == Type::Float && code.form == Form::Owned {
            "Float"
        } else {
            ""
        };
        if suffix.is_empty() {
            let text = match (&code.ty, code.form) {
                // `&str` is a value's source as it is.
                (Type::Text, Form::Lent) => code.within(Binding::Whole),
                _ => self.operand(&code, Binding::Whole),
            };
            format!("{text}.into_value()")
        } else {
            format!("Value::{suffix}({})", self.own(&code))
        }
    }

    /// By its value.
    fn typed(&self, code: &Code, want: &Type) -> Code {
        let rust = super::super::types::owned(self.context, want);
        let text = format!("generated::typed::<{rust}>({})?", self.json(code.clone()));
        Code::owned(text, want.clone())
    }

    /// From one optional to another.
    fn inside(&self, code: &Code, inner: &Type, want: &Type) -> Code {
        let Type::Optional(wanted) = want else { return code.clone() };
        if self.same_rust(inner, wanted) {
            return Code { ty: want.clone(), ..code.clone() };
        }
        let name = self.temporary();
        let item = self.convert(Code::place(&name, inner.clone()), wanted);
        let text = format!(
            "match {} {{ Some({name}) => Some({}), None => None }}",
            self.own(code),
            self.own(&item)
        );
        Code::owned(text, want.clone()).bound(Binding::Block)
    }

    /// Whether two types of the chart are one in Rust.
    fn same_rust(&self, a: &Type, b: &Type) -> bool {
        let name = |ty| super::super::types::owned(self.context, ty);
        name(a) == name(b)
    }
}
