//! Questions: when the model is asked, what it is offered, what its answer does.

use super::Sim;

const ASK: &str = "chart T { event e var open: Bool = false initial a
   state a {
     ask choose on e else c { prompt \"{options}\" }
     may one \"first\" -> b
     may two \"second\" if open -> d
   }
   state b state c state d }";

#[test]
fn a_single_option_is_taken_unasked() {
    let mut sim = Sim::of(ASK);
    sim.send("e");
    assert_eq!(sim.leaves(), ["b"]);
    assert!(sim.trace().contains("unasked one"), "{}", sim.trace());
}

#[test]
fn a_single_option_is_asked_when_always_is_written_or_it_has_a_payload() {
    let mut always = Sim::of(&ASK.replace("on e else", "on e always else"));
    always.send("e");
    assert_eq!(always.open(), ["choose"]);
    let mut payload = Sim::of(&ASK.replace("may one", "may one(why: Text)"));
    payload.send("e");
    assert_eq!(payload.open(), ["choose"]);
}

#[test]
fn without_an_option_the_else_is_taken() {
    let mut sim = Sim::of(&ASK.replace("may one \"first\" ->", "may one \"first\" if open ->"));
    sim.send("e");
    assert_eq!(sim.leaves(), ["c"]);
    assert!(sim.trace().contains("fallback choose: no option"), "{}", sim.trace());
}

