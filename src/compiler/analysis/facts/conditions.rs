//! Decides whether conditions can hold, alone and together, by trying finitely many values.
//!
//! **The problem.** "This guard never holds" and "this line hides that one" are questions about all values of the data, of which there are
//! infinitely many. A general solver would be large, and its answers hard to explain.
//!
//! **The idea.** A comparison with a constant divides the values into classes: for `n > 3`, all numbers up to 3 are equivalent, and so
//! are all others. One sample of each class is enough. [`decide`] translates the conditions into a `Formula` over *terms*: expressions that
//! are not taken apart, such as `n` or `order.price`, each with the constants with which it is compared. It evaluates the formulas with
//! every combination of samples, up to `MOST_SAMPLES`:
//!
//! - If no combination gives all conditions the wanted values, the verdict is [`Verdict::Never`]. This is always right, as terms have more
//!   combinations than runs: their values are chosen independently.
//! - If one does, it is an example only if a run can choose the terms independently. Otherwise the verdict is [`Verdict::Perhaps`].
//!
//! A term whose evaluation may fail has a sample for that; a condition whose evaluation fails is false. For conditions that this leaves
//! undecided, `decide_finite` evaluates the expressions themselves, if they read only variables with few values.
//!
//! The rest of the module holds intervals of whole numbers ([`Range`]) and a hash map for the analyses (`Map`).
//!
//! **Example.** Can `n > 3 and n < 5` hold together with `n != 4`? The only term is `n`, with the constants 3, 5 and 4. Its samples are 2,
//! 3, 4, 5 and 6. The first condition holds for 4 only, the second for all but 4: the verdict is `Never`. For a `Float`, 3.5 is a sample,
//! too, and it is the example.

use super::usage::walk;
use chartc_core::arena::{PredicateId, VarId};
use chartc_core::expr::{self, Environment, Fuel, Value, holds};
use chartc_core::model::{
    BinaryOp, Builtin, Chart, CompareOp, Expr, ExprKind, Observable, Type, TypeKind, UnaryOp,
    VariableKind,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

/// The maximum number of assignments that are tried. If there are more, the verdict is [`Verdict::Perhaps`].
const MOST_SAMPLES: usize = 4_000;

/// The answer to the question whether all conditions can have their wanted values at once.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// No values of the terms give every condition its wanted value.
    Never,
    /// These values do: pairs of a term and its value. Empty if the conditions have no terms.
    Example(Vec<(Expr, Value)>),
    /// The analysis cannot decide it.
    Perhaps,
}

/// Decides whether every condition can have the truth value paired with it. Assumes that floats are never NaN.
pub fn decide(chart: &Chart, goals: &[(&Expr, bool)]) -> Verdict {
    match by_terms(chart, goals) {
        Verdict::Perhaps => decide_finite(chart, goals),
        sure @ (Verdict::Never | Verdict::Example(_)) => sure,
    }
}

fn by_terms(chart: &Chart, goals: &[(&Expr, bool)]) -> Verdict {
    // The same condition cannot be both true and false, even if it is too complex to decide.
    let holds = |e: &Expr| goals.iter().any(|(g, value)| *value && *g == e);
    if goals.iter().any(|(g, value)| !value && holds(g)) {
        return Verdict::Never;
    }
    let mut terms = Vec::new();
    let formulas: Vec<(Formula, bool)> =
        goals.iter().map(|(goal, value)| (formula(chart, goal, &mut terms), *value)).collect();
    let samples: Vec<Vec<Sample>> = terms.iter().map(|t| t.samples(chart)).collect();
    let count = samples.iter().try_fold(1_usize, |n, s| n.checked_mul(s.len()));
    if count.is_none_or(|n| n > MOST_SAMPLES) {
        return Verdict::Perhaps;
    }
    let Some(values) = first(&formulas, &samples) else { return Verdict::Never };
    // The values are an example only if a run can choose them independently: terms such as `x` and `x.field` restrict each other.
    let alone =
        |(i, term): (usize, &Term)| term.is_free() && terms[..i].iter().all(|t| !t.overlaps(term));
    let example =
        terms.iter().enumerate().all(alone) && terms.iter().filter(|t| !t.is_place()).count() <= 1;
    let values: Option<Vec<Value>> = values.into_iter().cloned().collect();
    match values {
        Some(values) if example => {
            Verdict::Example(terms.into_iter().map(|t| t.expr).zip(values).collect())
        }
        Some(_) | None => Verdict::Perhaps,
    }
}

