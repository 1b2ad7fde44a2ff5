//! Pieces of generated code, each with what it reads and does, so that nothing has to look into its text.

use chartc_core::arena::{LocalId, PredicateId};
use chartc_core::model::Type;
use std::collections::BTreeSet;
use std::ops::AddAssign;

/// What a piece of code reads or does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// It reads `view`.
    View,
    /// It reads `outbox`.
    Outbox,
    /// It reads `options`.
    Options,
    /// It reads `event`.
    Event,
    /// It reads `occurrence`.
    Occurrence,
    /// It counts `faults`.
    Faults,
    /// It writes to `sink`.
    Sink,
    /// It calls a method of the program, which borrows all of it.
    Program,
    /// It counts what loops repeat.
    Work,
    /// It may leave the body with an error.
    Failure,
    /// It allocates.
    Allocator,
    /// It has blocks or records in it.
    Braces,
}

/// Everything that a piece of code reads and does.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Uses {
    /// A bit for each [`Use`].
    all: u16,
    /// Locals of loops that it reads.
    pub locals: BTreeSet<LocalId>,
    /// Fields that it reads of what is being handled.
    pub fields: BTreeSet<u32>,
    /// Named conditions that it calls.
    pub predicates: BTreeSet<PredicateId>,
}

impl Uses {
    /// Whether `what` is among them.
    pub(super) fn has(&self, what: Use) -> bool {
        self.all & (1 << what as u16) != 0
    }

    /// Those of both.
    pub(super) fn and(mut self, other: &Self) -> Self {
        self.all |= other.all;
        self.locals.extend(&other.locals);
        self.fields.extend(&other.fields);
        self.predicates.extend(&other.predicates);
        self
    }
}

/// A piece of code.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fragment {
    /// Its text.
    pub text: String,
    /// What it reads and does.
    pub uses: Uses,
}

/// The fragment of a format string. Fragments that stand in it are named behind it, texts are not:
/// `code!("if {condition} {{ {name}(); }}", condition)`.
macro_rules! code {
    ($text:literal $(, $name:ident $(= $value:expr)?)* $(,)?) => {{
        $($(let $name = $value;)?)*
        $crate::emit::rust::code::Fragment {
            uses: $crate::emit::rust::code::Uses::default()$(.and(&$name.uses))*,
            text: format!($text $(, $name = $name.text)*),
        }
    }};
}
pub(super) use code;

impl Fragment {
    /// The same, which also reads or does `what`.
    pub(super) fn using(mut self, what: Use) -> Self {
        self.uses.all |= 1 << what as u16;
        self
    }

    /// The same inside of something that takes care of `what`.
    pub(super) fn without(mut self, what: Use) -> Self {
        self.uses.all &= !(1 << what as u16);
        self
    }

    /// Whether it reads or does `what`.
    pub(super) fn has(&self, what: Use) -> bool {
        self.uses.has(what)
    }

    /// Whether there is no code.
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// All of them with `between` between them.
    pub(super) fn joined(all: impl IntoIterator<Item = Self>, between: &str) -> Self {
        let mut out = Self::default();
        for (i, one) in all.into_iter().enumerate() {
            if i > 0 {
                out.text.push_str(between);
            }
            out += one;
        }
        out
    }

    /// The name of a parameter that this body may not read.
    pub(super) fn parameter(&self, name: &str, what: Use) -> String {
        if self.has(what) { name.to_owned() } else { format!("_{name}") }
    }
}

impl AddAssign for Fragment {
    fn add_assign(&mut self, more: Self) {
        self.text.push_str(&more.text);
        self.uses = std::mem::take(&mut self.uses).and(&more.uses);
    }
}

impl FromIterator<Fragment> for Fragment {
    fn from_iter<I: IntoIterator<Item = Self>>(all: I) -> Self {
        Self::joined(all, "")
    }
}

impl From<&str> for Fragment {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl From<String> for Fragment {
    fn from(text: String) -> Self {
        Self { text, uses: Uses::default() }
    }
}

/// How the text of an expression stands for its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A value of its own.
    Owned,
    /// A place, such as a field: to be borrowed, copied or cloned.
    Place,
    /// A reference to the value; `&str` for Text.
    Lent,
}

/// How tightly the text's outermost operator binds; a later one binds tighter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Binding {
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

/// A value that is known as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Constant {
    /// The `None` of an optional.
    None,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// An empty text, list or map.
    Empty,
    /// Anything else.
    Other,
}

/// What the error of a call is to the body that it stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tried {
    /// The body's own, so that the call's result may be the body's.
    Own,
    /// One that becomes the body's.
    Other,
}

