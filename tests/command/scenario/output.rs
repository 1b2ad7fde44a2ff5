//! What `chartc test` writes for people and programs.

use super::{DESK, chartc, folder};
use serde_json::Value;
use std::path::PathBuf;

const TESTS: &str = r#"
test "good" for Desk { expect at idle }
test "bad <&\"'> \u{1} one" for Desk { expect name == "<b>&" }
"#;

fn tests(name: &str) -> PathBuf {
    let folder = folder(name);
    std::fs::write(folder.join("desk.chart"), format!("{DESK}{TESTS}")).expect("it can be written");
    folder
}

#[test]
fn junit_is_xml_that_says_the_same() {
    let folder = tests("junit");
    let (_, code) = chartc(&folder, &["test", "--junit", "report.xml"]);
    assert_eq!(code, 1);
    let text = std::fs::read_to_string(folder.join("report.xml")).expect("it was written");
    let read = roxmltree::Document::parse(&text).expect("it is XML");
    let all = read.root_element();
    assert_eq!(all.tag_name().name(), "testsuites");
    let counts = |node: roxmltree::Node<'_, '_>| {
        ["tests", "failures", "errors"].map(|name| node.attribute(name).unwrap_or("").to_owned())
    };
    assert_eq!(counts(all), ["2", "1", "0"]);
    let suites: Vec<_> = all.children().filter(roxmltree::Node::is_element).collect();
    let [suite] = suites.as_slice() else { panic!("{} suites", suites.len()) };
    assert_eq!((suite.attribute("name"), counts(*suite)[1].as_str()), (Some("desk.chart"), "1"));
    let cases: Vec<_> = suite.children().filter(roxmltree::Node::is_element).collect();
    let names: Vec<_> = cases.iter().filter_map(|case| case.attribute("name")).collect();
    assert_eq!(names, ["good", "bad <&\"'> \\u{1} one"]);
    let time = |node: &roxmltree::Node<'_, '_>| -> f64 {
        let time = node.attribute("time").expect("it says how long it took");
        time.parse().expect("a number of seconds")
    };
    let sum: f64 = cases.iter().map(time).sum();
    assert!(sum > 0.0 && sum < 60.0, "{sum}");
    assert!((time(suite) - sum).abs() < 2e-6 && (time(&all) - sum).abs() < 2e-6, "{text}");
    assert_eq!(cases[0].children().count(), 0);
    let failure = cases[1].children().find(|node| node.has_tag_name("failure")).expect("it failed");
    assert_eq!(failure.attribute("message"), Some("expected `name == \"<b>&\"`"));
    let body = failure.text().unwrap_or_default();
    assert!(body.starts_with("desk.chart:"), "{body}");
    assert!(body.contains("name is \"\""), "{body}");
}

#[test]
fn json_says_the_same() {
    let folder = tests("json");
    let (text, code) = chartc(&folder, &["test", "--format", "json", "--coverage"]);
    assert_eq!(code, 1);
    let all: Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(
        (&all["version"], &all["passed"], &all["failed"]),
        (&1.into(), &1.into(), &1.into())
    );
    let bad = &all["tests"][1];
    assert_eq!((&bad["passed"], &bad["chart"]), (&Value::Bool(false), &"Desk".into()));
    assert_eq!(bad["failure"]["found"], "name is \"\"");
    assert!(bad["failure"]["trace"].as_array().is_some_and(|lines| !lines.is_empty()));
    assert_eq!(all["coverage"][0]["chart"], "Desk");
    let rows =
        ["states", "lines", "options_offered", "options_chosen", "guards_true", "guards_false"];
    let sum = |key: &str| {
        rows.map(|row| all["coverage"][0][row][key].as_u64()).iter().flatten().sum::<u64>()
    };
    let whole = &all["coverage"][0]["all"];
    assert_eq!(
        (whole["seen"].as_u64(), whole["all"].as_u64()),
        (Some(sum("seen")), Some(sum("all")))
    );
}

#[test]
fn tests_are_chosen_by_their_names() {
    let folder = tests("filter");
    let (text, code) = chartc(&folder, &["test", "--filter", "goo"]);
    assert_eq!((text.as_str(), code), ("ok     desk.chart: good\n\n1 passed, 0 failed\n", 0));
    let (text, code) = chartc(&folder, &["test", "--filter", "none such"]);
    assert_eq!((text.as_str(), code), ("no test name contains this text\n", 4));
}

#[test]
fn without_tests_there_is_nothing_to_do() {
    let folder = folder("nothing");
    std::fs::write(folder.join("it.chart"), "chart P { initial a  state a }\n").expect("as before");
    let (text, code) = chartc(&folder, &["test"]);
    assert_eq!(code, 4, "{text}");
    let (_, code) = chartc(&folder, &["test", "--min-coverage", "101"]);
    assert_eq!(code, 2);
}

#[test]
fn errors_of_a_chart_stand_in_the_way() {
    let folder = folder("errors");
    std::fs::write(
        folder.join("it.chart"),
        "chart P { initial a  state a { when true -> b } }\ntest \"x\" for P { expect at a }\n",
    )
    .expect("as before");
    let (text, code) = chartc(&folder, &["test"]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("no state `b`") && !text.contains("passed"), "{text}");
}

#[test]
fn a_run_that_does_not_end_is_a_failed_test() {
    let folder = folder("endless");
    let text = "chart P {\n  initial a\n  state a { after 1ms -> b }\n  state b { after 1ms -> a }\n}\n\
                test \"x\" for P { wait 30d }\n";
    std::fs::write(folder.join("it.chart"), text).expect("as before");
    let (text, code) = chartc(&folder, &["test"]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("the run does not end"), "{text}");
}

#[test]
fn a_failure_as_it_is_shown() {
    let body = "given fn vip = false\nsend knock(\"ann\")\nturn\nanswers next note(\"call her\")";
    let folder = folder("shown");
    let text = format!("{DESK}\ntest \"it\" for Desk {{\n{body}\nexpect at done\n}}\n");
    std::fs::write(folder.join("it.chart"), text).expect("the folder can be written");
    insta::assert_snapshot!(chartc(&folder, &["test", "it.chart"]).0);
}

#[test]
fn the_printer_writes_who_is_asked() {
    let text = "chart Child { initial a  state a { llm think { prompt \"x\"  returns Text } -> b }  final b }
chart Main {
  initial a
  state a {
    run helper Child()
    llm grade each x in [\"a\", \"b\", \"c\"] { prompt \"Grade {x}.\"  returns Text  else skip } -> b
  }
  final b
}
test \"t\" for Main { turn  answers helper/think \"x\"  fails grade[1] timeout }
";
    let done = chartc::check(&["a.chart".into()], &chartc::load::Memory::of("a.chart", text));
    let printed = chartc_compiler::syntax::print::print(&done.files[0]);
    for written in [
        "answers helper/think \"x\"",
        "fails grade[1] timeout",
        "llm grade each x in [\"a\", \"b\", \"c\"] {",
        "else skip",
    ] {
        assert!(printed.contains(written), "{printed}");
    }
}
