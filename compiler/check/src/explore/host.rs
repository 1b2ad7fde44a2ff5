//! A host whose functions return every possible result, one after the other. Within one input, a pure function returns the same
//! for the same arguments.

use super::hints::Hints;
use super::relevant::Relevant;
use super::slot::Slot;
use super::values::{hinted, tried};
use crate::facts::hash::Map;
use chartc_core::arena::FunctionId;
use chartc_core::expr::Value;
use chartc_core::host::Host;
use chartc_core::model::{Chart, FunctionKind};

/// The result of a function.
pub(super) type FunctionResult = Result<Value, String>;

/// Most combinations of results that are tried for one input.
const MOST: usize = 256;

/// Most suggested values that are added for a function whose results cannot all be tried.
const HINTED: usize = 8;

/// Most calls in one input.
const CALLS: usize = 4096;

/// Most calls of pure functions with different arguments in one input: each is compared with all earlier ones.
const DIFFERENT: usize = 256;

/// Returns the results that `digits` selects, and notes how many choices there are.
#[derive(Default)]
pub(super) struct Anything {
    /// By name: whether the function is pure, and its possible results.
    rows: Map<String, (bool, Vec<FunctionResult>)>,
    digits: Vec<(usize, usize)>,
    used: usize,
    seen: Vec<(String, Vec<Value>, FunctionResult)>,
    /// Every result in order.
    pub(super) log: Vec<(String, FunctionResult)>,
    tried: usize,
    /// The work of this input's calls: one per call, and one for every few comparisons with earlier ones.
    pub(super) work: usize,
    /// Whether there were too many calls to determine what the chart does.
    pub(super) full: bool,
    /// Whether some results were left out.
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

    /// Begins the next input, with the first result of every function.
    pub(super) fn begin(&mut self) {
        self.digits.clear();
        self.tried = 0;
        self.again();
    }

    /// Begins an input again, with known results.
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

    /// Begins the same input again, with other results; false if all were tried.
    pub(super) fn next(&mut self) -> bool {
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

    /// The indices of the results that this input got.
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
