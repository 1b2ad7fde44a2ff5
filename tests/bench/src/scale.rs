//! How the time of a check grows with the chart, beside what the parser alone needs for the same text.

use crate::grammar::{Grammar, Rule};
use crate::memory;
use crate::shape::SHAPES;
use chartc::Compilation;
use chartc::load::{Loaded, Memory, load};
use chartc_compiler::analysis::facts::Facts;
use chartc_compiler::explore::Runs;
use chartc_compiler::lint;
use chartc_compiler::lint::family::Family;
use chartc_compiler::lower::lower;
use pest::Parser;
use std::collections::BTreeSet;
use std::hint::black_box;
use std::time::{Duration, Instant};

const PATH: &str = "synthetic.chart";

/// Stages of a check, in order.
const STAGES: [&str; 5] = ["pest", "syntax", "lower", "analyse", "lint"];

/// Medians for one chart.
struct Measured {
    states: usize,
    bytes: usize,
    pest: Duration,
    check: Duration,
    stages: [Duration; 5],
}

/// Measures charts of these sizes and prints what came out.
pub(crate) fn run(sizes: &[usize]) {
    println!(
        "{:>8} {:>8} {:>9} {:>10} {:>10} {:>6} {:>11}   stages, ms",
        "shape", "states", "bytes", "pest ms", "check ms", "ratio", "peak B/state"
    );
    for (shape, make) in SHAPES {
        rows(shape, *make, sizes);
    }
}

/// Measures charts of one shape.
fn rows(shape: &str, make: fn(usize) -> String, sizes: &[usize]) {
    let mut all: Vec<Measured> = Vec::new();
    for states in sizes {
        let one = measure(make, *states);
        let peak = memory::of_check(shape, *states)
            .map_or("-".to_owned(), |bytes| (bytes / *states as u64).to_string());
        let stages: Vec<String> = STAGES
            .iter()
            .zip(one.stages)
            .map(|(name, time)| format!("{name} {:.1}", ms(time)))
            .collect();
        println!(
            "{shape:>8} {:>8} {:>9} {:>10.1} {:>10.1} {:>6.2} {peak:>11}   {}",
            one.states,
            one.bytes,
            ms(one.pest),
            ms(one.check),
            ms(one.check) / ms(one.pest),
            stages.join(", ")
        );
        all.push(one);
    }
    for pair in all.windows(2) {
        let slope = |time: fn(&Measured) -> Duration| {
            let grown = pair[1].states as f64 / pair[0].states as f64;
            (ms(time(&pair[1])) / ms(time(&pair[0]))).ln() / grown.ln()
        };
        println!(
            "{shape}, {} to {} states: check grows with exponent {:.2}, pest with {:.2}",
            pair[0].states,
            pair[1].states,
            slope(|m| m.check),
            slope(|m| m.pest)
        );
    }
}

/// Rounds are interleaved, so that what else the machine does meets all stages alike.
fn measure(make: fn(usize) -> String, states: usize) -> Measured {
    let text = make(states);
    let loader = Memory::of(PATH, &text);
    let rounds = (400_000 / states).clamp(5, 100);
    // The grammar reads texts without their comments.
    let bare: String =
        text.lines().flat_map(|l| [l.split("//").next().unwrap_or(l), "\n"]).collect();
    let mut pest = Vec::new();
    let mut check = Vec::new();
    let mut stages: [Vec<Duration>; 5] = Default::default();
    for _ in 0..rounds {
        pest.push(timed(|| drop(black_box(Grammar::parse(Rule::file, black_box(&bare))))).0);
        check.push(timed(|| drop(black_box(checked(&loader)))).0);
        for (all, time) in stages.iter_mut().zip(staged(&loader)) {
            all.push(time);
        }
    }
    let pest = median(pest);
    let mut stages = stages.map(median);
    stages[0] = pest;
    stages[1] = stages[1].saturating_sub(pest);
    Measured { states, bytes: text.len(), pest, check: median(check), stages }
}

fn checked(loader: &Memory) -> Compilation {
    let done = chartc::check(&[PATH.to_owned()], loader);
    assert_eq!(done.charts.len(), 1, "synthetic charts are sound: {:?}", done.diagnostics.first());
    done
}

/// One check, stage by stage; the second is the whole front end.
fn staged(loader: &Memory) -> [Duration; 5] {
    let mut found = Vec::new();
    let (front, loaded): (Duration, Loaded) =
        timed(|| load(&[PATH.to_owned()], loader, &mut found));
    let (lowering, (lowered, _)) = timed(|| lower(&loaded, None, &mut found));
    let (analysis, facts) = timed(|| Facts::new(&lowered[0].chart));
    let (linting, _) = timed(|| {
        let family = Family::new(&lowered, &[], &BTreeSet::new());
        let (one, runs) = (&lowered[0], Runs::default());
        let lints = lint::LINTS.iter().copied();
        lint::run(lints, one, &facts, &runs, &family, &loaded.sources, &found)
    });
    [Duration::ZERO, front, lowering, analysis, linting]
}

pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let made = work();
    (start.elapsed(), made)
}

pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

pub(crate) fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