#[test]
fn an_event_is_for_the_leaf_that_it_found() {
    let mut sim = Sim::of(
        "chart T { event e initial a ask choose on e else b { prompt \"{options}\" }
         state a state b { may one \"first\" -> c  may two \"second\" -> a } state c }",
    );
    sim.send("e");
    assert_eq!((sim.leaves(), sim.open()), (vec!["b".into()], vec![]));
    sim.send("e");
    assert_eq!(sim.open(), ["choose"]);
}

#[test]
fn an_event_is_for_the_leaves_that_it_found_in_every_region() {
    let mut sim = Sim::of(
        "chart T { event e initial p
         parallel p {
           state l { initial a ask choose on e else b { prompt \"{options}\" }
             state a state b { may one \"first\" -> c  may two \"second\" -> a } state c }
           state r { initial x ask pick on e else y { prompt \"{options}\" }
             state x { may left \"left\" -> x  may right \"right\" -> y } state y }
         } }",
    );
    sim.send("e");
    assert_eq!(sim.leaves(), ["p.l.b", "p.r.x"]);
    assert_eq!(sim.open(), ["pick"]);
    sim.send("e");
    assert_eq!(sim.open(), ["choose", "pick"]);
}

#[test]
fn an_event_is_not_for_a_leaf_that_was_entered_again() {
    let mut sim = Sim::of(
        "chart T { event e initial p
         parallel p {
           state l { initial a ask choose on e else p { prompt \"{options}\" } state a }
           state r { initial x ask pick on e else x { prompt \"{options}\" }
             state x { may left \"left\" -> x  may right \"right\" -> x } }
         } }",
    );
    sim.send("e");
    assert_eq!(sim.leaves(), ["p.l.a", "p.r.x"]);
    assert!(sim.open().is_empty(), "{:?}", sim.open());
}

#[test]
fn only_enabled_options_are_offered_and_the_chosen_one_is_taken() {
    let mut sim = Sim::of(&ASK.replace("= false", "= true"));
    sim.send("e");
    assert_eq!(sim.options("choose"), ["one", "two"]);
    sim.choose("choose", "two");
    assert_eq!(sim.leaves(), ["d"]);
}

#[test]
fn the_guard_of_the_chosen_option_is_checked_again_on_the_answer() {
    let chart = ASK
        .replace("= false", "= true")
        .replace("state a {", "state a { on close { open = false } ")
        .replace("event e", "event e event close");
    let mut sim = Sim::of(&chart);
    sim.send("e").send("close").choose("choose", "two");
    assert_eq!(sim.leaves(), ["c"]);
    assert!(sim.trace().contains("fallback choose: stale"), "{}", sim.trace());
}

#[test]
fn an_ordinary_line_for_the_event_goes_before_the_question() {
    let mut sim = Sim::of(
        &ASK.replace("= false", "= true").replace("state a {", "state a { on e if open -> d "),
    );
    sim.send("e");
    assert_eq!(sim.leaves(), ["d"]);
    assert!(sim.open().is_empty());
}

#[test]
fn a_second_event_while_the_question_is_open_is_refused() {
    let mut sim = Sim::of(&ASK.replace("= false", "= true"));
    sim.send("e").send("e");
    assert_eq!(sim.receipt(), "Refused");
    assert_eq!(sim.open(), ["choose"]);
}

#[test]
fn a_turn_puts_no_second_question_to_a_leaf() {
    let mut sim = Sim::of(
        &ASK.replace("= false", "= true")
            .replace("state a {", "state a { ask again on turn else stay { prompt \"{options}\" }"),
    );
    sim.send("e").turn();
    assert_eq!((sim.open(), sim.turns()), (vec!["choose".to_owned()], 1));
    assert!(!sim.is_walking());
    sim.choose("choose", "two");
    assert_eq!(sim.leaves(), ["d"]);
}

#[test]
fn leaving_the_leaf_cancels_its_question() {
    let chart = ASK.replace("= false", "= true").replace("state a {", "state a { after 5s -> c ");
    let mut sim = Sim::of(&chart);
    sim.send("e").at(5_000);
    assert_eq!((sim.leaves(), sim.canceled()), (vec!["c".to_owned()], vec!["choose".to_owned()]));
    sim.late_choice("choose", "one");
    assert_eq!(sim.leaves(), ["c"]);
}

#[test]
fn leaving_the_leaf_cancels_a_question_of_an_ask_above_it() {
    let mut sim = Sim::of(
        "chart T { event e event out initial s
           state s { initial a ask choose on e else stay { prompt \"{options}\" }
             state a { may one \"first\" -> b  may two \"second\" -> b  on out -> b }
             state b } }",
    );
    sim.send("e").send("out");
    assert_eq!((sim.leaves(), sim.canceled()), (vec!["s.b".into()], vec!["choose".into()]));
    assert!(sim.open().is_empty(), "{:?}", sim.open());
}

#[test]
fn an_answer_that_means_no_option_goes_to_else_and_a_failed_call_to_error_lines() {
    let chart = ASK
        .replace("= false", "= true")
        .replace("prompt \"{options}\"", "prompt \"{options}\" error -> d");
    let mut unusable = Sim::of(&chart);
    unusable.send("e").unusable("choose");
    assert_eq!(unusable.leaves(), ["c"]);
    let mut failed = Sim::of(&chart);
    failed.send("e").fail("choose");
    assert_eq!(failed.leaves(), ["d"]);
}

#[test]
fn the_innermost_ask_wins_and_offers_the_options_of_all_ancestors() {
    let mut sim = Sim::of(
        "chart T { event e initial s
           state s {
             ask outer on e else stay { prompt \"o\" }
             may up \"up\" -> t
             initial a
             state a { ask inner on e else stay { prompt \"i\" } may down \"down\" -> b }
             state b }
           state t }",
    );
    sim.send("e");
    assert_eq!(sim.open(), ["inner"]);
    assert_eq!(sim.options("inner"), ["down", "up"]);
    sim.choose("inner", "up");
    assert_eq!(sim.leaves(), ["t"]);
}

#[test]
fn every_leaf_has_its_own_question() {
    let mut sim = Sim::of(
        "chart T { event e initial p
           parallel p {
             ask both on e else stay { prompt \"?\" }
             state a { initial x state x { may x1 \"\" -> y may x2 \"\" -> x } state y }
             state b { initial u state u { may u1 \"\" -> v may u2 \"\" -> u } state v } } }",
    );
    sim.send("e");
    assert_eq!(sim.open(), ["both", "both"]);
    sim.choose("both", "x1");
    assert_eq!(sim.leaves(), ["p.a.y", "p.b.u"]);
    sim.choose("both", "u1");
    assert_eq!(sim.leaves(), ["p.a.y", "p.b.v"]);
}

/// An input that has changed moves the chart before the event: the event came in `a`, where nobody takes it.
#[test]
fn a_state_that_is_entered_after_an_event_is_not_asked_about_it() {
    let mut sim = Sim::of(
        "chart T { event e input x: Bool = false initial a
           state a { when x -> b }
           state b { ask choose on e else d { prompt \"?\" } may one \"\" -> c may two \"\" -> d }
           state c state d }",
    );
    sim.input("x", "true").send("e");
    assert_eq!(sim.leaves(), ["b"]);
    assert!(sim.open().is_empty());
    sim.send("e");
    assert_eq!(sim.open(), ["choose"]);
}

#[test]
fn an_ask_on_turn_starts_in_the_walk_unless_an_on_turn_line_was_taken() {
    let chart = |line: &str| {
        format!(
            "chart T {{ var n: Int = 0 initial a
               state a {{ {line} ask choose on turn else stay {{ prompt \"?\" }} may one \"\" -> b may two \"\" -> c }}
               state b state c }}"
        )
    };
    let mut asked = Sim::of(&chart(""));
    asked.turn();
    assert_eq!(asked.open(), ["choose"]);
    let mut taken = Sim::of(&chart("on turn { n = 1 }"));
    taken.turn();
    assert!(taken.open().is_empty());
    assert_eq!(taken.turns(), 1);
}

#[test]
fn a_snapshot_between_any_two_inputs_changes_nothing() {
    let chart = ASK.replace("= false", "= true").replace("state d", "state d { after 3s -> a }");
    let play = |stop: Option<usize>| {
        let mut sim = Sim::of(&chart);
        for step in 0..5 {
            if stop == Some(step) {
                sim.restart_from_snapshot();
            }
            match step {
                0 => sim.send("e"),
                1 => sim.choose("choose", "two"),
                2 => sim.at(2_000),
                3 => sim.at(3_000),
                _ => sim.send("e"),
            };
        }
        (sim.leaves(), sim.open(), sim.trace())
    };
    let whole = play(None);
    for stop in 0..5 {
        assert_eq!(play(Some(stop)), whole, "stopped before step {stop}");
    }
}

#[test]
fn a_snapshot_keeps_what_histories_recorded() {
    let mut sim = Sim::of(
        "chart T { event next event out event back initial s
           state s { initial a history h -> a state a { on next -> b } state b on out -> away }
           state away { on back -> s.h } }",
    );
    sim.send("next").send("out");
    sim.restart_from_snapshot();
    sim.send("back");
    assert_eq!(sim.leaves(), ["s.b"]);
}
