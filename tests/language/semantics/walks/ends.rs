//! What ends a turn in all regions, and what does not.

use super::{LEAVING, walks};

#[test]
fn ends_turn_starts_nothing_more_and_waits_for_what_is_open() {
    let chart = "chart T { initial p
      parallel p {
        state a { initial a1 state a1 { llm one { prompt \"1\" ends turn } code never { } } }
        state b { initial b1 state b1 { llm two { prompt \"2\" done -> b2 } } state b2 { code nor { } } }
      }
      code last { } }";
    walks(
        chart,
        &[
            ("turn", "one, two"),
            ("done one", "one done, EndsTurn"),
            ("done two", "two done, -> p.b.b2, turn ended"),
        ],
    );
}

#[test]
fn a_step_that_fails_starts_nothing_more_and_waits_for_what_is_open() {
    let chart = "chart T { initial p
      parallel p {
        state a { initial a1 state a1 { llm one { prompt \"1\" } code never { } } }
        state b { initial b1 state b1 { llm two { prompt \"2\" retry 1 then skip done -> b2 } } state b2 { code nor { } } }
      }
      code last { } }";
    walks(
        chart,
        &[
            ("turn", "one, two"),
            ("fail one", "one failed, Failed(StepId(0))"),
            // Another attempt belongs to a call that was open.
            ("fail two", "two"),
            ("done two", "two done, -> p.b.b2, turn ended"),
        ],
    );
}

#[test]
fn people_and_children_do_not_hold_a_walk_up() {
    let chart = "chart T { initial p
      parallel p {
        state a { initial a1 state a1 { human ask_her \"well?\" llm one { prompt \"1\" } code x { } } }
        state b { initial b1 state b1 { llm two { prompt \"2\" } } }
      } }";
    walks(
        chart,
        &[
            ("turn", "ask_her, one, two"),
            ("done two", "two done"),
            ("done one", "one done, x, x done, turn ended"),
            ("turn", "one, two"),
            // Nor does their failure end a turn.
            ("fail ask_her", "ask_her failed"),
            ("done two", "two done"),
            ("done one", "one done, x, x done, turn ended"),
        ],
    );
}

#[test]
fn the_end_of_the_run_ends_all_walks() {
    let chart = LEAVING.replace("state out { on go -> p  code behind { } }", "final out");
    let sim = walks(&chart, &[("turn", "one, two"), ("done one", "one done, -> out, cancel two")]);
    assert_eq!((sim.ended(), sim.turns(), sim.is_walking()), (Some("ok"), 1, false));
}
