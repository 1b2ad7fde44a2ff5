//! Types of expressions, templates, actions, declarations.

use super::chart;

#[test]
fn conversions_are_explicit() {
    let chart = chart(
        r"
chart Convert {
  var x: Float = 2
  var n: Int = 1
  initial a
  state a { on turn { x = n  x = n + 0.5  x = n / 2  x = if n > 1 then n else 1.5  x = max(n, x) } }
}
",
    );
    insta::with_settings!({ omit_expression => true }, { insta::assert_debug_snapshot!(chart.transitions[0].actions) });
}

#[test]
fn what_cannot_be_read_is_reported_once() {
    let deep = format!("{}1 > 3", "1 + ".repeat(150));
    let long = ["n"; 200].join(" < ");
    for guard in [deep, long] {
        let text =
            format!("chart A {{ var n: Int = 0 initial a state a {{ on turn if {guard} -> a }} }}");
        let compilation = super::check(&text);
        let found = compilation.diagnostics.iter().filter(|d| d.rule.code.starts_with("C0"));
        assert_eq!(found.count(), 1, "{:?}", compilation.diagnostics);
    }
}
