//! `trace N`: the last transitions of an instance, as `chartc trace` shows them.

use super::command::{chartc, folder};

#[test]
fn a_user_sees_what_a_snapshot_keeps() {
    let folder = folder("history");
    std::fs::write(
        folder.join("lamp.chart"),
        "chart Lamp { event press  trace 2  initial off
  state off { on press -> on }
  state on { on press -> off } }
",
    )
    .expect("a file");
    std::fs::write(folder.join("e.jsonl"), "{\"event\": \"press\"}\n".repeat(3)).expect("a file");
    let run = ["run", "lamp.chart", "--events", "e.jsonl", "--snapshot", "run.json"];
    let (_, _, errors) = chartc(&folder, &run);
    assert!(!errors.contains("panic"), "{errors}");
    let (code, out, errors) = chartc(&folder, &["trace", "run.json"]);
    assert_eq!((code, errors.as_str()), (0, ""));
    insta::assert_snapshot!(out);
    let (code, _, errors) = chartc(&folder, &["trace", "run.json", "--summary"]);
    assert_eq!(code, 2, "{errors}");
    assert!(errors.contains("run.json is a snapshot"), "{errors}");
}
