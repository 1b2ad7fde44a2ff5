//! Writes comparisons, arithmetic and calls of the language's functions: as Rust's own where they mean the same.
//!
//! The problem: the language is dynamic in places: 1 equals 1.0 and, as values of `Json`, also `true`; `none` may be compared with
//! anything; an operation may fail, which the machine reports. The interpreter's functions do all this, but they are slow and need an
//! allocator. The idea: decide by the types of the operands, from the most special to the most general form. A comparison with a known
//! result is a constant (`with_itself`), one with `true`, `none` or `""` has a form of its own, equal types use Rust's operator if it
//! agrees (`is_rust_equality`), `Int` and `Float` are compared exactly, and all others become a call of the interpreter (`dynamic`).
//! Arithmetic and functions are decided in the same way (`arithmetic`, `builtin`); operations that may fail call `ops` or `generated`. A
//! new function of the language works without a change here, by `dynamic_builtin`; an arm in `builtin` makes it fast.
//!
//! For example, with `n: Int`, `x: Float`, `note: Text` and `data: Json`, leaving out borrows and conversions:
//!
//! | in the chart | in Rust |
//! |---|---|
//! | `n < 3` | `n < 3` |
//! | `n < x` | `ops::compare(n, x).is_some_and(core::cmp::Ordering::is_lt)` |
//! | `note == ""` | `note.is_empty()` |
//! | `data == n` | `expr::compare(model::CompareOp::Equal, data, n)`, which may fail |
//! | `0 < n * n <= x` | `{ let a = n * n; 0 < a && a <= x }` with the checked product and comparison |

use super::{
    Binding, Code, Constant, Error, ExprKind, Form, Fragment, Use, Writer, code, float, integer,
    is_pure, opposite,
};
use crate::emit::rust::expr;
use chartc_core::model::{self, BinaryOp, Builtin, CompareOp, Expr, Observable, Type};

