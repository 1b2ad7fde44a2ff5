//! When a chart that a step runs starts.

use super::{LOADING, Tree, main};

#[test]
fn a_step_at_entry_starts_its_chart_when_the_macrostep_ends() {
    let mut tree = main(LOADING);
    assert_eq!(tree.since(), "+idle");
    tree.send("go");
    assert_eq!(tree.since(), "event go · -idle · +loading · started fetch · fetch: +waiting");
    assert_eq!(tree.leaves(), ["loading", "fetch: waiting"]);
}

#[test]
fn a_state_that_is_left_in_the_same_macrostep_starts_nothing() {
    let mut tree = main(
        r"
  initial idle
  state idle { on go -> passing }
  state passing {
    run fetch Fetch() at entry
    when true -> idle
  }
",
    );
    tree.since();
    tree.send("go");
    assert_eq!(tree.since(), "event go · -idle · +passing · -passing · +idle");
}

#[test]
fn a_step_in_the_walk_starts_its_chart_and_the_walk_goes_on() {
    let mut tree = main(
        r#"
  var walked: Int = 0
  initial a
  state a {
    run fetch Fetch("u")
    code after { walked = walked + 1 }
    on done(fetch) as v { seen = v }
  }
"#,
    );
    tree.since();
    tree.turn();
    assert_eq!(
        tree.since(),
        "turn 1 · started fetch · started after · done after · turn 1 ended · fetch: +waiting · fetch: turn 1 · fetch: turn 1 ended"
    );
    // While it is pending it is not started again.
    tree.turn();
    assert_eq!(tree.var("walked"), "2");
    assert_eq!(
        tree.since(),
        "turn 2 · started after · done after · turn 2 ended · fetch: turn 2 · fetch: turn 2 ended"
    );
    tree.send_with("got", 7);
    assert_eq!(tree.var("seen"), "{'n': 7, 'from': 'u'}");
}

#[test]
fn another_attempt_is_another_run() {
    let mut tree = main(
        r#"
  initial a
  state a { run fetch Fetch("u") at entry { retry 1 then -> b } }
  state b { on go -> a }
"#,
    );
    tree.since();
    tree.send("abort");
    assert!(tree.since().ends_with("retried fetch · started fetch · fetch: +waiting"));
    tree.send("abort");
    assert!(tree.since().ends_with("failed fetch · -a · +b"));
}

#[test]
fn a_param_out_of_its_range_is_an_error_at_run_time() {
    let tree = main(
        r"
  var n: Int = 9
  initial a
  state a { run fetch Fetch(tries: n) at entry  on error(fetch) as w -> b { why = w } }
  state b { on go -> a }
",
    );
    assert_eq!(tree.var("why"), "param `tries`: 9 is not in 1..5");
}

#[test]
fn a_guard_that_does_not_hold_starts_nothing() {
    let mut tree = main(
        r"
  var n: Int = 0
  initial a
  state a { run fetch Fetch() at entry if n > 0  on go -> a { n = 1 } }
",
    );
    assert_eq!(tree.since(), "+a · skipped fetch");
    tree.send("go");
    assert_eq!(tree.since(), "event go · -a · +a · started fetch · fetch: +waiting");
}

#[test]
fn charts_that_are_begun_without_end_are_stopped() {
    let mut tree = Tree::of(
        "chart Child { initial over  final over }
         chart Main {
           event go event stop
           var failed: Int = 0
           initial idle
           state idle { on go -> a }
           state a {
             run c Child() at entry
             on done(c) -> a reenter
             on error(c) -> a reenter { failed = failed + 1 }
             on stop -> idle
           }
         }",
    );
    tree.send("go");
    assert_eq!(tree.since().matches("livelock").count(), 1);
    assert_eq!(tree.var("failed"), "1", "the second failure is not told: it would go on");
    tree.send("stop");
    assert_eq!(tree.leaves(), ["idle"], "nothing is left over");
}
