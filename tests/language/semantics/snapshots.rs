//! Snapshots: a machine that is made from one reads the same as the machine that it was taken of.

use super::Sim;
use chartc_core::machine::{Charge, Input};

#[test]
fn counts_and_amounts_go_through_a_snapshot() {
    let mut sim = Sim::of(
        "chart T { event e var said: Text = \"\" initial a
           state a { llm think { prompt \"?\" returns Int retry 1 then skip }
             on e { said = \"{turns_here} {turns_in(a)} {fails_here} {calls} {calls_here} {tokens} {tokens_here}\" } } }",
    );
    sim.turn().unusable("think");
    sim.give(Input::Charge(sim.open_key("think"), Charge { tokens: 7, cost: 0 }));
    sim.done("think", "1");
    sim.restart_from_snapshot();
    sim.send("e");
    assert_eq!(sim.var("said"), "1 1 1 2 2 7 7");
}

#[test]
fn the_time_of_entry_goes_through_a_snapshot() {
    let mut sim = Sim::of(
        "chart T { event go event e var long: Bool = false initial a
           state a { on go -> b }
           state b { on e { long = elapsed_here >= 2s } } }",
    );
    sim.at(1_000).send("go");
    sim.restart_from_snapshot();
    sim.wait(2_999).send("e");
    assert_eq!(sim.var("long"), "False");
    sim.wait(3_000).send("e");
    assert_eq!(sim.var("long"), "True");
}

#[test]
fn the_states_of_a_turn_go_through_a_snapshot() {
    for (inputs, counts) in [(&["turn"][..], "1 1 0"), (&["turn", "go"], "0 1 1")] {
        let mut sim = Sim::of(
            "chart T { event go event e var said: Text = \"\" initial a
               llm think { prompt \"?\" }
               on e { said = \"{turns_here} {turns_in(a)} {turns_in(b)}\" }
               state a { on go -> b } state b }",
        );
        for input in inputs {
            if *input == "turn" {
                sim.turn()
            } else {
                sim.send(input)
            };
            sim.restart_from_snapshot();
        }
        sim.done("think", "1").send("e");
        assert_eq!(sim.var("said"), counts, "{inputs:?}");
    }
}