impl Writer<'_> {
    /// Writes `a < b <= c`; each operand is evaluated at most once, from left to right.
    pub(super) fn comparison(&mut self, first: &Expr, rest: &[(CompareOp, Expr)]) -> Code {
        if let [(op, second)] = rest {
            return self.compared(*op, first, second, true);
        }
        // An operand that is compared twice is bound to a name, unless it is as cheap as a name.
        let mut lets = Fragment::default();
        let mut left = Operand::from_expr(self, first);
        let mut tests = Vec::new();
        for (i, (op, expr)) in rest.iter().enumerate() {
            let mut right = Operand::from_expr(self, expr);
            if i + 1 < rest.len() && !is_plain(expr) {
                lets += self.named(&mut right);
                if tests.is_empty() && !is_plain(first) {
                    // The operands before it must be evaluated first.
                    let mut before = self.named(&mut left);
                    before += std::mem::take(&mut lets);
                    lets = before;
                }
            }
            tests.push(self.pair(*op, left, right.clone()).within(Binding::And));
            left = right;
        }
        let all = Fragment::joined(tests, " && ");
        if lets.is_empty() {
            Code::owned(all, Type::Bool).bound(Binding::And)
        } else {
            Code::owned(code!("{{ {lets}{all} }}", lets, all), Type::Bool).bound(Binding::Block)
        }
    }

    /// Writes the statement that binds an operand to a name, by which the operand is read from then on.
    fn named(&mut self, operand: &mut Operand) -> Fragment {
        let name = self.temporary();
        let value = self.own(&operand.code);
        operand.code = Code::place(name.as_str(), operand.code.ty.clone());
        operand.literal = None;
        code!("let {name} = {value};\n", value)
    }

    /// Writes `first op second`, or its negation if `holds` is false.
    pub(super) fn compared(
        &mut self,
        op: CompareOp,
        first: &Expr,
        second: &Expr,
        holds: bool,
    ) -> Code {
        let test = if holds { op } else { opposite(op) };
        if let Some(code) = self.with_itself(test, first, second) {
            return code;
        }
        if let Some(code) = self.with_truth(test, first, second) {
            return code;
        }
        let (left, right) = (Operand::from_expr(self, first), Operand::from_expr(self, second));
        let method = if holds { None } else { float_method(op) };
        // With NaN, both `a < b` and `a >= b` are false, so the opposite operator is not the negation.
        if let (Some(method), Some(a), Some(b)) = (method, left.float(), right.float()) {
            let text = code!("!f64::{method}({a}, {b})", a = a.lend(), b = b.lend());
            return Code::owned(text, Type::Bool).bound(Binding::Prefix);
        }
        if holds || method.is_none() || left.code.ty != Type::Float && right.code.ty != Type::Float
        {
            return self.pair(test, left, right);
        }
        let code = self.pair(op, left, right);
        Self::inverted(&code)
    }

    /// Returns the text of an expression, if it is known when the code is written.
    fn known_text(&self, expr: &Expr) -> Option<String> {
        if let model::ExprKind::Text(text) = &expr.kind {
            return text.literal().map(str::to_owned);
        }
        let place = self.place.as_ref().filter(|_| self.context.is_direct())?;
        let is_state = expr.kind == model::ExprKind::Observable(Observable::State);
        is_state.then(|| self.context.tables.state(place.leaf).path.to_string())
    }

    /// Writes `x == x`, and other comparisons with a known result.
    fn with_itself(&mut self, op: CompareOp, first: &Expr, second: &Expr) -> Option<Code> {
        if let (Some(a), Some(b), CompareOp::Equal | CompareOp::NotEqual) =
            (self.known_text(first), self.known_text(second), op)
        {
            let holds = (a == b) == (op == CompareOp::Equal);
            return Some(Code::owned(holds.to_string(), Type::Bool).known(Constant::Bool(holds)));
        }
        if first != second || !is_pure(first) {
            return None;
        }
        let code = self.expr(first);
        // A Float may be NaN, which does not equal itself.
        let exact = matches!(code.ty, Type::Bool | Type::Int | Type::Duration | Type::Text);
        if !exact || code.text().has(Use::Failure) {
            return None;
        }
        let holds = match op {
            CompareOp::Equal | CompareOp::LessEqual | CompareOp::GreaterEqual => true,
            CompareOp::NotEqual | CompareOp::Less | CompareOp::Greater => false,
            CompareOp::In | CompareOp::NotIn => return None,
        };
        Some(Code::owned(holds.to_string(), Type::Bool).known(Constant::Bool(holds)))
    }

    /// Writes `x == true` as `x`, and the other comparisons of a Bool with a literal alike.
    fn with_truth(&mut self, op: CompareOp, first: &Expr, second: &Expr) -> Option<Code> {
        let wanted = match op {
            CompareOp::Equal => true,
            CompareOp::NotEqual => false,
            CompareOp::Less
            | CompareOp::LessEqual
            | CompareOp::Greater
            | CompareOp::GreaterEqual
            | CompareOp::In
            | CompareOp::NotIn => return None,
        };
        let (of, truth) = match (&first.kind, &second.kind) {
            (_, model::ExprKind::Bool(truth)) => (first, *truth),
            (model::ExprKind::Bool(truth), _) => (second, *truth),
            _ => return None,
        };
        let code = if of.ty == Type::Bool { self.expr(of) } else { return None };
        if code.ty != Type::Bool {
            return None;
        }
        Some(if truth == wanted { code } else { Self::inverted(&code) })
    }

    fn pair(&mut self, op: CompareOp, left: Operand, right: Operand) -> Code {
        if matches!(op, CompareOp::In | CompareOp::NotIn) {
            return self.membership(op, &left.code, &right.code);
        }
        if let Some(code) = Self::with_none(op, &left, &right) {
            return code;
        }
        if let Some(code) = Self::with_empty(op, &left, &right) {
            return code;
        }
        let sign = sign(op);
        let (a, b) = (left.code, right.code);
        let infix = |a: Fragment, b: Fragment| {
            Code::owned(code!("{a} {sign} {b}", a, b), Type::Bool).bound(Binding::Compare)
        };
        let ordered = matches!(a.ty, Type::Int | Type::Float | Type::Duration | Type::Text);
        let equality = matches!(op, CompareOp::Equal | CompareOp::NotEqual);
        if a.ty == b.ty && (ordered || (equality && self.is_rust_equality(&a.ty))) {
            return if self.context.facts.is_copy(&a.ty) {
                infix(self.operand(&a, Binding::Sum), self.operand(&b, Binding::Sum))
            } else {
                let b_whole = right.items.filter(|_| left.items.is_none());
                let b = b_whole.unwrap_or_else(|| Self::referred(&b, equality));
                infix(Self::referred(&a, equality), b)
            };
        }
        match (&a.ty, &b.ty) {
            (Type::Int, Type::Float) | (Type::Float, Type::Int) => {
                let a = left.literal.map_or(a, float);
                let b = right.literal.map_or(b, float);
                if a.ty == b.ty {
                    return infix(self.operand(&a, Binding::Sum), self.operand(&b, Binding::Sum));
                }
                let reversed = a.ty != Type::Int;
                let (a, b) = (self.own(&a), self.own(&b));
                let order = if reversed {
                    code!("ops::compare({b}, {a}).map(core::cmp::Ordering::reverse)", b, a)
                } else {
                    code!("ops::compare({a}, {b})", a, b)
                };
                let test = ordering_test(op);
                if op == CompareOp::NotEqual {
                    let text = code!("!{order}.is_some_and({test})", order);
                    Code::owned(text, Type::Bool).bound(Binding::Prefix)
                } else {
                    Code::owned(code!("{order}.is_some_and({test})", order), Type::Bool)
                }
            }
            _ => self.dynamic(op, a, b),
        }
    }

    /// Writes `x == none` and `x != none`.
    fn with_none(op: CompareOp, left: &Operand, right: &Operand) -> Option<Code> {
        let known = |b: bool| Code::owned(b.to_string(), Type::Bool).known(Constant::Bool(b));
        let (value, test) = match (left.none, right.none, op) {
            (true, true, CompareOp::Equal) => return Some(known(true)),
            (true, true, CompareOp::NotEqual) => return Some(known(false)),
            (false, true, CompareOp::Equal) => (left, true),
            (false, true, CompareOp::NotEqual) => (left, false),
            (true, false, CompareOp::Equal) => (right, true),
            (true, false, CompareOp::NotEqual) => (right, false),
            _ => return None,
        };
        let whole = value.code.within(Binding::Whole);
        if value.code.ty == Type::Json {
            let sign = if test { "==" } else { "!=" };
            let star = if value.code.form == Form::Lent { "*" } else { "" };
            let text = code!("{star}{whole} {sign} Value::None", whole);
            return Some(Code::owned(text, Type::Bool).bound(Binding::Compare));
        }
        if !matches!(value.code.ty, Type::Optional(_)) {
            return Some(known(!test));
        }
        let name = if test { "is_none" } else { "is_some" };
        Some(Code::owned(code!("{whole}.{name}()", whole), Type::Bool))
    }

    /// Writes `x == ""` and `x != ""`.
    fn with_empty(op: CompareOp, left: &Operand, right: &Operand) -> Option<Code> {
        let is_empty = |side: &Operand| side.code.constant == Some(Constant::Empty);
        let value = match (is_empty(left), is_empty(right)) {
            (false, true) => &left.code,
            (true, false) => &right.code,
            (true, true) | (false, false) => return None,
        };
        if value.ty != Type::Text {
            return None;
        }
        let whole = value.within(Binding::Whole);
        if op == CompareOp::Equal {
            Some(Code::owned(code!("{whole}.is_empty()", whole), Type::Bool))
        } else if op == CompareOp::NotEqual {
            Some(
                Code::owned(code!("!{whole}.is_empty()", whole), Type::Bool).bound(Binding::Prefix),
            )
        } else {
            None
        }
    }

    fn membership(&self, op: CompareOp, item: &Code, whole: &Code) -> Code {
        let place = || whole.within(Binding::Whole);
        let text = match (&item.ty, &whole.ty) {
            (Type::Text, Type::Text) => {
                code!("{place}.contains({item})", place = place(), item = item.lend())
            }
            (Type::Text, Type::Map(_)) => {
                code!("{place}.get({item}).is_some()", place = place(), item = item.lend())
            }
            (Type::Text, Type::List(of)) if **of == Type::Text => {
                code!("generated::has({list}, {item})", list = whole.lend(), item = item.lend())
            }
            (ty, Type::List(of)) if **of == *ty && self.is_rust_equality(ty) => {
                code!("{place}.contains({item})", place = place(), item = item.lend())
            }
            _ => return self.dynamic(op, item.clone(), whole.clone()),
        };
        if op == CompareOp::NotIn {
            Code::owned(code!("!{text}", text), Type::Bool).bound(Binding::Prefix)
        } else {
            Code::owned(text, Type::Bool)
        }
    }

    /// Writes a comparison by the interpreter's rules.
    fn dynamic(&self, op: CompareOp, a: Code, b: Code) -> Code {
        let (a, b) = (self.json(a), self.json(b));
        let call = code!("expr::compare(model::CompareOp::{op:?}, &{a}, &{b})", a, b);
        self.tries(call, Type::Bool, Error::Evaluation)
    }

    /// Whether Rust's `==` on two values of the type agrees with the language's.
    fn is_rust_equality(&self, ty: &Type) -> bool {
        match ty {
            Type::Bool | Type::Int | Type::Float | Type::Text | Type::Duration => true,
            Type::List(inner) | Type::Optional(inner) => self.is_rust_equality(inner),
            // As values of the language, 1, 1.0 and true are equal; as Rust values, they are not.
            Type::Json | Type::Map(_) => false,
            Type::Named(_) => self.context.facts.is_copy(ty),
        }
    }

    /// Writes one side of a comparison; both sides must have the same number of references.
    fn referred(code: &Code, equality: bool) -> Fragment {
        match (&code.ty, code.form) {
            (Type::Text, _) => code.lend(),
            (_, Form::Lent) if equality => code!("*{of}", of = code.within(Binding::Prefix)),
            _ => code.within(Binding::Sum),
        }
    }
}

