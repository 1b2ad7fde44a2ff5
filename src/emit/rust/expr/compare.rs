//! Comparisons.

use super::{Binding, Code, Form, Writer, float};
use chartc_core::model::{CompareOp, Expr, ExprKind, Type};

impl Writer<'_> {
    /// `a < b <= c`: each operand evaluated at most once, from left to right.
    pub(super) fn comparison(&self, first: &Expr, rest: &[(CompareOp, Expr)]) -> Code {
        if let [(op, second)] = rest {
            return self.pair(*op, Operand::of(self, first), Operand::of(self, second));
        }
        // What is compared twice gets a name, unless it is as cheap as one.
        let mut lets = String::new();
        let mut left = Operand::of(self, first);
        let mut tests = Vec::new();
        for (i, (op, expr)) in rest.iter().enumerate() {
            let mut right = Operand::of(self, expr);
            if i + 1 < rest.len() && !is_plain(expr) {
                let name = self.temporary();
                lets.push_str(&format!("let {name} = {};\n", self.own(&right.code)));
                right.code = Code::place(name, right.code.ty);
                right.literal = None;
                if tests.is_empty() && !is_plain(first) {
                    // Whatever stands before it is evaluated before it.
                    let name = self.temporary();
                    lets = format!("let {name} = {};\n{lets}", self.own(&left.code));
                    left.code = Code::place(name, left.code.ty);
                }
            }
            tests.push(self.pair(*op, left, right.clone()).within(Binding::And));
            left = right;
        }
        let all = tests.join(" && ");
        if lets.is_empty() {
            Code::owned(all, Type::Bool).bound(Binding::And)
        } else {
            Code::owned(format!("{{ {lets}{all} }}"), Type::Bool).bound(Binding::Block)
        }
    }

    fn pair(&self, op: CompareOp, left: Operand, right: Operand) -> Code {
        if matches!(op, CompareOp::In | CompareOp::NotIn) {
            return self.membership(op, &left.code, &right.code);
        }
        if let Some(code) = Self::with_none(op, &left, &right) {
            return code;
        }
        let sign = sign(op);
        let (a, b) = (left.code, right.code);
        let infix = |a: &str, b: &str| {
            Code::owned(format!("{a} {sign} {b}"), Type::Bool).bound(Binding::Compare)
        };
        let ordered = matches!(a.ty, Type::Int | Type::Float | Type::Duration | Type::Text);
        let equality = matches!(op, CompareOp::Equal | CompareOp::NotEqual);
        if a.ty == b.ty && (ordered || (equality && self.is_rust_equality(&a.ty))) {
            return if self.context.facts.is_copy(&a.ty) {
                infix(&self.operand(&a, Binding::Sum), &self.operand(&b, Binding::Sum))
            } else {
                infix(&Self::referred(&a, equality), &Self::referred(&b, equality))
            };
        }
        match (&a.ty, &b.ty) {
            (Type::Int, Type::Float) | (Type::Float, Type::Int) => {
                let a = left.literal.map_or(a, float);
                let b = right.literal.map_or(b, float);
                if a.ty == b.ty {
                    return infix(&self.operand(&a, Binding::Sum), &self.operand(&b, Binding::Sum));
                }
                let text = if a.ty == Type::Int {
                    format!("ops::compare({}, {})", self.own(&a), self.own(&b))
                } else {
                    let (a, b) = (self.own(&a), self.own(&b));
                    format!("ops::compare({b}, {a}).map(core::cmp::Ordering::reverse)")
                };
                let test = ordering_test(op);
                let negation = if op == CompareOp::NotEqual { "!" } else { "" };
                Code::owned(format!("{negation}{text}.is_some_and({test})"), Type::Bool)
                    .bound(if negation.is_empty() { Binding::Whole } else { Binding::Prefix })
            }
            _ => self.dynamic(op, a, b),
        }
    }

    /// `x == none`.
    fn with_none(op: CompareOp, left: &Operand, right: &Operand) -> Option<Code> {
        let (value, test) = match (left.none, right.none, op) {
            (true, true, CompareOp::Equal) => return Some(Code::owned("true", Type::Bool)),
            (true, true, CompareOp::NotEqual) => return Some(Code::owned("false", Type::Bool)),
            (false, true, CompareOp::Equal) => (left, true),
            (false, true, CompareOp::NotEqual) => (left, false),
            (true, false, CompareOp::Equal) => (right, true),
            (true, false, CompareOp::NotEqual) => (right, false),
            _ => return None,
        };
        let text = value.code.within(Binding::Whole);
        if value.code.ty == Type::Json {
            let sign = if test { "==" } else { "!=" };
            let star = if value.code.form == Form::Lent { "*" } else { "" };
            let text = format!("{star}{text} {sign} Value::None");
            return Some(Code::owned(text, Type::Bool).bound(Binding::Compare));
        }
        if !matches!(value.code.ty, Type::Optional(_)) {
            return Some(Code::owned((!test).to_string(), Type::Bool));
        }
        let name = if test { "is_none" } else { "is_some" };
        Some(Code::owned(format!("{text}.{name}()"), Type::Bool))
    }

    fn membership(&self, op: CompareOp, item: &Code, whole: &Code) -> Code {
        let text = match (&item.ty, &whole.ty) {
            (Type::Text, Type::Text) => {
                format!("{}.contains({})", whole.within(Binding::Whole), item.lend())
            }
            (Type::Text, Type::Map(_)) => {
                format!("{}.get({}).is_some()", whole.within(Binding::Whole), item.lend())
            }
            (Type::Text, Type::List(of)) if **of == Type::Text => {
                format!("generated::has({}, {})", whole.lend(), item.lend())
            }
            (ty, Type::List(of)) if **of == *ty && self.is_rust_equality(ty) => {
                format!("{}.contains({})", whole.within(Binding::Whole), item.lend())
            }
            _ => return self.dynamic(op, item.clone(), whole.clone()),
        };
        if op == CompareOp::NotIn {
            Code::owned(format!("!{text}"), Type::Bool).bound(Binding::Prefix)
        } else {
            Code::owned(text, Type::Bool)
        }
    }

    /// By the interpreter's rules.
    fn dynamic(&self, op: CompareOp, a: Code, b: Code) -> Code {
        self.allocates();
        let (a, b) = (self.json(a), self.json(b));
        Code::owned(format!("expr::compare(model::CompareOp::{op:?}, &{a}, &{b})?"), Type::Bool)
    }

    /// Whether Rust's `==` on two values of the type means what the language's does.
    fn is_rust_equality(&self, ty: &Type) -> bool {
        match ty {
            Type::Bool | Type::Int | Type::Float | Type::Text | Type::Duration => true,
            Type::List(inner) | Type::Optional(inner) => self.is_rust_equality(inner),
            // Values count 1, 1.0 and true as equal, which their Rust type does not.
            Type::Json | Type::Map(_) => false,
            Type::Named(_) => self.context.facts.is_copy(ty),
        }
    }

    /// A place or reference for a comparison; both sides must be of one depth of reference.
    fn referred(code: &Code, equality: bool) -> String {
        match (&code.ty, code.form) {
            (Type::Text, _) => code.lend(),
            (_, Form::Lent) if equality => format!("*{}", code.within(Binding::Prefix)),
            _ => code.within(Binding::Sum),
        }
    }
}

/// One side of a comparison.
#[derive(Clone)]
struct Operand {
    code: Code,
    /// It is `none`.
    none: bool,
    /// An Int literal that a Float holds exactly.
    literal: Option<f64>,
}

impl Operand {
    fn of(writer: &Writer<'_>, expr: &Expr) -> Self {
        let none = matches!(expr.kind, ExprKind::None);
        let literal = if let ExprKind::Int(i) = expr.kind
            && i.unsigned_abs() < 1 << 53
        {
            Some(i as f64)
        } else {
            None
        };
        // Mostly `none` is not written out at all, so it does not ask for an allocator yet.
        let code = if none { Code::owned("Value::None", Type::Json) } else { writer.expr(expr) };
        Self { code, none, literal }
    }
}

/// Whether evaluating it twice, or later, makes no difference.
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

/// The method of an ordering that decides; for `!=` the one to negate.
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
