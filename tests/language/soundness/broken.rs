//! Charts with words deleted, doubled or swapped are checked without a panic.

use super::random::{self, Random};
use chartc::load::Memory;

#[test]
fn broken_charts_are_checked_to_the_end() {
    for seed in 1..=300 {
        let mut random = Random::new(seed);
        let text = random::chart(&mut random);
        let broken = random::broken(&mut random, &text);
        let done = chartc::check(&["a.chart".into()], &Memory::of("a.chart", &broken));
        let short = chartc::report::short(&done.diagnostics, &done.sources);
        assert_eq!(short.lines().count(), done.diagnostics.len());
    }
}
