//! Conditions as formulas over terms: what `guard` decides.
#![allow(clippy::wildcard_enum_match_arm, reason = "whatever is no formula is a term, for ever")]

use chartc_core::expr::Value;
use chartc_core::model::{
    BinaryOp, Builtin, Chart, CompareOp, Expr, ExprKind, Observable, Type, TypeKind, UnaryOp,
    VariableKind,
};
use std::collections::BTreeSet;

/// Whole numbers beyond this have no exact double; comparisons with them are not decided.
const EXACT: u64 = 1 << 52;

/// Values of an enum that are looked through for each condition.
const SHORT: usize = 64;

/// A condition over the terms of a list.
#[derive(Debug, Clone)]
pub(super) enum Formula {
    Constant(bool),
    Not(Box<Formula>),
    And(Box<Formula>, Box<Formula>),
    Or(Box<Formula>, Box<Formula>),
    /// The second where the first holds, else the third.
    If(Box<Formula>, Box<Formula>, Box<Formula>),
    /// A Bool term.
    Holds(usize),
    /// A term compared with a constant.
    Compare(usize, CompareOp, Value),
}

impl Formula {
    /// Its value, given one for each term.
    pub(super) fn holds(&self, values: &[&Value]) -> bool {
        match self {
            Self::Constant(value) => *value,
            Self::Not(inner) => !inner.holds(values),
            Self::And(a, b) => a.holds(values) && b.holds(values),
            Self::Or(a, b) => a.holds(values) || b.holds(values),
            Self::If(condition, yes, no) => {
                if condition.holds(values) {
                    yes.holds(values)
                } else {
                    no.holds(values)
                }
            }
            Self::Holds(term) => *values[*term] == Value::Bool(true),
            Self::Compare(term, op, constant) => compare(values[*term], *op, constant),
        }
    }
}

/// An expression that is taken as a whole, with the constants that it is compared with.
#[derive(Debug, Clone)]
pub(super) struct Term {
    pub(super) expr: Expr,
    constants: Vec<Value>,
    /// Whether it is a condition itself, whatever its type.
    is_condition: bool,
}

impl Term {
    /// Whether its value is all that there is to it: a variable, or what the machine counts.
    pub(super) fn is_free(&self) -> bool {
        match &self.expr.kind {
            ExprKind::Observable(seen) => !matches!(seen, Observable::In(_)),
            _ => self.is_variable(),
        }
    }

    /// Whether it is a variable.
    pub(super) fn is_variable(&self) -> bool {
        matches!(self.expr.kind, ExprKind::Variable(_))
    }

    /// Whether reading it and comparing it cannot fail.
    pub(super) fn is_total(&self) -> bool {
        let json = matches!(self.expr.ty, Type::Json);
        !json && matches!(self.expr.kind, ExprKind::Variable(_) | ExprKind::Observable(_))
    }

    /// One value of each class that the constants cut its type into.
    pub(super) fn samples(&self, chart: &Chart) -> Vec<Value> {
        let (ty, optional) = match &self.expr.ty {
            Type::Optional(inner) => (&**inner, true),
            ty => (ty, false),
        };
        let mut samples = match ty {
            Type::Bool => vec![Value::Bool(false), Value::Bool(true)],
            Type::Int | Type::Float | Type::Duration => self.numbers(chart, ty),
            Type::Named(id) => match &chart.types[id.index()].kind {
                TypeKind::Enum(names) => self.names(names),
                TypeKind::Record(_) => vec![Value::Bool(true)],
            },
            Type::Text | Type::Json | Type::List(_) | Type::Map(_) | Type::Optional(_) => {
                let mut names: Vec<Value> = Vec::new();
                for constant in &self.constants {
                    if !names.contains(constant) && *constant != Value::None {
                        names.push(constant.clone());
                    }
                }
                let mut other = String::from("\u{2026}");
                while names.iter().any(|n| matches!(n, Value::Text(text) if *text == other)) {
                    other.push('\u{2026}');
                }
                names.push(Value::Text(other));
                names
            }
        };
        if optional {
            samples.push(Value::None);
        }
        if self.is_condition && *ty != Type::Bool {
            samples.extend([Value::Bool(false), Value::Bool(true)]);
        }
        samples
    }

    /// The values of an enum that it is compared with, and one of the others.
    fn names(&self, names: &[String]) -> Vec<Value> {
        let compared: BTreeSet<&str> = self
            .constants
            .iter()
            .filter_map(|one| if let Value::Text(name) = one { Some(name.as_str()) } else { None })
            .collect();
        let other = names.iter().find(|name| !compared.contains(name.as_str()));
        let text = |name: &str| Value::Text(name.into());
        if names.len() > SHORT {
            return compared.iter().copied().chain(other.map(String::as_str)).map(text).collect();
        }
        // In the order of the declaration.
        let counts = |name: &&String| compared.contains(name.as_str()) || Some(*name) == other;
        names.iter().filter(counts).map(|name| text(name)).collect()
    }

