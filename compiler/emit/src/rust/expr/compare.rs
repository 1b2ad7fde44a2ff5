//! Writes comparisons: as Rust's own where they mean the same, otherwise as calls of the interpreter.

use super::logic::{is_pure, opposite};
use super::{Binding, Code, Constant, Error, Form, Fragment, Use, Writer, code, float};
use chartc_core::model::{CompareOp, Expr, ExprKind, Observable, Type};

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
        if let ExprKind::Text(text) = &expr.kind {
            return text.literal().map(str::to_owned);
        }
        let place = self.place.as_ref().filter(|_| self.context.is_direct())?;
        let is_state = expr.kind == ExprKind::Observable(Observable::State);
        is_state.then(|| self.context.tables.state(place.leaf).path.to_owned())
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
            (_, ExprKind::Bool(truth)) => (first, *truth),
            (ExprKind::Bool(truth), _) => (second, *truth),
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
        let none = matches!(expr.kind, ExprKind::None);
        let literal = if let ExprKind::Int(i) = expr.kind
            && i.unsigned_abs() < 1 << 53
        {
            Some(i as f64)
        } else {
            None
        };
        // `none` is usually not written out, so it does not require an allocator yet.
        let code = if none { Code::owned("Value::None", Type::Json) } else { writer.expr(expr) };
        let items = match (&expr.kind, &code.ty) {
            (ExprKind::List(items), Type::List(item)) if !items.is_empty() => {
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
        ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Duration(_)
            | ExprKind::Enum(..)
            | ExprKind::Variable(_)
            | ExprKind::Local(_)
            | ExprKind::Payload(_)
            | ExprKind::Observable(_)
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
