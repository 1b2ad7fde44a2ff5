//! Plays the tests of charts: offline, in virtual time, each on a machine of its own. Nothing is answered that a test does not answer.

mod blame;
mod budget;
mod desk;
mod expect;
mod failure;
mod follow;
mod play;
mod reasons;
mod spectrum;
mod words;

pub use blame::Place;
pub(crate) use budget::OF_A_TEST;
pub use failure::Failure;
pub(crate) use follow::{Did, follow};
pub use play::{Played, play};
pub(crate) use words::short;

use crate::compile::{Checked, Compilation};
use crate::diagnostic::Diagnostic;
use crate::lint::{failed_test, used_up_budget};
use crate::lower::test::Test;
use crate::source::Sources;
use crate::span::{FileId, Span};
use blame::MOST;
use spectrum::{Counts, Spectrum, suspected};
use std::collections::BTreeMap;

/// The tests that can be played, each with its chart, by file and place: those of charts that can run, without names that mean nothing.
pub fn tests(done: &Compilation) -> Vec<(&Checked, &Test)> {
    let ready = done.tested.iter().filter(|checked| checked.not_yet().is_empty());
    let all = ready.flat_map(|checked| checked.tests().iter().map(move |test| (checked, test)));
    let mut tests: Vec<_> = all.filter(|(_, test)| test.whole).collect();
    tests.sort_by_key(|(_, test)| test.span);
    tests
}

/// Plays the tests of a compilation, with so many steps for all of them as a check may take: a finding for each that fails, by file
/// and place, and one for each file with tests that were not played to their end.
pub fn failed(done: &Compilation) -> Vec<Diagnostic> {
    failed_within(done, budget::OF_A_CHECK).0
}

/// The same with another number of steps; and how many were taken.
pub fn failed_within(done: &Compilation, most: u64) -> (Vec<Diagnostic>, u64) {
    let mut runs = Vec::new();
    let mut unplayed: BTreeMap<FileId, (Span, usize)> = BTreeMap::new();
    let mut left = most;
    for (checked, test) in tests(done) {
        if left > 0 {
            let played = play(checked, test, left.min(OF_A_TEST));
            left -= played.steps;
            if !played.spent {
                let spectrum = Spectrum::of(checked, &played.lines);
                runs.push((test, played.failure, played.places, spectrum));
                continue;
            }
        }
        unplayed.entry(test.span.file).or_insert((test.span, 0)).1 += 1;
    }
    let runs = runs.iter().map(|(test, failure, places, spectrum)| Run {
        test,
        failure: failure.as_ref(),
        places,
        spectrum,
    });
    let mut found: Vec<Diagnostic> =
        told(&runs.collect::<Vec<_>>(), &done.sources).into_iter().flatten().collect();
    let unplayed = unplayed.into_values();
    found.extend(unplayed.map(|(first, tests)| used_up_budget::unplayed(first, tests)));
    (found, most - left)
}

/// A finding for each of these tests that failed, in their order: where it failed, and the places of its chart where the fault may lie.
pub(crate) fn findings<'p>(
    runs: impl Iterator<Item = (&'p Checked, &'p Test, &'p Played)>,
    sources: &Sources,
) -> Vec<Option<Diagnostic>> {
    let runs: Vec<_> =
        runs.map(|(c, test, played)| (test, played, Spectrum::of(c, &played.lines))).collect();
    let runs = runs.iter().map(|(test, played, spectrum)| Run {
        test,
        failure: played.failure.as_ref(),
        places: &played.places,
        spectrum,
    });
    told(&runs.collect::<Vec<_>>(), sources)
}

/// A test that was played.
struct Run<'r> {
    test: &'r Test,
    failure: Option<&'r Failure>,
    places: &'r [Place],
    spectrum: &'r Spectrum,
}

fn told<'r>(runs: &[Run<'r>], sources: &Sources) -> Vec<Option<Diagnostic>> {
    // Only tests of the same chart can be compared.
    let mut counts: BTreeMap<_, Counts> = BTreeMap::new();
    for run in runs {
        let counts = counts.entry(run.test.chart).or_default();
        counts.add(run.spectrum, run.failure.is_some());
    }
    let told = |run: &Run<'r>| {
        let failure = run.failure?;
        let mut found = failed_test::failed(&run.test.name, &failure.message, failure.span);
        found.label.clone_from(&failure.found);
        found.help.clone_from(&failure.help);
        let suspected = suspected(run.spectrum, counts.get(&run.test.chart)?);
        for place in run.places.iter().cloned().chain(suspected) {
            let is_told = found
                .related
                .iter()
                .any(|(span, _)| (span.file, span.start) == (place.span.file, place.span.start));
            if !is_told && found.related.len() < MOST {
                found.related.push((setting(&place, sources), place.what));
            }
        }
        Some(found)
    };
    runs.iter().map(told).collect()
}

/// Of a step that sets a variable, the statement that does.
fn setting(place: &Place, sources: &Sources) -> Span {
    let Some(name) = &place.sets else { return place.span };
    let text = sources.get(place.span.file).slice(place.span);
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let starts = text.match_indices(name.as_str()).filter(|(at, _)| {
        let after = text[at + name.len()..].trim_start();
        !text[..*at].ends_with(is_word) && after.starts_with('=') && !after.starts_with("==")
    });
    // The last one holds.
    let Some((at, _)) = starts.last() else { return place.span };
    let end = text[at..].find(['\n', '}']).map_or(text.len(), |end| at + end);
    let end = at + text[at..end].trim_end().len();
    let start = place.span.start as usize;
    Span::new(place.span.file, start + at, start + end)
}