/// One side of a comparison.
#[derive(Clone)]
struct Operand {
    code: Code,
    /// Whether the expression is `none`.
    none: bool,
    /// The value of an Int literal that a Float represents exactly.
    literal: Option<f64>,
    /// The items of a literal list as an array: a list that is only compared needs no allocation.
    items: Option<Fragment>,
}

impl Operand {
    /// Returns the operand as a Float, if it is a Float or a literal of one.
    fn float(&self) -> Option<Code> {
        let is_float = self.code.ty == Type::Float;
        if is_float { Some(self.code.clone()) } else { self.literal.map(float) }
    }

    fn from_expr(writer: &mut Writer<'_>, expr: &Expr) -> Self {
        let none = matches!(expr.kind, model::ExprKind::None);
        let literal = if let model::ExprKind::Int(i) = expr.kind
            && i.unsigned_abs() < 1 << 53
        {
            Some(i as f64)
        } else {
            None
        };
        // `none` is usually not written out, so it does not require an allocator yet.
        let code = if none { Code::owned("Value::None", Type::Json) } else { writer.expr(expr) };
        let items = match (&expr.kind, &code.ty) {
            (model::ExprKind::List(items), Type::List(item)) if !items.is_empty() => {
                Some(writer.array(items, item))
            }
            _ => None,
        };
        Self { code, none, literal, items }
    }
}

