//! Terms of conditions: expressions that are not taken apart, and sample values that distinguish their cases.

use chartc_core::expr::Value;
use chartc_core::model::{
    Builtin, Chart, CompareOp, Expr, ExprKind, Observable, Type, TypeKind, VariableKind,
};
use std::collections::BTreeSet;

/// The maximum number of values of an enum that are all samples.
const SHORT: usize = 64;

/// A value that a term may have; `None` if its evaluation fails.
pub(crate) type Sample = Option<Value>;

/// An expression that is not taken apart, with the constants that it is compared with.
#[derive(Debug, Clone)]
pub(crate) struct Term {
    /// The expression; for an order, `a == b`.
    pub(crate) expr: Expr,
    /// The constants, in the order found, with repetitions.
    pub(crate) constants: Vec<Value>,
    /// Whether the expression also occurs as a condition of its own, whatever its type.
    pub(crate) is_condition: bool,
    /// Whether the value is the order of the two sides of `a == b`: -1, 0 or 1.
    pub(crate) is_order: bool,
}

impl Term {
    /// Whether the term can take any value independently of other terms: a variable, event data, the current answer, a field of
    /// one of these, or an observable other than `in(state)`.
    pub(crate) fn is_free(&self) -> bool {
        if let ExprKind::Observable(seen) = &self.expr.kind {
            return !matches!(seen, Observable::In(_));
        }
        !self.is_order && self.is_place()
    }

    /// Whether the term reads a stored value and computes nothing. An answer that may be missing depends on other steps and does not
    /// count.
    pub(crate) fn is_place(&self) -> bool {
        let missing = |e: &Expr| matches!(e.ty, Type::Optional(_) | Type::Json);
        let root = root(&self.expr);
        let stored = matches!(root.kind, ExprKind::Variable(_) | ExprKind::Payload(_));
        let given = matches!(root.kind, ExprKind::Answer(_)) && !missing(root);
        (stored || given) && is_total(&self.expr)
    }

