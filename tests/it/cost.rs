//! `chartc check --cost`.

use crate::project::root;
use std::process::Command;

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
    let charts = ["builder", "phases", "researcher", "social", "support"];
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
