//! What guards, prompts and hosts can see.

use super::Sim;

#[test]
fn rejected_answers_count_as_fails_here_until_the_leaf_is_left() {
    let mut sim = Sim::of(
        "chart T { event e event out var f: Int = 0 initial a
           on e { f = fails_here }
           state a { llm think { prompt \"?\" returns Int retry 1 then skip } on out -> a }
           state b }",
    );
    sim.turn().done("think", "\"x\"").done("think", "\"y\"").send("e");
    assert_eq!(sim.var("f"), "2");
    sim.send("out").send("e");
    assert_eq!(sim.var("f"), "0");
}

#[test]
fn enabled_events_are_those_that_some_active_state_would_handle() {
    let mut sim = Sim::of(
        "chart T { event e event f event g event h var open: Bool = false initial a
           on h -> b
           state a { on e if open -> b  on f -> b }
           state b { ask q on g else stay { prompt \"?\" } may x \"\" -> a } }",
    );
    assert_eq!(sim.enabled_events(), ["f", "h"]);
    sim.send("f");
    assert_eq!(sim.enabled_events(), ["g", "h"]);
}

#[test]
fn nothing_can_ever_happen_again_is_an_error_once() {
    let mut sim = Sim::of(
        "chart T { event e initial a on error.stuck.dead -> gone state a { on e -> b } state b final gone : stuck }",
    );
    sim.send("e");
    assert_eq!(sim.ended(), Some("stuck"));
}

#[test]
fn advice_shows_and_health_tells() {
    let mut sim = Sim::of(
        "chart T { event e var h: Text = \"\" var a: Text = \"\" var s: Text = \"\" initial ok
           on e { h = health a = advice s = state }
           state ok { on e -> stuck { h = health } }
           state stuck { initial x state x { advice \"Try {s}.\" } } }",
    );
    sim.send("e");
    assert_eq!(sim.var("h"), "HEALTHY");
    sim.send("e");
    assert_eq!(["h", "a", "s"].map(|v| sim.var(v)), ["STUCK", "Try .", "stuck.x"]);
}

#[test]
fn final_arguments_are_read_before_the_exit() {
    let mut sim = Sim::of(
        "chart T { event e var n: Int = 1 initial a
           state a { exit { n = 2 } on e -> end(n) { n = 3 } }
           final end(n: Int) }",
    );
    sim.send("e");
    assert_eq!(sim.result(), ["n=1"]);
}

#[test]
fn a_dead_end_is_told_once() {
    let mut sim = Sim::of("chart T { event e initial a state a { on e -> b } state b }");
    sim.send("e").send("e").at(1);
    assert_eq!(sim.trace().matches("error stuck dead").count(), 1, "{}", sim.trace());
}
