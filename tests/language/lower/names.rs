//! Names: unknown ones, duplicates, scopes.

use super::chart;

#[test]
fn paths_are_sought_among_children_then_outward() {
    let chart = chart(
        r"
chart Paths {
  event go
  initial a
  state a {
    initial x
    on go -> x
    state x { on go -> y }
    state y { initial x  on go -> x  state x { on go -> x } }
  }
  state x { on go -> a.y.x }
}
",
    );
    let targets: Vec<_> = chart
        .transitions
        .iter()
        .map(|t| {
            (chart.state(t.source).path.as_str(), chart.state(t.targets[0].state).path.as_str())
        })
        .collect();
    let expected =
        [("a", "a.x"), ("a.x", "a.y"), ("a.y", "a.y.x"), ("a.y.x", "a.y.x"), ("x", "a.y.x")];
    assert_eq!(targets, expected);
}

#[test]
fn names_inside_hide_names_outside() {
    let chart = chart(
        r"
chart Hiding {
  event go(x: Int)
  var x: Text = ``
  var turns: Text = ``
  var n: Int = 0
  var t: Text = ``
  initial a
  state a { on go(x) if [x for x in [x]] == [x] -> a { n = x  t = turns } }
}
"
        .replace("``", "\"\"")
        .as_str(),
    );
    insta::with_settings!({ omit_expression => true }, { insta::assert_debug_snapshot!(chart.transitions[0].actions) });
}

#[test]
fn names_of_earlier_versions() {
    let chart = super::chart(
        "chart C {
          var v renamed_from u, t: Int = 0
          initial a
          state a renamed_from b { code s renamed_from r { v = v + 1 } -> z }
          final z renamed_from `a.b`
        }",
    );
    let old: Vec<&str> = chart.renames.iter().map(|rename| rename.old.as_str()).collect();
    assert_eq!(old, ["b", "r", "a.b", "u", "t"]);
}