/// Whether `then` holds whenever `given` does. `None` stands for a guard that always holds. False if that is not decided.
pub fn implies(chart: &Chart, given: Option<&Expr>, then: Option<&Expr>) -> bool {
    match (given, then) {
        (_, None) => true,
        (None, Some(then)) => decide(chart, &[(then, false)]) == Verdict::Never,
        (Some(given), Some(then)) => {
            decide(chart, &[(given, true), (then, false)]) == Verdict::Never
        }
    }
}

/// Whether two guards may hold together. False only if that is certainly impossible.
pub(crate) fn compatible(chart: &Chart, one: Option<&Expr>, other: Option<&Expr>) -> bool {
    let goals: Vec<_> = [one, other].into_iter().flatten().map(|g| (g, true)).collect();
    decide(chart, &goals) != Verdict::Never
}

/// The first assignment of samples that gives every formula its wanted value.
fn first<'s>(formulas: &[(Formula, bool)], samples: &'s [Vec<Sample>]) -> Option<Vec<&'s Sample>> {
    let mut digits = vec![0; samples.len()];
    let mut values: Vec<&Sample> = samples.iter().map(|s| s.first()).collect::<Option<_>>()?;
    loop {
        // A condition whose evaluation fails is false.
        let held = |formula: &Formula| formula.value(&values).unwrap_or(false);
        if formulas.iter().all(|(formula, wanted)| held(formula) == *wanted) {
            return Some(values);
        }
        // Counts up in a mixed radix: the first digit that is not at its maximum grows, and those before it start again.
        let place = (0..digits.len()).find(|i| digits[*i] + 1 < samples[*i].len())?;
        digits[place] += 1;
        digits[..place].fill(0);
        for i in 0..=place {
            values[i] = &samples[i][digits[i]];
        }
    }
}

// Conditions as formulas over terms, the form in which `by_terms` decides them.
//
// For example, `n > 3 and not (a < b)` becomes `And(Compare(0, >, 3), Not(Compare(1, <, 0)))` with two terms: term 0 is `n`, and term
// 1 is the order of `a` and `b`, which is -1, 0 or 1.

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
            _ if relates(left, op, right) => order_terms(left, op, right, terms),
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
fn order_terms(left: &Expr, op: CompareOp, right: &Expr, terms: &mut Vec<Term>) -> Formula {
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

// Terms of conditions: expressions that are not taken apart, and sample values that distinguish their cases.

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
        // A step from a large number may round to the number itself, so the next representable one is taken if it is farther.
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

// Intervals of whole numbers, and what comparisons say about them. An overflow of a bound makes it unbounded.

/// An interval from the least to the greatest value, both included. `None` is unbounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Range {
    /// The least value.
    pub low: Option<i64>,
    /// The greatest value.
    pub high: Option<i64>,
}

impl Range {
    pub(crate) fn one(value: i64) -> Self {
        Self { low: Some(value), high: Some(value) }
    }

    pub(crate) fn is_empty(self) -> bool {
        matches!((self.low, self.high), (Some(low), Some(high)) if low > high)
    }

    /// The smallest interval that contains both intervals.
    pub(crate) fn join(self, other: Self) -> Self {
        Self {
            low: self.low.zip(other.low).map(|(a, b)| a.min(b)),
            high: self.high.zip(other.high).map(|(a, b)| a.max(b)),
        }
    }

    /// The intersection.
    pub(crate) fn meet(self, other: Self) -> Self {
        let both = |a: Option<i64>, b: Option<i64>, pick: fn(i64, i64) -> i64| match (a, b) {
            (Some(a), Some(b)) => Some(pick(a, b)),
            (one, other) => one.or(other),
        };
        Self {
            low: both(self.low, other.low, i64::max),
            high: both(self.high, other.high, i64::min),
        }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        let sum = |(a, b): (i64, i64)| a.checked_add(b);
        Self {
            low: self.low.zip(other.low).and_then(sum),
            high: self.high.zip(other.high).and_then(sum),
        }
    }

    pub(crate) fn negated(self) -> Self {
        Self {
            low: self.high.and_then(i64::checked_neg),
            high: self.low.and_then(i64::checked_neg),
        }
    }
}