/// Whether the expression may be evaluated twice or later without a difference.
fn is_plain(expr: &Expr) -> bool {
    matches!(
        expr.kind,
        model::ExprKind::Bool(_)
            | model::ExprKind::Int(_)
            | model::ExprKind::Float(_)
            | model::ExprKind::Duration(_)
            | model::ExprKind::Enum(..)
            | model::ExprKind::Variable(_)
            | model::ExprKind::Local(_)
            | model::ExprKind::Payload(_)
            | model::ExprKind::Observable(_)
    )
}

fn sign(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Equal => "==",
        CompareOp::NotEqual => "!=",
        CompareOp::Less => "<",
        CompareOp::LessEqual => "<=",
        CompareOp::Greater => ">",
        CompareOp::GreaterEqual => ">=",
        CompareOp::In | CompareOp::NotIn => "in",
    }
}

/// Returns the method of `f64` for an ordering operator.
fn float_method(op: CompareOp) -> Option<&'static str> {
    match op {
        CompareOp::Less => Some("lt"),
        CompareOp::LessEqual => Some("le"),
        CompareOp::Greater => Some("gt"),
        CompareOp::GreaterEqual => Some("ge"),
        CompareOp::Equal | CompareOp::NotEqual | CompareOp::In | CompareOp::NotIn => None,
    }
}

