//! Conditions as formulas over terms, the form in which `guard` decides them.
//!
//! For example, `n > 3 and not (a < b)` becomes `And(Compare(0, >, 3), Not(Compare(1, <, 0)))` with two terms: term 0 is `n`, and term
//! 1 is the order of `a` and `b`, which is -1, 0 or 1.

use crate::facts::term::{Sample, Term, is_total};
use chartc_core::expr::{self, Value};
use chartc_core::model::{BinaryOp, Builtin, Chart, CompareOp, Expr, ExprKind, Type, UnaryOp};

/// Whole numbers from this on are not compared with constants: samples are computed as doubles, which are not exact for large ones.
const EXACT: u64 = 1 << 52;

/// A condition over a list of terms, which it refers to by index.
#[derive(Debug, Clone)]
pub(crate) enum Formula {
    Constant(bool),
    Not(Box<Formula>),
    And(Box<Formula>, Box<Formula>),
    Or(Box<Formula>, Box<Formula>),
    /// The second formula if the first holds, otherwise the third.
    If(Box<Formula>, Box<Formula>, Box<Formula>),
    /// A term of type Bool.
    Holds(usize),
    /// A comparison of a term with a constant.
    Compare(usize, CompareOp, Value),
}

impl Formula {
    /// Evaluates the formula with one value for each term. `None` if evaluation fails. Like the language, it evaluates from left to
    /// right and stops when the result is known.
    pub(crate) fn value(&self, values: &[&Sample]) -> Option<bool> {
        match self {
            Self::Constant(value) => Some(*value),
            Self::Not(inner) => inner.value(values).map(|value| !value),
            Self::And(a, b) => {
                if a.value(values)? {
                    b.value(values)
                } else {
                    Some(false)
                }
            }
            Self::Or(a, b) => {
                if a.value(values)? {
                    Some(true)
                } else {
                    b.value(values)
                }
            }
            Self::If(condition, yes, no) => {
                if condition.value(values)? {
                    yes.value(values)
                } else {
                    no.value(values)
                }
            }
            Self::Holds(term) => match values[*term] {
                Some(Value::Bool(value)) => Some(*value),
                _ => None,
            },
            Self::Compare(term, op, constant) => {
                expr::compare(*op, values[*term].as_ref()?, constant).ok()
            }
        }
    }
}

/// Translates a condition, and appends terms that are new to the list.
pub(crate) fn formula(chart: &Chart, expr: &Expr, terms: &mut Vec<Term>) -> Formula {
    match &expr.kind {
        ExprKind::Bool(value) => Formula::Constant(*value),
        ExprKind::Unary(UnaryOp::Not, inner) => not(formula(chart, inner, terms)),
        ExprKind::Binary(BinaryOp::And, a, b) => {
            and(formula(chart, a, terms), formula(chart, b, terms))
        }
        ExprKind::Binary(BinaryOp::Or, a, b) => {
            or(formula(chart, a, terms), formula(chart, b, terms))
        }
        ExprKind::If(condition, yes, no) => {
            let [condition, yes, no] =
                [condition, yes, no].map(|part| Box::new(formula(chart, part, terms)));
            Formula::If(condition, yes, no)
        }
        ExprKind::Predicate(id) => formula(chart, &chart.predicates[id.index()].expr, terms),
        ExprKind::Builtin(Builtin::Bool, parts) if parts.len() == 1 => truth(chart, expr, terms),
        ExprKind::Compare(first, rest) => {
            let mut left = &**first;
            let mut all = Formula::Constant(true);
            for (op, right) in rest {
                all = and(all, pair(left, *op, right, terms));
                left = right;
            }
            all
        }
        _ => Formula::Holds(term(expr, None, terms)),
    }
}

