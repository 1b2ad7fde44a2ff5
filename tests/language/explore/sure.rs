//! Bounds of turns that are known without exploring, held to what exploring finds.

use super::budget::chart;
use chartc_compiler::analysis::facts::Facts;
use chartc_compiler::explore::property::{Properties, Verdict};
use chartc_compiler::explore::{Search, explore};
use chartc_core::model::CheckArgument;

/// Whether `check ends_within(…)` is known with no states to look at, and whether a run against it is found in many.
fn known_and_refuted(param: &str, bound: &str, body: &str) -> (bool, bool) {
    let text = format!(
        "chart A {{\n  {param}\n  event e\n  event g\n  var n: Int = 0\n  initial a\n{body}\n  final f\n  check ends_within({bound} turns)\n}}\n"
    );
    let chart = chart(&text);
    let verdicts = Properties::new(&chart, &Facts::new(&chart), 0).decide_all().0;
    let [CheckArgument::Bound(turns, _)] = &chart.checks[0].arguments[..] else {
        panic!("it is a bound");
    };
    let search = Search { states: 3000, turns: Some(turns.clone()), ..Search::default() };
    let found = explore(&chart, &search);
    (matches!(verdicts[0], Verdict::Holds), found.goal.is_some())
}

#[test]
fn a_line_that_ends_every_run_after_so_many_turns() {
    let m = "param m: Int in 1..4 = 2";
    let nested = "state a { initial b when turns >= m or n > 1 -> f  state b { on e -> c  on turn { n = n + 1 } }  state c { on e -> b } }";
    let from = "state a { on e -> b }\n state b { on e -> a }\n from * { when turns >= 3 -> f }";
    let cases = [
        (m, "m", nested, true, false),
        (m, "m + 1", nested, true, false),
        (m, "3", nested, false, true),
        ("", "3", from, true, false),
        ("", "4", from, true, false),
        ("", "2", from, false, true),
        // A state of the chart beside.
        (
            m,
            "m",
            "state a { when turns >= m -> f  on e -> b }\n state b { on e -> a }",
            false,
            true,
        ),
        // It does not end the run.
        (m, "m", "state a { when turns >= m -> b }\n state b { on e -> f }", false, true),
        // Lines go round, and the machine is stopped before.
        (
            m,
            "m",
            "state a { initial b when turns >= m -> f  state b { when true -> c }  state c { when true -> b } }",
            false,
            true,
        ),
        (
            m,
            "m",
            "state a { initial b when turns >= m -> f  state b { when true { n = n + 1 } } }",
            false,
            true,
        ),
        (
            m,
            "m",
            "state a { initial b when turns >= m -> f  state b { enter { raise g } on g -> b } }",
            false,
            false,
        ),
        // What may fail comes first.
        (m, "m", "state a { when 1 / (turns - m) > 1 or turns >= m -> f }", false, true),
        (m, "m", "state a { when turns >= m and n < 1 -> f  on e { n = 1 } }", false, true),
    ];
    for (param, bound, body, known, refuted) in cases {
        assert_eq!(known_and_refuted(param, bound, body), (known, refuted), "{bound} in {body}");
    }
}

/// Whether the only `check` line of a chart is known with no states to look at.
fn is_known(param: &str, limits: &str, line: &str) -> bool {
    let text = format!(
        "chart A {{\n  {param}\n  event e\n  {limits}\n  initial a\n  state a {{ llm think {{ prompt \"?\" }}  on e -> b }}\n  state b {{ on e -> a }}\n  final f\n  check {line}\n}}\n"
    );
    let chart = chart(&text);
    let verdicts = Properties::new(&chart, &Facts::new(&chart), 0).decide_all().0;
    matches!(verdicts[0], Verdict::Holds)
}

#[test]
fn a_limit_that_is_computed_as_the_bound_is() {
    let m = "param m: Int in 1..4 = 2";
    let cases = [
        (m, "limits { calls m }", "at_most(m calls)", true),
        (m, "limits { calls m * 2 + 1 }", "at_most(m * 2 + 1 calls)", true),
        (m, "limits { calls m + 1 }", "at_most(m calls)", false),
        (m, "limits { turns m }", "at_most(m calls)", false),
        // Nobody handles a limit of calls so that more are made.
        (m, "limits { calls m }  on limit.calls -> b", "at_most(m calls)", true),
        (m, "limits { turns m + 1 }", "ends_within(m + 1 turns)", true),
        (m, "limits { turns m + 1 }", "ends_within(m turns)", false),
        (m, "limits { calls m }", "ends_within(m turns)", false),
        (m, "limits { turns m }  on limit.turns -> f", "ends_within(m turns)", true),
        (m, "limits { turns m }  on limit.turns -> b", "ends_within(m turns)", false),
        // A limit of 0 turns is never met.
        ("param m: Int in 0..4 = 2", "limits { turns m }", "ends_within(m turns)", false),
        ("param m: Int = 2", "limits { turns m }", "ends_within(m turns)", false),
    ];
    for (param, limits, line, known) in cases {
        assert_eq!(is_known(param, limits, line), known, "{line} with {param}, {limits}");
    }
}
