//! Decides whether conditions can hold, alone and together, by trying finitely many values.
//!
//! **The problem.** "This guard never holds" and "this line hides that one" are questions about all values of the data, of which there are
//! infinitely many. A general solver would be large, and its answers hard to explain.
//!
//! **The idea.** A comparison with a constant divides the values into classes: for `n > 3`, all numbers up to 3 are equivalent, and so
//! are all others. One sample of each class is enough, if it is within the bounds of the term (`values`). [`decide`] translates the
//! conditions into a `Formula` over *terms*: expressions that are not taken apart, such as `n` or `order.price`, each with the constants
//! with which it is compared. It chooses a sample for one term after the other, and turns back as soon as a formula cannot have its wanted
//! value any more. Formulas without common terms are tried apart. `MOST_SAMPLES` bounds the number of choices:
//!
//! - If no choice gives all conditions the wanted values, the verdict is [`Verdict::Never`]. This is always right, as terms have more
//!   combinations than runs: their values are chosen independently.
//! - If one does, it is an example only if a run can choose the terms independently. Otherwise the verdict is [`Verdict::Perhaps`].
//!
//! A term whose evaluation may fail has a sample for that; a condition whose evaluation fails is false. Conditions that this leaves
//! undecided are tried once more: parts that read only variables with few values are then evaluated as they are (`Formula::Evaluated`).
//!
//! The rest of the module is a hash map for the analyses (`Map`).
//!
//! **Example.** Can `n > 3 and n < 5` hold together with `n != 4`? The only term is `n`, with the constants 3, 5 and 4. Its samples are 2,
//! 3, 4, 5 and 6. The first condition holds for 4 only, the second for all but 4: the verdict is `Never`. For a `Float`, 3.5 is a sample,
//! too, and it is the example.

use super::usage::walk;
use super::values::{Range, declared, literal, range, turned, within};
use chartc_core::arena::{PredicateId, VarId};
use chartc_core::expr::{self, Environment, Fuel, Value, holds};
use chartc_core::model::{
    BinaryOp, Builtin, Chart, CompareOp, Expr, ExprKind, Observable, Type, TypeKind, UnaryOp,
    VariableKind,
};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

/// The maximum number of choices that are tried. If there are more, the verdict is [`Verdict::Perhaps`].
const MOST_SAMPLES: usize = 8_000;
/// The maximum number of terms, the bits of a mask.
const MOST_TERMS: usize = 128;
/// The maximum number of combinations of values with which a part is evaluated.
const MOST_COMBINATIONS: usize = 1_024;

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

/// What is known of variables where conditions are evaluated, beyond their declarations.
#[derive(Clone, Copy, Default)]
pub(crate) struct Known<'k> {
    /// The bounds of a variable.
    pub(crate) range: Option<&'k dyn Fn(VarId) -> Range>,
    /// All values that a variable may have, if they are few.
    pub(crate) few: Option<&'k dyn Fn(VarId) -> Option<Vec<Value>>>,
}

/// Decides whether every condition can have the truth value paired with it. Assumes that floats are never NaN.
pub fn decide(chart: &Chart, goals: &[(&Expr, bool)]) -> Verdict {
    decide_with(chart, Known::default(), goals)
}

/// Like [`decide`], with what is known of variables.
pub(crate) fn decide_with(chart: &Chart, known: Known<'_>, goals: &[(&Expr, bool)]) -> Verdict {
    // The same condition cannot be both true and false, even if it is too complex to decide.
    let holds = |e: &Expr| goals.iter().any(|(g, value)| *value && *g == e);
    if goals.iter().any(|(g, value)| !value && holds(g)) {
        return Verdict::Never;
    }
    let mut terms = Terms { chart, known, all: Vec::new(), evaluated: None };
    let first = terms.decide(goals);
    if first != Verdict::Perhaps {
        return first;
    }
    terms = Terms { chart, known, all: Vec::new(), evaluated: Some(0) };
    terms.decide(goals)
}

/// Whether the conditions certainly cannot have their wanted values at once.
pub fn is_impossible(chart: &Chart, goals: &[(&Expr, bool)]) -> bool {
    decide(chart, goals) == Verdict::Never
}

/// Whether `then` holds whenever `given` does. `None` stands for a guard that always holds. False if that is not decided.
pub fn implies(chart: &Chart, given: Option<&Expr>, then: Option<&Expr>) -> bool {
    let Some(then) = then else { return true };
    let goals: Vec<_> =
        given.map(|given| (given, true)).into_iter().chain([(then, false)]).collect();
    is_impossible(chart, &goals)
}

