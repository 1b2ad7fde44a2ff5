//! Completion, errors, event names, order of events: the other half of the traps.

use super::Sim;

#[test]
fn a_parallel_is_done_only_when_all_its_regions_are() {
    let mut sim = Sim::of(
        "chart T { event e event f initial p
           parallel p { on done(p) -> end
             state a { initial x state x { on e -> z } final z }
             state b { initial u state u { on f -> w } final w } }
           state end }",
    );
    sim.send("e");
    assert_eq!(sim.leaves(), ["p.a.z", "p.b.u"]);
    sim.send("f");
    assert_eq!(sim.leaves(), ["end"]);
}

#[test]
fn done_climbs_through_nested_parallels_whichever_region_ends_last() {
    for order in [["e", "f", "g"], ["g", "f", "e"], ["f", "g", "e"]] {
        let mut sim = Sim::of(
            "chart T { event e event f event g initial p
               parallel p { on done(p) -> end
                 parallel q {
                   state a { initial x state x { on e -> z } final z }
                   state b { initial u state u { on f -> w } final w } }
                 state c { initial m state m { on g -> n } final n } }
               state end }",
        );
        for event in order {
            assert_ne!(sim.leaves(), ["end"]);
            sim.send(event);
        }
        assert_eq!(sim.leaves(), ["end"], "{order:?}");
    }
}

#[test]
fn a_compound_is_done_when_its_final_child_is_entered() {
    let mut sim = Sim::of(
        "chart T { event e initial s
           state s { initial a on done(s) -> end state a { on e -> z } final z }
           state end }",
    );
    sim.send("e");
    assert_eq!(sim.leaves(), ["end"]);
}

#[test]
fn an_error_stops_its_own_block_only() {
    let mut sim = Sim::of(
        "chart T { event e var zero: Int = 0 var a: Int = 0 var b: Int = 0 var c: Int = 0 var seen: Bool = false
           initial s
           on error.execution { seen = true }
           state s { exit { a = 1 div zero  a = 2 } on e -> t { b = 1  b = 1 div zero  b = 3 } }
           state t { enter { c = 7 } } }",
    );
    sim.send("e");
    assert_eq!(sim.leaves(), ["t"]);
    let seen = ["a", "b", "c", "seen"].map(|v| sim.var(v));
    assert_eq!(seen, ["0", "1", "7", "True"]);
}

#[test]
fn a_name_matches_whole_tokens_of_dotted_events() {
    let chart = "chart T { event foo event foo.bar event foobar var n: Int = 0 initial s
       state s { on foo { n = n + 1 } } }";
    let mut sim = Sim::of(chart);
    sim.send("foo").send("foo.bar");
    assert_eq!(sim.var("n"), "2");
    sim.send("foobar");
    assert_eq!(sim.var("n"), "2");
    assert!(sim.trace().contains("refused foobar"), "{}", sim.trace());
}

#[test]
fn any_event_has_no_lower_priority_than_names() {
    let mut sim = Sim::of(
        "chart T { event e initial s
           state s { on * -> any  on e -> named }
           state any state named }",
    );
    sim.send("e");
    assert_eq!(sim.leaves(), ["any"]);
}

#[test]
fn any_event_matches_host_events_only() {
    let mut sim = Sim::of(
        "chart T { event e event go var n: Int = 0 initial s
           on * { n = n + 1 }
           state s { initial a state a { on e -> z  after 5s -> a } final z } }",
    );
    sim.at(5_000).turn();
    assert_eq!(sim.var("n"), "0");
    sim.send("e");
    assert_eq!(sim.var("n"), "0", "the inner line came first, and done(s) is no host event");
    sim.send("go");
    assert_eq!(sim.var("n"), "1");
}

