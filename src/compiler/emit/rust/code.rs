//! Fragments of generated code, each with what it reads and does, so that no writer searches its text.
//!
//! The problem: the parameters of a generated method, its error type and its parentheses depend on the code inside, which is written first.
//! The idea: code is never a bare string. A [`Fragment`] carries its uses, and joining fragments joins them; a [`Code`] is an expression
//! that also knows its type, its form and how tightly it binds. For example, the guard `n + 1 > bound` of a chart with an allocator:
//!
//! ```text
//! n            a place of type Int, which binds as tightly as any                  self.data.n
//! n + 1        the value of a call that may fail                                   ops::add(self.data.n, 1)?
//! n + 1 > …    a comparison, which has `Use::Failure`, because its operand has     ops::add(self.data.n, 1)? > …
//! the guard    a `Result`, because its code has `Use::Failure`                     Ok(ops::add(self.data.n, 1)? > …)
//! ```

use chartc_core::arena::{FunctionId, LocalId, PredicateId};
use chartc_core::model::{Action, BinaryOp, Chart, Expr, ExprKind, Observable, Type, UnaryOp};
use std::collections::BTreeSet;
use std::ops::AddAssign;

/// A thing that a fragment reads or does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// Reads `view`.
    View,
    /// Reads `outbox`.
    Outbox,
    /// Reads `options`.
    Options,
    /// Reads `event`.
    Event,
    /// Reads `occurrence`.
    Occurrence,
    /// Counts `faults`.
    Faults,
    /// Writes to `sink`.
    Sink,
    /// Calls a method of the program, which borrows all of it.
    Program,
    /// Counts the repetitions of loops.
    Work,
    /// May leave the body with an error.
    Failure,
    /// Allocates memory.
    Allocator,
    /// Contains blocks or records, so that it must be in parentheses where a block follows, as after `if`.
    Braces,
}

/// The set of things that a fragment reads and does.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Uses {
    /// One bit for each [`Use`].
    all: u16,
    /// The loop variables that it reads.
    pub locals: BTreeSet<LocalId>,
    /// The fields of the current event or answer that it reads.
    pub fields: BTreeSet<u32>,
    /// The named conditions that it calls.
    pub predicates: BTreeSet<PredicateId>,
    /// The functions of the host that it calls.
    pub functions: BTreeSet<FunctionId>,
}

impl Uses {
    /// Whether the set contains `what`.
    pub(super) fn has(&self, what: Use) -> bool {
        self.all & (1 << what as u16) != 0
    }

    /// The union of both sets.
    pub(super) fn and(mut self, other: &Self) -> Self {
        self.all |= other.all;
        self.locals.extend(&other.locals);
        self.fields.extend(&other.fields);
        self.predicates.extend(&other.predicates);
        self.functions.extend(&other.functions);
        self
    }
}

/// A piece of code, with what it reads and does.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fragment {
    /// The code.
    pub text: String,
    /// What the code reads and does.
    pub uses: Uses,
}

/// Creates a fragment from a format string. Its fragments are listed after the string, its texts are not:
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
    /// Marks the code as one that also reads or does `what`.
    pub(super) fn using(mut self, what: Use) -> Self {
        self.uses.all |= 1 << what as u16;
        self
    }

    /// Marks the code as one inside of a construct that handles `what`.
    pub(super) fn without(mut self, what: Use) -> Self {
        self.uses.all &= !(1 << what as u16);
        self
    }

    /// Whether the code reads or does `what`.
    pub(super) fn has(&self, what: Use) -> bool {
        self.uses.has(what)
    }

    /// Whether there is no code.
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Joins fragments, with `between` between them.
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

    /// The name of a parameter, with an underscore if this body does not read it.
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

/// The way in which the text of an expression denotes its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// An owned value.
    Owned,
    /// A place, such as a field, that can be borrowed, copied or cloned.
    Place,
    /// A reference to the value; `&str` for Text.
    Lent,
}

/// The binding of the text's outermost operator; later variants bind more tightly.
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

/// A value known at compile time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Constant {
    /// The `None` of an optional value.
    None,
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// An empty text, list or map.
    Empty,
    /// Any other constant.
    Other,
}

/// The relation of a call's error to the error of the enclosing body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tried {
    /// The same type, so that the call's result may be that of the body.
    Own,
    /// Another type, which `?` converts to that of the body.
    Other,
}