/// An expression of Rust.
#[derive(Debug, Clone)]
pub(super) struct Code {
    /// Without the `?` of a call that may fail.
    whole: Fragment,
    /// It is a call that may fail.
    tried: Option<Tried>,
    /// The chart's type of the value; the text's Rust type follows from it and the form.
    pub ty: Type,
    /// What the text gives.
    pub form: Form,
    /// For parentheses.
    pub binding: Binding,
    /// What it is known to be.
    pub constant: Option<Constant>,
}

impl Code {
    fn of(text: impl Into<Fragment>, ty: Type, form: Form) -> Self {
        let binding = Binding::Whole;
        Self { whole: text.into(), tried: None, ty, form, binding, constant: None }
    }

    /// A value of its own that needs no parentheses.
    pub(super) fn owned(text: impl Into<Fragment>, ty: Type) -> Self {
        Self::of(text, ty, Form::Owned)
    }

    /// A place that needs no parentheses.
    pub(super) fn place(text: impl Into<Fragment>, ty: Type) -> Self {
        Self::of(text, ty, Form::Place)
    }

    /// A reference that needs no parentheses.
    pub(super) fn lent(text: impl Into<Fragment>, ty: Type) -> Self {
        Self::of(text, ty, Form::Lent)
    }

    /// A value of its own from a call that may fail: with the error of the body that it stands in, or with another one.
    pub(super) fn tried(call: impl Into<Fragment>, ty: Type, own_error: bool) -> Self {
        let tried = Some(if own_error { Tried::Own } else { Tried::Other });
        Self { tried, ..Self::owned(call, ty) }
    }

    /// The same with an outermost operator.
    pub(super) fn bound(mut self, binding: Binding) -> Self {
        if binding == Binding::Block {
            self.whole = self.whole.using(Use::Braces);
        }
        self.binding = binding;
        self
    }

    /// The same, where both types are one in Rust.
    pub(super) fn of_type(mut self, ty: &Type) -> Self {
        self.ty = ty.clone();
        self
    }

    /// The same, known to be `constant`.
    pub(super) fn known(mut self, constant: Constant) -> Self {
        self.constant = Some(constant);
        self
    }

    /// The text as it is.
    pub(super) fn text(&self) -> Fragment {
        let whole = &self.whole;
        if self.tried.is_some() {
            code!("{whole}?", whole).using(Use::Failure)
        } else {
            whole.clone()
        }
    }

    /// Whether it is one call with the body's own error, whose arguments cannot fail.
    pub(super) fn is_one_call(&self) -> bool {
        self.tried == Some(Tried::Own) && self.form == Form::Owned && !self.whole.has(Use::Failure)
    }

    /// A `Result` with the value, for a body that has its own error.
    pub(super) fn result(&self, copy: bool) -> Fragment {
        match (self.tried, self.form) {
            (Some(Tried::Own), Form::Owned) => self.whole.clone().using(Use::Failure),
            (Some(Tried::Own | Tried::Other) | None, Form::Owned | Form::Place | Form::Lent) => {
                code!("Ok({value})", value = self.own(copy))
            }
        }
    }

    /// The text as an operand of something that binds as tightly as `outer`.
    pub(super) fn within(&self, outer: Binding) -> Fragment {
        let text = self.text();
        // `x as u64 < y` would start type arguments; operands of a comparison come as those of a sum.
        let cast = self.binding == Binding::Cast && (Binding::Or..=Binding::Sum).contains(&outer);
        if self.binding < outer || cast { code!("({text})", text) } else { text }
    }

    /// A truth value as an operand.
    pub(super) fn truth(&self, outer: Binding) -> Fragment {
        match self.form {
            Form::Owned | Form::Place => self.within(outer),
            Form::Lent => code!("*{of}", of = self.within(Binding::Prefix)),
        }
    }

    /// A reference to the value: `&str` for Text, `&[T]` for a list that is a place of its own.
    pub(super) fn lend(&self) -> Fragment {
        match self.form {
            Form::Lent => self.text(),
            Form::Owned | Form::Place if self.ty == Type::Text => {
                code!("{whole}.as_str()", whole = self.within(Binding::Whole))
            }
            Form::Owned | Form::Place => code!("&{of}", of = self.within(Binding::Prefix)),
        }
    }

    /// A value of its own.
    pub(super) fn own(&self, copy: bool) -> Fragment {
        match self.form {
            Form::Owned => self.text(),
            Form::Place if copy => self.text(),
            Form::Lent if copy => code!("*{of}", of = self.within(Binding::Prefix)),
            Form::Lent if self.ty == Type::Text => {
                code!("{whole}.to_owned()", whole = self.within(Binding::Whole))
            }
            Form::Place | Form::Lent => {
                code!("{whole}.clone()", whole = self.within(Binding::Whole))
            }
        }
    }
}