    /// Whether one of the two terms is a field, direct or nested, of the other.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        let within = |part: &Expr, whole: &Expr| {
            let mut at = part;
            while let ExprKind::Field(base, _) = &at.kind {
                at = base;
                if at.kind == whole.kind {
                    return true;
                }
            }
            false
        };
        within(&self.expr, &other.expr) || within(&other.expr, &self.expr)
    }

    /// One value of each class into which the constants divide the values of the term, and `None` if its evaluation may fail.
    pub(crate) fn samples(&self, chart: &Chart) -> Vec<Sample> {
        let mut samples: Vec<Sample> = self.values(chart).into_iter().map(Some).collect();
        if !is_total(&self.expr) {
            samples.push(None);
        }
        samples
    }

    fn values(&self, chart: &Chart) -> Vec<Value> {
        if self.is_order {
            return [-1, 0, 1].map(Value::Int).to_vec();
        }
        let own = &self.expr.ty;
        let (ty, optional) = if let Type::Optional(inner) = own {
            (&**inner, true)
        } else {
            (own, *own == Type::Json)
        };
        let mut samples = match ty {
            Type::Bool => vec![Value::Bool(false), Value::Bool(true)],
            Type::Int | Type::Float | Type::Duration => self.numbers(chart, ty),
            Type::Named(id) => match &chart.types[id.index()].kind {
                TypeKind::Enum(names) => self.names(names),
                TypeKind::Record(_) => vec![Value::Bool(true)],
            },
            _ => {
                let mut names: Vec<Value> = Vec::new();
                for constant in &self.constants {
                    if !names.contains(constant) && *constant != Value::None {
                        names.push(constant.clone());
                    }
                }
                // Stands for all texts that are not compared: a text that differs from each constant.
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
        // Values of other types as conditions: the language may treat them as true or false, so both are tried.
        if self.is_condition && *ty != Type::Bool {
            samples.extend([Value::Bool(false), Value::Bool(true), Value::Int(0), Value::Int(1)]);
        }
        samples
    }

    /// The values of an enum. For a large one: those that occur in comparisons, and two others.
    fn names(&self, names: &[String]) -> Vec<Value> {
        let text = |name: &str| Value::Text(name.into());
        if names.len() <= SHORT {
            return names.iter().map(|name| text(name)).collect();
        }
        let compared: BTreeSet<&str> = self
            .constants
            .iter()
            .filter_map(|one| if let Value::Text(name) = one { Some(name.as_str()) } else { None })
            .collect();
        let others = names.iter().map(String::as_str).filter(|name| !compared.contains(name));
        compared.iter().copied().chain(others.take(2)).map(text).collect()
    }

    /// A number below all constants, one between each two neighbors, one above all, and the constants themselves; only those within the
    /// bounds of the term.
    fn numbers(&self, chart: &Chart, ty: &Type) -> Vec<Value> {
        let whole = *ty != Type::Float;
        let (low, high) = self.bounds(chart);
        let mut cuts: Vec<f64> = self.constants.iter().filter_map(number).collect();
        cuts.extend([low, high].into_iter().flatten());
        // A whole number compared with 2.5 has its classes at 2 and 3.
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

    /// The least and the greatest value that the term can have, where known.
    fn bounds(&self, chart: &Chart) -> (Option<f64>, Option<f64>) {
        let least = (self.expr.ty == Type::Duration).then_some(0.0);
        if let ExprKind::Variable(id) = self.expr.kind
            && let VariableKind::Param { range: Some((low, high)) } =
                &chart.variables[id.index()].kind
        {
            return (number(low), number(high));
        }
        let counts =
            // Observables and lengths count something, so they are never negative.
            matches!(self.expr.kind, ExprKind::Observable(_) | ExprKind::Builtin(Builtin::Len, _));
        (if counts { Some(0.0) } else { least }, None)
    }
}

/// The expression below all field accesses: `x` for `x.a.b`.
pub(crate) fn root(expr: &Expr) -> &Expr {
    let mut at = expr;
    while let ExprKind::Field(base, _) = &at.kind {
        at = base;
    }
    at
}

/// Whether evaluation cannot fail. The structure of Json values is unknown, so reading them may fail.
pub(crate) fn is_total(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::None
        | ExprKind::Bool(_)
        | ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Duration(_)
        | ExprKind::Enum(..)
        | ExprKind::Observable(_)
        | ExprKind::Answer(_) => true,
        ExprKind::Variable(_) | ExprKind::Payload(_) => expr.ty != Type::Json,
        ExprKind::Text(text) => text.literal().is_some(),
        ExprKind::Field(base, _) => matches!(base.ty, Type::Named(_)) && is_total(base),
        ExprKind::Default(a, b) => is_total(a) && is_total(b),
        ExprKind::List(items) => items.iter().all(is_total),
        ExprKind::Map(entries) => entries.is_empty(),
        ExprKind::Builtin(Builtin::Bool | Builtin::IsA | Builtin::JsTruth, parts) => {
            parts.iter().all(is_total)
        }
        ExprKind::Builtin(Builtin::Len, parts) => parts.iter().all(|part| {
            matches!(part.ty, Type::Text | Type::List(_) | Type::Map(_)) && is_total(part)
        }),
        ExprKind::Compare(first, rest) => match &rest[..] {
            [(CompareOp::In | CompareOp::NotIn, list)] => {
                matches!(list.ty, Type::List(_)) && is_total(first) && is_total(list)
            }
            [(op, second)] => {
                let plain = |e: &Expr| matches!(e.ty, Type::Int | Type::Float | Type::Duration);
                let equal = matches!(op, CompareOp::Equal | CompareOp::NotEqual);
                (equal || plain(first) && plain(second)) && is_total(first) && is_total(second)
            }
            _ => false,
        },
        _ => false,
    }
}

pub(crate) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(n) => Some(*n as f64),
        Value::Float(n) => Some(*n),
        Value::Duration(n) => Some(*n as f64),
        _ => None,
    }
}
