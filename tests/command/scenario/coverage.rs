//! What tests go through.

use super::{DESK, chartc, folder};

fn covered(name: &str, tests: &str, arguments: &[&str]) -> (String, i32) {
    let folder = folder(name);
    std::fs::write(folder.join("it.chart"), format!("{DESK}{tests}")).expect("it can be written");
    std::fs::write(folder.join("other.chart"), "chart Other { initial a  state a }\n")
        .expect("it can be written");
    chartc(&folder, &[&["test"], arguments].concat())
}

const SOME: &str = r#"
test "refused" for Desk {
  given fn vip = false
  send knock("ann")
  turn
  answers next drop
}
"#;

#[test]
fn lines_states_options_and_guards() {
    let (text, code) = covered("some", SOME, &["--coverage"]);
    assert_eq!(code, 0, "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn too_little_is_a_failure() {
    // 9 of the 26 rows are gone through, 34.6 %, and but 2 of the 11 lines.
    let (text, code) = covered("little", SOME, &["--min-coverage", "34.7"]);
    assert_eq!(code, 1, "{text}");
    let said = "error: the tests cover 34.6 % of Desk, less than 34.7 %: ";
    assert!(text.contains(said), "{text}");
    assert!(text.contains(", lines taken 2 of 11, options chosen 1 of 3, "), "{text}");
    assert!(!text.contains("options offered"), "what is whole is not missing: {text}");
    let (text, code) = covered("enough", SOME, &["--min-coverage", "34.6"]);
    assert_eq!(code, 0, "{text}");
}

#[test]
fn charts_that_are_run_are_covered_too() {
    let folder = folder("family");
    let text = "chart Outer {\n  event go\n  initial a\n  state a { run r Inner() at entry { done -> b } }\n  final b\n}\n\
                chart Inner { event go  initial x  state x { on go -> y }  final y }\n\
                test \"through\" for Outer { send go  expect ended ok }\n";
    std::fs::write(folder.join("it.chart"), text).expect("it can be written");
    let (text, code) = chartc(&folder, &["test", "--coverage", "--min-coverage", "100"]);
    assert_eq!(code, 0, "{text}");
    assert!(
        text.contains("\nInner (it.chart)\n  states entered       2 of 2    100 %\n"),
        "{text}"
    );
}

#[test]
fn conditions_that_the_trace_does_not_tell_of() {
    let folder = folder("guards");
    let text = "chart G {\n  var n: Int = 0\n  event more\n  initial a\n  state a {\n    on more { n = n + 1 }\n    \
                when n >= 2 -> b\n  }\n  state b {\n    ask q on turn else stay { prompt \"{options}\" }\n    \
                may x \"x\" if n > 5 -> a\n    may y \"y\" if n < 5 -> a\n    may z \"z\" -> a\n  }\n}\n";
    let seen = |name: &str, body: &str| {
        let text = format!("{text}test \"t\" for G {{\n{body}\n}}\n");
        std::fs::write(folder.join(name), text).expect("it can be written");
        let (told, _) = chartc(&folder, &["test", name, "--coverage"]);
        let rows = told.lines().filter(|line| line.contains("guards seen"));
        let rows: Vec<String> = rows
            .map(|row| row.split_whitespace().skip(2).take(4).collect::<Vec<_>>().join(" "))
            .collect();
        rows.join(", ")
    };
    assert_eq!(seen("none.chart", "expect at a"), "true 0 of 3, false 0 of 3");
    assert_eq!(seen("false.chart", "send more"), "true 0 of 3, false 1 of 3");
    assert_eq!(seen("both.chart", "send more\nsend more"), "true 1 of 3, false 1 of 3");
    let body = "at b\nturn\nanswers q z\nsend more\nsend more";
    assert_eq!(seen("options.chart", body), "true 2 of 3, false 2 of 3");
}
