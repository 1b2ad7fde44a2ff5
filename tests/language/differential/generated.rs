//! Generated code does what the interpreter does.

use super::spec::{Spec, TALK, TASTES, Taste, acts, spec_of};
use super::{checked, render, runner};
use crate::batch::act::{Act, play, prepared};
use crate::batch::driver::Script;
use crate::batch::random::Random;
use crate::batch::{Batch, Uncompiled};
use chartc::Checked;
use chartc_core::machine::StepKey;
use chartc_core::model::StepKind;
use chartc_core::plan::Plan;
use proptest::collection::vec;
use proptest::strategy::{Strategy, ValueTree};
use std::time::{Duration, Instant};
use test_support::project::number;

/// Runs of each chart.
const RUNS: usize = 3;
/// Inputs of each run, at most.
const LENGTH: usize = 60;
/// How long a difference is made smaller: each try compiles a chart.
const PATIENCE: Duration = Duration::from_secs(90);

/// A chart with what is done to it.
type Case = (Spec, Vec<Vec<Act>>);

fn compile(spec: &Spec) -> Checked {
    let text = render::text(spec);
    checked(&text).unwrap_or_else(|errors| panic!("{errors}\n{text}"))
}

/// The scripts that acts become in the interpreter, and what comes of them.
/// It is also counted how many calls of its turns were open at once, at most.
fn interpret(
    label: &str,
    checked: &Checked,
    (spec, runs): &Case,
) -> (Vec<Script>, Vec<String>, usize) {
    let plan = Plan::new(checked.chart());
    let mut most = 0;
    let is_call = |key: &StepKey| {
        let step = &checked.chart().steps[key.step.index()];
        step.is_walked()
            && matches!(step.kind, StepKind::Llm | StepKind::Call(..) | StepKind::Ask { .. })
    };
    let mut play = |acts: &Vec<Act>| {
        let random = &mut Random::new(u64::from(spec.whole));
        let script = prepared(label, checked.chart(), random);
        let played = play(&plan, script, acts, &mut |moment| {
            most = most.max(moment.machine.pending().iter().filter(|key| is_call(key)).count());
            Ok(())
        });
        played.expect("nothing is asked of it")
    };
    let (scripts, texts) = runs.iter().map(&mut play).unzip();
    (scripts, texts, most)
}

/// What was compared.
#[derive(Debug, Default)]
struct Compared {
    charts: usize,
    /// Charts whose steps are written out.
    written: usize,
    /// Those of them with parallels, as data.
    parallel: usize,
    inputs: usize,
    /// Lines taken, as far as they are shown.
    taken: usize,
    /// Charts of which two calls of a turn were open at once.
    together: usize,
    /// Answers of elements.
    elements: usize,
}

/// The first difference of each case that has one.
fn differences(name: &str, cases: &[Case], all: &mut Compared) -> Vec<(usize, String)> {
    let mut batch = Batch::default();
    let (mut scripts, mut texts, mut of) = (Vec::new(), Vec::new(), Vec::new());
    for (nth, case) in cases.iter().enumerate() {
        let (label, checked) = (format!("r{nth}"), compile(&case.0));
        if let Err(why) = batch.add(&label, &checked) {
            panic!("{why}\n{}", render::text(&case.0));
        }
        let (more_scripts, more_texts, most) = interpret(&label, &checked, case);
        all.together += usize::from(most > 1);
        of.extend(more_scripts.iter().map(|_| nth));
        scripts.extend(more_scripts);
        texts.extend(more_texts);
    }
    all.charts += cases.len();
    all.written += batch.shapes().filter(|shape| !shape.starts_with("bit sets")).count();
    all.parallel += batch.shapes().filter(|shape| shape.starts_with("dense tables")).count();
    let shown = |what: &str| texts.iter().map(|text| text.matches(what).count()).sum::<usize>();
    all.inputs += shown("\n> ");
    all.taken += shown("\nrecord: Taken(");
    all.elements += shown("\nrecord: ElementDone(");
    let programs = match batch.try_build(name) {
        Ok(programs) => programs,
        Err(failures) => {
            let of = |f: &Uncompiled| f.labels.first().and_then(|l| l.get(1..)?.parse().ok());
            return failures.into_iter().map(|f| (of(&f).unwrap_or(0), f.said)).collect();
        }
    };
    let mut found: Vec<(usize, String)> = Vec::new();
    for (script, fault) in programs.differences("runs", &scripts, &texts) {
        if found.last().is_none_or(|(nth, _)| *nth != of[script]) {
            found.push((of[script], fault));
        }
    }
    found
}

/// A case that differs made as small as patience allows.
fn smaller(tree: &mut impl ValueTree<Value = Case>, fault: String) -> (Case, String) {
    let (begun, mut best) = (Instant::now(), (tree.current(), fault));
    while begun.elapsed() < PATIENCE && tree.simplify() {
        loop {
            let case = tree.current();
            if let Some((_, fault)) =
                differences("smaller", std::slice::from_ref(&case), &mut Compared::default()).pop()
            {
                best = (case, fault);
                break;
            }
            if begun.elapsed() > PATIENCE || !tree.complicate() {
                return best;
            }
        }
    }
    best
}

/// Compares as many charts as `CHARTC_CHARTS` says, 24 at a time.
fn compared(name: &str, tastes: &[Taste]) -> Compared {
    let mut runner = runner(1);
    let mut compared = Compared::default();
    let mut left = number("CHARTC_CHARTS", 24_usize);
    while left > 0 {
        let count = left.min(24);
        left -= count;
        let of = |nth: usize| (spec_of(tastes[nth % tastes.len()]), vec(acts(LENGTH), RUNS));
        let mut trees: Vec<_> =
            (0..count).map(|nth| of(nth).new_tree(&mut runner).expect("charts are made")).collect();
        let current: Vec<Case> = trees.iter().map(ValueTree::current).collect();
        let found = differences(name, &current, &mut compared);
        if let Some((nth, fault)) = found.first() {
            let ((spec, runs), fault) = smaller(&mut trees[*nth], fault.clone());
            let text = render::text(&spec);
            panic!(
                "{} of {count} charts differ; the first:\n{fault}\n{text}\n{runs:?}",
                found.len()
            );
        }
    }
    println!("{compared:?}");
    compared
}

#[test]
fn same_as_interpreted() {
    let Compared { charts, written, parallel, .. } = compared("random", TASTES);
    assert!(3 * written >= charts && written < charts, "written out: {written} of {charts} charts");
    assert!(parallel > 0 || charts < 24, "no parallels are written out");
}

#[test]
fn same_as_interpreted_while_calls_of_several_regions_are_open() {
    let Compared { charts, together, elements, .. } = compared("talk", &[TALK]);
    assert!(elements > charts, "{elements} elements were done in {charts} charts");
    assert!(3 * together > charts, "two calls were open at once in {together} of {charts} charts");
}
