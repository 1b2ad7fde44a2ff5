//! A piece of generated code that computes a value, with what is needed to use it where it fits.

use chartc_core::model::Type;

/// How the text stands for the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Form {
    /// A value of its own.
    Owned,
    /// A place, such as a field: to be borrowed, copied or cloned.
    Place,
    /// A reference to the value; `&str` for Text.
    Lent,
}

/// How tightly the text's outermost operator binds; a later one binds tighter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) enum Binding {
    /// `if`, `match`, a block, `a..b`.
    Block,
    /// `||`.
    Or,
    /// `&&`.
    And,
    /// `==`, `<`.
    Compare,
    /// `+`, `-`.
    Sum,
    /// `*`, `/`.
    Product,
    /// `as`.
    Cast,
    /// `-x`, `!x`, `&x`.
    Prefix,
    /// Calls, paths, literals, fields, `?`.
    Whole,
}

/// An expression of Rust.
#[derive(Debug, Clone)]
pub(in super::super) struct Code {
    /// Its text.
    pub text: String,
    /// The chart's type of the value; the text's Rust type follows from it and the form.
    pub ty: Type,
    /// What the text gives.
    pub form: Form,
    /// For parentheses.
    pub binding: Binding,
}

impl Code {
    /// A value of its own that needs no parentheses.
    pub(in super::super) fn owned(text: impl Into<String>, ty: Type) -> Self {
        Self { text: text.into(), ty, form: Form::Owned, binding: Binding::Whole }
    }

    /// A place that needs no parentheses.
    pub(in super::super) fn place(text: impl Into<String>, ty: Type) -> Self {
        Self { text: text.into(), ty, form: Form::Place, binding: Binding::Whole }
    }

    /// A reference that needs no parentheses.
    pub(in super::super) fn lent(text: impl Into<String>, ty: Type) -> Self {
        Self { text: text.into(), ty, form: Form::Lent, binding: Binding::Whole }
    }

    /// The same with an outermost operator.
    pub(in super::super) fn bound(mut self, binding: Binding) -> Self {
        self.binding = binding;
        self
    }

    /// The text as an operand of something that binds as tightly as `outer`.
    pub(in super::super) fn within(&self, outer: Binding) -> String {
        // `x as u64 < y` would start type arguments; operands of a comparison come as those of a sum.
        let cast = self.binding == Binding::Cast && (Binding::Or..=Binding::Sum).contains(&outer);
        if self.binding < outer || cast { format!("({})", self.text) } else { self.text.clone() }
    }

    /// A reference to the value: `&str` for Text, `&[T]` for a list that is a place of its own.
    pub(in super::super) fn lend(&self) -> String {
        match self.form {
            Form::Lent => self.text.clone(),
            Form::Owned | Form::Place => match self.ty {
                Type::Text => format!("{}.as_str()", self.within(Binding::Whole)),
                Type::Bool
                | Type::Int
                | Type::Float
                | Type::Duration
                | Type::Json
                | Type::List(_)
                | Type::Map(_)
                | Type::Optional(_)
                | Type::Named(_) => format!("&{}", self.within(Binding::Prefix)),
            },
        }
    }

    /// A value of its own.
    pub(in super::super) fn own(&self, copy: bool) -> String {
        match self.form {
            Form::Owned => self.text.clone(),
            Form::Place if copy => self.text.clone(),
            Form::Lent if copy => format!("*{}", self.within(Binding::Prefix)),
            Form::Lent if self.ty == Type::Text => {
                format!("{}.to_owned()", self.within(Binding::Whole))
            }
            Form::Place | Form::Lent => format!("{}.clone()", self.within(Binding::Whole)),
        }
    }
}