    fn numbers(&self, chart: &Chart, ty: &Type) -> Vec<Value> {
        let whole = *ty != Type::Float;
        let (low, high) = self.bounds(chart);
        let mut cuts: Vec<f64> = self.constants.iter().filter_map(number).collect();
        cuts.extend([low, high].into_iter().flatten());
        if whole {
            cuts = cuts.iter().flat_map(|c| [c.floor(), c.ceil()]).collect();
        }
        cuts.sort_by(f64::total_cmp);
        cuts.dedup();
        let step = if whole { 1.0 } else { 0.5 };
        let mut samples = cuts.clone();
        samples.extend(cuts.first().map(|c| (c - step).min(c.next_down())));
        samples.extend(cuts.last().map(|c| (c + step).max(c.next_up())));
        let between =
            |pair: &[f64]| if whole { pair[0] + 1.0 } else { f64::midpoint(pair[0], pair[1]) };
        samples.extend(cuts.windows(2).map(between));
        if samples.is_empty() {
            samples.push(0.0);
        }
        samples.retain(|s| low.is_none_or(|l| l <= *s) && high.is_none_or(|h| *s <= h));
        samples.sort_by(f64::total_cmp);
        samples.dedup();
        samples
            .into_iter()
            .map(|s| match ty {
                Type::Float => Value::Float(s),
                Type::Duration => Value::Duration(s as u64),
                _ => Value::Int(s as i64),
            })
            .collect()
    }

    /// Least and greatest value, where known.
    fn bounds(&self, chart: &Chart) -> (Option<f64>, Option<f64>) {
        let least = (self.expr.ty == Type::Duration).then_some(0.0);
        match &self.expr.kind {
            ExprKind::Variable(id) => match &chart.variables[id.index()].kind {
                VariableKind::Param { range: Some((low, high)) } => (number(low), number(high)),
                VariableKind::Param { range: None }
                | VariableKind::Input
                | VariableKind::Var { .. } => (least, None),
            },
            ExprKind::Observable(_) | ExprKind::Builtin(Builtin::Len, _) => (Some(0.0), None),
            _ => (least, None),
        }
    }
}

/// Reads a condition; terms that are new are added to the list.
pub(super) fn formula(chart: &Chart, expr: &Expr, terms: &mut Vec<Term>) -> Formula {
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

fn not(inner: Formula) -> Formula {
    Formula::Not(Box::new(inner))
}

fn and(a: Formula, b: Formula) -> Formula {
    Formula::And(Box::new(a), Box::new(b))
}

fn or(a: Formula, b: Formula) -> Formula {
    Formula::Or(Box::new(a), Box::new(b))
}

fn pair(left: &Expr, op: CompareOp, right: &Expr, terms: &mut Vec<Term>) -> Formula {
    match (constant(left), constant(right)) {
        (Some(a), Some(b)) => Formula::Constant(compare(&a, op, &b)),
        (None, Some(b)) if comparable(&left.ty, op) => {
            Formula::Compare(term(left, Some(b.clone()), terms), op, b)
        }
        (Some(a), None) if comparable(&right.ty, op) && flipped(op).is_some() => {
            let op = flipped(op).unwrap_or(op);
            Formula::Compare(term(right, Some(a.clone()), terms), op, a)
        }
        _ => match (op, &right.kind) {
            (CompareOp::In, ExprKind::List(items)) => items
                .iter()
                .map(|item| pair(left, CompareOp::Equal, item, terms))
                .fold(Formula::Constant(false), or),
            (CompareOp::NotIn, ExprKind::List(_)) => not(pair(left, CompareOp::In, right, terms)),
            (CompareOp::NotEqual, _) => not(pair(left, CompareOp::Equal, right, terms)),
            _ => {
                let kind = ExprKind::Compare(Box::new(left.clone()), vec![(op, right.clone())]);
                Formula::Holds(term(&Expr { kind, ty: Type::Bool }, None, terms))
            }
        },
    }
}

/// Whether the order of values with constants is what `numbers` samples, or only equality is asked.
fn comparable(ty: &Type, op: CompareOp) -> bool {
    match op {
        CompareOp::Equal | CompareOp::NotEqual => {
            let ty = if let Type::Optional(inner) = ty { inner } else { ty };
            matches!(
                ty,
                Type::Bool | Type::Int | Type::Float | Type::Duration | Type::Text | Type::Named(_)
            )
        }
        CompareOp::Less | CompareOp::LessEqual | CompareOp::Greater | CompareOp::GreaterEqual => {
            matches!(ty, Type::Int | Type::Float | Type::Duration)
        }
        CompareOp::In | CompareOp::NotIn => false,
    }
}

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

fn term(expr: &Expr, constant: Option<Value>, terms: &mut Vec<Term>) -> usize {
    let place = terms.iter().position(|t| t.expr.kind == expr.kind).unwrap_or_else(|| {
        terms.push(Term { expr: expr.clone(), constants: Vec::new(), is_condition: false });
        terms.len() - 1
    });
    terms[place].is_condition |= constant.is_none();
    terms[place].constants.extend(constant);
    place
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(n) => Some(*n as f64),
        Value::Float(n) => Some(*n),
        Value::Duration(n) => Some(*n as f64),
        Value::None | Value::Bool(_) | Value::Text(_) | Value::List(_) | Value::Map(_) => None,
    }
}

/// As the language compares; values of different kinds are unequal and in no order.
fn compare(left: &Value, op: CompareOp, right: &Value) -> bool {
    let order = match (number(left), number(right)) {
        (Some(a), Some(b)) => a.partial_cmp(&b),
        _ => None,
    };
    match op {
        CompareOp::Equal => order.map_or(left == right, |o| o.is_eq()),
        CompareOp::NotEqual => !order.map_or(left == right, |o| o.is_eq()),
        CompareOp::Less => order.is_some_and(|o| o.is_lt()),
        CompareOp::LessEqual => order.is_some_and(|o| o.is_le()),
        CompareOp::Greater => order.is_some_and(|o| o.is_gt()),
        CompareOp::GreaterEqual => order.is_some_and(|o| o.is_ge()),
        CompareOp::In | CompareOp::NotIn => false,
    }
}
