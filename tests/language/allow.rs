//! Comments that leave findings out.

use chartc::load::Memory;
use chartc::report::short;

#[test]
fn what_is_off_can_be_allowed_where_it_is() {
    let asking = |allow: &str, deadline: &str| {
        format!(
            "chart A {{
  initial a
  state a {{
    {deadline}
    llm think {{ prompt \"Think.\" }} -> b   {allow}
  }}
  final b
}}
"
        )
    };
    let off = |text: &str| {
        let done = chartc::check(&["a.chart".into()], &Memory::of("a.chart", text));
        let told = short(&done.diagnostics, &done.sources);
        (told, done.silent.iter().map(|d| d.rule.code).collect::<Vec<_>>())
    };
    let allow = "// chartc: allow(unbounded-wait) the host bounds it";
    assert_eq!(off(&asking("", "")), (String::new(), vec!["C0317"]));
    assert_eq!(off(&asking(allow, "")), (String::new(), vec![]));
    let (told, silent) = off(&asking(allow, "after 1m -> b"));
    assert!(told.contains("C0010") && silent.is_empty(), "{told}");
}
