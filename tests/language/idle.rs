//! The change that goes with a condition written with `when`.

use chartc::load::Memory;
use chartc::report::REPORTS;
use chartc::report::{Terminal, short};
use serde_json::Value;

#[test]
fn the_change_goes_with_the_finding() {
    let text = "chart It {
  event go
  event ping
  var n: Int = 0
  initial s
  state s {
    on go when n == 1 -> t
    on ping -> t
  }
  state t { on go -> s { n = n + 1 } }
}
";
    let done = chartc::check(&["it.chart".to_owned()], &Memory::of("it.chart", text));
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
        (&"if".into(), &7.into(), &11.into())
    );
    let mended = text.replace("go when", "go if");
    let done = chartc::check(&["it.chart".to_owned()], &Memory::of("it.chart", &mended));
    let left = short(&done.diagnostics, &done.sources);
    assert!(!left.contains("C0340") && !left.contains("error"), "{left}");
}
