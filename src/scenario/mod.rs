//! Plays the tests of charts.
//!
//! A test must give the same result on every machine, without a network and without waiting. So each test runs on a machine of its
//! own, in virtual time, and the test itself is the oracle, the tools, the host and the clock ([`test_host`]): a call resolves when
//! the test answers it, and time stands still while an answer is owed.
//!
//! ```text
//! chart Door { event open  initial shut  state shut { on open -> ajar }  state ajar { after 10s -> shut } }
//!
//! test "it falls shut" for Door {
//!   send open          // `play`: posts the event, then polls the run until it waits
//!   expect at ajar     // `expect`: compares with the configuration
//!   wait 9s            // advances the virtual clock: the deadline of 10 s is not reached
//!   expect at shut     // fails: `failure` holds "expected to be at `shut`", and `blame` selects the places to show
//! }
//! ```
//!
//! Work is counted in steps ([`OF_A_TEST`]), because a chart may loop without end.

mod blame;
mod play;
mod test_host;

pub(crate) use blame::{Did, follow};
pub use play::Failure;

use chartc_compiler::compile::{Checked, Compilation};
use chartc_compiler::lower::test::Test;
use chartc_compiler::rules::{failed_test, used_up_budget};
use chartc_compiler::syntax::diagnostic::Diagnostic;
use chartc_compiler::syntax::source::{FileId, Sources, Span};
use chartc_core::expr::{Map, Value};
use chartc_core::host::Mismatch;
use chartc_core::interpreter::Interpreter;
use chartc_core::machine::Status;
use chartc_core::model::{Chart, FunctionKind};
use chartc_core::plan::Plan;
use chartc_runtime::Session;
use chartc_runtime::clock::VirtualClock;
use chartc_runtime::trace::Line;
use play::{Player, prepared};
use std::collections::BTreeMap;
use std::sync::Arc;
use test_host::{TestClock, TestHost, Wanted};

/// Lists the tests that can be played, each with its chart, by file and position. In these, all names are resolved and the chart can run.
pub fn tests(done: &Compilation) -> Vec<(&Checked, &Test)> {
    let ready = done.tested.iter().filter(|checked| checked.not_yet().is_empty());
    let all = ready.flat_map(|checked| checked.tests().iter().map(move |test| (checked, test)));
    let mut tests: Vec<_> = all.filter(|(_, test)| test.whole).collect();
    tests.sort_by_key(|(_, test)| test.span);
    tests
}

/// Plays the tests of a compilation within the number of steps of one check. Returns a finding for each test that fails, by file and
/// position, and one for each file with tests that were not played to their end.
pub fn failed(done: &Compilation) -> Vec<Diagnostic> {
    failed_in(done, &|_| true)
}

/// As [`failed`], for the tests of the files that `plays` selects.
pub(crate) fn failed_in(done: &Compilation, plays: &dyn Fn(FileId) -> bool) -> Vec<Diagnostic> {
    played(done, OF_A_CHECK, plays).0
}

/// As [`failed`], with at most `most` steps. Also returns the number of steps taken.
pub fn failed_within(done: &Compilation, most: u64) -> (Vec<Diagnostic>, u64) {
    played(done, most, &|_| true)
}

fn played(done: &Compilation, most: u64, plays: &dyn Fn(FileId) -> bool) -> (Vec<Diagnostic>, u64) {
    let mut found = Vec::new();
    let mut unplayed: BTreeMap<FileId, (Span, usize)> = BTreeMap::new();
    let mut left = most;
    for (checked, test) in tests(done).into_iter().filter(|(_, test)| plays(test.span.file)) {
        if left > 0 {
            let played = play(checked, test, left.min(OF_A_TEST));
            left -= played.steps;
            if !played.spent {
                found.extend(finding(test, &played, &done.sources));
                continue;
            }
        }
        unplayed.entry(test.span.file).or_insert((test.span, 0)).1 += 1;
    }
    let unplayed = unplayed.into_values();
    found.extend(unplayed.map(|(first, tests)| used_up_budget::unplayed(first, tests)));
    (found, most - left)
}

/// The finding for a failed test, or `None` if the test passed. Its related places show what the chart did or did not do.
pub(crate) fn finding(test: &Test, played: &Played, sources: &Sources) -> Option<Diagnostic> {
    let failure = played.failure.as_ref()?;
    let mut found = failed_test::failed(&test.name, &failure.message, failure.span);
    found.label.clone_from(&failure.found);
    found.help.clone_from(&failure.help);
    for place in &played.places {
        let span = setting(place, sources);
        if !found.related.iter().any(|(other, _)| *other == span) {
            found.related.push((span, place.what.clone()));
        }
    }
    Some(found)
}

/// Narrows a place that sets a variable to the last assignment of that variable.
fn setting(place: &RelatedPlace, sources: &Sources) -> Span {
    let Some(name) = &place.sets else { return place.span };
    let text = sources.get(place.span.file).slice(place.span);
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let starts = text.match_indices(name.as_str()).filter(|(at, _)| {
        let after = text[at + name.len()..].trim_start();
        !text[..*at].ends_with(is_word) && after.starts_with('=') && !after.starts_with("==")
    });
    // The last assignment takes effect.
    let Some((at, _)) = starts.last() else { return place.span };
    let end = text[at..].find(['\n', '}']).map_or(text.len(), |end| at + end);
    let end = at + text[at..end].trim_end().len();
    let start = place.span.start as usize;
    Span::new(place.span.file, start + at, start + end)
}

