//! Writes expressions as typed Rust.
//!
//! The problem: an expression must mean in generated code what it means in the interpreter, faults included, but must not cost what it
//! costs there. The idea: each expression becomes code of its own type. Numbers, booleans, durations and texts use Rust's types with the
//! interpreter's arithmetic; lists, maps and JSON use the interpreter's functions where Rust's own would mean something else. Values are
//! converted only where two types meet. For example, with the variables `n: Int`, `x: Float`, `name: Text` and `names: List(Text)`:
//!
//! ```text
//! n + 1 > 3          ops::add(self.data.n, 1)? > 3
//! n / 2              generated::explained::div_float(self.data.n as f64, 2.0)?
//! name == ""         self.data.name.is_empty()
//! name in names      generated::has(&self.data.names, self.data.name.as_str())
//! names + [name]     generated::typed::<Vec<String>>(expr::binary(model::BinaryOp::Add, …)?)?
//! ```

mod access;
mod builtin;
mod collect;
mod compare;
mod convert;
mod literal;
mod logic;
mod operate;
mod template;

pub(super) use collect::{local_name, loop_head};

use super::Context;
use super::code::{Binding, Code, Constant, Form, Fragment, Use, code};
use chartc_core::arena::LocalId;
use chartc_core::model::{Expr, ExprKind, Type, UnaryOp};
use chartc_core::semantics::unroll::Place;
use std::collections::BTreeMap;

/// Writes the expressions of one function body. The body sees `self` (the program) and `view` (the machine's observables);
/// a fault leaves it by `?`.
pub(super) struct Writer<'w> {
    /// The chart and its names.
    pub context: &'w Context<'w>,
    /// The code for each field of the current event or answer.
    pub payload: Vec<Code>,
    /// The place of the machine while the body runs, if it is known.
    pub place: Option<Place>,
    /// Whether there is no machine yet: variables are locals, and nothing else is known.
    early: bool,
    locals: BTreeMap<LocalId, Type>,
    temporaries: u32,
    /// The number of enclosing loops.
    loops: u32,
}

/// The error type of a called function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Error {
    /// `machine::Fault`, the error of bodies without an allocator.
    Fault,
    /// `generated::Failure`, the error of bodies with an allocator.
    Failure,
    /// The error of the interpreter's functions.
    Evaluation,
}

impl<'w> Writer<'w> {
    /// Creates a writer for a body without a payload.
    pub(super) fn new(context: &'w Context<'w>) -> Self {
        Self {
            context,
            payload: Vec::new(),
            place: None,
            early: false,
            locals: BTreeMap::new(),
            temporaries: 0,
            loops: 0,
        }
    }

    /// Creates a writer for initial values of variables; earlier variables are locals.
    pub(super) fn before_start(context: &'w Context<'w>) -> Self {
        Self { early: true, ..Self::new(context) }
    }

    /// Writes the expression in its cheapest form.
    pub(super) fn expr(&mut self, expr: &Expr) -> Code {
        let code = self.kind(expr);
        match (&code.ty, &expr.ty) {
            (Type::Int, Type::Float) => self.convert(code, &Type::Float),
            // The checker has proved that the optional is set.
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

    /// Writes the expression as an owned value of type `want`.
    pub(super) fn value(&mut self, expr: &Expr, want: &Type) -> Fragment {
        let code = self.value_code(expr, want);
        self.own(&code)
    }

    /// Like [`Writer::value`], for a value stored under a name of the chart: its nesting depth is bounded.
    pub(super) fn kept(&mut self, expr: &Expr, want: &Type, name: &str) -> Fragment {
        let value = self.value(expr, want);
        if *want == Type::Json {
            code!("generated::kept_json({name:?}, {value})?", value).using(Use::Failure)
        } else if self.context.facts.nests(want) {
            code!("generated::kept({name:?}, {value})?", value).using(Use::Failure)
        } else {
            value
        }
    }

    /// Writes the expression, converted to `want`, in any form.
    pub(super) fn value_code(&mut self, expr: &Expr, want: &Type) -> Code {
        match (&expr.kind, want) {
            (ExprKind::None, Type::Optional(_)) => Self::none(want),
            // A list of a wider type is built as such, not converted afterwards.
            (ExprKind::List(items), Type::List(item)) => self.list(items, item),
            (ExprKind::Map(entries), Type::Map(item)) => self.map(entries, item),
            _ => {
                let code = self.expr(expr);
                self.convert(code, want)
            }
        }
    }

    /// Writes the `None` of an optional.
    pub(super) fn none(want: &Type) -> Code {
        Code::owned("None", want.clone()).known(Constant::None)
    }

    /// Writes a condition as an operand of an operator that binds as tightly as `outer`.
    pub(super) fn condition(&mut self, expr: &Expr, outer: Binding) -> Fragment {
        let code = self.truth(expr);
        code.truth(outer)
    }

    /// Writes a condition as a boolean.
    pub(super) fn truth(&mut self, expr: &Expr) -> Code {
        let code = self.expr(expr);
        self.convert(code, &Type::Bool)
    }

    /// Returns the code as an owned value of its own type.
    pub(super) fn own(&self, code: &Code) -> Fragment {
        code.own(self.context.facts.is_copy(&code.ty))
    }

    /// Returns the code as an owned operand of an operator that binds as tightly as `outer`.
    pub(super) fn operand(&self, code: &Code, outer: Binding) -> Fragment {
        let binding = match code.form {
            Form::Lent if self.context.facts.is_copy(&code.ty) => Binding::Prefix,
            Form::Owned | Form::Place | Form::Lent => code.binding,
        };
        Code::owned(self.own(code), code.ty.clone()).bound(binding).within(outer)
    }

    /// Returns a name that is unique in the body.
    pub(super) fn temporary(&mut self) -> String {
        self.temporaries += 1;
        format!("value{}", self.temporaries - 1)
    }

    /// Returns the value of a call that may fail with `error`.
    fn tries(&self, call: Fragment, ty: Type, error: Error) -> Code {
        let own = match error {
            Error::Fault => self.context.bare,
            Error::Failure => !self.context.bare,
            Error::Evaluation => false,
        };
        Code::tried(call, ty, own)
    }

    fn kind(&mut self, expr: &Expr) -> Code {
        match &expr.kind {
            ExprKind::None => {
                Code::owned(Fragment::from("Value::None").using(Use::Allocator), Type::Json)
            }
            ExprKind::Bool(b) => Code::owned(b.to_string(), Type::Bool).known(Constant::Bool(*b)),
            ExprKind::Int(i) => integer(*i),
            ExprKind::Float(x) => float(*x),
            ExprKind::Duration(ms) => {
                Code::owned(format!("Duration({ms})"), Type::Duration).known(Constant::Other)
            }
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
            ExprKind::Predicate(id) => self.predicate(*id),
            ExprKind::Observable(observable) => self.observable(observable),
            ExprKind::Field(of, name) => self.field(of, name),
            ExprKind::Index(of, at) => self.index(of, at),
            ExprKind::Slice(of, from, to) => self.slice(of, from.as_deref(), to.as_deref()),
            ExprKind::Unary(UnaryOp::Not, of) => self.not(of),
            ExprKind::Unary(UnaryOp::Negate, of) => self.negate(of),
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right),
            ExprKind::Compare(first, rest) => self.comparison(first, rest),
            ExprKind::If(condition, then, otherwise) => {
                self.choice(condition, then, otherwise, &expr.ty)
            }
            ExprKind::Default(of, default) => self.default(of, default, &expr.ty),
            ExprKind::Builtin(function, arguments) => self.builtin(*function, arguments, &expr.ty),
            ExprKind::Call(function, arguments) => self.host_call(*function, arguments),
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
                self.comprehension(item, local.id, source, filter.as_deref(), &expr.ty)
            }
            ExprKind::Unknown(name) => self.fails(&expr.ty, &format!("`{name}` is not in scope")),
        }
    }

