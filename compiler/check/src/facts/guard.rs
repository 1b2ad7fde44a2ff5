//! Decides whether conditions can hold together, by trying finitely many values.
//!
//! Only comparisons with constants, enums, Bools and params with ranges are understood. Every other expression is a *term*, which may
//! have any value of its type; equal expressions are one term. The constants that a term is compared with divide its values into
//! finitely many classes, and one value of each class is tried. What this leaves undecided is passed to `finite`.
//!
//! Example: can `n > 3 and mode == Mode.fast` hold while `n > 5` does not? The terms are `n`, compared with 3 and 5, and `mode`. The
//! samples of `n` are 2, 3, 4, 5 and 6; those of `mode` are all names of the enum. The assignment `n = 4`, `mode = fast` is an example.
//! For `n > 5` and not `n > 3`, no assignment is one, so the answer is "never".

use crate::facts::finite;
use crate::facts::formula::{Formula, formula};
use crate::facts::term::{Sample, Term};
use chartc_core::expr::Value;
use chartc_core::model::{Chart, Expr};

/// The maximum number of assignments that are tried. If there are more, the verdict is [`Verdict::Perhaps`].
const MOST: usize = 4_000;

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
        Verdict::Perhaps => finite::decide(chart, goals),
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
    if count.is_none_or(|n| n > MOST) {
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
pub fn compatible(chart: &Chart, one: Option<&Expr>, other: Option<&Expr>) -> bool {
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