/// The ordering that holds if a comparison by `op` has the value `wanted`: `<` for a `>=` that is false. `None` for `!=` and `in`.
pub(crate) fn order_bounds(op: CompareOp, wanted: bool) -> Option<CompareOp> {
    Some(match (op, wanted) {
        (CompareOp::Less, true) | (CompareOp::GreaterEqual, false) => CompareOp::Less,
        (CompareOp::LessEqual, true) | (CompareOp::Greater, false) => CompareOp::LessEqual,
        (CompareOp::Greater, true) | (CompareOp::LessEqual, false) => CompareOp::Greater,
        (CompareOp::GreaterEqual, true) | (CompareOp::Less, false) => CompareOp::GreaterEqual,
        (CompareOp::Equal, true) | (CompareOp::NotEqual, false) => CompareOp::Equal,
        (CompareOp::Equal, false) | (CompareOp::NotEqual, true) => return None,
        (CompareOp::In | CompareOp::NotIn, _) => return None,
    })
}

/// The same ordering with its sides swapped.
pub(crate) fn turned(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Less => CompareOp::Greater,
        CompareOp::LessEqual => CompareOp::GreaterEqual,
        CompareOp::Greater => CompareOp::Less,
        CompareOp::GreaterEqual => CompareOp::LessEqual,
        _ => op,
    }
}

/// The values that are in the relation `op` to some value of `other`: for `<` and 1..=5, the values up to 4.
pub(crate) fn within(op: CompareOp, other: Range) -> Range {
    match op {
        CompareOp::Less => Range { low: None, high: other.high.and_then(|n| n.checked_sub(1)) },
        CompareOp::LessEqual => Range { low: None, high: other.high },
        CompareOp::Greater => Range { low: other.low.and_then(|n| n.checked_add(1)), high: None },
        CompareOp::GreaterEqual => Range { low: other.low, high: None },
        CompareOp::Equal => other,
        CompareOp::NotEqual | CompareOp::In | CompareOp::NotIn => Range::default(),
    }
}

/// The bounds of a variable as conditions, `low <= variable` and `variable <= high`.
pub(crate) fn conditions((id, range): (VarId, Range)) -> Vec<Expr> {
    let compare = |op: CompareOp, n: i64| {
        let side = |kind: ExprKind| Expr { kind, ty: Type::Int };
        let (left, right) = (side(ExprKind::Variable(id)), side(ExprKind::Int(n)));
        Expr { kind: ExprKind::Compare(Box::new(left), vec![(op, right)]), ty: Type::Bool }
    };
    let low = range.low.map(|n| compare(CompareOp::GreaterEqual, n));
    low.into_iter().chain(range.high.map(|n| compare(CompareOp::LessEqual, n))).collect()
}

// Decides conditions over variables with small finite domains, by evaluating them with every assignment.

/// The maximum number of assignments that are tried.
const MOST_ASSIGNMENTS: usize = 1_024;

/// Like [`decide`], for conditions that read nothing but variables with small finite domains.
pub(crate) fn decide_finite(chart: &Chart, goals: &[(&Expr, bool)]) -> Verdict {
    let Some((read, domains)) = read(chart, goals) else { return Verdict::Perhaps };
    let mut values = Values { chart, of: BTreeMap::new() };
    let mut digits = vec![0; domains.len()];
    loop {
        let variables = read.keys().zip(&domains).zip(&digits);
        values.of = variables.map(|((id, domain), digit)| (*id, domain[*digit].clone())).collect();
        // A condition whose evaluation fails is false.
        let held = |goal: &Expr| holds(goal, &values, &Fuel::default()).unwrap_or(false);
        if goals.iter().all(|(goal, wanted)| held(goal) == *wanted) {
            let expr = |id: &VarId| (*read[id]).clone();
            return Verdict::Example(
                values.of.iter().map(|(id, v)| (expr(id), v.clone())).collect(),
            );
        }
        let Some(place) = (0..digits.len()).find(|i| digits[*i] + 1 < domains[*i].len()) else {
            return Verdict::Never;
        };
        digits[place] += 1;
        digits[..place].fill(0);
    }
}

/// The variables that conditions read, each with an expression that names it; and the values of each variable, in the same order.
type Domains<'c> = (BTreeMap<VarId, &'c Expr>, Vec<Vec<Value>>);

