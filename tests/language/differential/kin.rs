//! Charts that run charts: families do the same interpreted and generated, and as well when they are stopped and go on.

use super::spec::{Spec, acts, kin};
use super::{checked, render, runner};
use crate::batch::act::{Act, prepared};
use crate::batch::driver::Script;
use crate::batch::random::Random;
use crate::batch::{Batch, kin as family};
use chartc::Checked;
use proptest::collection::vec;
use proptest::strategy::{Strategy, ValueTree};
use test_support::project::number;

/// Runs of each family.
const RUNS: usize = 3;
/// Inputs of each run, at most.
const LENGTH: usize = 50;

type Case = (Vec<Spec>, Vec<Vec<Act>>);

fn text(specs: &[Spec]) -> String {
    render::family(&specs.iter().collect::<Vec<_>>())
}

/// The scripts that acts become, and what comes of them, which is the same with a restart after each.
fn interpret(
    label: &str,
    main: &Checked,
    runs: &[Vec<Act>],
    happened: &mut Vec<family::Happened>,
) -> Result<Vec<(Script, String)>, String> {
    let plans = main.plans();
    let mut out = Vec::new();
    for acts in runs {
        let script = || prepared(label, plans[0].chart(), &mut Random::new(7));
        let (scripted, text, one) = family::play(&plans, script(), acts, false)?;
        let (_, again, _) = family::play(&plans, script(), acts, true)?;
        if let Some(fault) = crate::batch::difference(&text, &again, false) {
            return Err(format!("restarted (the lower line), it goes on otherwise:\\n{fault}"));
        }
        happened.push(one);
        out.push((scripted, text));
    }
    Ok(out)
}

/// `CHARTC_FAMILIES` says how many families are tried, 8 at a time.
#[test]
fn families_do_the_same() {
    let mut runner = runner(1);
    let cases = (kin(), vec(acts(LENGTH), RUNS));
    let mut happened = Vec::new();
    let (mut inputs, mut left) = (0, number("CHARTC_FAMILIES", 8_usize));
    while left > 0 {
        let count = left.min(8);
        left -= count;
        let mut batch = Batch::default();
        let (mut scripts, mut texts, mut of) = (Vec::new(), Vec::new(), Vec::new());
        for nth in 0..count {
            let tree = cases.new_tree(&mut runner).expect("charts are made");
            let (specs, runs): Case = tree.current();
            let text = text(&specs);
            let main = checked(&text).unwrap_or_else(|errors| panic!("{errors}\\n{text}"));
            let label = format!("f{nth}");
            batch.add(&label, &main).unwrap_or_else(|why| panic!("{why}\\n{text}"));
            let played = interpret(&label, &main, &runs, &mut happened);
            for (script, shown) in played.unwrap_or_else(|why| panic!("{why}\\n{text}")) {
                inputs += script.steps.len();
                scripts.push(script);
                texts.push(shown);
                of.push(text.clone());
            }
        }
        let differences = batch.build("families").differences("runs", &scripts, &texts);
        if let Some((nth, fault)) = differences.first() {
            panic!(
                "{} of {} runs differ; one:\\n{fault}\\n{}",
                differences.len(),
                of.len(),
                of[*nth]
            );
        }
    }
    let most = happened.iter().map(|one| one.children).max().unwrap_or_default();
    let with = happened.iter().filter(|one| one.children > 0).count();
    let answers: usize = happened.iter().map(|one| one.answers).sum();
    println!("{inputs} inputs, {answers} answers, children in {with} of {} runs", happened.len());
    assert!(most > 1 && 3 * with > happened.len(), "few children: {most} in {with} runs");
}
