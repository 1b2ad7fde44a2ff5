//! The charts that we ship do the same interpreted and generated.

use crate::batch::act::{acts, play, prepared};
use crate::batch::random::Random;
use crate::batch::{Batch, sound};
use chartc::load::Memory;
use chartc_core::machine::Record;
use chartc_core::plan::Plan;
use std::collections::BTreeSet;
use test_support::project::{files, read};

/// Runs of each chart.
const RUNS: u64 = 150;
/// Inputs of each run.
const LENGTH: usize = 120;

#[test]
fn same_interpreted_and_generated() {
    let mut batch = Batch::default();
    let (mut scripts, mut texts) = (Vec::new(), Vec::new());
    let memory = files("charts", "").into_iter().map(|path| (path.clone(), read(path)));
    let memory = Memory(memory.collect());
    for path in files("charts", ".chart").into_iter().filter(|path| !path.ends_with(".test.chart"))
    {
        let done = chartc::check(std::slice::from_ref(&path), &memory);
        for checked in sound(&path, &done) {
            let chart = checked.chart();
            let label = format!("{path}/{}", chart.name);
            batch.add(&label, checked).unwrap_or_else(|why| panic!("{label}: {why}"));
            let plan = Plan::new(chart);
            let mut taken = BTreeSet::new();
            for seed in 0..RUNS {
                let mut random = Random::new(seed);
                let script = prepared(&label, chart, &mut random);
                let acts = acts(&mut random, LENGTH);
                let played = play(&plan, script, &acts, &mut |moment| {
                    taken.extend(moment.log.records.iter().filter_map(|record| match record {
                        Record::Taken(line) => Some(*line),
                        _ => None,
                    }));
                    Ok(())
                });
                let (script, text) = played.expect("nothing is asked of it");
                scripts.push(script);
                texts.push(text);
            }
            let (taken, all) = (taken.len(), chart.transitions.len());
            println!("{label}: {taken} of {all} lines taken");
            assert!(3 * taken >= all, "{label}: chance takes {taken} of {all} lines only");
        }
    }
    let programs = batch.build("shipped");
    let differences = programs.differences("runs", &scripts, &texts);
    if let Some((nth, fault)) = differences.first() {
        panic!(
            "{} of {} runs differ; {}:\n{fault}",
            differences.len(),
            texts.len(),
            scripts[*nth].chart
        );
    }
}