/// Returns the method of `Ordering` for an operator; for `!=` the one whose result is negated.
fn ordering_test(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Equal | CompareOp::NotEqual => "core::cmp::Ordering::is_eq",
        CompareOp::Less => "core::cmp::Ordering::is_lt",
        CompareOp::LessEqual => "core::cmp::Ordering::is_le",
        CompareOp::Greater => "core::cmp::Ordering::is_gt",
        CompareOp::GreaterEqual => "core::cmp::Ordering::is_ge",
        CompareOp::In | CompareOp::NotIn => "",
    }
}

// Writes arithmetic.

impl Writer<'_> {
    pub(super) fn negate(&mut self, of: &Expr) -> Code {
        let code = self.expr(of);
        if code.ty == expr::Type::Int {
            if let ExprKind::Int(i @ 1..) = of.kind {
                return integer(-i);
            }
            return self.operation("neg", &[&code], expr::Type::Int);
        }
        if code.ty == expr::Type::Float {
            let text = code!("-{of}", of = self.operand(&code, Binding::Prefix));
            return Code::owned(text, expr::Type::Float).bound(Binding::Prefix);
        }
        let call = code!("expr::unary(model::UnaryOp::Negate, &{of})", of = self.json(code));
        self.tries(call, expr::Type::Json, Error::Evaluation)
    }

    pub(super) fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Code {
        match op {
            BinaryOp::And => self.logic(left, right, false),
            BinaryOp::Or => self.logic(left, right, true),
            BinaryOp::Add
            | BinaryOp::Subtract
            | BinaryOp::Multiply
            | BinaryOp::Divide
            | BinaryOp::FloorDivide
            | BinaryOp::Modulo
            | BinaryOp::Power => self.arithmetic(op, left, right),
        }
    }

    fn arithmetic(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Code {
        let (a, b) = (self.expr(left), self.expr(right));
        match (&a.ty, &b.ty) {
            (expr::Type::Int, expr::Type::Int) => self.integers(op, &a, &b, &right.kind),
            (expr::Type::Int | expr::Type::Float, expr::Type::Int | expr::Type::Float) => {
                let (a, b) = (self.as_float(&a, left), self.as_float(&b, right));
                self.floats(op, &a, &b)
            }
            (expr::Type::Duration, right) if duration_function(op, right).is_some() => {
                let (name, ty) = duration_function(op, right).unwrap_or(("", expr::Type::Duration));
                self.explained(name, &a, &b, ty)
            }
            (expr::Type::Text, expr::Type::Text) if op == BinaryOp::Add => {
                let text = code!("[{a}, {b}].concat()", a = a.lend(), b = b.lend());
                Code::owned(text.using(Use::Allocator), expr::Type::Text)
            }
            (ta, tb) => {
                let ty = if ta == tb { ta.clone() } else { expr::Type::Json };
                let (a, b) = (self.json(a.clone()), self.json(b.clone()));
                let call = code!("expr::binary(model::BinaryOp::{op:?}, &{a}, &{b})", a, b);
                let value = self.tries(call, expr::Type::Json, Error::Evaluation);
                self.convert(value, &ty)
            }
        }
    }

    fn integers(&self, op: BinaryOp, a: &Code, b: &Code, right: &ExprKind) -> Code {
        match op {
            BinaryOp::Add => self.operation("add", &[a, b], expr::Type::Int),
            BinaryOp::Subtract => self.operation("sub", &[a, b], expr::Type::Int),
            BinaryOp::Multiply => self.operation("mul", &[a, b], expr::Type::Int),
            BinaryOp::Divide => self.divided("div", a, b, expr::Type::Float),
            BinaryOp::FloorDivide => self.divided("floor_div", a, b, expr::Type::Int),
            BinaryOp::Modulo => self.divided("modulo", a, b, expr::Type::Int),
            // Only with such an exponent is the result an Int.
            BinaryOp::Power if matches!(right, ExprKind::Int(0..)) => {
                self.operation("power", &[a, b], expr::Type::Int)
            }
            BinaryOp::Power => self.explained("power", a, b, expr::Type::Float),
            // Never reached: `binary` passes them to `logic`.
            BinaryOp::And | BinaryOp::Or => self.operation("", &[a, b], expr::Type::Bool),
        }
    }

    /// Writes a call of a function with several reasons for failure. With an allocator, a variant that names the reason is called.
    fn divided(&self, name: &str, a: &Code, b: &Code, ty: expr::Type) -> Code {
        if self.context.bare {
            self.operation(name, &[a, b], ty)
        } else {
            self.explained(name, a, b, ty)
        }
    }

    /// Like [`Writer::divided`], for functions other than operators on numbers.
    fn explained(&self, name: &str, a: &Code, b: &Code, ty: expr::Type) -> Code {
        let (path, error) = if self.context.bare {
            ("generated", Error::Fault)
        } else {
            ("generated::explained", Error::Failure)
        };
        let call = code!("{path}::{name}({a}, {b})", a = self.own(a), b = self.own(b));
        self.tries(call, ty, error)
    }

    fn floats(&self, op: BinaryOp, a: &Code, b: &Code) -> Code {
        let infix = |sign: &str, binding: Binding, tighter: Binding| {
            let (a, b) = (self.operand(a, binding), self.operand(b, tighter));
            Code::owned(code!("{a} {sign} {b}", a, b), expr::Type::Float).bound(binding)
        };
        match op {
            BinaryOp::Add => infix("+", Binding::Sum, Binding::Product),
            BinaryOp::Subtract => infix("-", Binding::Sum, Binding::Product),
            BinaryOp::Multiply => infix("*", Binding::Product, Binding::Cast),
            BinaryOp::Divide => self.divided("div_float", a, b, expr::Type::Float),
            BinaryOp::FloorDivide => self.divided("floor_div_float", a, b, expr::Type::Float),
            BinaryOp::Modulo => self.divided("modulo_float", a, b, expr::Type::Float),
            BinaryOp::Power => self.divided("power_float", a, b, expr::Type::Float),
            BinaryOp::And | BinaryOp::Or => self.operation("", &[a, b], expr::Type::Float),
        }
    }

    /// Writes `place op= right`, if the place is a Float and the expression updates it so.
    pub(in crate::emit::rust) fn changed(
        &mut self,
        place: &str,
        expr: &Expr,
        is_it: impl Fn(&Expr) -> bool,
    ) -> Option<Fragment> {
        let ExprKind::Binary(op, left, right) = &expr.kind else { return None };
        let sign = match op {
            BinaryOp::Add => "+=",
            BinaryOp::Subtract => "-=",
            BinaryOp::Multiply => "*=",
            BinaryOp::Divide
            | BinaryOp::FloorDivide
            | BinaryOp::Modulo
            | BinaryOp::Power
            | BinaryOp::And
            | BinaryOp::Or => return None,
        };
        if !is_it(left) || !matches!(right.ty, expr::Type::Int | expr::Type::Float) {
            return None;
        }
        let code = self.expr(right);
        if !matches!(code.ty, expr::Type::Int | expr::Type::Float) {
            return None;
        }
        let code = self.as_float(&code, right);
        Some(code!("{place} {sign} {value};\n", value = self.own(&code)))
    }

    /// Writes an Int literal as a Float literal; other code is converted.
    fn as_float(&mut self, code: &Code, expr: &Expr) -> Code {
        if let ExprKind::Int(i) = expr.kind {
            return float(i as f64);
        }
        self.convert(code.clone(), &expr::Type::Float)
    }
}

