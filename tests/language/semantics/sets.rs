//! Selection, exit and entry: the traps that engines fall into, each with a chart that tells right from wrong.

use super::Sim;

#[test]
fn arrow_into_a_parallels_own_descendant_is_external() {
    let mut sim = Sim::of(
        "chart T { event e var n: Int = 0 initial p
           parallel p { enter { n = n + 1 } on e -> p.a.y
             state a { initial x state x state y }
             state b { initial u state u state v } } }",
    );
    sim.send("e");
    assert_eq!(sim.leaves(), ["p.a.y", "p.b.u"]);
    assert_eq!(sim.var("n"), "2");
}

#[test]
fn arrow_to_an_own_descendant_of_a_compound_is_internal_unless_reenter() {
    let chart = |reenter: &str| {
        format!(
            "chart T {{ event e var n: Int = 0 initial s
               state s {{ enter {{ n = n + 1 }} initial a on e -> b {reenter} state a state b }} }}"
        )
    };
    let mut internal = Sim::of(&chart(""));
    internal.send("e");
    assert_eq!((internal.leaves(), internal.var("n")), (vec!["s.b".to_owned()], "1".to_owned()));
    let mut external = Sim::of(&chart("reenter"));
    external.send("e");
    assert_eq!((external.leaves(), external.var("n")), (vec!["s.b".to_owned()], "2".to_owned()));
}

#[test]
fn arrow_across_regions_refills_every_region() {
    let mut sim = Sim::of(
        "chart T { event e event f initial p
           parallel p {
             state a { initial x state x { on e -> b.v } state y }
             state b { initial u state u state v }
             state c { initial m state m { on f -> n } state n } } }",
    );
    sim.send("f");
    assert_eq!(sim.leaves(), ["p.a.x", "p.b.u", "p.c.n"]);
    sim.send("e");
    assert_eq!(sim.leaves(), ["p.a.x", "p.b.v", "p.c.m"]);
    assert!(sim.is_legal());
}

#[test]
fn a_region_to_itself_resets_its_siblings() {
    let mut sim = Sim::of(
        "chart T { event e event f initial p
           parallel p {
             state a { initial x on e -> a state x }
             state b { initial u state u { on f -> v } state v } } }",
    );
    sim.send("f");
    assert_eq!(sim.leaves(), ["p.a.x", "p.b.v"]);
    sim.send("e");
    assert_eq!(sim.leaves(), ["p.a.x", "p.b.u"]);
}

#[test]
fn domain_of_a_history_target_depends_on_what_is_recorded() {
    // From inside `s`, deep history names a state that is active again below `s.a`: `s` itself must stay.
    let mut sim = Sim::of(
        "chart T { event out event back event inner event home var n: Int = 0 initial s
           state s { enter { n = n + 1 } initial a
             history h deep -> b
             on home -> h
             state a { initial x state x { on inner -> y } state y { } }
             state b
             on out -> away }
           state away { on back -> s.h } }",
    );
    sim.send("inner").send("out").send("back");
    assert_eq!(sim.leaves(), ["s.a.y"]);
    assert_eq!(sim.var("n"), "2");
    sim.send("home");
    assert_eq!(sim.leaves(), ["s.a.y"]);
    assert_eq!(sim.var("n"), "2", "a history inside does not enter its active ancestor again");
    assert!(sim.is_legal());
}

#[test]
fn shallow_history_restores_the_child_and_its_default_below() {
    let mut sim = Sim::of(
        "chart T { event out event back event inner event swap initial s
           state s { initial a
             history h -> a
             state a { initial x state x { on inner -> y } state y }
             state b { initial u state u { on inner -> v } state v }
             on swap -> b
             on out -> away }
           state away { on back -> s.h } }",
    );
    sim.send("swap").send("inner").send("out").send("back");
    assert_eq!(sim.leaves(), ["s.b.u"]);
}

#[test]
fn history_default_is_used_only_while_nothing_is_recorded() {
    let mut sim = Sim::of(
        "chart T { event go event out event swap initial away
           state away { on go -> s.h }
           state s { initial a history h -> c state a state b state c { on swap -> b } on out -> away } }",
    );
    sim.send("go");
    assert_eq!(sim.leaves(), ["s.c"]);
    sim.send("swap").send("out").send("go");
    assert_eq!(sim.leaves(), ["s.b"]);
}

#[test]
fn deep_history_restores_every_region() {
    let mut sim = Sim::of(
        "chart T { event out event back event f initial s
           state s { initial p history h deep -> p
             parallel p {
               state a { initial x state x { on f -> y } state y }
               state b { initial u state u { on f -> v } state v } }
             on out -> away }
           state away { on back -> s.h } }",
    );
    sim.send("f").send("out").send("back");
    assert_eq!(sim.leaves(), ["s.p.a.y", "s.p.b.v"]);
    assert!(sim.is_legal());
}

