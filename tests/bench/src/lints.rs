//! What each lint costs on charts of every shape.

use crate::scale::{median, ms, timed};
use crate::shape::SHAPES;
use chartc::load::{Memory, load};
use chartc_compiler::analysis::facts::Facts;
use chartc_compiler::explore::Runs;
use chartc_compiler::lint::family::Family;
use chartc_compiler::lint::{self, LINTS};
use chartc_compiler::lower::lower;
use std::collections::BTreeSet;
use std::time::Duration;

/// Rounds of which the median is taken.
const ROUNDS: usize = 5;
/// Less than this share of all lints' time is left out.
const SHARE: f64 = 0.01;

/// Prints for each shape what the lints cost, the dearest first.
pub(crate) fn run(states: usize) {
    for (shape, make) in SHAPES {
        let text = make(states);
        let mut found = Vec::new();
        let loaded = load(&["a.chart".to_owned()], &Memory::of("a.chart", &text), &mut found);
        let (lowered, _) = lower(&loaded, None, &mut found);
        let family = Family::new(&lowered, &[], &BTreeSet::new());
        let lowered = &lowered[0];
        let facts = Facts::new(&lowered.chart);
        let runs = Runs::default();
        let mut costs: Vec<(Duration, &str, usize)> = Vec::new();
        for &lint in LINTS {
            let mut told = 0;
            let mut once = || {
                let sources = &loaded.sources;
                let found = lint::run([lint], lowered, &facts, &runs, &family, sources, &[]);
                told = found.len();
            };
            let times = (0..ROUNDS).map(|_| timed(&mut once).0).collect();
            costs.push((median(times), lint.rule.name, told));
        }
        costs.sort_unstable_by(|a, b| b.cmp(a));
        let sum: Duration = costs.iter().map(|(time, ..)| *time).sum();
        println!("{shape}, {states} states, {} bytes: {:.1} ms", text.len(), ms(sum));
        for (time, name, told) in costs.iter().filter(|(t, ..)| ms(*t) > SHARE * ms(sum)) {
            println!("  {:>9.1} ms  {name}, {told} findings", ms(*time));
        }
    }
}