/// Whether two guards may hold together. False only if that is certainly impossible.
pub(crate) fn compatible(chart: &Chart, one: Option<&Expr>, other: Option<&Expr>) -> bool {
    let goals: Vec<_> = [one, other].into_iter().flatten().map(|g| (g, true)).collect();
    !is_impossible(chart, &goals)
}

/// The condition that an expression has the value of a literal. `None` if the value is no literal, or not of the expression's type.
pub(crate) fn equals(of: Expr, value: &Expr) -> Option<Expr> {
    let kind = match (&value.kind, &of.ty) {
        (ExprKind::Bool(true), Type::Bool) => return Some(of),
        (ExprKind::Bool(false), Type::Bool) => ExprKind::Unary(UnaryOp::Not, Box::new(of)),
        (ExprKind::Bool(_), _) => return None,
        (ExprKind::Text(text), _) if text.literal().is_none() => return None,
        (
            ExprKind::None
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Text(_)
            | ExprKind::Duration(_)
            | ExprKind::Enum(..),
            _,
        ) => ExprKind::Compare(Box::new(of), vec![(CompareOp::Equal, value.clone())]),
        _ => return None,
    };
    Some(Expr { kind, ty: Type::Bool })
}

// Conditions as formulas over terms, the form in which they are decided.
//
// For example, `n > 3 and not (a < b)` becomes `And(Leaf(0, > 3), Not(Leaf(1, < 0)))` with two terms: term 0 is `n`, and term 1 is the
// order of `a` and `b`, which is -1, 0 or 1.

/// Whole numbers from this on are not compared with constants: samples are computed as doubles, which are not exact for large ones.
const EXACT: u64 = 1 << 52;

// How a formula may evaluate, as a set.
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const FAILS: u8 = 4;

/// A condition over a list of terms, which it refers to by index.
#[derive(Debug)]
enum Formula<'e> {
    Constant(bool),
    Not(Box<Self>),
    And(Box<Self>, Box<Self>),
    Or(Box<Self>, Box<Self>),
    /// The second formula if the first holds, otherwise the third.
    If(Box<Self>, Box<Self>, Box<Self>),
    /// A term of type Bool, or a comparison of a term with a constant. With the outcome for each sample of the term, once these are known.
    Leaf(usize, Option<(CompareOp, Value)>, Vec<u8>),
    /// An expression that reads only these variables, with their terms, and is evaluated as it is.
    Evaluated(&'e Expr, Vec<(VarId, usize)>),
}

impl Formula<'_> {
    /// Calls `visit` with each leaf.
    fn leaves(&mut self, visit: &mut dyn FnMut(&mut Self)) {
        match self {
            Self::Constant(_) => {}
            Self::Not(inner) => inner.leaves(visit),
            Self::And(a, b) | Self::Or(a, b) => {
                a.leaves(visit);
                b.leaves(visit);
            }
            Self::If(a, b, c) => {
                a.leaves(visit);
                b.leaves(visit);
                c.leaves(visit);
            }
            Self::Leaf(..) | Self::Evaluated(..) => visit(self),
        }
    }

    /// Computes the outcomes of the leaves, and returns the terms as a mask.
    fn fill(&mut self, samples: &[Vec<Sample>]) -> u128 {
        let mut mask = 0;
        self.leaves(&mut |leaf| match leaf {
            Self::Leaf(term, test, outcomes) => {
                mask |= 1 << *term;
                *outcomes = samples[*term]
                    .iter()
                    .map(|sample| tested(sample.as_ref(), test.as_ref()))
                    .collect();
            }
            Self::Evaluated(_, read) => {
                mask = read.iter().fold(mask, |mask, (_, term)| mask | 1 << term);
            }
            _ => {}
        });
        mask
    }

    /// The possible outcomes with the samples that are chosen so far. Like the language, evaluates from left to right, and stops when the
    /// result is known.
    fn outcomes(&self, search: &Search<'_>) -> u8 {
        // What follows a part: one formula if the part is true, another one if it is false.
        let then = |part: u8, yes: &dyn Fn() -> u8, no: &dyn Fn() -> u8| {
            part & FAILS
                | if part & TRUE != 0 { yes() } else { 0 }
                | if part & FALSE != 0 { no() } else { 0 }
        };
        match self {
            Self::Constant(value) => {
                if *value {
                    TRUE
                } else {
                    FALSE
                }
            }
            Self::Not(inner) => then(inner.outcomes(search), &|| FALSE, &|| TRUE),
            Self::And(a, b) => then(a.outcomes(search), &|| b.outcomes(search), &|| FALSE),
            Self::Or(a, b) => then(a.outcomes(search), &|| TRUE, &|| b.outcomes(search)),
            Self::If(condition, yes, no) => {
                then(condition.outcomes(search), &|| yes.outcomes(search), &|| no.outcomes(search))
            }
            Self::Leaf(term, _, outcomes) => match search.chosen[*term] {
                Some(nth) => outcomes[nth],
                None => outcomes.iter().fold(0, |all, one| all | one),
            },
            Self::Evaluated(expr, read) => {
                let value = |(id, term): &(VarId, usize)| {
                    Some((*id, search.samples[*term][search.chosen[*term]?].as_ref()?))
                };
                match read.iter().map(value).collect::<Option<_>>() {
                    Some(of) => {
                        match holds(expr, &Values { chart: search.chart, of }, &Fuel::default()) {
                            Ok(true) => TRUE,
                            Ok(false) => FALSE,
                            Err(_) => FAILS,
                        }
                    }
                    None => TRUE | FALSE | FAILS,
                }
            }
        }
    }
}

