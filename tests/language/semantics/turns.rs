//! Turns: the walk over the steps, permissions, what is counted.

use super::Sim;

const TWO: &str = "chart T { var n: Int = 0 initial a
   state a { llm first { prompt \"one\" } -> b }
   state b { code count { n = n + 1 } llm second { prompt \"two\" } -> c }
   state c { llm third { prompt \"three\" } } }";

#[test]
fn a_walk_sees_the_state_that_an_earlier_step_led_to() {
    let mut sim = Sim::of(&TWO.replace("initial a", "limits { calls 0 per turn } initial a"));
    sim.turn();
    assert_eq!(sim.open(), ["first"]);
    sim.done("first", "1");
    assert_eq!((sim.leaves(), sim.var("n")), (vec!["b".to_owned()], "1".to_owned()));
    assert_eq!(sim.open(), ["second"]);
    sim.done("second", "1");
    assert_eq!(sim.open(), ["third"]);
    sim.done("third", "1");
    assert!(!sim.is_walking());
    assert_eq!(sim.turns(), 1);
}

#[test]
fn the_walk_ends_before_the_next_model_step_when_the_calls_are_used_up() {
    let mut sim = Sim::of(TWO);
    sim.turn().done("first", "1");
    assert!(!sim.is_walking());
    assert_eq!(sim.leaves(), ["b"]);
    assert_eq!(sim.var("n"), "1", "code steps cost no call");
    assert!(sim.trace().contains("walk ended: calls"), "{}", sim.trace());
    sim.turn();
    assert_eq!(sim.open(), ["second"]);
}

#[test]
fn each_step_runs_at_most_once_in_a_walk() {
    let mut sim = Sim::of(
        "chart T { var n: Int = 0 initial a
           code back if n < 10 { n = n + 1 }
           state a { code one { n = n + 1 } -> b }
           state b { code two { n = n + 1 } -> a } }",
    );
    sim.turn();
    assert_eq!(sim.var("n"), "3");
    assert_eq!(sim.leaves(), ["a"]);
}

#[test]
fn a_step_whose_condition_is_false_is_passed_over_and_recorded() {
    let mut sim = Sim::of(
        "chart T { var n: Int = 0 initial a state a { code one if n > 0 { n = 5 } code two { n = n + 1 } } }",
    );
    sim.turn();
    assert_eq!(sim.var("n"), "1");
    assert!(sim.trace().contains("skipped one"), "{}", sim.trace());
}

#[test]
fn a_second_turn_waits_for_the_walk() {
    let mut sim = Sim::of(TWO);
    sim.turn().turn();
    assert_eq!(sim.receipt(), "Busy");
    assert_eq!(sim.turns(), 0);
}

#[test]
fn leaving_the_state_of_an_awaited_step_cancels_it_and_the_walk_goes_on() {
    let mut sim = Sim::of(
        "chart T { event stop var n: Int = 0 initial a
           state a { llm think { prompt \"?\" } -> b on stop -> c }
           state b
           state c { code count { n = n + 1 } } }",
    );
    sim.turn().send("stop");
    assert_eq!(sim.canceled(), ["think"]);
    assert_eq!(sim.var("n"), "1");
    assert!(!sim.is_walking());
    sim.late("think", "1");
    assert_eq!(sim.receipt(), "Refused");
    assert_eq!(sim.leaves(), ["c"]);
    assert!(sim.trace().contains("dropped think"), "{}", sim.trace());
}

#[test]
fn a_when_line_is_taken_between_two_steps() {
    let mut sim = Sim::of(
        "chart T { var n: Int = 0 initial a
           state a { code one { n = 1 } llm never { prompt \"?\" } when n == 1 -> b }
           state b }",
    );
    sim.turn();
    assert_eq!(sim.leaves(), ["b"]);
    assert_eq!(sim.started(), ["one"]);
}

#[test]
fn outcome_lines_are_tried_in_order_and_none_means_stay() {
    let chart = "chart T { initial a
       state a { llm think { prompt \"?\" returns Int done if think == 1 -> one done if think == 2 -> two } }
       state one state two }";
    let mut first = Sim::of(chart);
    first.turn().done("think", "1");
    assert_eq!(first.leaves(), ["one"]);
    let mut second = Sim::of(chart);
    second.turn().done("think", "2");
    assert_eq!(second.leaves(), ["two"]);
    let mut third = Sim::of(chart);
    third.turn().done("think", "3");
    assert_eq!(third.leaves(), ["a"]);
    assert!(third.trace().contains("fallback think: no line"), "{}", third.trace());
}

#[test]
fn retries_count_once_against_the_calls_of_the_turn() {
    let mut sim = Sim::of(
        "chart T { initial a
           state a { llm think { prompt \"?\" retry 2 then fail } -> b } state b }",
    );
    sim.turn().fail("think").fail("think");
    assert_eq!(sim.open(), ["think"]);
    sim.done("think", "1");
    assert_eq!(sim.leaves(), ["b"]);
}

#[test]
fn a_failure_ends_the_walk_or_is_skipped_or_takes_its_line() {
    let chart = |policy: &str| {
        format!(
            "chart T {{ var n: Int = 0 limits {{ calls 0 per turn }} initial a
               state a {{ llm think {{ prompt \"?\" retry 0 then {policy} }} -> b code after {{ n = n + 1 }} }}
               state b state c }}"
        )
    };
    let mut fail = Sim::of(&chart("fail"));
    fail.turn().fail("think");
    assert_eq!((fail.leaves(), fail.var("n")), (vec!["a".to_owned()], "0".to_owned()));
    assert!(!fail.is_walking());
    let mut skip = Sim::of(&chart("skip"));
    skip.turn().fail("think");
    assert_eq!((skip.leaves(), skip.var("n")), (vec!["a".to_owned()], "1".to_owned()));
    let mut take = Sim::of(&chart("-> c"));
    take.turn().fail("think");
    assert_eq!((take.leaves(), take.var("n")), (vec!["c".to_owned()], "0".to_owned()));
}

#[test]
fn error_lines_take_a_failed_call_before_the_policy() {
    let mut sim = Sim::of(
        "chart T { initial a
           state a { llm think { prompt \"?\" error -> c } -> b } state b state c }",
    );
    sim.turn().fail("think");
    assert_eq!(sim.leaves(), ["c"]);
}

#[test]
fn ends_turn_sees_the_answer() {
    let chart = "chart T { var n: Int = 0 limits { calls 0 per turn } initial a
       state a { llm think { prompt \"?\" returns Int ends turn if think != 0 } code after { n = n + 1 } } }";
    let mut goes_on = Sim::of(chart);
    goes_on.turn().done("think", "0");
    assert_eq!(goes_on.var("n"), "1");
    let mut ends = Sim::of(chart);
    ends.turn().done("think", "1");
    assert_eq!(ends.var("n"), "0");
    assert_eq!(ends.turns(), 1);
}

#[test]
fn an_answer_that_does_not_fit_its_type_is_asked_again_then_fails() {
    let mut sim = Sim::of(
        "chart T { initial a
           state a { llm think { prompt \"?\" returns Int retry 1 then -> c } -> b } state b state c }",
    );
    sim.turn().done("think", "\"many\"");
    assert_eq!(sim.open(), ["think"]);
    sim.done("think", "\"more\"");
    assert_eq!(sim.leaves(), ["c"]);
}

#[test]
fn each_region_of_a_parallel_makes_the_calls_of_its_walk() {
    let mut sim = Sim::of(
        "chart T { initial p
           parallel p {
             state a { initial x state x { llm one { prompt \"1\" } } }
             state b { initial u state u { llm two { prompt \"2\" } } } } }",
    );
    for first in ["one", "two"] {
        sim.turn();
        assert_eq!(sim.open(), ["one", "two"]);
        sim.done(first, "1");
        assert!(sim.is_walking());
        sim.done(if first == "one" { "two" } else { "one" }, "1");
        assert!(!sim.is_walking());
    }
}

#[test]
fn a_step_moves_only_where_an_allow_line_permits() {
    let chart = "chart T { var ok: Bool = false event flip initial a
       allow a -> b if ok
       allow * -> c
       on flip { ok = true }
       state a { llm think { prompt \"?\" } -> b }
       state b { llm more { prompt \"?\" } -> c }
       state c }";
    let mut sim = Sim::of(chart);
    sim.turn().done("think", "1");
    assert_eq!(sim.leaves(), ["a"]);
    assert!(sim.trace().contains("denied"), "{}", sim.trace());
    sim.send("flip").turn().done("think", "1");
    assert_eq!(sim.leaves(), ["b"]);
    sim.turn().done("more", "1");
    assert_eq!(sim.leaves(), ["c"]);
}

#[test]
fn allow_lines_do_not_bind_host_events() {
    let mut sim = Sim::of(
        "chart T { event e initial a allow b -> a state a { on e -> b } state b { on e -> a } }",
    );
    sim.send("e");
    assert_eq!(sim.leaves(), ["b"]);
}

#[test]
fn per_turn_variables_start_afresh_and_inputs_keep_their_value() {
    let mut sim = Sim::of(
        "chart T { input balance: Int = 3 var m: Int = balance per turn var n: Int = 0
           initial a state a { code one { m = m + 1 n = n + m } } }",
    );
    sim.turn();
    assert_eq!((sim.var("m"), sim.var("n")), ("4".into(), "4".into()));
    sim.input("balance", "10").turn();
    assert_eq!((sim.var("m"), sim.var("n")), ("11".into(), "15".into()));
    sim.turn();
    assert_eq!((sim.var("m"), sim.var("n")), ("11".into(), "26".into()));
}

#[test]
fn turns_are_counted_when_they_end_and_only_for_states_active_throughout() {
    let mut sim = Sim::of(
        "chart T { event e var here: Int = 0 var in_b: Int = 0 var all: Int = 0 initial a
           on e { here = turns_here in_b = turns_in(b) all = turns }
           state a { code go if turns == 1 { } -> b }
           state b }",
    );
    sim.turn().send("e");
    assert_eq!(["here", "in_b", "all"].map(|v| sim.var(v)), ["1", "0", "1"]);
    sim.turn().send("e");
    assert_eq!(["here", "in_b", "all"].map(|v| sim.var(v)), ["0", "1", "2"]);
    sim.turn().send("e");
    assert_eq!(["here", "in_b", "all"].map(|v| sim.var(v)), ["1", "2", "3"]);
}

#[test]
fn turns_in_counts_every_state_that_a_turn_touched() {
    let mut sim = Sim::of(
        "chart T { event e var n: Int = 0 initial a
           state a { on turn -> b } state b { when n == 0 -> c } state c { on e { n = turns_in(b) } } }",
    );
    sim.turn().send("e");
    assert_eq!(sim.var("n"), "1");
}

#[test]
fn a_permission_holds_only_while_its_state_is_active() {
    let mut sim = Sim::of(
        "chart T { var n: Int = 0 initial b state a state b { code go { n = 1 } -> c } state c allow a -> c }",
    );
    sim.turn();
    assert_eq!((sim.leaves(), sim.var("n")), (vec!["b".to_owned()], "1".to_owned()));
}
