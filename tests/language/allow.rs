//! Comments that leave findings out.

use chartc::load::Memory;
use chartc::report::short;

/// The findings in a file of this name.
fn found(name: &str, text: &str) -> String {
    let files = Memory([(name.to_owned(), text.to_owned())].into());
    let done = chartc::check(&[name.to_owned()], &files);
    short(&done.diagnostics, &done.sources)
}

const SHUT: &str = "chart Shop {
  event go
  initial open
  state open { on go -> shut }
  state shut
}
";

/// The same with text in front of the state that nothing drives, and behind it.
fn shut(before: &str, behind: &str) -> String {
    let text = SHUT.replace("  state shut\n", &format!("{before}  state shut{behind}\n"));
    found("a.chart", &text)
}

#[test]
fn a_comment_is_about_its_line_or_the_next_that_says_something() {
    assert!(shut("", "").contains("C0301"));
    let allow = "// chartc: allow(C0301) it stays shut";
    assert_eq!(shut("", &format!("  {allow}")), "");
    assert_eq!(shut(&format!("  {allow}\n"), ""), "");
    assert_eq!(shut(&format!("  {allow}\n\n  // another remark\n"), ""), "");
    assert_eq!(shut("  // chartc: allow(C0302, undriven-state) both\n", "").lines().count(), 1);
    insta::assert_snapshot!(shut(&format!("  {allow}\n  event late\n"), ""));
}

#[test]
fn what_cannot_be_followed_is_told_and_the_rest_is_taken() {
    let all = [
        "allow(C0301)",
        "allow(Undriven_State, C0399) so be it",
        "allow(unknown-name) so be it",
        "allow() so be it",
        "deny(C0301) so be it",
        "",
    ];
    let told = all.map(|words| shut(&format!("  // chartc: {words}\n"), ""));
    insta::assert_snapshot!(told.join("---\n"));
}

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

#[test]
fn text_is_no_comment() {
    let text = "chart A {
  client c: model \"m\"
  initial a
  state a {
    llm think with c { prompt \"\"\"
      // chartc: allow(nothing)
      \"\"\" }
    on turn -> b
  }
  final b
}
";
    assert!(!found("a.chart", text).contains("C0009"), "{}", found("a.chart", text));
}

#[test]
fn other_languages_have_their_own_comments() {
    let yaml = |comment: &str| {
        format!(
            "id: walker\nworkflow:\n{comment}  colour: red\n  steps:\n    - name: think\n      type: llm\n      prompt: \"Say it.\"\n"
        )
    };
    let plain = found("agent.yaml", &yaml(""));
    assert!(plain.contains("C0101"), "{plain}");
    let allowed = found("agent.yaml", &yaml("  # chartc: allow(unknown-field) of an older tool\n"));
    assert!(!allowed.contains("C0101") && !allowed.contains("C0010"), "{allowed}");
    let scxml = "<scxml xmlns=\"http://www.w3.org/2005/07/scxml\" version=\"1.0\">
  <state id=\"a\"><transition event=\"go\" target=\"b\"/></state>
  <!-- chartc: allow(C0301)
       it stays here -->
  <state id=\"b\"/>
</scxml>
";
    assert_eq!(found("a.scxml", scxml), "");
}