// Bounds on the work of tests, in steps. A unit of evaluation is a step, and everything that happens counts as a fixed number of steps.
// Time is not measured, so that every machine plays the same tests.

/// The maximum number of steps of one test.
pub(crate) const OF_A_TEST: u64 = 50_000_000;

/// The maximum number of steps of all tests of one `chartc check` together.
const OF_A_CHECK: u64 = 10_000_000;

/// The number of steps that each line of the trace, and each thing that a test does, counts as.
const A_THING: u64 = 50;

/// The number of steps that preparing each row of a chart counts as.
const A_ROW: u64 = 20;

/// The number of steps that preparing these charts counts as.
fn setting_up<'c>(charts: impl Iterator<Item = &'c Chart>) -> u64 {
    let rows = |chart: &Chart| {
        chart.states.len()
            + chart.transitions.len()
            + chart.variables.len()
            + chart.events.len()
            + chart.steps.len()
            + chart.choices.len()
            + chart.types.len()
            + chart.tools.len()
    };
    charts.map(|chart| rows(chart) as u64 * A_ROW).sum()
}

// Formats values for messages about tests.

/// Formats a value as JSON.
fn value(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "…".to_owned())
}

/// Formats a text as a JSON string.
fn quoted(text: &str) -> String {
    value(&Value::Text(text.to_owned()))
}

/// Joins the words of a text into one line, and cuts it after `most` characters.
pub(crate) fn short(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// The result of a test.
#[derive(Debug)]
pub struct Played {
    /// The reason why it failed, if it did.
    pub failure: Option<Failure>,
    /// The active states at the end, as dotted paths.
    pub states: Vec<String>,
    /// Whether it used up its steps and was not played to its end. Then the failure says nothing about the chart.
    pub spent: bool,
    /// The number of steps that it took.
    pub steps: u64,
    /// What still waits for an answer or a result, in one line each.
    pub waiting: Vec<String>,
    /// The status with which the run ended, if it did.
    pub ended: Option<&'static str>,
    /// The number of model calls.
    pub calls: u32,
    /// The trace of the run.
    pub lines: Vec<Line>,
    /// The places of the chart that explain the failure, if the test failed.
    pub places: Vec<RelatedPlace>,
}

/// Plays a test on a machine of its own, with at most `most` steps.
pub fn play(checked: &Checked, test: &Test, most: u64) -> Played {
    let setting = setting_up(checked.family().into_iter());
    let unplayed = |failure: Failure, spent: bool| Played {
        failure: Some(failure),
        states: Vec::new(),
        spent,
        steps: setting.min(most),
        waiting: Vec::new(),
        ended: None,
        calls: 0,
        lines: Vec::new(),
        places: Vec::new(),
    };
    let Some(room) = most.checked_sub(setting).filter(|room| *room > 0) else {
        return unplayed(Failure::spent(test, most), true);
    };
    let chart = Arc::new(prepared(checked.chart(), test));
    let own = Plan::new(&chart);
    // Child charts begin as declared, even one that runs the chart under test again: only the root is prepared for the test.
    let family = checked.family();
    let plans = checked.plans();
    let functions = family.iter().flat_map(|chart| &chart.functions);
    let effects = functions.filter(|f| f.kind == FunctionKind::Effect).map(|f| f.name.clone());
    let desk =
        // Each trace line costs `A_THING` steps, so a run with more lines has used up its budget.
        TestHost::new(effects.collect(), usize::try_from(room / A_THING).unwrap_or(usize::MAX));
    let machine = match Interpreter::new(&own, desk.clone(), Map::new()) {
        Ok(machine) => machine.with_charts(plans.clone()),
        Err(Mismatch(why)) => {
            let failure = Failure::new(test.span, format!("the run cannot start: {why}"));
            return unplayed(failure, false);
        }
    };
    let clock = Arc::new(TestClock { time: VirtualClock::new(), host: desk.clone() });
    let session = Session::new(machine, Arc::new(desk.clone()), clock, desk.clone())
        .with_tools(Arc::new(desk.clone()));
    let mut player = Player::new(&chart, session, desk, test.span);
    player.session.machine_mut().allow(room);
    let mut failure = player.all(test).err();
    // Count the lines that the last move has caused.
    player.spend(0);
    let left = player.session.machine().allowed();
    let spent = left == 0 || player.desk.is_full();
    if spent {
        failure = Some(Failure::spent(test, most));
    }
    let lines = player.desk.take_lines();
    let places = match &failure {
        Some(failure) if !spent => blame::decided(&mut player, checked, test, failure, &lines),
        Some(_) | None => Vec::new(),
    };
    Played {
        failure,
        spent,
        steps: most - left,
        states: player.session.configuration(),
        waiting: player.waiting().iter().map(Wanted::described).collect(),
        ended: player.session.status().map(Status::word),
        calls: player.session.calls(),
        lines,
        places,
    }
}

/// A place of a chart that a failed test points at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelatedPlace {
    /// The source of a transition, a condition, a step or a state.
    pub span: Span,
    /// The relation to the failure, as text.
    pub what: String,
    /// The variable whose assignment within `span` is meant, if there is one.
    pub(super) sets: Option<String>,
}
