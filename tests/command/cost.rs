//! `chartc check --cost`.

use std::process::Command;
use test_support::project::root;

fn cost(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_chartc"))
        .args(["check", "--cost"])
        .args(arguments)
        .current_dir(root())
        .output()
        .expect("chartc runs");
    let text = |bytes| String::from_utf8(bytes).expect("chartc prints text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn costs_of_shipped_charts() {
    let charts = ["builder", "debate", "phases", "researcher", "retrieval", "social", "support"];
    let paths: Vec<String> = charts.iter().map(|c| format!("charts/{c}.chart")).collect();
    let arguments: Vec<&str> = paths.iter().map(String::as_str).collect();
    let (code, table, _) = cost(&arguments);
    assert_eq!(code, Some(0));
    insta::assert_snapshot!("cost_of_shipped_charts", table);
}

#[test]
fn costs_for_programs() {
    let (_, text, _) = cost(&["--format", "json", "charts/builder.chart"]);
    let all: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(all["version"], 1);
    let chart = &all["charts"][0];
    assert_eq!(chart["chart"], "Builder");
    assert_eq!(chart["run"]["least"], 5);
    assert_eq!(chart["run"]["worst"], 800);
    assert_eq!(chart["turns"][0]["steps"][0]["retries"], 3);
}

#[test]
fn other_formats_have_no_costs() {
    let (code, out, err) = cost(&["--format", "short", "charts/builder.chart"]);
    assert!(out.is_empty() && err.contains("--cost"), "{code:?} {out} {err}");
}

/// A question that is put again in each later leaf that an option leads to.
const AGAIN: &str = "chart Again {
  limits { calls 3 per turn }
  initial s
  state s {
    ask which on turn else stay { prompt \"Which? {options}\" }
    initial a
    state a { may on_to_b \"b\" -> b  may round_to_a \"a\" -> a }
    state b { may on_to_c \"c\" -> c  may b_to_a \"a\" -> a }
    state c { may on_to_d \"d\" -> d  may c_to_a \"a\" -> a }
    state d { may d_to_a \"a\" -> a  may d_to_b \"b\" -> b  llm last { prompt \"?\" retry 1 } }
  }
}
";

#[test]
fn a_question_counts_in_each_leaf_where_it_is_put() {
    let dir = test_support::project::folder("cost-again");
    let worst = |chart: &str| {
        let path = dir.join("again.chart");
        std::fs::write(&path, chart).expect("the target folder can be written");
        let (_, out, err) = cost(&["--format", "json", path.to_str().expect("text")]);
        let all: serde_json::Value = serde_json::from_str(&out).expect(&err);
        let turns = all["charts"][0]["turns"].as_array().expect("turns").clone();
        turns.iter().map(|turn| turn["worst"].as_u64().expect("a number")).collect::<Vec<_>>()
    };
    // From `a` three of the questions; the step of `d`, with its retry, instead of one of them.
    assert_eq!(worst(AGAIN), [4, 4, 4, 4]);
    // Each leaf once, and the step.
    assert_eq!(worst(&AGAIN.replace("calls 3", "calls 9")), [6, 6, 6, 6]);
    assert_eq!(worst(&AGAIN.replace("calls 3", "calls 1")), [2, 2, 2, 2]);
    // Where no option leads, nothing is asked.
    assert_eq!(worst(&AGAIN.replace("calls 3", "calls 9").replace("-> c ", "-> b ")), [2, 2]);
}

#[test]
fn limits_over_params_are_shown_as_formulas() {
    let folder = test_support::project::folder("cost-money");
    let path = folder.join("m.chart");
    let chart = "chart M {
  param most: Int = 3
  param budget: Float = 0.5
  client c { model \"test:m\"  max_tokens 100  input_price 1.0  output_price 2.0 }
  limits { calls most * 2  cost budget }
  initial s
  state s { llm think with c { prompt \"Think.\" } -> done }
  final done
}
";
    let says = |text: &str| {
        std::fs::write(&path, text).expect("a file");
        let path = path.to_str().expect("UTF-8");
        let (_, table, _) = cost(&[path]);
        let (_, json, _) = cost(&["--format", "json", path]);
        let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
        let rows: Vec<String> = table.lines().rev().take(2).map(words).collect();
        (rows, json["charts"][0]["run"]["money"].clone())
    };
    let (rows, money) = says(chart);
    assert_eq!(
        rows,
        [
            "money of such a run 0.000003 budget limits { cost … } over params",
            "a run, to an end that is ok 1 most * 2 least over 1 line; worst: limits { calls most * 2 }",
        ]
    );
    assert_eq!(money, serde_json::json!({"least": 3e-6, "most": null, "formula": "budget"}));
    let (_, money) = says(&chart.replace("cost budget", "tokens 5000"));
    assert_eq!(money, serde_json::json!({"least": 3e-6, "most": 0.01}));
    let (_, money) = says(&chart.replace(" input_price 1.0  output_price 2.0 ", ""));
    assert_eq!(money, serde_json::Value::Null, "a price is not known");
}

/// The words of a row, with one blank between.
fn words(row: &str) -> String {
    row.split_whitespace().collect::<Vec<_>>().join(" ")
}
