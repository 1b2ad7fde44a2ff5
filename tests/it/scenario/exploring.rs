//! `chartc explore`.

use super::{DESK, chartc, folder};
use serde_json::Value;

fn explore(name: &str, text: &str, arguments: &[&str]) -> (String, i32) {
    let folder = folder(name);
    std::fs::write(folder.join("it.chart"), text).expect("it can be written");
    chartc(&folder, &[&["explore", "it.chart"], arguments].concat())
}

const LOOP: &str = r#"
chart Loop {
  event go
  initial a
  state a { on go -> b }
  state b { ask q on turn else stay { prompt "{options}" }  may left -> a  may right -> c  may down -> hole }
  state hole
  final c : partial
  state never { on go -> a }
  from * except hole | c {
    on go if in(never) -> a
  }
}
"#;

#[test]
fn in_words() {
    let (text, code) = explore("words", LOOP, &["--depth", "4"]);
    assert_eq!(code, 0, "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn counts_by_depth() {
    let runs = |depth: &str| -> Value {
        let (text, _) =
            explore(&format!("depth-{depth}"), LOOP, &["--depth", depth, "--format", "json"]);
        serde_json::from_str(&text).expect("it is JSON")
    };
    let two = runs("2");
    assert_eq!((&two["ends"], &two["worst"]["calls"]), (&serde_json::json!({}), &1.into()));
    let three = runs("3");
    assert_eq!(three["ends"], serde_json::json!({"partial": 1}));
    assert_eq!(three["not_reached"], serde_json::json!(["never"]));
    assert_eq!(three["dead_ends"].as_array().map(Vec::len), Some(0), "the hole was not tried yet");
    let four = runs("4");
    assert_eq!(four["dead_ends"].as_array().map(Vec::len), Some(1));
    assert!(four["worst"]["way"]["events"].as_array().is_some_and(|events| events.len() <= 4));
}

#[test]
fn a_bound_on_the_states_is_told() {
    let (text, code) = explore("bounded", DESK, &["--states", "2"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("not everything was tried: there are more"), "{text}");
}

#[test]
fn the_worst_way_can_be_simulated() {
    let folder = folder("worst");
    std::fs::write(folder.join("it.chart"), LOOP).expect("it can be written");
    let (text, _) = chartc(&folder, &["explore", "it.chart", "--depth", "6", "--format", "json"]);
    let found: Value = serde_json::from_str(&text).expect("it is JSON");
    let events = found["worst"]["way"]["events"].to_string();
    std::fs::write(folder.join("events.json"), events).expect("it can be written");
    let (text, code) = chartc(&folder, &["simulate", "it.chart", "--events", "events.json"]);
    assert_eq!(code, 0, "{text}");
}
