//! Deadlines and limits.

use super::Sim;
use chartc_core::machine::{Input, LimitKind};

#[test]
fn turn_deadlines_count_whole_turns_from_entry() {
    let mut sim = Sim::of(
        "chart T { event e initial a
           state a { on e -> b }
           state b { after 2 turns -> a } }",
    );
    sim.send("e").turn();
    assert_eq!(sim.leaves(), ["b"]);
    sim.turn();
    assert_eq!(sim.leaves(), ["a"]);
}

#[test]
fn an_each_after_line_counts_from_the_entry_of_the_leaf() {
    let mut sim = Sim::of(
        "chart T { event e initial s
           state s { initial a each after 5s -> idle state a { on e -> b } state b }
           state idle }",
    );
    sim.at(4_000).send("e").at(8_000);
    assert_eq!(sim.leaves(), ["s.b"]);
    sim.at(9_000);
    assert_eq!(sim.leaves(), ["idle"]);
}

#[test]
fn a_deadline_counts_from_the_entry_of_the_state_that_holds_the_line() {
    let mut sim = Sim::of(
        "chart T { event e initial s
           state s { initial a after 5s -> idle state a { on e -> b } state b }
           state idle }",
    );
    assert_eq!(sim.next_deadline(), Some(5_000));
    sim.at(4_000).send("e").at(5_000);
    assert_eq!(sim.leaves(), ["idle"]);
    assert_eq!(sim.next_deadline(), None);
}

