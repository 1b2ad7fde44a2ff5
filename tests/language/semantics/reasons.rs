//! Which alternatives of a guard held.

use super::{Record, Sim};

/// What a sink that asks is told: the alternatives of each transition in turn.
fn reasons(text: &str, play: impl FnOnce(&mut Sim)) -> Vec<String> {
    let mut sim = Sim::of(text);
    sim.log.asks_why = true;
    play(&mut sim);
    let held = sim.log.held.iter().map(|(line, bits)| {
        let texts = sim.chart.alternative_texts[line].iter().enumerate();
        let held = texts.filter(|(nth, _)| bits & (1 << nth) != 0);
        held.map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("; ")
    });
    held.collect()
}

fn counter(guard: &str) -> String {
    format!(
        "chart T {{ event e event more var n: Int = 0 var xs: List(Int) = [] fn f() -> Bool
           pred big = n >= 2 or len(xs) > 3 or n == 1
           initial s
           state s {{ on more {{ n = n + 1 }} on e if {guard} {{ n = n + 10 }} }} }}"
    )
}

#[test]
fn those_that_held_before_the_actions_are_told_in_order() {
    let text = counter("n >= 1 or n == 1 or n > 100");
    let told = reasons(&text, |sim| {
        sim.send("e").send("more").send("e").send("e");
    });
    assert_eq!(told, ["n >= 1; n == 1", "n >= 1"]);
}

#[test]
fn a_named_condition_stands_for_its_alternatives() {
    let one = reasons(&counter("big"), |sim| {
        sim.send("more").send("e").send("e");
    });
    assert_eq!(one, ["n == 1", "n >= 2"]);
    let nested = reasons(&counter("n > 10 or big"), |sim| {
        sim.send("more").send("more").send("e").send("e");
    });
    assert_eq!(nested, ["n >= 2", "n > 10; n >= 2"]);
}

#[test]
fn a_fault_does_not_hold() {
    let text = counter("n > 0 or xs[0] == 1 or n == 1");
    let told = reasons(&text, |sim| {
        sim.send("more").send("e");
        // What is evaluated for the reason alone leaves no notes and raises nothing.
        let raised = |record: &Record| matches!(record, Record::Error(_));
        assert!(!sim.log.records.iter().any(raised));
        assert!(sim.machine_notes().is_empty());
    });
    assert_eq!(told, ["n > 0; n == 1"]);
    let failed = reasons(&counter("xs[0] == 1 or n == 1"), |sim| {
        sim.send("more").send("e");
        assert_eq!(sim.var("n"), "1");
    });
    assert!(failed.is_empty());
}

#[test]
fn other_guards_have_no_reasons() {
    for guard in [
        "n >= 0",
        "n >= 0 and (n > 5 or n < 5)",
        "n >= 0 or f()",
        "any([x > 1 for x in xs]) or n >= 0",
    ] {
        let told = reasons(&counter(guard), |sim| {
            sim.send("e");
            assert_eq!(sim.var("n"), "10", "{guard}");
        });
        assert!(told.is_empty(), "{guard}: {told:?}");
    }
}

#[test]
fn nobody_who_does_not_ask_is_told() {
    let mut sim = Sim::of(&counter("n >= 0 or n == 7"));
    sim.send("e");
    assert_eq!(sim.var("n"), "10");
    assert!(sim.log.held.is_empty());
}

#[test]
fn the_leaf_for_which_the_guard_holds_says_why() {
    let told = reasons(
        "chart T { event e event quit initial p
           parallel p {
             on quit if state == \"p.b.y\" or turns > 9 -> over
             state a { initial x  state x { on e -> z }  state z }
             state b { initial y  state y } }
           final over : ok }",
        |sim| {
            sim.send("quit");
        },
    );
    assert_eq!(told, ["state == \"p.b.y\""]);
}

#[test]
fn too_many_alternatives_are_one_condition() {
    let many: Vec<String> = (0..100).map(|n| format!("n == {n}")).collect();
    let told = reasons(&counter(&many.join(" or ")), |sim| {
        sim.send("e");
        assert_eq!(sim.var("n"), "10");
    });
    assert!(told.is_empty());
}
