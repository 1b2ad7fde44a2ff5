//! Structure: initial states, finals, parallels, history, targets, places of lines.

use super::chart;
use chartc_core::arena::StateId;
use chartc_core::model::{StateKind, TransitionKind};

#[test]
fn a_missing_initial_is_the_first_child() {
    let compilation = super::check("chart A { state a { history h -> y state x state y } }");
    let chart = &compilation.lowered[0].chart;
    assert_eq!(chart.states[0].kind, StateKind::Compound { initial: vec![StateId(1)] });
    assert_eq!(chart.states[1].kind, StateKind::Compound { initial: vec![StateId(3)] });
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