/// Returns the function of `generated` for a Duration and an operand of type `right`, with its result type.
fn duration_function(op: BinaryOp, right: &expr::Type) -> Option<(&'static str, expr::Type)> {
    match (op, right) {
        (BinaryOp::Add, expr::Type::Duration) => Some(("add_duration", expr::Type::Duration)),
        (BinaryOp::Subtract, expr::Type::Duration) => Some(("sub_duration", expr::Type::Duration)),
        (BinaryOp::Divide, expr::Type::Duration) => Some(("div_duration", expr::Type::Float)),
        (BinaryOp::Multiply, expr::Type::Int) => Some(("mul_duration", expr::Type::Duration)),
        _ => None,
    }
}

// Writes calls of the language's functions: as Rust's own functions where they mean the same, otherwise as the interpreter's.

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
            (Builtin::Flatten, [lists])
                if matches!(&lists.ty, Type::List(_)) && lists.ty != Type::Json =>
            {
                let lists = lists.within(Binding::Whole);
                let text = code!("{lists}.concat()", lists).using(Use::Allocator);
                Some(Code::owned(text, ty.clone()))
            }
            (Builtin::Str, [x]) if x.ty == Type::Text => Some(x.clone()),
            (Builtin::Int | Builtin::Float | Builtin::Bool, [x]) => self.scalar(function, x),
            (Builtin::Within, [x, low, high, name])
                if x.ty == low.ty && matches!(x.ty, Type::Int | Type::Float) =>
            {
                Some(self.within(x, low, high, name))
            }
            _ => None,
        };
        native.unwrap_or_else(|| self.dynamic_builtin(function, codes, ty))
    }

    /// Writes a call of a function of `ops` that may fail.
    pub(super) fn operation(&self, name: &str, arguments: &[&Code], ty: Type) -> Code {
        let arguments = Fragment::joined(arguments.iter().map(|code| self.own(code)), ", ");
        self.tries(code!("ops::{name}({arguments})", arguments), ty, Error::Fault)
    }

    /// Writes a number for a field with a range.
    fn within(&self, x: &Code, low: &Code, high: &Code, name: &Code) -> Code {
        let [low, high] = [low, high].map(|end| self.own(end));
        let (value, ty) = (self.own(x), x.ty.clone());
        if self.context.bare {
            let call = code!("ops::within({value}, {low}, {high})", value, low, high);
            return self.tries(call, ty, Error::Fault);
        }
        let name = name.lend();
        let call =
            code!("generated::ranged({name}, {value}, {low}, {high})", name, value, low, high);
        self.tries(call, ty, Error::Failure)
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
