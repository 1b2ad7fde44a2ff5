//! Expressions as typed Rust: numbers, truth values, durations and texts as Rust's own, with the arithmetic that the
//! interpreter uses; lists, maps and JSON through the interpreter's functions wherever Rust's own would mean something else.

mod access;
mod builtin;
mod code;
mod collect;
mod compare;
mod convert;
mod literal;
mod operate;
mod template;

pub(super) use code::{Binding, Code, Form};
pub(super) use collect::unused;

use super::Context;
use chartc_core::arena::LocalId;
use chartc_core::model::{Expr, ExprKind, Type, UnaryOp};
use chartc_core::semantics::unroll::Place;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// Writes the expressions of one function body. The body sees `self` (the program) and `view` (the machine's observables);
/// a fault leaves it by `?`.
pub(super) struct Writer<'w> {
    /// The chart and its names.
    pub context: &'w Context<'w>,
    /// What the fields of the thing being handled are called here.
    pub payload: Vec<Code>,
    /// Where the machine is while the body runs, if that is known.
    pub place: Option<Place>,
    /// There is no machine yet: variables are locals, and nothing else is known.
    early: bool,
    locals: RefCell<BTreeMap<LocalId, Type>>,
    temporaries: Cell<u32>,
    /// Loops around what is written.
    loops: Cell<u32>,
}

impl<'w> Writer<'w> {
    /// For a body that sees no payload.
    pub(super) fn new(context: &'w Context<'w>) -> Self {
        Self {
            context,
            payload: Vec::new(),
            place: None,
            early: false,
            locals: RefCell::default(),
            temporaries: Cell::new(0),
            loops: Cell::new(0),
        }
    }

    /// For the first values of variables, where those declared before are locals.
    pub(super) fn before_start(context: &'w Context<'w>) -> Self {
        Self { early: true, ..Self::new(context) }
    }

    /// The expression, as it comes most cheaply.
    pub(super) fn expr(&self, expr: &Expr) -> Code {
        let code = self.kind(expr);
        match (&code.ty, &expr.ty) {
            (Type::Int, Type::Float) => self.convert(code, &Type::Float),
            // The checker has proved that it is set.
            (Type::Optional(inner), ty)
                if !matches!(ty, Type::Optional(_) | Type::Json)
                    && !matches!(expr.kind, ExprKind::None) =>
            {
                let inner = (**inner).clone();
                self.convert(code, &inner)
            }
            _ => code,
        }
    }

    /// A value of its own of the type `want`.
    pub(super) fn value(&self, expr: &Expr, want: &Type) -> String {
        let code = self.value_code(expr, want);
        self.own(&code)
    }

    /// The same for what is kept under a name of the chart: values nest only so deep.
    pub(super) fn kept(&self, expr: &Expr, want: &Type, name: &str) -> String {
        let value = self.value(expr, want);
        if *want == Type::Json {
            format!("generated::kept_json({name:?}, {value})?")
        } else if self.context.facts.nests(want) {
            format!("generated::kept({name:?}, {value})?")
        } else {
            value
        }
    }

    /// The expression converted to `want`, in whatever form it comes.
    pub(super) fn value_code(&self, expr: &Expr, want: &Type) -> Code {
        match (&expr.kind, want) {
            (ExprKind::None, Type::Optional(_)) => Code::owned("None", want.clone()),
            // A list of a wider type is made as such, not converted afterwards.
            (ExprKind::List(items), Type::List(item)) => self.list(items, item),
            (ExprKind::Map(entries), Type::Map(item)) => self.map(entries, item),
            _ => self.convert(self.expr(expr), want),
        }
    }

    /// A condition, as an operand of something that binds as tightly as `outer`.
    pub(super) fn condition(&self, expr: &Expr, outer: Binding) -> String {
        let code = self.convert(self.expr(expr), &Type::Bool);
        match code.form {
            Form::Owned | Form::Place => code.within(outer),
            Form::Lent => format!("*{}", code.within(Binding::Prefix)),
        }
    }

    /// A value of its own of whatever type the code has.
    pub(super) fn own(&self, code: &Code) -> String {
        code.own(self.context.facts.is_copy(&code.ty))
    }

    /// The same, as an operand.
    pub(super) fn operand(&self, code: &Code, outer: Binding) -> String {
        let text = self.own(code);
        let binding = match code.form {
            Form::Lent if self.context.facts.is_copy(&code.ty) => Binding::Prefix,
            Form::Owned | Form::Place | Form::Lent => code.binding,
        };
        Code { text, binding, ..code.clone() }.within(outer)
    }

    /// A name that nothing else in the body has.
    pub(super) fn temporary(&self) -> String {
        let n = self.temporaries.get();
        self.temporaries.set(n + 1);
        format!("value{n}")
    }

