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
mod compare;

pub(super) use access::{local_name, loop_head};

use super::code::{Binding, Code, Constant, Form, Fragment, Use, code};
use super::{Context, names};
use chartc_core::arena::{LocalId, PredicateId};
use chartc_core::expr::Value;
use chartc_core::model::{
    CompareOp, Expr, ExprKind, Template, TemplatePart, Type, TypeKind, UnaryOp,
};
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
            ExprKind::List(items) => match names::list_item(&expr.ty) {
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
        let rust = names::owned(self.context, ty);
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

// Writes constant values of the model as Rust.

impl Writer<'_> {
    /// Writes a constant that fits `ty`, as an owned value.
    pub(super) fn literal(&self, value: &Value, ty: &Type) -> Fragment {
        match (ty, value) {
            (Type::Json, value) => Self::json_literal(value),
            (Type::Optional(_), Value::None) => "None".into(),
            (Type::Optional(inner), value) => {
                code!("Some({value})", value = self.literal(value, inner))
            }
            (Type::Float, Value::Int(i)) => float(*i as f64).text(),
            (Type::Duration, Value::Duration(ms)) => format!("Duration({ms})").into(),
            (Type::List(item), Value::List(items)) => {
                let items = Fragment::joined(items.iter().map(|i| self.literal(i, item)), ", ");
                code!("Vec::from([{items}])", items).using(Use::Allocator)
            }
            (Type::Map(item), Value::Map(map)) => {
                let entries = map.iter().map(|(key, value)| {
                    code!("({key:?}.to_owned(), {value})", value = self.literal(value, item))
                });
                let entries = Fragment::joined(entries, ", ");
                code!("Map::from_iter([{entries}])", entries).using(Use::Allocator)
            }
            (Type::Named(id), value) => {
                let names = &self.context.names.type_fields[id.index()];
                let name = &self.context.names.types[id.index()];
                match (&self.context.chart.types[id.index()].kind, value) {
                    (TypeKind::Enum(all), Value::Text(text)) => {
                        let i = all.iter().position(|n| n == text).unwrap_or_default();
                        format!("{name}::{}", names[i]).into()
                    }
                    (TypeKind::Record(fields), Value::Map(map)) => {
                        let fields = fields.iter().zip(names).map(|(field, rust)| {
                            let value = map.get(&field.name).unwrap_or(&Value::None);
                            code!("{rust}: {value}", value = self.literal(value, &field.ty))
                        });
                        let fields = Fragment::joined(fields, ", ");
                        code!("{name} {{ {fields} }}", fields).using(Use::Braces)
                    }
                    (TypeKind::Enum(_) | TypeKind::Record(_), _) => name.as_str().into(),
                }
            }
            (_, Value::Bool(b)) => b.to_string().into(),
            (_, Value::Int(i)) => integer(*i).text(),
            (_, Value::Float(x)) => float(*x).text(),
            (_, Value::Text(text)) => owned_text(text),
            (_, Value::None | Value::Duration(_) | Value::List(_) | Value::Map(_)) => {
                Self::json_literal(value)
            }
        }
    }

    fn json_literal(value: &Value) -> Fragment {
        let text = match value {
            Value::None => "Value::None".into(),
            Value::Bool(b) => format!("Value::Bool({b})").into(),
            Value::Int(i) => format!("Value::Int({i})").into(),
            Value::Float(x) => code!("Value::Float({x})", x = float(*x).text()),
            Value::Text(text) => format!("Value::Text({text:?}.into())").into(),
            Value::Duration(ms) => format!("Value::Duration({ms})").into(),
            Value::List(items) => {
                let items = Fragment::joined(items.iter().map(Self::json_literal), ", ");
                code!("Value::List(Vec::from([{items}]))", items)
            }
            Value::Map(map) => {
                let fields =
                    map.iter().map(|(k, v)| code!("({k:?}, {v})", v = Self::json_literal(v)));
                let fields = Fragment::joined(fields, ", ");
                code!("generated::record([{fields}])", fields)
            }
        };
        text.using(Use::Allocator)
    }
}

/// Writes a text as an owned value.
fn owned_text(text: &str) -> Fragment {
    let code = Code::lent(format!("{text:?}"), Type::Text);
    code.own(false).using(Use::Allocator)
}

