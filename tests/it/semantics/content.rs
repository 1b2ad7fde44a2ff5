//! What blocks do: branches, loops, and what an error in them ends.

use super::Sim;

#[test]
fn the_first_branch_that_holds_is_run() {
    let mut sim = Sim::of(
        "chart T { event e event f var n: Int = 0 var said: Text = \"\" initial s
           state s {
             on e { n = n + 1
               if n == 1 { said = said + \"a\" } else if n == 2 { said = said + \"b\" } else { said = said + \"c\" } }
             on f { if n > 9 { said = \"\" } } } }",
    );
    sim.send("e").send("e").send("e").send("f");
    assert_eq!(sim.var("said"), "abc");
}

#[test]
fn a_loop_goes_through_its_list_as_it_was() {
    let mut sim = Sim::of(
        "chart T { event e var xs: List(Int) = [1, 2, 3] var seen: List(Int) = [] initial s
           state s { on e { for x in xs { xs = xs + [x * 10]  for y in [x, -x] { seen = seen + [y] } } } } }",
    );
    sim.send("e");
    assert_eq!(sim.var("seen"), "[1, -1, 2, -2, 3, -3]");
    assert_eq!(sim.var("xs"), "[1, 2, 3, 10, 20, 30]");
}

#[test]
fn what_branches_raise_is_handled_in_that_order() {
    let mut sim = Sim::of(
        "chart T { event go(n: Int) event e var got: List(Int) = [] do tell(n: Int) initial s
           state s {
             on e { for x in [1, 2, 3] { if x != 2 { raise go(x) } else { tell(x) } } }
             on go(n) { got = got + [n] } } }",
    );
    sim.send("e");
    assert_eq!(sim.var("got"), "[1, 3]");
    assert_eq!(sim.calls(), ["tell(2)"]);
}

#[test]
fn an_error_in_a_branch_ends_the_whole_block() {
    let mut sim = Sim::of(
        "chart T { event e var xs: List(Int) = [1, 0, 4] var n: Int = 0 var failed: Bool = false initial s
           state s { on e { for x in xs { n = n + 12 div x }  n = 100 } on error.execution { failed = true } } }",
    );
    sim.send("e");
    assert_eq!((sim.var("n").as_str(), sim.var("failed").as_str()), ("12", "True"));
}

#[test]
fn a_payload_is_read_in_branches() {
    let mut sim = Sim::of(
        "chart T { event go(x: Int?, ys: List(Int)) event e var sum: Int = 0 initial s
           state s {
             on e { raise go(none, [1, 2])  raise go(10, []) }
             on go(x, ys) { if x != none { sum = sum + x }  for y in ys { sum = sum + y } } } }",
    );
    sim.send("e");
    assert_eq!(sim.var("sum"), "13");
}