#[test]
fn a_top_level_final_ends_the_run_and_everything_exits_in_order() {
    let mut sim = Sim::of(
        "chart T { event e do note(t: Text) initial s
           state s { exit { note(\"s\") } initial a state a { exit { note(\"a\") } on e -> end { note(\"line\") } } }
           final end : partial }",
    );
    sim.send("e");
    assert_eq!(sim.leaves(), ["end"], "the last configuration stays readable");
    assert_eq!(sim.calls(), ["note(a)", "note(s)", "note(line)"]);
    assert_eq!(sim.ended(), Some("partial"));
    sim.send("e");
    assert_eq!(sim.receipt(), "Closed");
}

#[test]
fn the_root_of_an_ended_run_runs_exit_blocks_of_what_is_still_active() {
    let mut sim = Sim::of(
        "chart T { event e do note(t: Text) initial p
           parallel p { exit { note(\"p\") }
             state a { initial x exit { note(\"a\") } state x { on e -> end } }
             state b { initial u exit { note(\"b\") } state u } }
           final end }",
    );
    sim.send("e");
    assert_eq!(sim.calls(), ["note(b)", "note(a)", "note(p)"]);
}

#[test]
fn a_livelock_is_stopped_and_reported_once() {
    let mut sim = Sim::of(
        "chart T { event e event stop var seen: Int = 0 initial a
           on error.livelock { seen = seen + 1 }
           state a { on e -> b on stop -> rest }
           state b { when seen >= 0 -> c on stop -> rest }
           state c { when seen >= 0 -> b on stop -> rest }
           state rest }",
    );
    sim.send("e");
    assert_eq!(sim.var("seen"), "1");
    assert!(sim.is_legal());
}

#[test]
fn a_guard_that_fails_is_false_and_raises_an_error() {
    let mut sim = Sim::of(
        "chart T { event e var zero: Int = 0 var errors: Int = 0 initial s
           on error.execution { errors = errors + 1 }
           state s { on e if 1 div zero == 1 -> wrong  on e -> right }
           state wrong state right }",
    );
    sim.send("e");
    assert_eq!((sim.leaves(), sim.var("errors")), (vec!["right".to_owned()], "1".to_owned()));
}

#[test]
fn an_eventless_guard_that_fails_is_reported_once_in_a_macrostep() {
    let mut sim = Sim::of(
        "chart T { event e var zero: Int = 0 var errors: Int = 0 initial s
           on error.execution { errors = errors + 1 }
           state s { when 1 div zero == 1 -> wrong  on e { } }
           state wrong }",
    );
    assert_eq!(sim.var("errors"), "1");
    sim.send("e");
    assert_eq!(sim.var("errors"), "2");
}

#[test]
fn raised_events_come_after_eventless_lines_and_before_the_next_host_event() {
    let mut sim = Sim::of(
        "chart T { event e event inner(n: Int) var l: Text = \"\" var n: Int = 0 initial a
           state a { on e -> b { raise inner(1) raise inner(2) n = 1 } }
           state b { when n == 1 { l = concat(l, \"when \") n = 0 }
                     on inner(k) { l = concat(l, \"inner\", str(k), \" \") } } }",
    );
    sim.send("e");
    assert_eq!(sim.var("l"), "when inner1 inner2 ");
}

#[test]
fn inner_lines_come_before_outer_ones_and_document_order_decides_in_a_state() {
    let mut sim = Sim::of(
        "chart T { event e event f initial s
           on e -> outer
           state s { on f -> first  on f -> second  on e -> inner }
           state outer state inner state first state second }",
    );
    let mut other = sim.again();
    sim.send("e");
    assert_eq!(sim.leaves(), ["inner"]);
    other.send("f");
    assert_eq!(other.leaves(), ["first"]);
}

#[test]
fn wildcard_lines_hold_everywhere_but_in_their_target_the_exceptions_and_finals() {
    let chart = "chart T { event go event stop event home initial a
       state a { on go -> b } state b { on go -> c } state c
       from * except b { on stop -> halt }
       state halt { on home -> a } }";
    let mut sim = Sim::of(chart);
    sim.send("go").send("stop");
    assert_eq!(sim.leaves(), ["b"]);
    sim.send("go").send("stop");
    assert_eq!(sim.leaves(), ["halt"]);
    sim.send("stop");
    assert!(sim.trace().contains("refused stop"));
}

#[test]
fn own_lines_come_before_wildcard_lines_written_earlier() {
    let mut sim = Sim::of(
        "chart T { event e initial a
           from * { on e -> wild }
           on e -> own
           state a state wild state own }",
    );
    sim.send("e");
    assert_eq!(sim.leaves(), ["own"]);
}

#[test]
fn a_history_is_no_region_that_has_to_be_done() {
    let mut sim = Sim::of(
        "chart T { event e initial p
           parallel p {
             history h deep -> a
             state a { initial x state x { on e -> z } final z }
             state b { initial u state u { on e -> w } final w } }
           on done(p) -> over
           state over { on e -> p.h } }",
    );
    sim.send("e");
    assert_eq!(sim.leaves(), ["over"]);
}

#[test]
fn a_macrostep_has_a_thousand_microsteps() {
    let mut sim = Sim::of(
        "chart T { event e var n: Int = 0 initial a state a { on e -> b } state b { when n < 5000 { n = n + 1 } } }",
    );
    sim.send("e");
    assert_eq!(sim.var("n"), "999", "the event's own is the first");
}

#[test]
fn a_livelock_gives_up_what_is_on_the_queue() {
    let mut sim = Sim::of(
        "chart T { event e event later var spin: Bool = false var heard: Bool = false var n: Int = 0 initial a
           state a {
             on e { spin = true }
             when spin { n = n + 1 }
             on error.livelock { spin = false  raise later }
             on later { heard = true } } }",
    );
    sim.send("e").at(1);
    assert_eq!((sim.var("spin").as_str(), sim.var("heard").as_str()), ("False", "False"));
}

#[test]
fn events_raised_after_a_livelock_have_their_own_data() {
    let mut sim = Sim::of(
        "chart T { event e event f event tell(n: Int) var spin: Bool = false var heard: Int = 0 initial a
           state a {
             on e { spin = true  raise tell(1)  raise tell(2) }
             when spin { heard = 0 }
             on error.livelock { spin = false }
             on f { raise tell(3) }
             on tell(n) { heard = n } } }",
    );
    sim.send("e").at(1);
    assert_eq!(sim.var("heard"), "0");
    sim.send("f");
    assert_eq!(sim.var("heard"), "3");
}

#[test]
fn one_line_for_each_leaf() {
    let mut sim = Sim::of(
        "chart T { event e event f var n: Int = 0 initial s
           state s { initial a on e { n = n + 10 } on f { n = n + 100 } state a { on e { n = n + 1 } } } }",
    );
    sim.send("e");
    assert_eq!(sim.var("n"), "1", "the line of the state hides that of the state above");
    sim.send("f");
    assert_eq!(sim.var("n"), "101");
}

#[test]
fn one_line_for_each_leaf_of_several() {
    let region = |name: &str, by: u32| {
        format!(
            "state {name} {{ initial {name}1 on e {{ n = n + {} }}
               state {name}1 {{ on e {{ n = n + {by} }} }} }}",
            10 * by
        )
    };
    let mut sim = Sim::of(&format!(
        "chart T {{ event e var n: Int = 0 initial p parallel p {{ {} {} }} }}",
        region("a", 1),
        region("b", 100)
    ));
    sim.send("e");
    assert_eq!(sim.var("n"), "101", "in each region the inner line hides the outer one");
}

#[test]
fn any_event_has_no_lower_priority_than_names_among_many_lines() {
    let mut sim = Sim::of(
        "chart T { event a event b event c event d event e event f var said: Text = \"\" initial s
           state s {
             on a { said = said + \"a\" }
             on b { said = said + \"b\" }
             on c if said == \"\" { said = said + \"c\" }
             on * { said = said + \"*\" }
             on d { said = said + \"d\" }
             on e { said = said + \"e\" } } }",
    );
    sim.send("a").send("d").send("c").send("f");
    assert_eq!(sim.var("said"), "a***");
}

#[test]
fn a_final_deep_inside_does_not_end_the_region() {
    let mut sim = Sim::of(
        "chart T { event e event f initial p
           parallel p {
             state a { initial x state x { initial y state y { on e -> z } final z } }
             state b { initial u state u { on e -> w } final w }
             on done(p) -> over }
           state over }",
    );
    sim.send("e");
    assert_eq!(sim.leaves(), ["p.a.x.z", "p.b.w"]);
}

#[test]
fn the_end_leaves_the_final_state_and_the_chart() {
    let mut sim = Sim::of(
        "chart T { event e do note(t: Text) exit { note(\"chart\") } initial s
           state s { exit { note(\"s\") } on e -> end }
           final end { exit { note(\"end\") } } }",
    );
    sim.send("e");
    assert_eq!(sim.calls(), ["note(s)", "note(end)", "note(chart)"]);
}

#[test]
fn an_error_is_no_event_of_the_host() {
    let mut sim = Sim::of(
        "chart T { event e var n: Int = 0 var zero: Int = 0 var faults: Int = 0 initial s
           state s { on * { n = n + 1  zero = 1 div zero } on error.execution { faults = faults + 1 } } }",
    );
    sim.send("e");
    assert_eq!((sim.var("n").as_str(), sim.var("faults").as_str()), ("1", "1"));
}

#[test]
fn a_run_that_begins_in_a_final_state_is_over() {
    let mut sim = Sim::of(
        "do note(text: Text)
         chart T { event e initial over final over(n: Int = 1) : partial { enter { note(\"in\") } exit { note(\"out\") } } }",
    );
    assert_eq!((sim.ended(), sim.leaves()), (Some("partial"), vec!["over".to_owned()]));
    assert_eq!(sim.calls(), ["note(in)", "note(out)"]);
    sim.send("e");
    assert_eq!(sim.receipt(), "Closed");
}

#[test]
fn a_dead_end_that_its_own_lines_lead_into_again_is_told_only_once_after_the_livelock() {
    let mut sim = Sim::of(
        "chart T { event go var seen: Int = 0 initial a
           on error.stuck.dead -> a { seen = seen + 1  send go }
           state a { } }",
    );
    assert_eq!(sim.var("seen"), "1002");
    sim.wait(1);
    assert_eq!(sim.var("seen"), "1002", "{}", sim.trace());
}