// Writes conditions: `not`, `and`, `or`, `if`.

impl Writer<'_> {
    /// Writes a call of a named condition.
    fn predicate(&self, id: PredicateId) -> Code {
        let name = &self.context.names.predicates[id.index()];
        let mut call = if self.context.is_direct() {
            Fragment::from(format!("self.{name}()"))
        } else {
            Fragment::from(format!("self.{name}(view)")).using(Use::View)
        };
        call.uses.predicates.insert(id);
        if self.context.needs.repeats {
            call = call.using(Use::Work);
        }
        Code::tried(call.using(Use::Program), Type::Bool, true)
    }

    /// Writes `not of`.
    pub(super) fn not(&mut self, of: &Expr) -> Code {
        if let ExprKind::Unary(UnaryOp::Not, inner) = &of.kind {
            return self.truth(inner);
        }
        if let ExprKind::Compare(first, rest) = &of.kind
            && let [(op, second)] = rest.as_slice()
        {
            return self.compared(*op, first, second, false);
        }
        let code = self.truth(of);
        Self::inverted(&code)
    }

    /// Writes the negation of a condition.
    fn inverted(code: &Code) -> Code {
        match code.constant {
            Some(Constant::Bool(b)) => {
                Code::owned((!b).to_string(), Type::Bool).known(Constant::Bool(!b))
            }
            Some(Constant::None | Constant::Int(_) | Constant::Empty | Constant::Other) | None => {
                let text = code!("!{of}", of = code.truth(Binding::Prefix));
                Code::owned(text, Type::Bool).bound(Binding::Prefix)
            }
        }
    }

    /// Writes `left and right` or `left or right`; `deciding` is the value of the left operand that decides the result.
    fn logic(&mut self, left: &Expr, right: &Expr, deciding: bool) -> Code {
        let (sign, binding) = if deciding { ("||", Binding::Or) } else { ("&&", Binding::And) };
        let a = self.truth(left);
        if left == right && is_pure(left) {
            return a;
        }
        let b = self.truth(right);
        let plain = |code: &Code| !code.text().has(Use::Failure);
        match (a.constant, b.constant) {
            (Some(Constant::Bool(known)), _) => return if known == deciding { a } else { b },
            (_, Some(Constant::Bool(known))) if known != deciding => return a,
            // The left operand may be dropped only if nobody notices its evaluation.
            (_, Some(Constant::Bool(_))) if plain(&a) && is_pure(left) => return b,
            _ => {}
        }
        // The same operator on the right comes from parentheses, which change nothing: `a and (b and c)` is `a and b and c`.
        let (a, b) = (a.truth(binding), b.truth(binding));
        Code::owned(code!("{a} {sign} {b}", a, b), Type::Bool).bound(binding)
    }

    /// Writes `if condition then then else otherwise`.
    fn choice(&mut self, condition: &Expr, then: &Expr, otherwise: &Expr, ty: &Type) -> Code {
        let test = self.truth(condition);
        match test.constant {
            Some(Constant::Bool(true)) => return self.value_code(then, ty),
            Some(Constant::Bool(false)) => return self.value_code(otherwise, ty),
            Some(_) | None => {}
        }
        if then == otherwise && is_pure(condition) && !test.text().has(Use::Failure) {
            return self.value_code(then, ty);
        }
        match (&then.kind, &otherwise.kind) {
            (ExprKind::Bool(true), ExprKind::Bool(false)) => return test,
            (ExprKind::Bool(false), ExprKind::Bool(true)) => return Self::inverted(&test),
            _ => {}
        }
        let test = test.truth(Binding::Block);
        let (then, otherwise) = (self.value(then, ty), self.value(otherwise, ty));
        let text = code!("if {test} {{ {then} }} else {{ {otherwise} }}", test, then, otherwise);
        Code::owned(text, ty.clone()).bound(Binding::Block)
    }
}

/// Returns the comparison that holds exactly where `op` does not, unless an operand is NaN.
fn opposite(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Equal => CompareOp::NotEqual,
        CompareOp::NotEqual => CompareOp::Equal,
        CompareOp::Less => CompareOp::GreaterEqual,
        CompareOp::LessEqual => CompareOp::Greater,
        CompareOp::Greater => CompareOp::LessEqual,
        CompareOp::GreaterEqual => CompareOp::Less,
        CompareOp::In => CompareOp::NotIn,
        CompareOp::NotIn => CompareOp::In,
    }
}

