//! Structure: initial states, finals, parallels, history, targets, places of lines.

use super::{chart, faults, shown};
use chartc_core::arena::StateId;
use chartc_core::model::{StateKind, TransitionKind};

#[test]
fn missing_and_misplaced_initial() {
    shown!(faults(
        r"
chart Start {
  event go
  state a {
    state x { initial nothing }
    state y { initial a }
  }
  state b { initial a  initial p  state p }
  state c { initial a  state q  state r { initial c  state s } }
  parallel d { initial one  state one  state two }
  final e
}
"
    ));
}

#[test]
fn a_chart_without_states() {
    shown!(faults("chart Empty { initial a }"));
}

#[test]
fn defaults_of_several_regions() {
    shown!(faults(
        r"
chart Several {
  event go
  initial p.a.x, p.b
  parallel p { state a { initial x  state x  state y }  state b }
  state c { initial d, e  state d  state e }
  state f {
    initial g.h.m, g.h.n { go = 1 }
    history back -> g.h, g.h.m { unknown() }
    history again -> g.k, c, back { raise go }
    parallel g { state h { initial m  state m  state n }  state k }
    on go -> back  on go -> again
  }
}
"
    ));
}

#[test]
fn a_missing_initial_is_the_first_child() {
    let compilation = super::check("chart A { state a { history h -> y state x state y } }");
    let chart = &compilation.lowered[0].chart;
    assert_eq!(chart.states[0].kind, StateKind::Compound { initial: vec![StateId(1)] });
    assert_eq!(chart.states[1].kind, StateKind::Compound { initial: vec![StateId(3)] });
}

#[test]
fn what_cannot_stand_in_a_final_state() {
    shown!(faults(
        r#"
chart Ends {
  event go
  initial a
  state a { on go -> end("x") }
  final end(why: Text) {
    enter { log "in" }
    on go -> a
    state inner
    history h -> inner
    llm step { prompt "x" }
    limits { turns 3 }
    allow a -> end
    from * { on go -> a }
    initial a
    advice "done"
  }
}
"#
    ));
}

#[test]
fn parallels_and_histories() {
    shown!(faults(
        r"
chart Regions {
  event go
  initial p
  parallel empty { }
  parallel only_history { history h -> p }
  parallel p {
    state r1 { initial a  history h -> a  history far -> p.r2.c  state a  state b { history alone -> b } }
    state r2 { initial c  history hh -> c  history chain -> hh  state c }
    final f
    history any -> r1.b
  }
  state q { on go -> p.any  on done(p) -> q  on done(q) -> q  on done(p.r1.h) -> q }
}
"
    ));
}

#[test]
fn targets_that_cannot_be_entered_together() {
    shown!(faults(
        r"
chart Together {
  event go
  initial p
  parallel p {
    state r1 { initial a  state a  state b  history h -> a }
    state r2 { initial c  state c  state d }
    history all -> r1.a
  }
  state q {
    on go -> p.r1.a, p.r2.c
    on go -> p.r1.a, p.r1.b
    on go -> p.r1, p.r1.a
    on go -> p.r1.a, p.r1.a
    on go -> p.r2.c, q, p.r1.a
    on go -> p.r1.h, p.r2.d
    on go -> p.all, p.r2.d
  }
}
"
    ));
}

#[test]
fn lines_that_cannot_stand_where_they_are() {
    shown!(faults(
        r#"
chart Lines {
  event go
  initial a
  var n: Int = 0
  on go -> a reenter
  when n > 1
  when n > 1 { }
  limits { calls 5 per turn  turns 5 per turn }
  state a {
    enter { n = 1 }
    enter { n = 2 }
    advice "x"
    advice "y"
    limits { calls 1 per turn  calls 8 warn 9  money 3 }
    from b { on go -> b }
    from c | a { each after 3s -> b }
    from * except b { on go -> b }
    from h { on go -> b }
    history h -> c
    state c
    initial c
    on done(c) -> b
    on error(b) -> b
    on doubt(b) -> b
  }
  state b
  defaults { retry 1 }
  defaults { retry 2 }
  trace 1
  trace all
}
"#
    ));
}

#[test]
fn kinds_of_transitions() {
    let chart = chart(
        r"
chart Kinds {
  event e
  initial a
  on e -> a
  state a {
    initial x
    on e -> x
    on e -> x reenter
    on e -> a
    on e -> b
    on e
    state x { on e -> x }
  }
  state b { on e -> p.r.s, p.t.u  on e { } }
  parallel p {
    on e -> r.s
    state r { initial s  state s }
    state t { initial u  state u }
  }
}
",
    );
    let kinds: Vec<_> = chart.transitions.iter().map(|t| t.kind).collect();
    use TransitionKind::{External, Internal, Targetless};
    let expected = [
        Internal, Internal, External, External, External, Targetless, External, External,
        Targetless, External,
    ];
    assert_eq!(kinds, expected);
}
