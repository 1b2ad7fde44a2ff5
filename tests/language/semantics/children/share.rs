//! Events, deadlines and snapshots of several charts.

use super::{Tree, main};
use chartc_core::machine::Receipt;

const TWO: &str = r#"
  initial both
  parallel both {
    state one { initial a  state a { run late Fetch("one") at entry { error -> a } } }
    state two { initial b  state b { run early Fetch("two") at entry { error -> b } } }
    on go { note("go") }
    on stop -> idle
  }
  state idle { on go -> both }
"#;

#[test]
fn an_event_goes_to_the_first_chart_that_handles_it() {
    let mut tree = main(TWO);
    tree.since();
    tree.send("poke");
    assert_eq!(tree.host.0.borrow().as_slice(), ["note(poked one)"]);
    assert_eq!(tree.since(), "event poke · refused poke · late: event poke");
    assert_eq!(tree.receipt, Receipt::Handled);
    // Its own lines come first.
    tree.send("go");
    assert_eq!(tree.since(), "event go");
    // Started anew, it is the younger one.
    tree.send("abort");
    assert_eq!(tree.leaves(), ["both.one.a", "both.two.b", "early: waiting", "late: waiting"]);
    tree.send("poke");
    assert_eq!(tree.host.0.borrow().last().map(String::as_str), Some("note(poked two)"));
}

#[test]
fn an_event_of_other_fields_is_another_event() {
    let mut tree = Tree::of(
        "chart Child { event e(a: Int)  initial a  state a { on e -> b }  final b }
chart Main {
  event e(b: Int)
  initial a
  state a { run c Child() at entry -> b }
  final b
}",
    );
    tree.since();
    tree.send_with("e", 1);
    assert_eq!(tree.since(), "event e · refused e");
    assert_eq!(tree.receipt, Receipt::Unhandled);
}

#[test]
fn an_event_that_none_handles_is_refused_by_all() {
    let mut tree = Tree::of(
        "chart Child { event e  event f  initial a  state a { on f -> b }  state b { on e -> a } }
chart Main {
  event e
  initial both
  parallel both {
    state one { run c Child() at entry -> one }
    state two { run d Child() at entry -> two }
  }
}",
    );
    tree.since();
    tree.send("e");
    assert_eq!(
        tree.since(),
        "event e · refused e · c: event e · c: refused e · d: event e · d: refused e"
    );
    assert_eq!(tree.receipt, Receipt::Unhandled);
}

#[test]
fn the_earliest_deadline_of_all_charts_is_due_first() {
    let mut tree = main(
        r#"
  initial a
  state a {
    run fetch Fetch("u") at entry
    after 8s { note("eight") }
    after 12s -> b
    on error(fetch) as w { why = w }
  }
  state b { on go -> a }
"#,
    );
    assert_eq!(tree.family.next_deadline(), Some(8000));
    tree.at(8000);
    assert_eq!(tree.family.next_deadline(), Some(10_000));
    tree.since();
    // Both have passed when the host says so: each happens at its own time.
    tree.at(20_000);
    assert_eq!(
        tree.since(),
        "fetch: -waiting · fetch: +late · fetch: -late · fetch: ended stuck · -a · +b · dropped fetch"
    );
    assert_eq!(tree.family.next_deadline(), None);
}

#[test]
fn a_restored_family_goes_on_as_if_nothing_had_happened() {
    let play = |restart: bool| {
        let mut tree = main(TWO);
        let mut seen = String::new();
        for step in 0..9 {
            if restart {
                tree.restart();
            }
            match step {
                0 => tree.send("poke"),
                1 | 5 => tree.at(4000 * (step + 1)),
                2 => tree.send("abort"),
                3 => tree.turn(),
                4 => tree.send_with("got", 3),
                6 => tree.send("stop"),
                7 => tree.send("go"),
                _ => tree.send("poke"),
            };
            seen += &format!("{} | {:?}\n", tree.since(), tree.leaves());
        }
        (seen, tree.host.0.borrow().clone())
    };
    assert_eq!(play(true), play(false));
}