/// Whether evaluation has no effect that others observe: the expression calls no host function.
fn is_pure(expr: &Expr) -> bool {
    !expr.any(&mut |part| matches!(part.kind, ExprKind::Call(..) | ExprKind::Predicate(_)))
}

// Writes texts with placeholders.

impl Writer<'_> {
    /// Writes a literal text as it is, and any other text as a block that builds it.
    fn text(&mut self, text: &Template) -> Code {
        match text.literal() {
            Some(literal) => {
                let constant = if literal.is_empty() { Constant::Empty } else { Constant::Other };
                Code::lent(format!("{literal:?}"), Type::Text).known(constant)
            }
            None => {
                let body = self.template(text);
                Code::owned(code!("{{ {body} text }}", body), Type::Text).bound(Binding::Block)
            }
        }
    }

    /// Writes statements that leave the text in a variable `text`. `{options}` reads the variable `options`.
    pub(super) fn template(&mut self, template: &Template) -> Fragment {
        let (first, rest) = match template.parts.as_slice() {
            [] => (String::new(), [].as_slice()),
            // Each line of the text becomes a line of code.
            [TemplatePart::Text(text), rest @ ..]
                if text.trim_end_matches('\n').lines().count() < 2 =>
            {
                (text.clone(), rest)
            }
            all => (String::new(), all),
        };
        let parts = rest.iter().map(|part| self.part(part)).collect::<Fragment>();
        let first = if first.is_empty() {
            "String::new()".into()
        } else {
            format!("String::from({first:?})")
        };
        let kept = if parts.is_empty() { "" } else { "mut " };
        code!("let {kept}text = {first};\n{parts}", parts).using(Use::Allocator)
    }

    /// Writes statements that append a part to the variable `text`.
    fn part(&mut self, part: &TemplatePart) -> Fragment {
        match part {
            // Each line of the text becomes a line of code.
            TemplatePart::Text(text) => text.split_inclusive('\n').map(push).collect(),
            TemplatePart::Hole { expr, spec } => {
                let code = self.expr(expr);
                if spec.is_empty() && code.ty == Type::Text {
                    return code!("text.push_str({part});\n", part = code.lend());
                }
                let value = self.json(code);
                code!("generated::show(&mut text, &{value}, {spec:?})?;\n", value)
                    .using(Use::Failure)
            }
            TemplatePart::Options => {
                let push = Fragment::from("generated::push_options(&mut text, options)?;\n");
                push.using(Use::Options).using(Use::Failure)
            }
            TemplatePart::Bad(bad) => {
                let why = format!("`{bad}` is no placeholder");
                Fragment::from(format!("generated::fails::<()>({why:?})?;\n")).using(Use::Failure)
            }
        }
    }
}

/// Writes the statement that appends a line.
fn push(line: &str) -> Fragment {
    let mut chars = line.chars();
    match (chars.next(), chars.next()) {
        (Some(one), None) => format!("text.push({one:?});\n").into(),
        _ => format!("text.push_str({line:?});\n").into(),
    }
}

// Converts code from the type of its expression to the wanted type.

impl Writer<'_> {
    /// Converts `code` to `want`. Types without a conversion rule are converted through a `Value`, which fails if the value does not fit.
    pub(super) fn convert(&mut self, code: Code, want: &Type) -> Code {
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
    pub(super) fn json(&self, code: Code) -> Fragment {
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
    pub(super) fn values(&self, codes: Vec<Code>) -> Fragment {
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
    pub(super) fn valued(&mut self, expr: &Expr, want: &Type) -> Fragment {
        let code = self.value_code(expr, want);
        if *want == Type::Json || code.constant.is_some() {
            return self.json(code);
        }
        let (rust, value) = (names::owned(self.context, want), self.own(&code));
        code!("{{ let value: {rust} = {value}; value.into_value() }}", value).using(Use::Braces)
    }

    /// Writes a conversion through a `Value`.
    fn typed(&self, code: Code, want: &Type) -> Code {
        let rust = names::owned(self.context, want);
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
        let name = |ty| names::owned(self.context, ty);
        name(a) == name(b)
    }
}