/// Translates `bool(x)`: `x` differs from the zero or the empty value of its type.
fn truth(chart: &Chart, expr: &Expr, terms: &mut Vec<Term>) -> Formula {
    let ExprKind::Builtin(_, parts) = &expr.kind else { return Formula::Constant(false) };
    let part = &parts[0];
    let differs = |zero: Value, terms: &mut Vec<Term>| {
        Formula::Compare(term(part, Some(zero.clone()), terms), CompareOp::NotEqual, zero)
    };
    match &part.ty {
        Type::Bool => formula(chart, part, terms),
        Type::Int | Type::Float => differs(Value::Int(0), terms),
        Type::Duration => differs(Value::Duration(0), terms),
        Type::Text => differs(Value::Text(String::new()), terms),
        Type::List(_) | Type::Map(_) => not(is_empty(part, terms)),
        Type::Json | Type::Named(_) | Type::Optional(_) => Formula::Holds(term(expr, None, terms)),
    }
}

/// Translates `len(x) == 0`.
fn is_empty(whole: &Expr, terms: &mut Vec<Term>) -> Formula {
    let kind = ExprKind::Builtin(Builtin::Len, vec![whole.clone()]);
    let zero = Value::Int(0);
    let length = term(&Expr { kind, ty: Type::Int }, Some(zero.clone()), terms);
    Formula::Compare(length, CompareOp::Equal, zero)
}

fn not(inner: Formula) -> Formula {
    Formula::Not(Box::new(inner))
}

fn and(a: Formula, b: Formula) -> Formula {
    Formula::And(Box::new(a), Box::new(b))
}

fn or(a: Formula, b: Formula) -> Formula {
    Formula::Or(Box::new(a), Box::new(b))
}

/// Translates `left op right`. A comparison that is not understood becomes a term of its own.
fn pair(left: &Expr, op: CompareOp, right: &Expr, terms: &mut Vec<Term>) -> Formula {
    match (constant(left), constant(right)) {
        (Some(a), Some(b)) => Formula::Constant(expr::compare(op, &a, &b).unwrap_or(false)),
        (None, Some(b)) if comparable(&left.ty, op) => {
            Formula::Compare(term(left, Some(b.clone()), terms), op, b)
        }
        (Some(a), None) if comparable(&right.ty, op) && flipped(op).is_some() => {
            let op = flipped(op).unwrap_or(op);
            Formula::Compare(term(right, Some(a.clone()), terms), op, a)
        }
        _ => match (op, &right.kind) {
            (CompareOp::In, ExprKind::List(items)) if items.iter().all(is_total) => items
                .iter()
                .map(|item| pair(left, CompareOp::Equal, item, terms))
                .fold(Formula::Constant(false), or),
            (CompareOp::NotIn, ExprKind::List(_)) => not(pair(left, CompareOp::In, right, terms)),
            (CompareOp::NotEqual, _) => not(pair(left, CompareOp::Equal, right, terms)),
            (CompareOp::Equal, _) if is_nothing(right) && is_collection(left) => {
                is_empty(left, terms)
            }
            (CompareOp::Equal, _) if is_nothing(left) && is_collection(right) => {
                is_empty(right, terms)
            }
            _ if relates(left, op, right) => order(left, op, right, terms),
            _ => {
                let kind = ExprKind::Compare(Box::new(left.clone()), vec![(op, right.clone())]);
                Formula::Holds(term(&Expr { kind, ty: Type::Bool }, None, terms))
            }
        },
    }
}

fn is_nothing(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::List(items) => items.is_empty(),
        ExprKind::Map(entries) => entries.is_empty(),
        _ => false,
    }
}

fn is_collection(expr: &Expr) -> bool {
    matches!(expr.ty, Type::List(_) | Type::Map(_))
}

/// Whether the value of the comparison depends only on whether the left side is less than, equal to or greater than the right side.
fn relates(left: &Expr, op: CompareOp, right: &Expr) -> bool {
    let plain = |e: &Expr| matches!(e.ty, Type::Int | Type::Float | Type::Duration | Type::Text);
    match op {
        CompareOp::Equal | CompareOp::NotEqual => true,
        CompareOp::Less | CompareOp::LessEqual | CompareOp::Greater | CompareOp::GreaterEqual => {
            plain(left) && plain(right)
        }
        CompareOp::In | CompareOp::NotIn => false,
    }
}

