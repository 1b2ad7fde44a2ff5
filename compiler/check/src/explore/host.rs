//! A host whose functions give anything that they may, one after the other: the same for the same arguments within one input.

use super::hints::Hints;
use super::relevant::Relevant;
use super::slot::Slot;
use super::values::{hinted, tried};
use crate::facts::hash::Map;
use chartc_core::arena::FunctionId;
use chartc_core::expr::Value;
use chartc_core::host::Host;
use chartc_core::model::{Chart, FunctionKind};

/// What a function gave.
pub(super) type Given = Result<Value, String>;

/// Most results that one input is tried with.
const MOST: usize = 256;

/// Values that literals hint at, of a function of which not all are tried.
const HINTED: usize = 8;

/// Most calls in one input.
const CALLS: usize = 4096;

/// Most calls of pure functions with different arguments in one input: each is compared with all before.
const DIFFERENT: usize = 256;

/// Gives results as the digits say, and notes how many there are.
#[derive(Default)]
pub(super) struct Anything {
    /// By the name of a function: whether it is pure, what it may give.
    rows: Map<String, (bool, Vec<Given>)>,
    digits: Vec<(usize, usize)>,
    used: usize,
    seen: Vec<(String, Vec<Value>, Given)>,
    /// Every result in order.
    pub(super) log: Vec<(String, Given)>,
    tried: usize,
    /// What the calls of this input took: one for each, and one for every few that it was compared with.
    pub(super) work: usize,
    /// There were too many calls for this input to tell what the chart does.
    pub(super) full: bool,
    /// Some results were left out.
    pub(super) capped: bool,
}

impl Anything {
    pub(super) fn of(chart: &Chart, relevant: &Relevant<'_>) -> Self {
        let mut hints = None;
        let mut values = |slot| {
            let mut tried = tried(chart, relevant, slot);
            if !tried.exact {
                let hints = hints.get_or_insert_with(|| Hints::of(chart));
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

    /// The next input begins, with the first result of everything.
    pub(super) fn begin(&mut self) {
        self.digits.clear();
        self.tried = 0;
        self.again();
    }

    /// The same input begins, with results that are known.
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

    /// The same input begins, with other results; false when all were tried.
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

    /// The results that this input had.
    pub(super) fn chosen(&self) -> Vec<usize> {
        self.digits[..self.used].iter().map(|(digit, _)| *digit).collect()
    }
}

impl Host for Anything {
    fn call(&mut self, function: &str, arguments: &[Value]) -> Given {
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