/// The outcome of a leaf for one sample.
fn tested(sample: Option<&Value>, test: Option<&(CompareOp, Value)>) -> u8 {
    let value = match (sample, test) {
        (Some(Value::Bool(value)), None) => Some(*value),
        (Some(value), Some((op, constant))) => expr::compare(*op, value, constant).ok(),
        _ => None,
    };
    value.map_or(FAILS, |value| if value { TRUE } else { FALSE })
}

/// A search for samples that give each formula its wanted value.
struct Search<'s> {
    chart: &'s Chart,
    samples: &'s [Vec<Sample>],
    /// By term: the index of the sample that is chosen.
    chosen: Vec<Option<usize>>,
    /// The number of choices that may still be tried.
    left: usize,
}

impl Search<'_> {
    /// Chooses samples for these terms. Returns whether there are such; `None` if that exceeds the bound.
    fn find(&mut self, terms: &[usize], goals: &[&(Formula<'_>, bool)]) -> Option<bool> {
        let may_have = |(formula, wanted): &(Formula<'_>, bool)| {
            formula.outcomes(self) & if *wanted { TRUE } else { FALSE | FAILS } != 0
        };
        if !goals.iter().all(|goal| may_have(goal)) {
            return Some(false);
        }
        let Some((term, rest)) = terms.split_first() else { return Some(true) };
        for nth in 0..self.samples[*term].len() {
            self.left = self.left.checked_sub(1)?;
            self.chosen[*term] = Some(nth);
            if self.find(rest, goals)? {
                return Some(true);
            }
        }
        self.chosen[*term] = None;
        Some(false)
    }
}

/// The values of variables for an evaluation.
struct Values<'v> {
    chart: &'v Chart,
    of: Vec<(VarId, &'v Value)>,
}

impl Environment for Values<'_> {
    fn variable(&self, id: VarId) -> Option<&Value> {
        self.of.iter().find(|(of, _)| *of == id).map(|(_, value)| *value)
    }

    fn predicate(&self, id: PredicateId) -> Option<&Expr> {
        Some(&self.chart.predicates[id.index()].expr)
    }
}

/// The terms of conditions, as they are translated.
struct Terms<'e, 'k> {
    chart: &'e Chart,
    known: Known<'k>,
    all: Vec<Term<'e>>,
    /// If parts are evaluated that are not understood otherwise: how many there are so far.
    evaluated: Option<usize>,
}

