//! Lines that bound the turns: what is decided with bounds that are met whenever they like, held to the runs of charts.

use super::budget::chart;
use chartc_compiler::analysis::facts::Facts;
use chartc_compiler::explore::property::{Properties, Verdict};

/// What becomes of the first `check` line, within so many states.
fn decided(states: usize, text: &str) -> Verdict {
    let chart = chart(text);
    Properties::new(&chart, &Facts::new(&chart), states).decide(&chart.checks[0])
}

/// A chart with a line that bounds its turns, and a question in every turn.
fn asking(bound: &str, line: &str, states: &str, check: &str) -> String {
    format!(
        "chart A {{\n  {bound}\n  event e\n  event g\n  var n: Int = 0\n  client m {{ model \"x:y\" timeout 5s }}\n  initial run\n  state run {{\n    initial a\n    {line}\n    \
         ask next with m on turn else failed {{ prompt \"What now? {{options}}\" }}\n    {states}\n  }}\n  final done : ok\n  final gave_up : stuck\n  final failed : error\n  {check}\n}}\n"
    )
}

/// Two states that a model goes to and fro between, and on to the end.
const FREE: &str =
    "state a { may b \"on\" -> b  may done \"well\" -> done }\n    state b { may a \"back\" -> a }";

#[test]
fn what_a_bound_ends_is_not_counted() {
    for (bound, line) in [
        ("param most: Int in 2..30 = 25", "when turns >= most -> gave_up"),
        ("param most: Int in 2..2 = 2", "when turns >= most -> gave_up"),
        ("", "when turns > 3 -> gave_up"),
        ("", "on turn if turns >= 1000000 -> gave_up"),
    ] {
        let text = asking(bound, line, FREE, "check always_reaches(done)");
        let verdict = decided(100, &text);
        assert!(matches!(verdict, Verdict::Holds), "{bound} {line}: {verdict:?}");
    }
}

#[test]
fn a_trap_is_found_whatever_bounds_the_turns() {
    let trap = "state a { may b \"on\" -> b  may done \"well\" -> done }\n    state b { may c \"on\" -> c }\n    state c { may b \"back\" -> b }";
    let line = "when turns >= 25 -> gave_up";
    let verdict = decided(100, &asking("", line, trap, "check always_reaches(done)"));
    assert!(matches!(verdict, Verdict::Refuted(..)), "{verdict:?}");
    // Only the variable tells that there is no way back.
    let spent = "state a { may b \"on\" -> b { n = 1 }  may done \"well\" if n < 1 -> done }\n    state b { may a \"back\" -> a }";
    let verdict = decided(100, &asking("", line, spent, "check always_reaches(done)"));
    assert!(matches!(verdict, Verdict::Refuted(..)), "{verdict:?}");
}

#[test]
fn what_else_asks_for_turns_is_counted() {
    // After three turns there is no way to the end but to give up.
    let late = "state a { may b \"on\" -> b  may done \"well\" if turns < 3 -> done }\n    state b { may a \"back\" -> a }";
    let text = asking("", "when turns >= 9 -> gave_up", late, "check always_reaches(done)");
    let verdict = decided(500, &text);
    assert!(matches!(verdict, Verdict::Refuted(..)), "{verdict:?}");
}

#[test]
fn where_a_bound_itself_leads() {
    // Without turns no bound is met: what waits for an event may wait for ever.
    let waits = "chart A {\n  event e\n  event g\n  initial a\n  state a { on e -> b  on turn if turns >= 9 -> gave_up }\n  state b { on g { log \"still\" } }\n  final gave_up : stuck\n  check always_reaches(gave_up)\n}\n";
    let verdict = decided(500, waits);
    assert!(matches!(verdict, Verdict::Refuted(..)), "{verdict:?}");
    // The run is over long before.
    let early = "chart A {\n  var n: Int = 0\n  initial a\n  state a { on turn { n = n + 1 } when turns >= 9 -> gave_up  when n >= 3 -> done }\n  final done : ok\n  final gave_up : stuck\n  check always_reaches(gave_up)\n}\n";
    let verdict = decided(500, early);
    assert!(matches!(verdict, Verdict::Refuted(..)), "{verdict:?}");
    let text = asking("", "when turns >= 9 -> gave_up", FREE, "check always_reaches(gave_up)");
    let verdict = decided(500, &text);
    assert!(matches!(verdict, Verdict::Holds), "{verdict:?}");
}

#[test]
fn runs_that_only_looser_bounds_have_refute_nothing() {
    // `b` is entered in the ninth turn or never; what is forbidden would need ten.
    let states = "state a { may wait \"not yet\" -> a { n = n + 1 }  may b \"on\" if n >= 9 -> b  may done \"well\" -> done }\n    state b { may a \"back\" -> a }";
    let never = |bound: &str| {
        let line = format!("when turns >= {bound} -> gave_up");
        decided(2000, &asking("", &line, states, "check never(run.b before failed)"))
    };
    assert!(matches!(never("3"), Verdict::Holds), "{:?}", never("3"));
    assert!(matches!(never("20"), Verdict::Refuted(..)), "{:?}", never("20"));
}
