//! Where a failed test says that the fault may lie.

use chartc::Compilation;
use chartc::diagnostic::{Diagnostic, Severity};
use chartc::load::Memory;

const WORKER: &str = r#"
chart Worker {
  param patience: Int in 1..9 = 3
  input balance: Float = 100.0
  event reply(text: Text)
  var tries: Int = 0
  var is_rich: Bool = false
  code measure {
    is_rich = balance >= 50.0
  }
  initial draft
  state draft {
    llm draft_it { prompt "Do it."
      done if is_rich -> review
      done if tries < patience -> draft { tries = tries + 1 }
      done -> given_up("no money")
    }
  }
  state review {
    ask how on turn else waiting { prompt "{options}" }
    may go_on "good" -> waiting
    may again "start over" if tries < 3 -> draft { tries = tries + 1 }
    may leave(why: Text) "no" -> given_up(why)
  }
  state waiting {
    on reply(words) if len(words) > 3 -> finished
    after 20s -> given_up("nobody")
  }
  final finished
  final given_up(why: Text) : stuck
}
test "good way" for Worker {
  turn
  answers draft_it noop
  turn
  answers how go_on
  expect at waiting
  send reply("hello")
  expect ended ok
}
test "just rich enough" for Worker {
  set balance = 50.0
  turn
  answers draft_it noop
  expect at review
}
test "poor, and patient no more" for Worker {
  given tries = 2
  set balance = 1.0
  turn
  answers draft_it noop
  expect tries == 3
  expect at draft
  turn
  answers draft_it noop
  expect at given_up
}
test "start over" for Worker {
  at review
  given tries = 2
  turn
  answers how again
  expect at draft
  expect tries == 3
}
test "not once more" for Worker {
  at review
  given tries = 3
  turn
  expect offered only go_on, leave
  answers how leave("x")
  expect result.why == "x"
}
test "a word is enough" for Worker {
  at waiting
  send reply("no")
  expect at waiting
  send reply("well")
  expect at finished
}
test "nobody" for Worker {
  at waiting
  wait 20s
  expect ended stuck
}
"#;

const GATE: &str = r#"
chart Gate {
  input money: Int = 0
  event audit
  var is_due: Bool = false
  pred rich = money >= 10
  allow shop -> market if rich
  allow shop -> home
  allow market -> home
  code look { is_due = money > 99 }
  llm review if is_due { prompt "How is it?" } -> home
  initial shop
  state shop {
    ask where on turn else stay { prompt "{options}" }
    may sell "sell" -> market
    may rest "rest" -> home
  }
  state market { on audit if rich -> home }
  final home
}
test "ten is enough for the market" for Gate {
  set money = 10
  turn
  answers where sell
  expect at market
}
test "nine is not" for Gate {
  set money = 9
  turn
  answers where sell
  expect denied -> market
  turn
  answers where rest
  expect at home
}
test "the poor are not audited" for Gate {
  at market
  send audit
  expect at market
}
test "a hundred is to be reviewed" for Gate {
  set money = 100
  turn
  expect asked review
  answers review noop
}
test "less is not" for Gate {
  set money = 99
  turn
  expect not asked review
  answers where rest
}
"#;

/// Plays the tests of the worker with one change.
fn blamed(was: &str, is: &str) -> String {
    changed(WORKER, was, is)
}

/// Plays the tests with one change: for each that fails its name and message, with the places that it shows of the chart.
fn changed(chart: &str, was: &str, is: &str) -> String {
    assert!(was.is_empty() || chart.matches(was).count() == 1, "`{was}` stands once");
    let text = chart.replacen(was, is, usize::from(!was.is_empty()));
    let done: Compilation = chartc::check(&["it.chart".to_owned()], &Memory::of("it.chart", &text));
    let is_error = |d: &&Diagnostic| d.severity == Severity::Error;
    let errors: Vec<_> = done.diagnostics.iter().filter(is_error).map(|d| &d.message).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let mut out = String::new();
    for found in chartc::scenario::failed(&done) {
        out.push_str(&format!("{}\n", found.message));
        for (span, what) in &found.related {
            let place = done.sources.get(span.file).slice(*span);
            let place = place.split_whitespace().collect::<Vec<_>>().join(" ");
            out.push_str(&format!("  {place}  |  {what}\n"));
        }
    }
    out
}

#[test]
fn nothing_where_all_pass() {
    assert_eq!(blamed("", ""), "");
    assert_eq!(changed(GATE, "", ""), "");
}

#[test]
fn a_wrong_target() {
    insta::assert_snapshot!(blamed("may go_on \"good\" -> waiting", "may go_on \"good\" -> draft"));
}

#[test]
fn a_negated_condition() {
    insta::assert_snapshot!(blamed("done if is_rich", "done if not is_rich"));
}

#[test]
fn a_dropped_line() {
    insta::assert_snapshot!(blamed("    after 20s -> given_up(\"nobody\")\n", ""));
}

#[test]
fn a_dropped_event() {
    insta::assert_snapshot!(blamed("    on reply(words) if len(words) > 3 -> finished\n", ""));
}

#[test]
fn a_dropped_assignment() {
    insta::assert_snapshot!(blamed(
        "-> draft { tries = tries + 1 }\n    may leave",
        "-> draft\n    may leave"
    ));
}

#[test]
fn a_changed_bound_of_an_option() {
    insta::assert_snapshot!(blamed("if tries < 3", "if tries < 4"));
}

#[test]
fn a_changed_bound_of_an_event() {
    insta::assert_snapshot!(blamed("len(words) > 3", "len(words) > 4"));
}

#[test]
fn a_changed_constant_of_code() {
    insta::assert_snapshot!(blamed("balance >= 50.0", "balance >= 51.0"));
}

#[test]
fn a_changed_deadline() {
    insta::assert_snapshot!(blamed("after 20s", "after 200s"));
}

#[test]
fn a_changed_named_condition() {
    insta::assert_snapshot!(changed(GATE, "money >= 10", "money >= 9"));
}

#[test]
fn a_closed_table() {
    insta::assert_snapshot!(changed(GATE, "market if rich", "market if not rich"));
}

#[test]
fn a_dropped_permission() {
    insta::assert_snapshot!(changed(GATE, "  allow shop -> home\n", ""));
}

#[test]
fn a_dropped_condition_of_the_table() {
    insta::assert_snapshot!(changed(GATE, "market if rich", "market"));
}

#[test]
fn a_step_that_is_passed_over() {
    insta::assert_snapshot!(changed(GATE, "money > 99", "money > 100"));
}

#[test]
fn a_step_that_asks_too_soon() {
    insta::assert_snapshot!(changed(GATE, "money > 99", "money > 98"));
}

const RETRIES: &str = r#"
chart Retries {
  event pause
  event resume
  event go
  var n: Int = 0
  initial busy
  state busy {
    on go if n > 3 -> ready
    llm write { prompt "x" returns Text retry 2 done -> ready }
  }
  state ready { on go -> busy }
  state paused { on resume -> busy }
  from * { on pause -> paused }
}
test "a retried call" for Retries {
  turn
  fails write timeout
  expect at ready
}
test "a call" for Retries {
  turn
  expect n == 3
}
test "an event that a wildcard leaves out" for Retries {
  send go
  send pause
  send pause
  expect at busy
}
test "a condition" for Retries {
  send go
  expect at ready
}
test "an event of another state" for Retries {
  send pause
  send go
  expect at ready
}
"#;

#[test]
fn what_the_run_waits_for_and_what_was_lost() {
    insta::assert_snapshot!(changed(RETRIES, "", ""));
}