#[test]
fn eventless_selection_is_repeated_after_every_microstep() {
    let mut sim = Sim::of(
        "chart T { event e var n: Int = 0 initial a
           state a { on e -> b { n = 1 } }
           state b { when n == 1 -> c { n = 2 } }
           state c { when n == 2 -> d }
           state d }",
    );
    sim.send("e");
    assert_eq!(sim.leaves(), ["d"]);
}

#[test]
fn one_line_picked_by_two_regions_is_taken_once() {
    let mut sim = Sim::of(
        "chart T { event e var n: Int = 0 initial p
           parallel p { on e { n = n + 1 } state a { initial x state x } state b { initial u state u } } }",
    );
    sim.send("e");
    assert_eq!(sim.var("n"), "1");
}

#[test]
fn a_parallels_line_is_picked_by_the_region_that_has_nothing_better() {
    let mut sim = Sim::of(
        "chart T { event e var n: Int = 0 initial p
           parallel p { on e { n = n + 1 }
             state a { initial x state x { on e -> y } state y }
             state b { initial u state u } } }",
    );
    sim.send("e");
    assert_eq!(sim.leaves(), ["p.a.y", "p.b.u"]);
    assert_eq!(sim.var("n"), "1");
}

#[test]
fn a_descendants_line_beats_the_ancestors_that_another_region_picked() {
    let mut sim = Sim::of(
        "chart T { event e initial p
           parallel p { on e -> away
             state a { initial x state x }
             state b { initial u state u { on e -> v } state v } }
           state away }",
    );
    sim.send("e");
    assert_eq!(sim.leaves(), ["p.a.x", "p.b.v"]);
    assert!(sim.trace().contains("preempted"), "{}", sim.trace());
}

#[test]
fn the_earlier_region_wins_between_equals() {
    let mut sim = Sim::of(
        "chart T { event e initial p
           parallel p {
             state a { initial x state x { on e -> one } }
             state b { initial u state u { on e -> two } } }
           state one state two }",
    );
    sim.send("e");
    assert_eq!(sim.leaves(), ["one"]);
}

#[test]
fn a_line_lost_to_one_that_is_removed_later_does_not_come_back() {
    // Region a picks p's line; region b's own exit of p is preempted by it; region c, deeper, removes p's line. b's stays lost.
    let mut sim = Sim::of(
        "chart T { event e initial q
           parallel q {
             parallel p { on e -> away
               state a { initial x state x }
               state b { initial u state u { on e -> m } state m } }
             state c { initial k state k { on e -> l } state l } }
           state away }",
    );
    sim.send("e");
    assert_eq!(sim.leaves(), ["q.p.a.x", "q.p.b.m", "q.c.l"]);
    assert!(sim.is_legal());
}

#[test]
fn targetless_lines_never_conflict() {
    let mut sim = Sim::of(
        "chart T { event e var n: Int = 0 initial p
           parallel p {
             state a { initial x state x { on e { n = n + 1 } } }
             state b { initial u state u { on e -> away { n = n + 10 } } } }
           state away }",
    );
    sim.send("e");
    assert_eq!((sim.leaves(), sim.var("n")), (vec!["away".to_owned()], "11".to_owned()));
}

#[test]
fn exit_in_reverse_then_actions_then_entry_in_document_order() {
    let a = loud(
        "a",
        &format!(
            "initial a1 {}",
            loud("a1", "on e -> a2 { l = concat(l, \"t1 \") }") + &loud("a2", "")
        ),
    );
    let b = loud(
        "b",
        &format!(
            "initial b1 {}",
            loud("b1", "on e -> b2 { l = concat(l, \"t2 \") }") + &loud("b2", "")
        ),
    );
    let q1 = loud("q1", &format!("initial r1 {}", loud("r1", "")));
    let q2 = loud("q2", &format!("initial r2 {}", loud("r2", "")));
    let mut sim = Sim::of(&format!(
        "chart T {{ event e event f var l: Text = \"\" initial p
           parallel p {{ {a} {b} on f -> q }}
           parallel q {{ {q1} {q2} }} }}"
    ));
    assert_eq!(sim.var("l"), "+a +a1 +b +b1 ");
    sim.send("e");
    assert_eq!(sim.var("l"), "+a +a1 +b +b1 -b1 -a1 t1 t2 +a2 +b2 ");
    sim.send("f");
    // Depth first: r1 before q2.
    assert!(sim.var("l").ends_with("-b2 -b -a2 -a +q1 +r1 +q2 +r2 "), "{}", sim.var("l"));
}

/// A state that says when it is entered and left.
fn loud(name: &str, rest: &str) -> String {
    format!(
        "state {name} {{ enter {{ l = concat(l, \"+{name} \") }} exit {{ l = concat(l, \"-{name} \") }} {rest} }}"
    )
}

