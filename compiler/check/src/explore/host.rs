//! A host whose functions return every possible result, one after the other. Within one input, a pure function returns the same result for
//! the same arguments.
//!
//! Works like an odometer: each call of a function takes the next digit, which selects one of its results. An input is repeated with the
//! next combination of digits until all were tried.

use super::hints::Hints;
use super::relevant::Relevant;
use super::slot::Slot;
use super::values::{hinted, tried};
use crate::facts::hash::Map;
use chartc_core::arena::FunctionId;
use chartc_core::expr::Value;
use chartc_core::host::Host;
use chartc_core::model::{Chart, FunctionKind};

/// The result of a function: its value, or the reason why it fails.
pub(super) type FunctionResult = Result<Value, String>;

/// The maximum number of combinations of results that are tried for one input.
const MOST: usize = 256;

/// The maximum number of suggested values that are added for a function whose results cannot all be tried.
const HINTED: usize = 8;

/// The maximum number of calls in one input.
const CALLS: usize = 4096;

/// The maximum number of calls of pure functions with different arguments in one input. Each is compared with all earlier ones.
const DIFFERENT: usize = 256;

/// The host of an exploration: returns the results that `digits` selects.
#[derive(Default)]
pub(super) struct Anything {
    /// By name: whether the function is pure, and its possible results.
    rows: Map<String, (bool, Vec<FunctionResult>)>,
    /// By call of this input that needs a new result: the index of the result, and the number of results of its function.
    digits: Vec<(usize, usize)>,
    /// The number of digits used so far in this input.
    used: usize,
    /// The calls of pure functions in this input, with their results.
    seen: Vec<(String, Vec<Value>, FunctionResult)>,
    /// The results of all calls of this input, in order.
    pub(super) log: Vec<(String, FunctionResult)>,
    /// The number of combinations tried for this input.
    tried: usize,
    /// The work of this input's calls: one for each call, and one for each 16 comparisons with earlier ones.
    pub(super) work: usize,
    /// Whether this input made more calls than are followed, so that its effect is unknown.
    pub(super) full: bool,
    /// Whether combinations of results were left out for some input.
    pub(super) capped: bool,
}

impl Anything {
    pub(super) fn new(chart: &Chart, relevant: &Relevant<'_>) -> Self {
        let mut hints = None;
        let mut values = |slot| {
            let mut tried = tried(chart, relevant, slot);
            if !tried.exact {
                let hints = hints.get_or_insert_with(|| Hints::new(chart));
                let most = tried.values.len() + HINTED;
                hinted(chart, hints, slot, &mut tried.values);
                tried.values.truncate(most);
            }
            tried.values
        };
        let rows = chart.functions.iter().enumerate().map(|(i, function)| {
            let pure = matches!(function.kind, FunctionKind::Pure { .. });
            let fails = Err("it is down".to_owned());
            let results = if pure {
                let values = values(Slot::Function(FunctionId::at(i)));
                values.into_iter().map(Ok).chain([fails]).collect()
            } else {
                vec![Ok(Value::None), fails]
            };
            (function.name.clone(), (pure, results))
        });
        Self { rows: rows.collect(), ..Self::default() }
    }

    /// Begins the next input, with the first result of each function.
    pub(super) fn begin(&mut self) {
        self.digits.clear();
        self.tried = 0;
        self.again();
    }

    /// Begins an input with the results that these digits select, to repeat an edge.
    pub(super) fn begin_with(&mut self, digits: &[usize]) {
        self.digits = digits.iter().map(|digit| (*digit, usize::MAX)).collect();
        self.again();
    }

    fn again(&mut self) {
        self.used = 0;
        (self.work, self.full) = (0, false);
        self.seen.clear();
        self.log.clear();
    }

    /// Begins the same input again with the next combination of results. Returns `false` if all were tried.
    pub(super) fn next(&mut self) -> bool {
        // Digits that the last attempt did not reach belong to earlier combinations.
        self.digits.truncate(self.used);
        while let Some((digit, count)) = self.digits.last_mut() {
            *digit += 1;
            if digit < count {
                self.tried += 1;
                if self.tried >= MOST {
                    self.capped = true;
                    return false;
                }
                self.again();
                return true;
            }
            self.digits.pop();
        }
        false
    }

    /// The digits that this input used.
    pub(super) fn chosen(&self) -> Vec<usize> {
        self.digits[..self.used].iter().map(|(digit, _)| *digit).collect()
    }
}

impl Host for Anything {
    fn call(&mut self, function: &str, arguments: &[Value]) -> FunctionResult {
        self.work += 1 + self.seen.len() / 16;
        self.full |= self.log.len() >= CALLS || self.seen.len() >= DIFFERENT;
        if self.full {
            return Err("it is called too often".into());
        }
        let known =
            self.seen.iter().find(|(name, given, _)| name == function && given == arguments);
        let result = match known {
            Some((_, _, result)) => result.clone(),
            None => {
                let Some((pure, results)) = self.rows.get(function) else {
                    return Err("there is no such function".into());
                };
                let count = results.len();
                if self.used == self.digits.len() {
                    self.digits.push((0, count));
                }
                let (digit, _) = self.digits[self.used];
                self.used += 1;
                let result = results[digit.min(count - 1)].clone();
                if *pure {
                    self.seen.push((function.to_owned(), arguments.to_vec(), result.clone()));
                }
                result
            }
        };
        self.log.push((function.to_owned(), result.clone()));
        result
    }
}