/// Translates a comparison of two expressions: their order is a term, compared with 0. `a < b` and `b > a` share this term.
fn order(left: &Expr, op: CompareOp, right: &Expr, terms: &mut Vec<Term>) -> Formula {
    let sides = |a: &Expr, b: &Expr| {
        ExprKind::Compare(Box::new(a.clone()), vec![(CompareOp::Equal, b.clone())])
    };
    let (own, other) = (sides(left, right), sides(right, left));
    let known = |kind: &ExprKind| terms.iter().position(|t| t.is_order && t.expr.kind == *kind);
    let zero = Value::Int(0);
    if let Some(place) = known(&own) {
        return Formula::Compare(place, op, zero);
    }
    if let (Some(place), Some(op)) = (known(&other), flipped(op)) {
        return Formula::Compare(place, op, zero);
    }
    let expr = Expr { kind: own, ty: Type::Bool };
    terms.push(Term { expr, constants: Vec::new(), is_condition: false, is_order: true });
    Formula::Compare(terms.len() - 1, op, zero)
}

/// Whether a comparison by `op` of a term of this type with a constant can be decided by samples.
fn comparable(ty: &Type, op: CompareOp) -> bool {
    match op {
        CompareOp::Equal | CompareOp::NotEqual => {
            let ty = if let Type::Optional(inner) = ty { inner } else { ty };
            matches!(
                ty,
                Type::Bool
                    | Type::Int
                    | Type::Float
                    | Type::Duration
                    | Type::Text
                    | Type::Json
                    | Type::Named(_)
            )
        }
        CompareOp::Less | CompareOp::LessEqual | CompareOp::Greater | CompareOp::GreaterEqual => {
            matches!(ty, Type::Int | Type::Float | Type::Duration)
        }
        CompareOp::In | CompareOp::NotIn => false,
    }
}

/// The operator that gives the same value with the sides swapped; `None` for `in`.
fn flipped(op: CompareOp) -> Option<CompareOp> {
    match op {
        CompareOp::Equal | CompareOp::NotEqual => Some(op),
        CompareOp::Less => Some(CompareOp::Greater),
        CompareOp::LessEqual => Some(CompareOp::GreaterEqual),
        CompareOp::Greater => Some(CompareOp::Less),
        CompareOp::GreaterEqual => Some(CompareOp::LessEqual),
        CompareOp::In | CompareOp::NotIn => None,
    }
}

/// The value of a literal; `None` for other expressions and for whole numbers that are too large.
fn constant(expr: &Expr) -> Option<Value> {
    match &expr.kind {
        ExprKind::None => Some(Value::None),
        ExprKind::Bool(value) => Some(Value::Bool(*value)),
        ExprKind::Int(value) if value.unsigned_abs() < EXACT => Some(Value::Int(*value)),
        ExprKind::Float(value) => Some(Value::Float(*value)),
        ExprKind::Duration(value) if *value < EXACT => Some(Value::Duration(*value)),
        ExprKind::Text(text) => text.literal().map(|t| Value::Text(t.into())),
        ExprKind::Enum(_, name) => Some(Value::Text(name.clone())),
        ExprKind::Unary(UnaryOp::Negate, inner) => match constant(inner)? {
            Value::Int(value) => Some(Value::Int(-value)),
            Value::Float(value) => Some(Value::Float(-value)),
            _ => None,
        },
        _ => None,
    }
}

/// The index of the term of an expression, with the constant added to those that it is compared with. Without a constant, the
/// expression is a condition itself.
fn term(expr: &Expr, constant: Option<Value>, terms: &mut Vec<Term>) -> usize {
    let same = |t: &Term| !t.is_order && t.expr.kind == expr.kind;
    let place = terms.iter().position(same).unwrap_or_else(|| {
        let expr = expr.clone();
        terms.push(Term { expr, constants: Vec::new(), is_condition: false, is_order: false });
        terms.len() - 1
    });
    // After a test for `none`, the same expression has a narrower type elsewhere; the term keeps the optional type.
    if matches!(expr.ty, Type::Optional(_)) {
        terms[place].expr.ty.clone_from(&expr.ty);
    }
    terms[place].is_condition |= constant.is_none();
    terms[place].constants.extend(constant);
    place
}
