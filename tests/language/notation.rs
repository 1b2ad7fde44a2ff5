//! What is printed of the model is read again as the same.

use chartc::load::Memory;
use chartc_compiler::notation;
use chartc_core::model::Chart;
use std::sync::Arc;

/// A chart with one guarded line, its names in scope of `guard` and `actions`.
fn chart(guard: &str, actions: &str) -> Arc<Chart> {
    let text = format!(
        "type P {{ a: Int  b: Text? }}
enum E {{ one two }}
fn f(x: Int, y: Text) -> Bool else false
do act(x: Int, p: P?)
chart C {{
  param n: Int = 1
  input x: Float = 1.0
  var i: Int = 0
  var t: Text = \"\"
  var o: P? = none
  var e: E = E.one
  var l: List(Int) = []
  var m: Map(Text, Int) = {{}}
  var d: Duration = 0ms
  var b: Bool = false
  var `in`: Int = 0
  event go(post: P, k: Int)
  event ping(k: Int)
  pred p = i > 3
  initial a
  state a {{ on go(post, k) if {guard} -> a.c {{ {actions} }}  initial c  state c }}
  state z
}}
"
    );
    let done = chartc::check(&["it.chart".to_owned()], &Memory::of("it.chart", &text));
    let problems = chartc::report::short(&done.diagnostics, &done.sources);
    match done.charts.as_slice() {
        [one] => one.chart().clone(),
        _ => panic!("`{guard}` {{ {actions} }}: {problems}"),
    }
}

#[track_caller]
fn same(guard: &str) {
    let first = chart(guard, "");
    let line = &first.transitions[0];
    let payload = notation::payload(line);
    let printed =
        notation::expression_in(&first, line.guard.as_ref().expect("it has one"), &payload);
    assert_eq!(chart(&printed, ""), first, "`{guard}` is printed as `{printed}`");
}

#[test]
fn operators() {
    for guard in [
        "b and not (i > 1 or p) or b",
        "(b or p) and (not b and p)",
        "0 < i + 2 * 3 <= (i + 2) * -3 == 4",
        "(i - (2 - 3)) % 4 div 2 == 2 ** -i ** 2",
        "(-2) ** 2 > 1 and (1 / 2) / (3 / 4) > 0.5e-7",
        "(0 < i) == (1 < i)",
        "i in l and t not in [\"a\", \"b\\\"c\\\\\"]",
        "if b then p else if p then b else not b",
        "(if b then 1 else 2) + 3 > 1",
        "d > 90s and d < 1500ms",
        "`in` > 1",
    ] {
        same(guard);
    }
}

#[test]
fn names_and_calls() {
    for guard in [
        "f(k, post.b ?? \"none {{of}} {i:+d} these\")",
        "(o ?? post).a > 1",
        "o != none and e == E.two",
        "in(a.c) and not in(z) and turns_in(a.c) > 2",
        "turns > 3 and turns_here > n and state == \"a\" and elapsed_here > 5m",
        "len(t[1:]) > l[0] and t[:2] == t[i:i + 1]",
        "any([y > 1 for y in l if y < x]) and all([len([z for z in l]) > y for y in l])",
        "{\"a\": i, \"b\": 2} == m and [1, 2] == l",
        "P { a: i, b: t } == post",
        "len([x + y for x in l if x > 1 for y in l for z in l]) > len(join(split(t), \", \"))",
        "max(i, 2) > min(1, k) and starts_with(t, \"x\") and is_a(i, \"int\")",
    ] {
        same(guard);
    }
}

#[test]
fn actions() {
    for actions in [
        "i = k + 1  t = \"k is {k}\"  act(k, post)  raise ping(k)  log \"{t} \\\\ \\\"q\\\"\"  o = none",
        "if b { i = 1 } else if i > k { raise ping(k)  o = none } else { act(k, post) }",
        "send go(post, k + i) after d * 2 as `in`  send ping(1)  send ping(2) after 5s  cancel `in`",
        "if b { } else { for x in l { for y in [x, k] { if y > 1 { i = i + y } } } }",
    ] {
        let first = chart("true", actions);
        let line = &first.transitions[0];
        let payload = notation::payload(line);
        let printed = notation::actions(&first, &line.actions, &payload);
        assert_eq!(chart("true", &printed), first, "printed as `{printed}`");
    }
}

#[test]
fn receivers_of_events() {
    let text = "chart Child { event go initial a state a { on go -> b } final b }
        chart Main { event go initial a state a {
          run one Child()  run all each n in [1, 2] Child()
          on go { send go to one  send go to all after 5s  send go to all[1 + 1] after 5s  send go to parent }
        } }";
    let done = chartc::check(&["t.chart".to_owned()], &Memory::of("t.chart", text));
    let main = done.charts.last().expect("sound").chart();
    let actions = notation::actions(main, &main.transitions[0].actions, &[]);
    assert_eq!(
        actions,
        "send go to one  send go to all after 5s  send go to all[1 + 1] after 5s  send go to parent"
    );
}

#[test]
fn variables_keep_their_names() {
    let actions = "for each in [q for q in l if q > 1] { for inner in l { act(each + inner, none) } }  log \"{[w for w in l]}\"";
    let first = chart("len([item for item in l if item > k]) > 0", actions);
    let line = &first.transitions[0];
    let payload = notation::payload(line);
    let guard = notation::expression_in(&first, line.guard.as_ref().expect("it has one"), &payload);
    assert_eq!(guard, "len([item for item in l if item > k]) > 0");
    assert_eq!(notation::actions(&first, &line.actions, &payload), actions);
}
