//! Random charts on random inputs: what must hold whatever the chart is.

mod actions;
mod declare;
mod generated;
mod guards;
mod kin;
mod laws;
mod line;
mod regressions;
mod render;
mod spec;
mod step;
mod tree;
mod treesitter;

use chartc::Checked;
use chartc::load::Memory;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};
use spec::{acts, spec};
use std::cell::Cell;
use test_support::project::{cases, number};

/// A chart of a text; the errors where it has some.
fn checked(text: &str) -> Result<Checked, String> {
    let mut done = chartc::check(&["r.chart".into()], &Memory::of("r.chart", text));
    let shown = chartc::report::short(&done.diagnostics, &done.sources);
    done.charts.pop().ok_or(shown)
}

/// A source of charts: the same on every run, unless `CHARTC_SEED` says otherwise.
fn runner(cases: u32) -> TestRunner {
    let config =
        Config { cases, failure_persistence: None, max_shrink_time: 60_000, ..Config::default() };
    let mut seed = [0; 32];
    seed[..4].copy_from_slice(&number("CHARTC_SEED", 1_u32).to_le_bytes());
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &seed))
}

/// Configurations are legal, microsteps in order, macrosteps end; a run that is stopped goes on as if nothing had happened,
/// one that is repeated is the same.
#[test]
fn laws_hold() {
    let total = Cell::new(laws::Happened::default());
    let cases = cases(100);
    let result = runner(cases).run(&(spec(), acts(60)), |(spec, acts)| {
        let text = render::text(&spec);
        let checked = checked(&text).map_err(TestCaseError::fail)?;
        let one = laws::kept(checked.chart(), spec.whole, &acts).map_err(TestCaseError::fail)?;
        let mut all = total.get();
        all.inputs += one.inputs;
        all.taken += one.taken;
        all.answers += one.answers;
        all.ended += one.ended;
        total.set(all);
        Ok(())
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(why, (spec, acts))) => {
            panic!("{why}\n{}\n{acts:?}", render::text(&spec));
        }
        Err(TestError::Abort(why)) => panic!("{why}"),
    }
    println!("{cases} charts: {:?}", total.get());
}

#[test]
#[ignore = "`tests/house/parity` runs it: it writes charts into the folder `CHARTC_WRITE`"]
fn charts_are_written() {
    let folder = std::env::var("CHARTC_WRITE").expect("`CHARTC_WRITE` names a folder");
    let nth = Cell::new(0);
    let written = runner(200).run(&spec(), |spec| {
        let file = format!("{folder}/random_{:03}.chart", nth.get());
        nth.set(nth.get() + 1);
        std::fs::write(file, render::text(&spec))
            .map_err(|why| TestCaseError::fail(why.to_string()))
    });
    written.expect("each is written");
}