    /// Writes code of type `ty` that always fails.
    fn fails(&self, ty: &Type, why: &str) -> Code {
        let rust = super::types::owned(self.context, ty);
        let call = if self.context.bare {
            format!("Err::<{rust}, _>(machine::Fault)")
        } else {
            format!("generated::fails::<{rust}>({why:?})")
        };
        Code::tried(call, ty.clone(), true)
    }
}

/// Writes an Int literal.
fn integer(i: i64) -> Code {
    let binding = if i < 0 { Binding::Prefix } else { Binding::Whole };
    Code::owned(i.to_string(), Type::Int).bound(binding).known(Constant::Int(i))
}

/// Writes a Float literal.
pub(super) fn float(x: f64) -> Code {
    let text = match x {
        _ if x.is_nan() => "f64::NAN".to_owned(),
        f64::INFINITY => "f64::INFINITY".to_owned(),
        f64::NEG_INFINITY => "f64::NEG_INFINITY".to_owned(),
        _ if is_close_to_a_constant(x.abs()) => return quotient(x),
        _ => format!("{x:?}"),
    };
    let binding =
        if x.is_sign_negative() && !x.is_nan() { Binding::Prefix } else { Binding::Whole };
    Code::owned(text, Type::Float).bound(binding).known(Constant::Other)
}

/// Writes a number close to a constant, such as a chart's 3.14, as a quotient (314.0 / 100.0), so that Clippy does not take it for `PI`.
fn quotient(x: f64) -> Code {
    let whole = (1..=15).map(|digits| 10_f64.powi(digits)).find_map(|ten| {
        let whole = x * ten;
        (whole.fract() == 0.0 && whole / ten == x).then(|| format!("{whole:?} / {ten:?}"))
    });
    let (text, binding) = match whole {
        Some(text) => (text, Binding::Product),
        None => (format!("f64::from_bits({:#x})", x.to_bits()), Binding::Whole),
    };
    Code::owned(text, Type::Float).bound(binding)
}

/// Whether `x` may be a mathematical constant of Rust, truncated or rounded.
fn is_close_to_a_constant(x: f64) -> bool {
    use std::f64::consts as c;
    // These are often written with only two decimals.
    let often_cut = [c::PI, c::TAU, c::E];
    let others = [
        c::FRAC_1_PI,
        c::FRAC_1_SQRT_2,
        c::FRAC_2_PI,
        c::FRAC_2_SQRT_PI,
        c::FRAC_PI_3,
        c::FRAC_PI_4,
        c::FRAC_PI_6,
        c::FRAC_PI_8,
        c::LN_2,
        c::LN_10,
        c::LOG10_2,
        c::LOG10_E,
        c::LOG2_10,
        c::LOG2_E,
        c::SQRT_2,
        // The golden ratio and the Euler–Mascheroni constant.
        1.618_033_988_749_895,
        0.577_215_664_901_532_9,
    ];
    let is_near = |all: &[f64], distance: f64| all.iter().any(|c| (x - c).abs() < distance);
    is_near(&often_cut, 0.005) || is_near(&others, 0.000_1)
}
