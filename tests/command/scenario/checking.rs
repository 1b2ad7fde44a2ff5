//! Tests that `chartc check` plays.

use super::{chartc, folder};
use serde_json::Value;
use std::path::Path;

/// A chart whose test fails where `3` is another number.
fn lamp(name: &str, most: u32) -> String {
    format!(
        "chart {name} {{\n  event press\n  var count: Int = 0\n  initial off\n  \
         state off {{\n    on press if count < {most} -> on {{ count = count + 1 }}\n  }}\n  \
         state on {{ on press -> off }}\n}}\n"
    )
}

fn test(name: &str) -> String {
    let times = "  send press\n".repeat(6);
    format!(
        "test \"three times for {name}\" for {name} {{\n{times}  send press\n  expect at off\n}}\n"
    )
}

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).expect("the folder can be written");
}

/// The codes that are found with the lines where they are.
fn found(folder: &Path, arguments: &[&str]) -> (Vec<String>, i32) {
    let (text, code) = chartc(folder, &[&["check", "--format", "json"], arguments].concat());
    let all: Value = serde_json::from_str(&text).expect("it is JSON");
    let findings = all["diagnostics"].as_array().expect("a list of findings");
    let word = |d: &Value| {
        let (file, code) = (d["file"].as_str(), d["code"].as_str());
        format!("{}:{} {}", file.unwrap_or("?"), d["line"], code.unwrap_or("?"))
    };
    (findings.iter().map(word).collect(), code)
}

#[test]
fn a_failed_test_is_a_finding() {
    let folder = folder("check-failed");
    write(&folder, "it.chart", &format!("{}{}", lamp("Lamp", 4), test("Lamp")));
    let (text, code) = chartc(&folder, &["check", "it.chart"]);
    assert_eq!(code, 1, "{text}");
    let told = "three times for Lamp: expected to be at `off`";
    assert!(text.contains("error[C0601] failed-test") && text.contains(told), "{text}");
    for format in ["short", "json"] {
        let (text, code) = chartc(&folder, &["check", "--format", format, "it.chart"]);
        assert!(code == 1 && text.contains("C0601"), "{format}: {text}");
    }
    write(&folder, "it.chart", &format!("{}{}", lamp("Lamp", 3), test("Lamp")));
    let (text, code) = chartc(&folder, &["check", "it.chart"]);
    assert_eq!(code, 0, "{text}");
}

#[test]
fn tests_are_left_out_on_demand() {
    let folder = folder("check-without");
    write(&folder, "it.chart", &format!("{}{}", lamp("Lamp", 4), test("Lamp")));
    assert_eq!(found(&folder, &["--no-tests"]), (vec![], 0));
    write(&folder, "chartc.toml", "[check]\ntests = false\n");
    assert_eq!(found(&folder, &[]), (vec![], 0));
    write(&folder, "chartc.toml", "[check]\ntests = true\n");
    assert_eq!(found(&folder, &[]), (vec!["it.chart:18 C0601".to_owned()], 1));
}

#[test]
fn files_of_tests_are_played_where_they_are_found() {
    let folder = folder("check-beside");
    write(&folder, "b.chart", &lamp("B", 4));
    write(&folder, "b.test.chart", &format!("import \"b.chart\"\n{}", test("B")));
    write(&folder, "a.chart", &format!("{}{}", lamp("A", 4), test("A")));
    let (all, code) = found(&folder, &["b.test.chart"]);
    assert_eq!((all, code), (vec!["b.test.chart:10 C0601".to_owned()], 1));
    let (all, _) = found(&folder, &["."]);
    assert_eq!(all, ["a.chart:18 C0601", "b.test.chart:10 C0601"]);
}

