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

#[test]
fn an_error_ends_its_own_enter_or_exit_block_only() {
    let mut sim = Sim::of(
        "chart T { event go event back var zero: Int = 0 var said: Text = \"\" var faults: Int = 0 initial a
           state a { on go -> b }
           state b {
             enter { said = said + \"1\"  zero = 1 div zero  said = said + \"-\" }
             enter { said = said + \"2\" }
             exit { zero = 1 div zero  said = said + \"-\" }
             exit { said = said + \"3\" }
             exit { said = said + \"4\" }
             on back -> a { said = said + \"5\" } }
           on error.execution { faults = faults + 1 } }",
    );
    sim.send("go");
    assert_eq!((sim.var("said").as_str(), sim.var("faults").as_str()), ("12", "1"));
    sim.send("back");
    assert_eq!((sim.var("said").as_str(), sim.var("faults").as_str()), ("12345", "2"));
}

#[test]
fn every_block_raises_and_is_charged_on_its_own() {
    let mut sim = Sim::of(
        "chart T { event go event e(n: Int) var got: List(Int) = [] initial a
           state a { on go -> b }
           state b {
             enter { raise e(1) } enter { } enter { raise e(2) }
             on e(n) { got = got + [n] } } }",
    );
    sim.send("go");
    assert_eq!(sim.var("got"), "[1, 2]");
}

#[test]
fn actions_of_initial_run_between_the_parents_enter_and_the_childs() {
    let mut sim = Sim::of(
        "chart T { event go event deep event out var said: Text = \"\"
           initial a { said = said + \"0\" }
           state a { on go -> s on deep -> s.x.y }
           state s {
             enter { said = said + \"1\" }
             enter { said = said + \"2\" }
             initial x { said = said + \"3\"  if in(s) and not in(s.x) { said = said + \"4\" } }
             on out -> a
             state x { enter { said = said + \"5\" } initial y { said = said + \"6\" } state y { enter { said = said + \"7\" } } } } }",
    );
    assert_eq!(sim.var("said"), "0");
    sim.send("go");
    assert_eq!(sim.var("said"), "01234567");
    sim.send("out").send("deep");
    assert_eq!(
        sim.var("said"),
        "01234567".to_owned() + "1257",
        "a target below is no default entry"
    );
}

#[test]
fn actions_of_a_default_of_a_history_run_only_if_it_is_used() {
    let mut sim = Sim::of(
        "chart T { event go event out event next event back var said: Text = \"\"
           initial away
           state away { on go -> s.h }
           state s {
             enter { said = said + \"s\" }
             initial x { said = said + \"i\" }
             history h -> y { said = said + \"h\" }
             on out -> away
             state x { enter { said = said + \"x\" } }
             state y { enter { said = said + \"y\" } on next -> z }
             state z { enter { said = said + \"z\" } on back -> h } } }",
    );
    sim.send("go");
    assert_eq!(sim.var("said"), "shy");
    sim.send("next").send("out").send("go");
    assert_eq!(sim.var("said"), "shyzsz", "what was recorded is entered without them");
}

#[test]
fn a_history_used_from_inside_runs_its_actions_before_anything_is_entered() {
    let mut sim = Sim::of(
        "chart T { event back var said: Text = \"\"
           initial s
           state s {
             enter { said = said + \"s\" }
             initial x
             history h -> y { said = said + \"h\" }
             state x { on back -> h exit { said = said + \"-\" } }
             state y { enter { said = said + \"y\" } } } }",
    );
    sim.send("back");
    assert_eq!(sim.var("said"), "s-hy");
    assert_eq!(sim.leaves(), ["s.y"]);
}

#[test]
fn an_error_in_actions_of_initial_ends_these_only() {
    let mut sim = Sim::of(
        "chart T { event go var zero: Int = 0 var said: Text = \"\" initial a
           state a { on go -> s }
           state s { initial x { zero = 1 div zero  said = \"-\" } state x { enter { said = said + \"x\" } } }
           on error.execution { said = said + \"!\" } }",
    );
    sim.send("go");
    assert_eq!((sim.var("said"), sim.leaves()), ("x!".to_owned(), vec!["s.x".to_owned()]));
}

#[test]
fn initial_names_states_of_several_regions() {
    let mut sim = Sim::of(
        "chart T { event out event in_ event home initial p.a.y, p.b.v
           parallel p {
             state a { initial x state x state y { on out -> away } }
             state b { initial u state u state v }
             state c { initial m state m } }
           state away {
             history none_yet -> idle
             on in_ -> outer
             initial idle state idle }
           state outer { initial q.d.k, q.e.n
             history h -> q.d.k, q.e.n
             on home -> h
             parallel q { state d { initial j state j state k } state e { initial l state l state n } } } }",
    );
    assert_eq!(sim.leaves(), ["p.a.y", "p.b.v", "p.c.m"]);
    sim.send("out").send("in_");
    assert_eq!(sim.leaves(), ["outer.q.d.k", "outer.q.e.n"]);
    sim.send("home");
    assert_eq!(sim.leaves(), ["outer.q.d.k", "outer.q.e.n"]);
    assert!(sim.is_legal());
}