    /// Notes that the body needs an allocator.
    pub(super) fn allocates(&self) {
        self.context.allocates.set(true);
    }

    fn kind(&self, expr: &Expr) -> Code {
        match &expr.kind {
            ExprKind::None => {
                self.allocates();
                Code::owned("Value::None", Type::Json)
            }
            ExprKind::Bool(b) => Code::owned(b.to_string(), Type::Bool),
            ExprKind::Int(i) => {
                let binding = if *i < 0 { Binding::Prefix } else { Binding::Whole };
                Code::owned(i.to_string(), Type::Int).bound(binding)
            }
            ExprKind::Float(x) => float(*x),
            ExprKind::Duration(ms) => Code::owned(format!("Duration({ms})"), Type::Duration),
            ExprKind::Text(text) => self.text(text),
            ExprKind::Enum(id, name) => self.enumeration(*id, name),
            ExprKind::Variable(id) => self.variable(*id),
            ExprKind::Local(id) => self.local(*id, &expr.ty),
            ExprKind::Payload(nth) => match self.payload.get(*nth as usize) {
                Some(code) => code.clone(),
                None => self.fails(&expr.ty, "what is handled has no such field"),
            },
            ExprKind::Answer(_)
            | ExprKind::Predicate(_)
            | ExprKind::Observable(_)
            | ExprKind::Call(..)
                if self.early =>
            {
                self.fails(&expr.ty, "not known before the start")
            }
            ExprKind::Answer(step) => self.answer(*step, &expr.ty),
            ExprKind::Predicate(id) => {
                let name = &self.context.names.predicates[id.index()];
                let view = if self.context.is_direct() { "" } else { "view" };
                Code::owned(format!("self.{name}({view})?"), Type::Bool)
            }
            ExprKind::Observable(observable) => self.observable(observable),
            ExprKind::Field(of, name) => self.field(of, name),
            ExprKind::Index(of, at) => self.index(of, at),
            ExprKind::Slice(of, from, to) => self.slice(of, from.as_deref(), to.as_deref()),
            ExprKind::Unary(UnaryOp::Not, of) => {
                let text = format!("!{}", self.condition(of, Binding::Prefix));
                Code::owned(text, Type::Bool).bound(Binding::Prefix)
            }
            ExprKind::Unary(UnaryOp::Negate, of) => self.negate(of),
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right),
            ExprKind::Compare(first, rest) => self.comparison(first, rest),
            ExprKind::If(condition, then, otherwise) => {
                let condition = self.condition(condition, Binding::Block);
                let then = self.value(then, &expr.ty);
                let otherwise = self.value(otherwise, &expr.ty);
                let text = format!("if {condition} {{ {then} }} else {{ {otherwise} }}");
                Code::owned(text, expr.ty.clone()).bound(Binding::Block)
            }
            ExprKind::Default(of, default) => self.default(of, default, &expr.ty),
            ExprKind::Builtin(function, arguments) => self.builtin(*function, arguments, &expr.ty),
            ExprKind::Call(function, arguments) => self.call(*function, arguments),
            ExprKind::List(items) => match super::types::list_item(&expr.ty) {
                Some(item) => self.list(items, item),
                None => self.json_list(items),
            },
            ExprKind::Map(entries) => {
                let item = if let Type::Map(item) = &expr.ty { item } else { &Type::Json };
                self.map(entries, item)
            }
            ExprKind::Record(id, fields) => self.record(*id, fields),
            ExprKind::Comprehension { item, local, source, filter } => {
                self.comprehension(item, *local, source, filter.as_deref(), &expr.ty)
            }
            ExprKind::Unknown(name) => self.fails(&expr.ty, &format!("`{name}` is not in scope")),
        }
    }

    /// Code of type `ty` that always fails.
    fn fails(&self, ty: &Type, why: &str) -> Code {
        let rust = super::types::owned(self.context, ty);
        let text = if self.context.bare {
            format!("Err::<{rust}, _>(machine::Fault)?")
        } else {
            format!("generated::fails::<{rust}>({why:?})?")
        };
        Code::owned(text, ty.clone())
    }
}

/// A literal.
fn float(x: f64) -> Code {
    let text = match x {
        _ if x.is_nan() => "f64::NAN".to_owned(),
        f64::INFINITY => "f64::INFINITY".to_owned(),
        f64::NEG_INFINITY => "f64::NEG_INFINITY".to_owned(),
        _ => format!("{x:?}"),
    };
    let binding = if text.starts_with('-') { Binding::Prefix } else { Binding::Whole };
    Code::owned(text, Type::Float).bound(binding)
}