#[test]
fn the_tests_beside_a_file_that_is_named_are_played() {
    let folder = folder("check-named");
    write(&folder, "b.chart", &lamp("B", 4));
    write(&folder, "b.test.chart", &format!("import \"b.chart\"\n{}", test("B")));
    let failed = |name: &str| (vec![format!("{name}:10 C0601")], 1);
    assert_eq!(found(&folder, &["b.chart"]), failed("b.test.chart"));
    assert_eq!(found(&folder, &["./b.chart", "b.test.chart"]), failed("b.test.chart"));
    assert_eq!(found(&folder, &["--no-tests", "b.chart"]), (vec![], 0));
    // Not those of a file that only has the same stem, such as a chart that came of a document beside it.
    write(
        &folder,
        "b.scxml",
        "<scxml xmlns=\"http://www.w3.org/2005/07/scxml\" version=\"1.0\"><final id=\"e\"/></scxml>",
    );
    assert_eq!(found(&folder, &["b.scxml"]), (vec![], 0));
    // Tests that import nothing are told of: they were meant for the file beside them.
    write(&folder, "b.test.chart", &test("B"));
    let (all, code) = found(&folder, &["b.chart"]);
    assert_eq!((all, code), (vec!["b.test.chart:1 C0102".to_owned()], 1));
}

#[test]
fn tests_of_a_chart_with_errors_are_not_played() {
    let folder = folder("check-broken");
    let broken = lamp("Broken", 4).replace("-> off", "-> of");
    let tests = [test("Broken"), test("Lamp")].concat();
    write(&folder, "it.chart", &format!("{broken}{}{tests}", lamp("Lamp", 4)));
    let (all, code) = found(&folder, &[]);
    assert_eq!(
        (all, code),
        (vec!["it.chart:8 C0102".to_owned(), "it.chart:37 C0601".to_owned()], 1)
    );
    // A test with a name that means nothing is not played; others of its file are.
    let tests = [
        test("Lamp").replace("at off", "at of\n  expect at off"),
        test("Lamp").replace("three", "3"),
    ]
    .concat();
    write(&folder, "it.chart", &format!("{}{tests}", lamp("Lamp", 4)));
    let (all, _) = found(&folder, &[]);
    assert_eq!(
        all,
        ["it.chart:18 C0102"],
        "an error beside the charts of a file is of all of them"
    );
    write(&folder, "it.chart", &lamp("Lamp", 4));
    write(&folder, "it.test.chart", &format!("import \"it.chart\"\n{tests}"));
    let (all, _) = found(&folder, &[]);
    assert_eq!(all, ["it.test.chart:10 C0102", "it.test.chart:21 C0601"]);
}

#[test]
fn no_comment_leaves_a_failed_test_out() {
    let folder = folder("check-allow");
    let test = test("Lamp").replace("  expect", "  // chartc: allow(C0601) it is known\n  expect");
    write(&folder, "it.chart", &format!("{}{test}", lamp("Lamp", 4)));
    assert_eq!(found(&folder, &[]).0, ["it.chart:18 C0009", "it.chart:19 C0601"]);
}

#[test]
fn standard_input_is_played() {
    let text = format!("{}{}", lamp("Lamp", 4), test("Lamp"));
    let folder = folder("check-stdin");
    write(&folder, "it.txt", &text);
    let file = std::fs::File::open(folder.join("it.txt")).expect("it was written");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_chartc"))
        .args(["check", "--format", "short", "-"])
        .stdin(file)
        .output()
        .expect("chartc runs");
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(told.starts_with("<stdin>:18:3: error[C0601]"), "{told}");
}

#[test]
fn a_run_that_does_not_end_is_told() {
    let folder = folder("check-endless");
    let text = "chart P {\n  initial a\n  state a { after 1ms -> b }\n  state b { after 1ms -> a }\n}\n\
                test \"x\" for P { wait 30d }\n";
    write(&folder, "it.chart", text);
    let (all, code) = found(&folder, &[]);
    assert_eq!((all.last().map(String::as_str), code), (Some("it.chart:6 C0601"), 1), "{all:?}");
}

#[test]
fn a_run_that_cannot_start_is_told() {
    let folder = folder("check-start");
    let text = "chart P {\n  param n: Int in 1..3\n  initial a\n  state a { on turn if n > 1 -> b }\n  final b\n}\n\
                test \"x\" for P {\n  given n = 2 + 3\n  expect at a\n}\n";
    write(&folder, "it.chart", text);
    let (text, code) = chartc(&folder, &["check", "--format", "short"]);
    let told = "it.chart:7:6: error[C0601] x: the run cannot start: param `n`: 5 is not in 1..3";
    assert!(code == 1 && text.starts_with(told), "{text}");
}