#[test]
fn deadlines_that_came_due_before_an_event_fire_first_each_at_its_own_time() {
    let mut sim = Sim::of(
        "chart T { event e var l: Text = \"\" initial a
           state a { after 2s -> b }
           state b { after 3s -> c on e { l = concat(l, \"b\") } }
           state c { on e { l = concat(l, \"c\") } } }",
    );
    sim.wait(5_000).send("e");
    assert_eq!((sim.leaves(), sim.var("l")), (vec!["c".to_owned()], "c".to_owned()));
}

#[test]
fn after_a_livelock_other_deadlines_wait_for_the_next_input() {
    let mut sim = Sim::of(
        "chart T { event e var n: Int = 0 initial a
           state a { on e -> b }
           state b { after 0s -> c { n = n + 1 } after 0s { n = n + 1 } }
           state c { when n > 0 -> b } }",
    );
    sim.send("e").at(1);
    assert_eq!(sim.trace().matches("error livelock").count(), 1, "one macrostep was stopped");
    sim.at(1);
    assert_eq!(sim.trace().matches("error livelock").count(), 2, "so is that of the next input");
}

#[test]
fn deadlines_of_no_length_that_arm_each_other_are_stopped() {
    let mut sim =
        Sim::of("chart T { initial a state a { after 0s -> b } state b { after 0s -> a } }");
    sim.at(1);
    assert!(sim.trace().contains("error livelock"), "no livelock reported");
}

#[test]
fn a_step_timeout_cancels_the_call() {
    let mut sim = Sim::of(
        "chart T { initial a
           state a { llm think { prompt \"?\" timeout 30s -> c } -> b } state b state c }",
    );
    sim.at(1_000).turn();
    assert_eq!(sim.next_deadline(), Some(31_000));
    sim.at(31_000);
    assert_eq!((sim.leaves(), sim.canceled()), (vec!["c".to_owned()], vec!["think".to_owned()]));
    assert!(!sim.is_walking());
}

#[test]
fn a_timeout_line_that_stays_ends_the_step_too() {
    let mut sim = Sim::of(
        "chart T { var n: Int = 0 initial a
           state a { llm think { prompt \"?\" timeout 30s { n = 1 } } -> b } state b }",
    );
    sim.turn().at(30_000);
    assert_eq!((sim.leaves(), sim.var("n")), (vec!["a".to_owned()], "1".to_owned()));
    assert_eq!(sim.canceled(), ["think"]);
    assert!(!sim.is_walking());
}

#[test]
fn a_hard_limit_on_calls_is_checked_before_the_call() {
    let chart = |line: &str| {
        format!(
            "chart T {{ limits {{ calls 2 }} {line} initial a
               state a {{ llm think {{ prompt \"?\" }} }} state stopped }}"
        )
    };
    let mut unhandled = Sim::of(&chart(""));
    unhandled.turn().done("think", "1").turn().done("think", "1").turn();
    assert_eq!(unhandled.ended(), Some("limit"));
    assert_eq!(unhandled.started().len(), 2);
    let mut handled = Sim::of(&chart("on error.limit.* -> stopped"));
    handled.turn().done("think", "1").turn().done("think", "1").turn();
    assert_eq!((handled.ended(), handled.leaves()), (None, vec!["stopped".to_owned()]));
}

#[test]
fn retries_are_charged_to_the_limit_of_the_run() {
    let mut sim = Sim::of(
        "chart T { limits { calls 2 } initial a
           state a { llm think { prompt \"?\" retry 5 then skip } } }",
    );
    sim.turn().fail("think").fail("think");
    assert_eq!(sim.ended(), Some("limit"));
}

#[test]
fn a_soft_limit_warns_once() {
    let mut sim = Sim::of(
        "chart T { limits { calls 5 warn 2 } var n: Int = 0 initial a
           on limit.warn.* { n = n + 1 }
           state a { llm think { prompt \"?\" } } }",
    );
    for _ in 0..4 {
        sim.turn().done("think", "1");
    }
    assert_eq!(sim.var("n"), "1");
}

#[test]
fn a_warning_of_the_host_is_only_for_a_chart_with_limits() {
    let chart = |limits: &str| {
        format!(
            "chart T {{ {limits} var n: Int = 0 initial a
               on limit.warn.* {{ n = n + 1 }}
               state a {{ llm think {{ prompt \"?\" }} }} }}"
        )
    };
    let mut limited = Sim::of(&chart("limits { tokens 100 warn 50 }"));
    limited.give(Input::Warn(LimitKind::Tokens));
    assert_eq!((limited.receipt(), limited.var("n")), ("Handled".to_owned(), "1".to_owned()));
    let mut unlimited = Sim::of(&chart(""));
    unlimited.give(Input::Warn(LimitKind::Tokens));
    assert_eq!((unlimited.receipt(), unlimited.var("n")), ("Refused".to_owned(), "0".to_owned()));
}

#[test]
fn a_limit_on_turns_is_checked_after_the_turn() {
    let mut sim = Sim::of("chart T { limits { turns 2 } initial a state a { code c { } } }");
    sim.turn();
    assert_eq!(sim.ended(), None);
    sim.turn();
    assert_eq!(sim.ended(), Some("limit"));
}

#[test]
fn limits_of_a_state_are_charged_to_its_ancestors_too() {
    let mut sim = Sim::of(
        "chart T { initial s
           state s { limits { calls 2 } initial a on error.limit.calls -> out
             state a { llm one { prompt \"1\" } -> b }
             state b { llm two { prompt \"2\" } -> a } }
           state out }",
    );
    sim.turn().done("one", "1").turn().done("two", "1").turn();
    assert_eq!(sim.leaves(), ["out"]);
}

#[test]
fn a_limit_on_time_ends_the_run_at_its_hour() {
    let mut sim = Sim::of("chart T { event e limits { time 10s } initial a state a { on e { } } }");
    sim.at(3_000).send("e");
    assert_eq!(sim.next_deadline(), Some(10_000));
    sim.at(10_000);
    assert_eq!(sim.ended(), Some("limit"));
}

#[test]
fn a_deadline_ends_with_its_state() {
    let mut sim = Sim::of(
        "chart T { event go initial a state a { after 5s -> b on go -> c } state b { on go -> a } state c { on go -> a } }",
    );
    assert_eq!(sim.next_deadline(), Some(5_000));
    sim.send("go");
    assert_eq!(sim.next_deadline(), None);
}

#[test]
fn turns_here_begin_anew_on_entry() {
    let mut sim = Sim::of(
        "chart T { event go initial a state a { after 2 turns -> over on go -> b } state b { on go -> a } state over }",
    );
    sim.turn().send("go").send("go").turn();
    assert_eq!(sim.leaves(), ["a"]);
    sim.turn();
    assert_eq!(sim.leaves(), ["over"]);
}

#[test]
fn of_many_deadlines_the_first_comes_first() {
    let mut sim = Sim::of(
        "chart T { var said: List(Int) = [] initial p
           parallel p {
             state a { after 5s { said = said + [5] } }
             state b { after 9s { said = said + [9] } }
             state c { after 3s { said = said + [3] } }
             state d { after 1s { said = said + [1] } after 7s { said = said + [7] } }
             state f { after 3s { said = said + [33] } } } }",
    );
    sim.at(20_000);
    assert_eq!(sim.var("said"), "[1, 3, 33, 5, 7, 9]");
}

#[test]
fn a_bound_of_nothing_forbids_the_first_call() {
    for limited in
        ["limits { calls 0 } initial a state a {", "initial a state a { limits { calls 0 }"]
    {
        let chart = |line: &str| {
            format!(
                "chart T {{ event e {line} {limited}
                   llm think {{ prompt \"?\" }}
                   ask which on e else stay {{ prompt \"{{options}}\" }}
                   may x \"\" -> b may y \"\" -> b }} state b }}"
            )
        };
        let mut unhandled = Sim::of(&chart(""));
        unhandled.turn();
        assert_eq!((unhandled.ended(), unhandled.started().len()), (Some("limit"), 0), "{limited}");
        let mut asked = Sim::of(&chart(""));
        asked.send("e");
        assert_eq!((asked.ended(), asked.started().len()), (Some("limit"), 0), "{limited}");
        let mut handled = Sim::of(&chart("on limit.calls -> b"));
        handled.turn();
        assert_eq!((handled.ended(), handled.leaves()), (None, vec!["b".to_owned()]), "{limited}");
        assert_eq!(handled.started().len(), 0, "{limited}");
    }
}

#[test]
fn a_call_that_is_not_made_does_not_count() {
    let mut sim = Sim::of(
        "chart T { event go limits { calls 2 } initial s
           state s { limits { calls 2 } initial a
             state a { llm think { prompt \"?\" retry 5 } on go -> b }
             state b { llm again { prompt \"?\" } } } }",
    );
    sim.turn().fail("think");
    let waits = sim.open_key("think");
    sim.send("go").give(Input::Unmade(waits)).turn();
    assert_eq!((sim.ended(), sim.open()), (None, vec!["again".to_owned()]));
    sim.done("again", "1").turn();
    assert_eq!(sim.ended(), Some("limit"), "two calls were made");
}

#[test]
fn a_step_whose_call_is_not_made_has_failed() {
    let mut sim = Sim::of(
        "chart T { initial a
           state a { llm think { prompt \"?\" retry 5 error -> b } } state b }",
    );
    sim.turn().fail("think");
    let waits = sim.open_key("think");
    sim.give(Input::Unmade(waits));
    assert_eq!((sim.leaves(), sim.open().len()), (vec!["b".to_owned()], 0));
    assert!(!sim.is_walking());
}