/// The variables that the conditions read, with their domains. `None` if the conditions read anything else, or if there are more than
/// [`MOST_ASSIGNMENTS`] assignments.
fn read<'c>(chart: &'c Chart, goals: &[(&'c Expr, bool)]) -> Option<Domains<'c>> {
    let mut read = BTreeMap::new();
    let mut closed = true;
    for (goal, _) in goals {
        walk(chart, goal, &mut |e| match e.kind {
            ExprKind::Variable(id) => {
                read.insert(id, e);
            }
            ExprKind::Payload(_)
            | ExprKind::Answer(_)
            | ExprKind::Observable(_)
            | ExprKind::Call(..)
            | ExprKind::Comprehension { .. }
            // Lowering has already reported an expression that always fails.
            | ExprKind::Builtin(Builtin::Fail, _)
            | ExprKind::Unknown(_) => closed = false,
            _ => {}
        });
    }
    if !closed {
        return None;
    }
    let domains: Vec<Domain<'_>> =
        read.keys().map(|id| Domain::new(chart, *id)).collect::<Option<_>>()?;
    let count = domains.iter().try_fold(1_usize, |n, d| n.checked_mul(d.count()));
    count
        .filter(|n| *n <= MOST_ASSIGNMENTS)
        .map(|_| (read, domains.iter().map(Domain::values).collect()))
}

/// The domain of a variable, if it is small.
struct Domain<'c> {
    of: Few<'c>,
    /// Whether the variable may also be `none`.
    optional: bool,
}

/// The values of a small domain, without `none`.
enum Few<'c> {
    Bools,
    Names(&'c [String]),
    /// The whole numbers from the first to the second, both included.
    Numbers(i64, i64),
}

impl<'c> Domain<'c> {
    fn new(chart: &'c Chart, id: VarId) -> Option<Self> {
        let variable = &chart.variables[id.index()];
        let (ty, optional) = if let Type::Optional(inner) = &variable.ty {
            (&**inner, true)
        } else {
            (&variable.ty, false)
        };
        let of = match (ty, &variable.kind) {
            (Type::Bool, _) => Few::Bools,
            (Type::Named(id), _) => match &chart.types[id.index()].kind {
                TypeKind::Enum(names) => Few::Names(names),
                TypeKind::Record(_) => return None,
            },
            (
                Type::Int,
                VariableKind::Param { range: Some((Value::Int(low), Value::Int(high))) },
            ) if high.checked_sub(*low)? < MOST_ASSIGNMENTS as i64 => Few::Numbers(*low, *high),
            _ => return None,
        };
        Some(Self { of, optional })
    }

    fn count(&self) -> usize {
        let count = match self.of {
            Few::Bools => 2,
            Few::Names(names) => names.len(),
            Few::Numbers(low, high) => (low..=high).count(),
        };
        count + usize::from(self.optional)
    }

    fn values(&self) -> Vec<Value> {
        let mut values: Vec<Value> = match self.of {
            Few::Bools => vec![Value::Bool(false), Value::Bool(true)],
            Few::Names(names) => names.iter().cloned().map(Value::Text).collect(),
            Few::Numbers(low, high) => (low..=high).map(Value::Int).collect(),
        };
        if self.optional {
            values.push(Value::None);
        }
        values
    }
}

struct Values<'c> {
    chart: &'c Chart,
    of: BTreeMap<VarId, Value>,
}

impl Environment for Values<'_> {
    fn variable(&self, id: VarId) -> Option<&Value> {
        self.of.get(&id)
    }

    fn predicate(&self, id: PredicateId) -> Option<&Expr> {
        Some(&self.chart.predicates[id.index()].expr)
    }
}

// A fast hash for maps whose keys no attacker chooses, so that protection against crafted collisions is not needed.

/// A map that is only looked up, never iterated: its order is arbitrary, and no output may depend on it.
pub(crate) type Map<K, V> = HashMap<K, V, BuildHasherDefault<Quick>>;

/// Hashes word by word: rotates, xors and multiplies.
#[derive(Default)]
pub(crate) struct Quick(u64);

impl Quick {
    const fn word(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Hasher for Quick {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.word(u64::from_le_bytes(*word));
        }
        for byte in rest {
            self.word(u64::from(*byte));
        }
    }

    fn write_u32(&mut self, n: u32) {
        self.word(u64::from(n));
    }

    fn write_u64(&mut self, n: u64) {
        self.word(n);
    }

    fn write_usize(&mut self, n: usize) {
        self.word(n as u64);
    }

    fn finish(&self) -> u64 {
        // The multiplication mixes the low bits least, and the table indexes by them: fold the high bits in.
        self.0 ^ (self.0 >> 29)
    }
}
