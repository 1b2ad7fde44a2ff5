//! Plays the tests of charts: offline, in virtual time, each on a machine of its own. Nothing is answered that a test does not answer.

mod desk;
mod expect;
mod play;
mod words;

pub use play::{Failure, Played, play};
pub(crate) use words::short;

use crate::compile::{Checked, Compilation};
use crate::diagnostic::Diagnostic;
use crate::lint::failed_test;
use crate::lower::test::Test;

/// The tests that can be played, each with its chart, by file and place: those of charts that can run, without names that mean nothing.
pub fn tests(done: &Compilation) -> Vec<(&Checked, &Test)> {
    let ready = done.tested.iter().filter(|checked| checked.not_yet().is_empty());
    let all = ready.flat_map(|checked| checked.tests().iter().map(move |test| (checked, test)));
    let mut tests: Vec<_> = all.filter(|(_, test)| test.whole).collect();
    tests.sort_by_key(|(_, test)| test.span);
    tests
}

/// Plays the tests of a compilation: a finding for each that fails, by file and place.
pub fn failed(done: &Compilation) -> Vec<Diagnostic> {
    let played = tests(done).into_iter().map(|(checked, test)| (test, play(checked, test)));
    played.filter_map(|(test, played)| Some(finding(test, played.failure.as_ref()?))).collect()
}

/// A failure as a finding.
pub fn finding(test: &Test, failure: &Failure) -> Diagnostic {
    let mut found = failed_test::failed(&test.name, &failure.message, failure.span);
    found.label.clone_from(&failure.found);
    found.help.clone_from(&failure.help);
    found
}
