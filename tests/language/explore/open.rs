//! `check` lines that are left open: what can be done.

use chartc::load::Memory;

/// The help of the one note in a file.
fn help(text: &str) -> String {
    let done = chartc::check(&["a.chart".into()], &Memory::of("a.chart", text));
    let found: Vec<_> = done.diagnostics.iter().filter(|d| d.rule.code == "C0391").collect();
    let [note] = &found[..] else { panic!("{:?}", done.diagnostics) };
    note.help.clone().unwrap_or_default()
}

#[test]
fn what_helps_with_a_chart_that_is_run() {
    let child = "chart Child {\n  event go\n  initial a\n  state a { on go -> f }\n  final f\n}\n";
    let mother = |step: &str| {
        format!(
            "{child}chart Mother {{\n  event add(by: Int)\n  event go\n  var n: Int = 0\n  initial a\n  \
             state a {{ {step} on add(by) {{ n = n * 3 + by }}  on go if n == 12345 -> f }}\n  final f\n  check reaches(f)\n}}\n"
        )
    };
    let runs = help(&mother("run it Child() at entry"));
    assert!(runs.contains("`chartc explore`") && !runs.contains("--explore N"), "{runs}");
    let alone = help(&mother(""));
    assert!(alone.contains("--explore N") && !alone.contains("is run"), "{alone}");
}