impl<'e> Terms<'e, '_> {
    fn decide(&mut self, goals: &[(&'e Expr, bool)]) -> Verdict {
        let mut formulas: Vec<(Formula<'e>, bool)> =
            goals.iter().map(|(goal, value)| (self.formula(goal), *value)).collect();
        if self.evaluated == Some(0) || self.all.len() > MOST_TERMS {
            return Verdict::Perhaps;
        }
        let samples: Vec<Vec<Sample>> =
            self.all.iter().map(|term| term.samples(self.chart, self.known)).collect();
        // Formulas that share terms, directly or by others between them, are tried together.
        let mut groups: Vec<(u128, Vec<usize>)> = Vec::new();
        for (nth, (formula, _)) in formulas.iter_mut().enumerate() {
            let mask = formula.fill(&samples);
            let mut group = (mask, vec![nth]);
            groups.retain(|(other, members)| {
                let shares = other & mask != 0;
                if shares {
                    group.0 |= other;
                    group.1.extend(members);
                }
                !shares
            });
            groups.push(group);
        }
        let chosen = vec![None; samples.len()];
        let mut search =
            Search { chart: self.chart, samples: &samples, chosen, left: MOST_SAMPLES };
        let mut is_open = false;
        for (mask, members) in groups {
            let terms: Vec<usize> =
                (0..samples.len()).rev().filter(|term| mask >> term & 1 != 0).collect();
            let goals: Vec<&(Formula<'e>, bool)> =
                members.iter().map(|nth| &formulas[*nth]).collect();
            match search.find(&terms, &goals) {
                Some(true) => {}
                Some(false) => return Verdict::Never,
                None => is_open = true,
            }
        }
        if is_open { Verdict::Perhaps } else { self.example(&search) }
    }

    /// The samples as an example, if a run can choose them independently: terms such as `x` and `x.field` restrict each other.
    fn example(&self, search: &Search<'_>) -> Verdict {
        let terms = &self.all;
        let alone = |(i, term): (usize, &Term<'_>)| {
            term.is_free() && terms[..i].iter().all(|t| !t.overlaps(term))
        };
        let is_sure = terms.iter().enumerate().all(alone)
            && terms.iter().filter(|t| !t.is_place()).count() <= 1;
        let value = |(nth, term): (usize, &Term<'_>)| {
            let sample = search.samples[nth].get(search.chosen[nth].unwrap_or_default())?;
            Some((term.expr.clone().into_owned(), sample.clone()?))
        };
        let values = terms.iter().enumerate().filter(|_| is_sure).map(value).collect();
        match values {
            Some(values) if is_sure => Verdict::Example(values),
            Some(_) | None => Verdict::Perhaps,
        }
    }

    /// Translates a condition.
    fn formula(&mut self, expr: &'e Expr) -> Formula<'e> {
        match &expr.kind {
            ExprKind::Bool(value) => Formula::Constant(*value),
            ExprKind::Unary(UnaryOp::Not, inner) => not(self.formula(inner)),
            ExprKind::Binary(BinaryOp::And, a, b) => and(self.formula(a), self.formula(b)),
            ExprKind::Binary(BinaryOp::Or, a, b) => or(self.formula(a), self.formula(b)),
            ExprKind::If(condition, yes, no) => {
                let [condition, yes, no] =
                    [condition, yes, no].map(|part| Box::new(self.formula(part)));
                Formula::If(condition, yes, no)
            }
            ExprKind::Predicate(id) => self.formula(&self.chart.predicates[id.index()].expr),
            ExprKind::Builtin(Builtin::Bool, parts) if parts.len() == 1 => {
                self.truth(expr, &parts[0])
            }
            ExprKind::Compare(first, rest) => {
                if let Some(evaluated) = self.evaluated(expr) {
                    return evaluated;
                }
                let mut left = &**first;
                let mut all = Formula::Constant(true);
                for (op, right) in rest {
                    all = and(all, self.pair(left, *op, right));
                    left = right;
                }
                all
            }
            _ => match self.evaluated(expr) {
                Some(evaluated) => evaluated,
                None => self.leaf(Cow::Borrowed(expr), None),
            },
        }
    }

    /// The expression as a part that is evaluated, if it reads only variables with few values, at least one.
    fn evaluated(&mut self, expr: &'e Expr) -> Option<Formula<'e>> {
        let count = self.evaluated?;
        let (chart, known) = (self.chart, self.known);
        let (mut read, mut is_closed) = (BTreeSet::new(), true);
        walk(chart, expr, &mut |e| match e.kind {
            ExprKind::Variable(id) => {
                read.insert(id);
            }
            ExprKind::Payload(_)
            | ExprKind::Answer(_)
            | ExprKind::Observable(_)
            | ExprKind::Call(..)
            | ExprKind::Comprehension { .. }
            // Lowering has already reported an expression that always fails.
            | ExprKind::Builtin(Builtin::Fail, _)
            | ExprKind::Unknown(_) => is_closed = false,
            _ => {}
        });
        if !is_closed || read.is_empty() {
            return None;
        }
        let all = read.into_iter().map(|id| Some((id, domain(chart, known, id)?)));
        let all: Vec<(VarId, Vec<Value>)> = all.collect::<Option<_>>()?;
        let combinations =
            all.iter().try_fold(1_usize, |n, (_, values)| n.checked_mul(values.len()));
        combinations.filter(|n| *n <= MOST_COMBINATIONS)?;
        self.evaluated = Some(count + 1);
        let terms = all.into_iter().map(|(id, values)| {
            let ty = chart.variables[id.index()].ty.clone();
            let variable = Expr { kind: ExprKind::Variable(id), ty };
            let term = self.term(Cow::Owned(variable), None);
            self.all[term].values = Some(values);
            (id, term)
        });
        Some(Formula::Evaluated(expr, terms.collect()))
    }

    /// Translates `bool(x)`: `x` differs from the zero or the empty value of its type.
    fn truth(&mut self, whole: &'e Expr, part: &'e Expr) -> Formula<'e> {
        let zero = match &part.ty {
            Type::Bool => return self.formula(part),
            Type::Int | Type::Float => Value::Int(0),
            Type::Duration => Value::Duration(0),
            Type::Text => Value::Text(String::new()),
            Type::List(_) | Type::Map(_) => return not(self.emptiness(part)),
            Type::Json | Type::Named(_) | Type::Optional(_) => {
                return self.leaf(Cow::Borrowed(whole), None);
            }
        };
        match constant(part) {
            Some(value) => {
                let differs = expr::compare(CompareOp::NotEqual, &value, &zero);
                Formula::Constant(differs.unwrap_or(false))
            }
            None => self.leaf(Cow::Borrowed(part), Some((CompareOp::NotEqual, zero))),
        }
    }

    /// Translates `len(x) == 0`.
    fn emptiness(&mut self, whole: &Expr) -> Formula<'e> {
        let kind = ExprKind::Builtin(Builtin::Len, vec![whole.clone()]);
        let length = Cow::Owned(Expr { kind, ty: Type::Int });
        self.leaf(length, Some((CompareOp::Equal, Value::Int(0))))
    }

    /// Translates `left op right`. A comparison that is not understood becomes a term of its own.
    fn pair(&mut self, left: &'e Expr, op: CompareOp, right: &'e Expr) -> Formula<'e> {
        match (constant(left), constant(right)) {
            (Some(a), Some(b)) => Formula::Constant(expr::compare(op, &a, &b).unwrap_or(false)),
            (None, Some(b)) if comparable(&left.ty, op) => {
                self.leaf(Cow::Borrowed(left), Some((op, b)))
            }
            (Some(a), None) if comparable(&right.ty, op) => {
                self.leaf(Cow::Borrowed(right), Some((turned(op), a)))
            }
            _ => match (op, &right.kind) {
                (CompareOp::In, ExprKind::List(items)) if items.iter().all(is_total) => items
                    .iter()
                    .map(|item| self.pair(left, CompareOp::Equal, item))
                    .fold(Formula::Constant(false), or),
                (CompareOp::NotIn, ExprKind::List(_)) => not(self.pair(left, CompareOp::In, right)),
                (CompareOp::NotEqual, _) => not(self.pair(left, CompareOp::Equal, right)),
                (CompareOp::Equal, _) if is_nothing(right) && is_collection(left) => {
                    self.emptiness(left)
                }
                (CompareOp::Equal, _) if is_nothing(left) && is_collection(right) => {
                    self.emptiness(right)
                }
                _ if relates(left, op, right) => self.order(left, op, right),
                _ => {
                    let kind = ExprKind::Compare(Box::new(left.clone()), vec![(op, right.clone())]);
                    self.leaf(Cow::Owned(Expr { kind, ty: Type::Bool }), None)
                }
            },
        }
    }

    /// Translates a comparison of two expressions: their order is a term, compared with 0. `a < b` and `b > a` share this term.
    fn order(&mut self, left: &Expr, op: CompareOp, right: &Expr) -> Formula<'e> {
        let is_equality = |term: &Term<'_>, a: &Expr, b: &Expr| {
            term.is_order
                && matches!(&term.expr.kind, ExprKind::Compare(first, rest)
                    if **first == *a && matches!(&rest[..], [(_, second)] if second == b))
        };
        let known = |a: &Expr, b: &Expr| self.all.iter().position(|term| is_equality(term, a, b));
        if let Some(term) = known(left, right) {
            return Formula::Leaf(term, Some((op, Value::Int(0))), Vec::new());
        }
        if let Some(term) = known(right, left) {
            return Formula::Leaf(term, Some((turned(op), Value::Int(0))), Vec::new());
        }
        let kind =
            ExprKind::Compare(Box::new(left.clone()), vec![(CompareOp::Equal, right.clone())]);
        let expr = Cow::Owned(Expr { kind, ty: Type::Bool });
        self.all.push(Term { is_order: true, ..Term::new(expr) });
        Formula::Leaf(self.all.len() - 1, Some((op, Value::Int(0))), Vec::new())
    }

    fn leaf(&mut self, expr: Cow<'e, Expr>, test: Option<(CompareOp, Value)>) -> Formula<'e> {
        let term = self.term(expr, test.as_ref().map(|(_, constant)| constant));
        Formula::Leaf(term, test, Vec::new())
    }

    /// The index of the term of an expression, with the constant added to those that it is compared with. Without a constant, the
    /// expression is a condition itself.
    fn term(&mut self, expr: Cow<'e, Expr>, constant: Option<&Value>) -> usize {
        let same = |t: &Term<'_>| !t.is_order && t.expr.kind == expr.kind;
        let optional = matches!(expr.ty, Type::Optional(_)).then(|| expr.ty.clone());
        let place = self.all.iter().position(same).unwrap_or_else(|| {
            self.all.push(Term::new(expr));
            self.all.len() - 1
        });
        let term = &mut self.all[place];
        // After a test for `none`, the same expression has a narrower type elsewhere; the term keeps the optional type.
        if let Some(ty) = optional.filter(|ty| term.expr.ty != *ty) {
            term.expr.to_mut().ty = ty;
        }
        term.is_condition |= constant.is_none();
        term.constants.extend(constant.cloned());
        place
    }
}

fn not(inner: Formula<'_>) -> Formula<'_> {
    Formula::Not(Box::new(inner))
}

fn and<'e>(a: Formula<'e>, b: Formula<'e>) -> Formula<'e> {
    if matches!(a, Formula::Constant(true)) { b } else { Formula::And(Box::new(a), Box::new(b)) }
}

fn or<'e>(a: Formula<'e>, b: Formula<'e>) -> Formula<'e> {
    if matches!(a, Formula::Constant(false)) { b } else { Formula::Or(Box::new(a), Box::new(b)) }
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

/// The value of a literal; `None` for other expressions and for whole numbers that are too large.
fn constant(expr: &Expr) -> Option<Value> {
    literal(expr).filter(|value| match value {
        Value::Int(n) => n.unsigned_abs() < EXACT,
        Value::Duration(n) => *n < EXACT,
        _ => true,
    })
}

// Terms of conditions: expressions that are not taken apart, and sample values that distinguish their cases.

/// The maximum number of values of an enum that are all samples.
const SHORT: usize = 64;

/// A value that a term may have; `None` if its evaluation fails.
type Sample = Option<Value>;

/// An expression that is not taken apart, with the constants that it is compared with.
#[derive(Debug)]
struct Term<'e> {
    /// The expression; for an order, `a == b`.
    expr: Cow<'e, Expr>,
    /// The constants, in the order found, with repetitions.
    constants: Vec<Value>,
    /// Whether the expression also occurs as a condition of its own, whatever its type.
    is_condition: bool,
    /// Whether the value is the order of the two sides of `a == b`: -1, 0 or 1.
    is_order: bool,
    /// All values, if they are to be tried one by one.
    values: Option<Vec<Value>>,
}

impl<'e> Term<'e> {
    const fn new(expr: Cow<'e, Expr>) -> Self {
        Self { expr, constants: Vec::new(), is_condition: false, is_order: false, values: None }
    }

    /// Whether the term can take any value independently of other terms: a variable, event data, the current answer, a field of
    /// one of these, or an observable other than `in(state)`.
    fn is_free(&self) -> bool {
        if let ExprKind::Observable(seen) = &self.expr.kind {
            return !matches!(seen, Observable::In(_));
        }
        !self.is_order && self.is_place()
    }

    /// Whether the term reads a stored value and computes nothing. An answer that may be missing depends on other steps and does not
    /// count.
    fn is_place(&self) -> bool {
        let missing = |e: &Expr| matches!(e.ty, Type::Optional(_) | Type::Json);
        let root = root(&self.expr);
        let stored = matches!(root.kind, ExprKind::Variable(_) | ExprKind::Payload(_));
        let given = matches!(root.kind, ExprKind::Answer(_)) && !missing(root);
        (stored || given) && is_total(&self.expr)
    }

    /// Whether one of the two terms is a field, direct or nested, of the other.
    fn overlaps(&self, other: &Term<'_>) -> bool {
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
    fn samples(&self, chart: &Chart, known: Known<'_>) -> Vec<Sample> {
        let mut samples: Vec<Sample> = self.values(chart, known).into_iter().map(Some).collect();
        if !is_total(&self.expr) {
            samples.push(None);
        }
        samples
    }

    fn values(&self, chart: &Chart, known: Known<'_>) -> Vec<Value> {
        if let Some(values) = &self.values {
            return values.clone();
        }
        if self.is_order {
            return self.orders(chart, known);
        }
        if let (ExprKind::Variable(id), Some(few)) = (&self.expr.kind, known.few)
            && let Some(values) = few(*id)
        {
            return values;
        }
        let own = &self.expr.ty;
        let (ty, optional) = if let Type::Optional(inner) = own {
            (&**inner, true)
        } else {
            (own, *own == Type::Json)
        };
        let mut samples = match ty {
            Type::Bool => vec![Value::Bool(false), Value::Bool(true)],
            Type::Int | Type::Float | Type::Duration => self.numbers(chart, known, ty),
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
    fn numbers(&self, chart: &Chart, known: Known<'_>, ty: &Type) -> Vec<Value> {
        let whole = *ty != Type::Float;
        let (low, high) = self.bounds(chart, known);
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
    fn bounds(&self, chart: &Chart, known: Known<'_>) -> (Option<f64>, Option<f64>) {
        if let ExprKind::Variable(id) = self.expr.kind
            && let VariableKind::Param { range: Some((low, high)) } =
                &chart.variables[id.index()].kind
        {
            return (number(low), number(high));
        }
        let range = bounds(&self.expr, chart, known);
        let exact = |n: Option<i64>| n.filter(|n| n.unsigned_abs() < EXACT).map(|n| n as f64);
        (exact(range.low), exact(range.high))
    }

    /// The orders that the bounds of both sides allow.
    fn orders(&self, chart: &Chart, known: Known<'_>) -> Vec<Value> {
        let mut orders =
            vec![(-1, CompareOp::Less), (0, CompareOp::Equal), (1, CompareOp::Greater)];
        if let ExprKind::Compare(left, rest) = &self.expr.kind
            && let [(_, right)] = &rest[..]
        {
            let [left, right] = [&**left, right].map(|side| bounds(side, chart, known));
            orders.retain(|(_, op)| !left.meet(within(*op, right)).is_empty());
        }
        orders.into_iter().map(|(order, _)| Value::Int(order)).collect()
    }
}

/// The bounds of an expression where the conditions are evaluated.
fn bounds(expr: &Expr, chart: &Chart, known: Known<'_>) -> Range {
    let own = |id| declared(chart, id);
    range(expr, known.range.unwrap_or(&own))
}

/// All values of a variable, if they are few.
fn domain(chart: &Chart, known: Known<'_>, id: VarId) -> Option<Vec<Value>> {
    if let Some(values) = known.few.and_then(|few| few(id)) {
        return Some(values);
    }
    let ty = &chart.variables[id.index()].ty;
    let (ty, optional) =
        if let Type::Optional(inner) = ty { (&**inner, true) } else { (ty, false) };
    let mut values: Vec<Value> = match ty {
        Type::Bool => vec![Value::Bool(false), Value::Bool(true)],
        Type::Named(id) => match &chart.types[id.index()].kind {
            TypeKind::Enum(names) => names.iter().cloned().map(Value::Text).collect(),
            TypeKind::Record(_) => return None,
        },
        Type::Int => {
            let own = Expr { kind: ExprKind::Variable(id), ty: Type::Int };
            let Range { low, high } = bounds(&own, chart, known);
            let (low, high) = low.zip(high)?;
            high.checked_sub(low).filter(|n| *n < MOST_COMBINATIONS as i64)?;
            (low..=high).map(Value::Int).collect()
        }
        _ => return None,
    };
    if optional {
        values.push(Value::None);
    }
    Some(values)
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
