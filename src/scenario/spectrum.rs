//! Which lines failed tests go through more than others: spectrum-based fault localisation.

use super::blame::Place;
use super::follow::{Did, follow};
use crate::compile::Checked;
use crate::span::Span;
use chartc_core::arena::TransitionId;
use chartc_runtime::trace::Line;
use std::collections::BTreeMap;

/// The least score of a place that is shown: a place that one test of two passes through unharmed has 0.7.
const ENOUGH: f64 = 0.8;

/// One test that fails is compared with no fewer that pass: with few, almost every line is in that one alone.
const MANY: usize = 4;

/// What a run did with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Taken,
    Refused,
    Denied,
}

/// What a run went through, each with where its trace says so last.
#[derive(Debug, Default)]
pub(super) struct Spectrum(BTreeMap<(Span, Kind), usize>);

impl Spectrum {
    pub(super) fn of(checked: &Checked, lines: &[Line]) -> Self {
        let mut seen = BTreeMap::new();
        follow(checked, lines, |one, at, did| {
            let whole = |id: TransitionId| one.map.line(id).whole;
            let guard = |id: TransitionId| one.map.line(id).guard;
            let key = match did {
                Did::Taken(id) => Some((whole(id), Kind::Taken)),
                Did::Refused(id) => guard(id).map(|span| (span, Kind::Refused)),
                Did::Denied(id) => Some((whole(id), Kind::Denied)),
                Did::Entered(_)
                | Did::Held(_)
                | Did::Offered(_)
                | Did::Chosen(_)
                | Did::Done(_) => None,
            };
            seen.extend(key.map(|key| (key, at)));
        });
        Self(seen)
    }
}

/// How many of the tests of a chart go through each place.
#[derive(Debug, Default)]
pub(super) struct Counts {
    failed: usize,
    passed: usize,
    /// Of those that fail, and of those that pass.
    places: BTreeMap<(Span, Kind), (usize, usize)>,
}

impl Counts {
    /// Adds a test.
    pub(super) fn add(&mut self, spectrum: &Spectrum, fails: bool) {
        if fails {
            self.failed += 1;
        } else {
            self.passed += 1;
        }
        for key in spectrum.0.keys() {
            let (bad, good) = self.places.entry(*key).or_default();
            *if fails { bad } else { good } += 1;
        }
    }
}

/// The places that tests of a chart which fail go through more than those which pass: for one that fails, with its own spectrum.
/// The measure is Ochiai's: of the tests that go through a place, and of those that fail, the share that do both.
pub(super) fn suspected(own: &Spectrum, all: &Counts) -> Vec<Place> {
    if all.failed < 2 && all.passed < MANY {
        return Vec::new();
    }
    let mut ranked = Vec::new();
    for (key, at) in &own.0 {
        let (bad, good) = all.places.get(key).copied().unwrap_or_default();
        let score = bad as f64 / ((all.failed * (bad + good)) as f64).sqrt();
        ranked.push((score, *at, *key, bad, good));
    }
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
    let enough = ranked.into_iter().take_while(|(score, ..)| *score >= ENOUGH);
    let place = |(_, _, (span, kind), bad, good): (f64, usize, (Span, Kind), usize, usize)| {
        let what = match kind {
            Kind::Taken => "taken",
            Kind::Refused => "false",
            Kind::Denied => "not permitted",
        };
        let (all_bad, all_good) = (all.failed, all.passed);
        let what =
            format!("{what} in {bad} of {all_bad} tests that fail, {good} of {all_good} that pass");
        Place { span, what, sets: None }
    };
    enough.map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::span::FileId;

    /// What a test goes through: places by number, in order.
    fn spectrum(places: &[usize]) -> Spectrum {
        let key = |nth: &usize| (Span::new(FileId::default(), *nth, *nth + 1), Kind::Taken);
        Spectrum(places.iter().enumerate().map(|(at, nth)| (key(nth), at)).collect())
    }

    fn ranked(own: usize, failed: &[&[usize]], passed: &[&[usize]]) -> Vec<(u32, String)> {
        let mut all = Counts::default();
        failed.iter().for_each(|test| all.add(&spectrum(test), true));
        passed.iter().for_each(|test| all.add(&spectrum(test), false));
        let places = suspected(&spectrum(failed[own]), &all);
        places.into_iter().map(|place| (place.span.start, place.what)).collect()
    }

    #[test]
    fn what_only_failed_tests_do_comes_first() {
        let (failed, passed) = ([&[1, 2, 3][..], &[1, 2, 4]], [&[1, 3, 5][..], &[1, 5]]);
        let told = "taken in 2 of 2 tests that fail, 0 of 2 that pass".to_owned();
        assert_eq!(ranked(0, &failed, &passed), [(2, told)]);
    }

    #[test]
    fn of_equals_the_later_comes_first() {
        let places = ranked(0, &[&[7, 8, 9], &[7, 9, 8]], &[&[1]]);
        assert_eq!(places.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [9, 8, 7]);
    }

    #[test]
    fn one_test_is_compared_with_many() {
        assert_eq!(ranked(0, &[&[1, 2]], &[]), []);
        assert_eq!(ranked(0, &[&[1, 2]], &[&[1], &[1], &[1]]), []);
        let told = "taken in 1 of 1 tests that fail, 0 of 4 that pass".to_owned();
        assert_eq!(ranked(0, &[&[1, 2]], &[&[1], &[1], &[1], &[1]]), [(2, told)]);
    }
}
