//! Charts in charts in charts.

use super::Tree;
use chartc_core::expr::Value;
use chartc_core::host::Machine;
use chartc_core::machine::{Input, Outcome};

const NESTED: &str = r#"
do note(text: Text)
chart Inner {
  initial asking
  state asking { human who "Who?" -> over  exit { note("inner") } }
  final over
}
chart Middle {
  initial running
  state running { run inner Inner() at entry -> over  human what "What?"  exit { note("middle") } }
  final over
}
chart Main {
  event stop
  initial running
  state running { run middle Middle() at entry -> over  on stop -> idle }
  state idle { on stop -> running }
  final over
}
"#;

#[test]
fn charts_that_run_in_a_stopped_chart_are_stopped_too() {
    let mut tree = Tree::of(NESTED);
    tree.turn();
    assert_eq!(tree.open(), ["middle: what", "middle/inner: who"]);
    tree.since();
    tree.send("stop");
    assert_eq!(
        tree.since(),
        "event stop · -running · +idle · canceled middle: what · middle: -running · middle: ended canceled · canceled middle/inner: who · middle/inner: -asking · middle/inner: ended canceled"
    );
    assert_eq!(tree.host.0.borrow().as_slice(), ["note(middle)", "note(inner)"]);
    assert_eq!(tree.leaves(), ["idle"]);
}

#[test]
fn an_answer_to_a_chart_that_is_gone_changes_nothing() {
    let mut tree = Tree::of(NESTED);
    tree.turn();
    let (_, member, key) = tree.open[1].clone();
    tree.send("stop").since();
    tree.give(member, Input::Answer(key, Outcome::Done(vec![Value::Text("me".into())])));
    assert_eq!(tree.since(), "dropped middle");
    assert_eq!(tree.leaves(), ["idle"]);
}

#[test]
fn answers_climb() {
    let mut tree = Tree::of(NESTED);
    tree.turn().since();
    tree.answer("middle/inner: who", Value::Text("me".into()));
    assert_eq!(
        tree.since(),
        "middle/inner: done who · middle/inner: -asking · middle/inner: +over · middle/inner: -over · middle/inner: ended ok · middle: done inner · canceled middle: what · middle: -running · middle: +over · middle: -over · middle: ended ok · done middle · -running · +over · -over · ended ok"
    );
}

#[test]
fn a_chart_that_runs_itself_ends_by_its_own_count() {
    let tree = Tree::of(
        "do note(text: Text)
chart Digger {
  param depth: Int = 3
  initial digging
  state digging {
    enter { note(\"{depth}\") }
    run deeper Digger(depth - 1) at entry if depth > 0
    on done(deeper) as v -> up(v[\"n\"] + 1)
    when depth == 0 -> up(0)
  }
  final up(n: Int)
}",
    );
    assert_eq!(tree.host.0.borrow().len(), 4);
    let result = tree.family.root().result();
    assert_eq!(result, [("n".to_owned(), Value::Int(3))]);
}

#[test]
fn charts_nest_only_so_deep() {
    let tree = Tree::of(
        "do note(text: Text)
chart Digger {
  var more: Bool = true
  var why: Text = \"\"
  initial digging
  state digging {
    enter { note(\"in\") }
    run deeper Digger() at entry if more
    on error(deeper) as w -> up(w)
    on done(deeper) as v -> up(v[\"why\"])
  }
  final up(why: Text)
}",
    );
    let why = Value::Text("charts that run each other nest at most 16 deep".into());
    assert_eq!(tree.family.root().result(), [("why".to_owned(), why)]);
    assert_eq!(tree.host.0.borrow().len(), 17, "the outermost and those below it");
}