/// A Rust expression that computes a value of the chart.
#[derive(Debug, Clone)]
pub(super) struct Code {
    /// The code, without the `?` of a call that may fail.
    whole: Fragment,
    /// For a call that may fail, the relation of its error.
    tried: Option<Tried>,
    /// The type of the value in the chart. With `form`, it determines the Rust type of the text.
    pub ty: Type,
    /// The way in which the text denotes the value.
    pub form: Form,
    /// The binding of the outermost operator, which determines where parentheses are needed.
    pub binding: Binding,
    /// The value, if it is known at compile time.
    pub constant: Option<Constant>,
}

impl Code {
    fn new(text: impl Into<Fragment>, ty: Type, form: Form) -> Self {
        let binding = Binding::Whole;
        Self { whole: text.into(), tried: None, ty, form, binding, constant: None }
    }

    /// An owned value that never needs parentheses.
    pub(super) fn owned(text: impl Into<Fragment>, ty: Type) -> Self {
        Self::new(text, ty, Form::Owned)
    }

    /// A place that never needs parentheses.
    pub(super) fn place(text: impl Into<Fragment>, ty: Type) -> Self {
        Self::new(text, ty, Form::Place)
    }

    /// A reference that never needs parentheses.
    pub(super) fn lent(text: impl Into<Fragment>, ty: Type) -> Self {
        Self::new(text, ty, Form::Lent)
    }

    /// An owned value from a call that may fail: with the error of the enclosing body (`own_error`), or with another one.
    pub(super) fn tried(call: impl Into<Fragment>, ty: Type, own_error: bool) -> Self {
        let tried = Some(if own_error { Tried::Own } else { Tried::Other });
        Self { tried, ..Self::owned(call, ty) }
    }

    /// The same code, with an outermost operator that binds like this.
    pub(super) fn bound(mut self, binding: Binding) -> Self {
        if binding == Binding::Block {
            self.whole = self.whole.using(Use::Braces);
        }
        self.binding = binding;
        self
    }

    /// The same code, with another type of the chart that is the same type in Rust.
    pub(super) fn of_type(mut self, ty: &Type) -> Self {
        self.ty = ty.clone();
        self
    }

    /// The same code, known to equal `constant`.
    pub(super) fn known(mut self, constant: Constant) -> Self {
        self.constant = Some(constant);
        self
    }

    /// The complete text, with the `?` of a call that may fail.
    pub(super) fn text(&self) -> Fragment {
        let whole = &self.whole;
        if self.tried.is_some() {
            code!("{whole}?", whole).using(Use::Failure)
        } else {
            whole.clone()
        }
    }

    /// Whether it is a single call that fails with the body's own error, and whose arguments cannot fail.
    pub(super) fn is_one_call(&self) -> bool {
        self.tried == Some(Tried::Own) && self.form == Form::Owned && !self.whole.has(Use::Failure)
    }

    /// The value as a `Result`, for a body whose own error it has.
    pub(super) fn result(&self, copy: bool) -> Fragment {
        match (self.tried, self.form) {
            (Some(Tried::Own), Form::Owned) => self.whole.clone().using(Use::Failure),
            (Some(Tried::Own | Tried::Other) | None, Form::Owned | Form::Place | Form::Lent) => {
                code!("Ok({value})", value = self.own(copy))
            }
        }
    }

    /// The text as an operand of an operator that binds as tightly as `outer`; in parentheses if necessary.
    pub(super) fn within(&self, outer: Binding) -> Fragment {
        let text = self.text();
        // `x as u64 < y` would be parsed as type arguments. Operands of a comparison are requested as those of a sum.
        let cast = self.binding == Binding::Cast && (Binding::Or..=Binding::Sum).contains(&outer);
        if self.binding < outer || cast { code!("({text})", text) } else { text }
    }

    /// The text of a condition as an operand.
    pub(super) fn truth(&self, outer: Binding) -> Fragment {
        match self.form {
            Form::Owned | Form::Place => self.within(outer),
            Form::Lent => code!("*{of}", of = self.within(Binding::Prefix)),
        }
    }

    /// A reference to the value: `&str` for Text, `&[T]` for a list in a place.
    pub(super) fn lend(&self) -> Fragment {
        match self.form {
            Form::Lent => self.text(),
            Form::Owned | Form::Place if self.ty == Type::Text => {
                code!("{whole}.as_str()", whole = self.within(Binding::Whole))
            }
            Form::Owned | Form::Place => code!("&{of}", of = self.within(Binding::Prefix)),
        }
    }

