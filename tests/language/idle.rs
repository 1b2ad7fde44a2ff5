//! Lines that do nothing, and conditions written with `when`: what is said of them, and what is left alone.

use chartc::diagnostic::Severity;
use chartc::load::Memory;
use chartc::report::REPORTS;
use chartc::report::{Terminal, short};
use serde_json::Value;

/// The findings of one kind in a chart whose state `s` has this body.
fn found(body: &str, code: &str) -> Vec<String> {
    let done = chartc::check(&["it.chart".to_owned()], &Memory::of("it.chart", &chart(body)));
    let all = short(&done.diagnostics, &done.sources);
    let is_it = |line: &&str| line.contains(&format!("[{code}]"));
    all.lines().filter(is_it).map(|line| line.trim_start_matches("it.chart:").to_owned()).collect()
}

fn chart(body: &str) -> String {
    format!(
        r"chart It {{
  event go
  event ping
  event stop
  event text(body: Text)
  var n: Int = 0
  initial s
  state s {{
{body}
  }}
  state t {{ on go -> s {{ n = n + 1 }}  on ping -> s  on text -> s }}
  on stop -> over
  final over
}}
"
    )
}

fn is_idle(body: &str, place: &str) {
    let all = found(body, "C0340");
    assert_eq!(all.len(), 1, "{body}: {all:?}");
    assert!(all[0].starts_with(place), "{body}: {all:?}");
}

fn is_silent(body: &str) {
    let all = [found(body, "C0340"), found(body, "C0001"), found(body, "C0202")].concat();
    assert!(all.is_empty(), "{body}: {all:?}");
}

#[test]
fn conditions_that_became_lines() {
    is_idle("    on go when n == 1 -> t", "9:11: ");
    is_idle("    on text(body) when len(body) > 3 -> t", "9:19: ");
    is_idle("    on go\n      when n == 1 -> t", "10:7: ");
    is_idle("    after 5s when n == 1 -> t\n    on go -> t", "9:14: ");
    is_idle(
        "    ask q on turn else stay { prompt \"{options}\" }\n    may x \"x\" when n == 1 -> t\n    may y \"y\" -> t",
        "10:15: ",
    );
    is_idle("    on stop when n == 1 -> t\n    on go -> t", "9:13: ");
    is_idle("    from * { on go when n == 1 -> t }", "9:20: ");
}

#[test]
fn lines_that_do_nothing() {
    is_idle("    on ping after 5s -> t", "9:5: ");
    is_idle("    on go -> t\n    after 3s", "10:5: ");
    is_idle("    on go -> t\n    each after 3s", "10:5: ");
    is_idle("    on go -> t\n    on ping { }", "10:5: ");
    is_idle("    on go -> t\n    llm x { prompt \"x\" done }", "10:24: ");
    is_idle("    on go -> t\n    llm x { prompt \"x\" error then skip }", "10:24: ");
}

#[test]
fn lines_that_keep_something_else_from_being_done() {
    is_silent("    on stop\n    on go -> t");
    is_silent("    on go if n > 3 -> t\n    on go if n > 1 -> over\n    on go");
    is_silent("    on go if n > 3\n    on go -> t");
    is_silent("    llm x { prompt \"x\" done if n > 3  done -> t  error  timeout 30s }");
    is_silent("    llm x { prompt \"x\" done if n > 3 } -> t");
    is_silent(
        "    ask q on ping else stay { prompt \"{options}\" }\n    may x \"x\" -> t\n    on ping if n > 3",
    );
    is_silent(
        "    ask q on turn else stay { prompt \"{options}\" }\n    may x \"x\" -> t\n    may stay_here \"no\"\n    on turn if n > 3",
    );
    is_silent("    on go -> t\n    limits { calls 3 }\n    on limit.calls");
    is_silent("    on go { n = n + 1 } when n > 3 -> t");
    is_silent("    on go -> t  when n > 3 -> t");
}

#[test]
fn conditions_where_no_line_can_stand() {
    for (body, place) in [
        ("    llm x { prompt \"x\" done when n > 3 -> t }", "9:29: "),
        ("    llm x { prompt \"x\" error when n > 3 -> t }", "9:30: "),
        ("    on go -> t { when n > 3 { n = 1 } }", "9:18: "),
        ("    on go -> t if n > 3", "9:16: "),
    ] {
        let all = found(body, "C0001");
        assert!(all.iter().any(|one| one.starts_with(place)), "{body}: {all:?}");
    }
    for body in ["    on go -> t when n > 3", "    on go -> t\n    allow s -> t when n > 3"] {
        assert_eq!(found(body, "C0202").len(), 1, "{body}");
    }
}

#[test]
fn the_change_goes_with_the_finding() {
    let text = chart("    on go when n == 1 -> t\n    on ping -> t");
    let done = chartc::check(&["it.chart".to_owned()], &Memory::of("it.chart", &text));
    let json = REPORTS.iter().find(|report| report.name == "json").expect("there is JSON");
    let terminal = Terminal { colour: false, width: 100 };
    let all: Value = serde_json::from_str(&json.render(&done.diagnostics, &done.sources, terminal))
        .expect("it is JSON");
    let all = all["diagnostics"].as_array().expect("a list");
    let (with, without): (Vec<&Value>, Vec<&Value>) =
        all.iter().partition(|one| one["code"] == "C0340");
    assert!(without.iter().all(|one| one.get("fix").is_none()), "{without:?}");
    let fix = &with[0]["fix"];
    assert_eq!(fix["safe"], true);
    let edit = &fix["edits"][0];
    assert_eq!(
        (&edit["replacement"], &edit["line"], &edit["column"]),
        (&"if".into(), &9.into(), &11.into())
    );
    let mended = text.replace("go when", "go if");
    let done = chartc::check(&["it.chart".to_owned()], &Memory::of("it.chart", &mended));
    let left = short(&done.diagnostics, &done.sources);
    assert!(!left.contains("C0340") && !left.contains("error"), "{left}");
}

#[test]
fn what_follows_from_a_condition_that_became_a_line_is_not_told() {
    let text = "chart T {
  event go(n: Int)
  event stop
  var m: Int = 0
  initial s
  state s {
    on go(n) when n == 1 -> t { m = n }
    on go -> over
  }
  state t { on stop if m < 3 -> s }
  final over
}
";
    let done = chartc::check(&["it.chart".to_owned()], &Memory::of("it.chart", text));
    let codes: Vec<(&str, Severity)> =
        done.diagnostics.iter().map(|d| (d.rule.code, d.severity)).collect();
    assert_eq!(codes, [("C0340", Severity::Error)], "{:?}", done.diagnostics);
    assert!(done.charts.is_empty(), "a chart with an unknown name is not sound");
    let other = text.replace("n == 1 ->", "k == 1 ->");
    let done = chartc::check(&["it.chart".to_owned()], &Memory::of("it.chart", &other));
    let codes: Vec<&str> = done.diagnostics.iter().map(|d| d.rule.code).collect();
    assert_eq!(codes, ["C0340", "C0102"], "{:?}", done.diagnostics);
}