#[test]
fn one_leaf_is_left_from_below_before_the_actions() {
    let middle = loud("b", &format!("initial c {}", loud("c", "")));
    let outer = loud("a", &format!("initial b {middle}"));
    let mut sim = Sim::of(&format!(
        "chart T {{ event e var l: Text = \"\" initial s
           state s {{ initial a on e -> z {{ l = concat(l, \"t \") }} {outer} }}
           {} }}",
        loud("z", "")
    ));
    assert_eq!(sim.var("l"), "+a +b +c ");
    sim.send("e");
    assert_eq!(sim.var("l"), "+a +b +c -c -b -a t +z ");
}

#[test]
fn lines_taken_together_enter_each_from_above() {
    let region = |name: &str| {
        let inner = loud(&format!("{name}3"), "");
        let outer = loud(&format!("{name}2"), &format!("initial {name}3 {inner}"));
        format!("state {name} {{ initial {name}1 state {name}1 {{ on e -> {name}2 }} {outer} }}")
    };
    let mut sim = Sim::of(&format!(
        "chart T {{ event e var l: Text = \"\" initial p parallel p {{ {} {} }} }}",
        region("a"),
        region("b")
    ));
    sim.send("e");
    assert_eq!(sim.var("l"), "+a2 +a3 +b2 +b3 ");
}

#[test]
fn history_is_recorded_before_anything_is_exited() {
    let mut sim = Sim::of(
        "chart T { event out event back var seen: Text = \"\" initial s
           state s { initial a history h -> a
             state a { exit { seen = \"left\" } state b state c initial c }
             on out -> away }
           state away { on back -> s.h } }",
    );
    sim.send("out").send("back");
    assert_eq!(sim.leaves(), ["s.a.c"]);
}

#[test]
fn regions_without_a_target_are_entered_by_default() {
    let mut sim = Sim::of(
        "chart T { event e initial s
           state s { on e -> p.a.y }
           parallel p {
             state a { initial x state x state y }
             state b { initial u state u state v } } }",
    );
    sim.send("e");
    assert_eq!(sim.leaves(), ["p.a.y", "p.b.u"]);
}

#[test]
fn two_targets_fill_two_regions() {
    let mut sim = Sim::of(
        "chart T { event e initial s
           state s { on e -> p.a.y, p.b.v }
           parallel p {
             state a { initial x state x state y }
             state b { initial u state u state v }
             state c { initial m state m } } }",
    );
    sim.send("e");
    assert_eq!(sim.leaves(), ["p.a.y", "p.b.v", "p.c.m"]);
}

#[test]
fn a_history_forgets_what_it_recorded_before() {
    let mut sim = Sim::of(
        "chart T { event next event out event back initial s
           state s { initial a history h -> a state a { on next -> b } state b on out -> away }
           state away { on back -> s.h } }",
    );
    sim.send("out").send("back");
    assert_eq!(sim.leaves(), ["s.a"]);
    sim.send("next").send("out").send("back");
    assert_eq!(sim.leaves(), ["s.b"]);
    assert!(sim.is_legal());
}

#[test]
fn two_histories_remember_each_their_own() {
    let mut sim = Sim::of(
        "chart T { event next event over event one event two initial s
           state s { initial a history h -> a state a { on next -> b } state b on over -> t }
           state t { initial c history k -> c state c { on next -> d } state d on one -> s.h on over -> s.a }
           on two -> t.k }",
    );
    sim.send("next").send("over").send("one");
    assert_eq!(sim.leaves(), ["s.b"]);
    sim.send("over").send("next").send("over").send("two");
    assert_eq!(sim.leaves(), ["t.d"]);
}

#[test]
fn a_history_that_has_recorded_a_sibling_leaves_their_parent_active() {
    let mut sim = Sim::of(
        "chart T { event next event out event back event home var n: Int = 0 initial s
           state s { initial a history h deep -> b
             state a { enter { n = n + 1 } initial x state x { on next -> y on home -> h } state y }
             state b
             on out -> away }
           state away { on back -> s.a } }",
    );
    sim.send("next").send("out").send("back");
    assert_eq!((sim.leaves(), sim.var("n")), (vec!["s.a.x".to_owned()], "2".to_owned()));
    sim.send("home");
    assert_eq!((sim.leaves(), sim.var("n")), (vec!["s.a.y".to_owned()], "2".to_owned()));
}

#[test]
fn a_history_in_another_region_resets_all_regions() {
    let mut sim = Sim::of(
        "chart T { event e event f event g initial p
           parallel p {
             state a { initial x state x { on e -> b.h } state y }
             state b { initial u history h -> v state u { on g -> v } state v }
             state c { initial m state m { on f -> n } state n } } }",
    );
    sim.send("f").send("e");
    assert_eq!(sim.leaves(), ["p.a.x", "p.b.u", "p.c.m"], "what was active is recorded first");
    assert!(sim.is_legal());
}