    /// The owned value: copied if `copy`, else moved or cloned.
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

// Finds what an expression uses, by a walk over it.

/// Counts the nodes of an expression and of its named conditions: an upper bound on the work, apart from repetitions of loops.
pub(super) fn nodes(chart: &Chart, expr: &Expr) -> u64 {
    let mut count = 0_u64;
    expr.walk(&mut |part| {
        let named = if let ExprKind::Predicate(id) = part.kind {
            nodes(chart, &chart.predicates[id.index()].expr)
        } else {
            0
        };
        count = count.saturating_add(named).saturating_add(1);
    });
    count
}

/// Counts the nodes of actions, like [`nodes`].
pub(super) fn nodes_of(chart: &Chart, actions: &[Action]) -> u64 {
    let mut count = 0_u64;
    for action in actions {
        for expr in action.expressions() {
            count = count.saturating_add(nodes(chart, expr));
        }
        let inner = match action {
            Action::If(_, then, otherwise) => {
                nodes_of(chart, then).saturating_add(nodes_of(chart, otherwise))
            }
            Action::For(_, _, body) => nodes_of(chart, body),
            Action::Assign(..)
            | Action::Do(..)
            | Action::Raise(..)
            | Action::Send { .. }
            | Action::Cancel(_)
            | Action::Result(..)
            | Action::Log(_) => 0,
        };
        count = count.saturating_add(inner).saturating_add(1);
    }
    count
}

/// The first effect of evaluating an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum First {
    /// None: nothing can fail or be observed.
    Nothing,
    /// A read of a field of the current event or answer, whatever the data.
    Field,
    /// Another effect, or a read of a field in a part that is not always evaluated.
    Other,
}

/// Returns the first effect of evaluating `expr`.
pub(super) fn first(expr: &Expr) -> First {
    match &expr.kind {
        ExprKind::Payload(_) => First::Field,
        ExprKind::None
        | ExprKind::Bool(_)
        | ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Duration(_)
        | ExprKind::Enum(..)
        | ExprKind::Variable(_)
        | ExprKind::Local(_)
        | ExprKind::Answer(_)
        | ExprKind::Observable(
            Observable::State
            | Observable::Turns
            | Observable::TurnsHere
            | Observable::TurnsIn(_)
            | Observable::FailsHere
            | Observable::Elapsed
            | Observable::ElapsedHere
            | Observable::In(_)
            | Observable::Health
            | Observable::LastResult
            | Observable::LastFailed
            | Observable::Event
            | Observable::Calls(_)
            | Observable::Tokens(_)
            | Observable::Cost(_),
        ) => First::Nothing,
        ExprKind::Unary(UnaryOp::Not, of) => first(of),
        ExprKind::Field(of, _) => then(first(of), First::Other),
        ExprKind::Binary(BinaryOp::And | BinaryOp::Or, left, right)
        | ExprKind::Default(left, right) => then(first(left), perhaps(&[right])),
        ExprKind::Binary(_, left, right) | ExprKind::Index(left, right) => {
            then(then(first(left), first(right)), First::Other)
        }
        ExprKind::Compare(left, rest) => {
            let mut so_far = first(left);
            for (i, (_, right)) in rest.iter().enumerate() {
                so_far = then(so_far, if i == 0 { first(right) } else { perhaps(&[right]) });
            }
            so_far
        }
        ExprKind::If(condition, a, b) => then(first(condition), perhaps(&[a, b])),
        ExprKind::Builtin(_, all) => {
            then(all.iter().map(first).fold(First::Nothing, then), First::Other)
        }
        ExprKind::List(all) => all.iter().map(first).fold(First::Nothing, then),
        ExprKind::Record(_, fields) => {
            fields.iter().map(|(_, e)| first(e)).fold(First::Nothing, then)
        }
        ExprKind::Text(_)
        | ExprKind::Slice(..)
        | ExprKind::Unary(UnaryOp::Negate, _)
        | ExprKind::Map(_)
        | ExprKind::Comprehension { .. }
        | ExprKind::Predicate(_)
        // If an argument fails, the function may return its fallback, which is a value and no fault.
        | ExprKind::Call(..)
        | ExprKind::Observable(
            Observable::Advice | Observable::Streak(_) | Observable::Repeated(..),
        )
        | ExprKind::Unknown(_) => First::Other,
    }
}

fn then(a: First, b: First) -> First {
    if a == First::Nothing { b } else { a }
}

/// Returns the first effect of parts that may not be evaluated at all: never certain.
fn perhaps(parts: &[&Expr]) -> First {
    if parts.iter().all(|e| first(e) == First::Nothing) { First::Nothing } else { First::Other }
}
