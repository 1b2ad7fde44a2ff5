//! What exploring does at most, counted: small charts that repeat much take no longer than others.

use chartc_compiler::analysis::facts::Facts;
use chartc_compiler::explore::property::{Properties, Verdict};
use chartc_compiler::explore::{STATES, Search, explore};
use chartc_core::model::Chart;
use std::sync::Arc;

/// Things that may happen in one search for each state, as `budget.rs` has it, with what evaluations may add to it.
const MOST: usize = 100 * STATES + 1_000_000;

pub(super) fn chart(text: &str) -> Arc<Chart> {
    let mut loader = chartc::load::Memory::of("a.chart", text);
    loader.0.insert("b.chart".into(), String::new());
    let mut found = Vec::new();
    let loaded = chartc::load::load(&["a.chart".to_owned()], &loader, &mut found);
    let (mut charts, ..) = chartc_compiler::lower::lower(&loaded, None, &mut found);
    let words: Vec<_> = found.iter().map(|d| &d.message).collect();
    assert!(found.is_empty(), "{words:?}");
    charts.remove(0).chart
}

/// Two states in turn, a thousand times, with the same actions on each entry.
fn rounds(head: &str, action: &str, times: usize) -> Arc<Chart> {
    chart(&format!(
        "{head}\nchart A {{\n  event e\n  event g\n  var n: Int = 0\n  initial a\n  state a {{ when n >= 0 -> b  on e -> f }}\n  state b {{\n    \
         enter {{ n = n + 1\n{} }}\n    when true -> a\n  }}\n  final f\n}}\n",
        format!("{action}\n").repeat(times)
    ))
}

#[test]
fn actions_in_every_round_of_a_circle() {
    let cases = [
        ("", "send e after 5s", 1000),
        ("", "send e after 5s as k cancel k", 1000),
        ("", "log \"x\"", 1000),
        ("", "raise g", 1000),
        ("do mail(a: Int)", "mail(n)", 1000),
        ("fn p(a: Int) -> Int", "n = p(n) + 1", 1000),
        (
            "fn p(a: Int) -> Int",
            "for x in [1, 2, 3, 4] { for y in [1, 2, 3, 4] { n = p(n + x * y) } }",
            60,
        ),
    ];
    for (head, action, times) in cases {
        let chart = rounds(head, action, times);
        let found = explore(&chart, &Search { states: STATES, ..Search::default() });
        assert!(found.work < MOST, "{} for {action}", found.work);
    }
}

#[test]
fn many_lines_share_what_may_be_tried() {
    let lines: String =
        (1..=300).map(|n| format!("  check at_most({} calls)\n", 200 + n)).collect();
    let phases = test_support::project::read("charts/phases.chart");
    let (head, _) = phases.split_once("  check ").expect("it has lines");
    let chart = chart(&format!("{head}{lines}}}\n"));
    let verdicts = Properties::new(&chart, &Facts::new(&chart), STATES).decide_all().0;
    let tried = |verdict: &&Verdict| matches!(verdict, Verdict::Open(2..=STATES, _));
    let open = |verdict: &&Verdict| matches!(verdict, Verdict::Open(0, why) if why.len() == 1);
    let (tried, open) =
        (verdicts.iter().filter(tried).count(), verdicts.iter().filter(open).count());
    assert!((5..40).contains(&tried), "{tried}");
    assert_eq!(tried + open, 300);
}

#[test]
fn a_state_that_a_thousand_inputs_lead_to_is_looked_for_once() {
    let states: String =
        (0..300).map(|n| format!("  state s{n} {{ on e -> s{} }}\n", n + 1)).collect();
    let lines: String = (0..300).map(|n| format!("  check reaches(s{n})\n")).collect();
    let chart =
        chart(&format!("chart A {{\n  event e\n  initial s0\n{states}  final s300\n{lines}}}\n"));
    let verdicts = Properties::new(&chart, &Facts::new(&chart), 320).decide_all().0;
    assert!(verdicts.iter().all(|verdict| matches!(verdict, Verdict::Holds)));
}

/// Times of entry are kept for active states alone, so the number of a state is no index of them.
#[test]
fn a_time_limit_of_a_state_inside_others_is_followed() {
    let chart = chart(
        "chart A {\n  event e\n  initial a\n  state a { on e -> b }\n  state b {\n    initial c\n    state c { on e -> d }\n    \
         state d {\n      limits { time 5s }\n      on e -> a\n      on limit.time -> over\n    }\n  }\n  final over\n}\n",
    );
    let found = explore(&chart, &Search { states: STATES, ..Search::default() });
    assert!(found.points.len() > 3, "{} points", found.points.len());
}
