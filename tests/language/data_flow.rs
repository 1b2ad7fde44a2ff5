//! What a condition says of the values that variables may hold, and how another one comes out behind it.

use chartc::load::Memory;
use chartc_compiler::analysis::facts::Facts;
use chartc_compiler::analysis::turn::flow::{Flow, Site};
use chartc_core::arena::TransitionId;

/// How `second` comes out wherever a run has come past `first`; `None` if not always alike.
fn behind(first: &str, second: &str) -> Option<bool> {
    let text = format!(
        r#"chart T {{
  event b
  event c
  event y
  event go
  event ask
  var m: Text = "a"
  var k: Text = "x"
  pred calm = m == "a" or k == "x"
  initial start
  state start {{
    on b {{ m = "b" }}
    on c {{ m = "c" }}
    on y {{ k = "y" }}
    on go if {first} -> next
  }}
  state next {{
    on ask if {second} -> over
  }}
  final over
}}
"#
    );
    let done = chartc::check(&["a.chart".into()], &Memory::of("a.chart", &text));
    let Some(checked) = done.charts.first() else {
        panic!("{}\n{text}", chartc::report::short(&done.diagnostics, &done.sources));
    };
    let chart = checked.chart();
    let flow = Flow::new(chart, &Facts::new(chart));
    assert!(flow.is_exact());
    let last = TransitionId::at(chart.transitions.len() - 1);
    flow.fixed().into_iter().find(|f| f.site == Site::Transition(last)).map(|f| f.holds)
}

#[test]
fn conditions_leave_out_values() {
    for (first, second, comes_out) in [
        (r#"m == "a""#, r#"m == "a""#, Some(true)),
        (r#"m == "a""#, r#"m == "b""#, Some(false)),
        (r#"m == "a" or m == "b""#, r#"m != "c""#, Some(true)),
        (r#"m == "a" or m == "b""#, r#"m == "b""#, None),
        (r#"m != "a" and m != "b""#, r#"m == "c""#, Some(true)),
        (r#"m == "a" and k == "y""#, r#"m == "a" and k == "y""#, Some(true)),
        (r#"m == "a" or k == "y""#, r#"m == "a""#, None),
        (r#"m == "a" or k == "y""#, r#"k == "y""#, None),
        (r#"m == "a" and k == "x" or m == "b" and k == "y""#, r#"m == "c""#, Some(false)),
        (r#"m == "a" and k == "x" or m == "b" and k == "x""#, r#"k == "x""#, Some(true)),
        (r#"m == "a" and k == "x" or m == "b" and k == "y""#, r#"k == "x""#, None),
        (r#"m == "a" and m == "b" or m == "c""#, r#"m == "c""#, Some(true)),
        (r#"m == "c" or m == "a" and m == "b""#, r#"m == "c""#, Some(true)),
        (r#"not (m == "a" or k == "x")"#, r#"m != "a""#, Some(true)),
        (r#"not (m == "a" or k == "x")"#, r#"k == "y""#, Some(true)),
        (r#"not (m == "a" and k == "x")"#, r#"m == "a""#, None),
        (r#"calm and k == "y""#, r#"m == "a""#, None),
        ("calm", "calm", None),
    ] {
        assert_eq!(behind(first, second), comes_out, "{second} behind {first}");
    }
}
