//! The commands on a chart whose regions ask at the same time.

use super::super::command::{chartc, folder};
use super::{SCRIPT, pair};
use std::path::{Path, PathBuf};

/// What holds of the chart, and a test that answers in the other order.
const REST: &str = r#"
test "both are open at once" for Pair {
  turn
  expect asked write_pro
  expect asked write_contra
  answers write_contra "no"
  expect at arguing.pro.writing, arguing.contra.said
  answers write_pro "yes"
  expect at judging
  expect prompt of judge contains "For: yes Against: no"
  answers judge "perhaps"
  expect ended ok
}
"#;

/// A folder with the chart, its script and its tests.
fn written(name: &str) -> PathBuf {
    let folder = folder(&format!("together-{name}"));
    let checks = "  limits { calls 6 }
  check reaches(judged)
  check at_most(6 calls)
  initial arguing\n";
    let chart = pair("pro", "contra").replacen("  initial arguing\n", checks, 1) + REST;
    std::fs::write(folder.join("pair.chart"), chart).expect("the folder can be written");
    std::fs::write(folder.join("script.yaml"), SCRIPT).expect("the folder can be written");
    folder
}

/// What a command says, which must be without errors.
fn says(folder: &Path, arguments: &[&str]) -> String {
    let (code, out, errors) = chartc(folder, arguments);
    assert_eq!((code, errors.as_str()), (0, ""), "{arguments:?}: {out}");
    out
}

const RUN: [&str; 4] = ["run", "pair.chart", "--llm", "script:script.yaml"];

#[test]
fn a_run_and_its_trace() {
    let folder = written("trace");
    insta::assert_snapshot!(
        "together_screen",
        says(&folder, &[&RUN[..], &["--trace", "run.jsonl"]].concat())
    );
    let again = says(&folder, &["replay", "run.jsonl"]);
    assert!(again.contains("1 turn, 3 answers from the trace, 0 model calls"), "{again}");
    insta::assert_snapshot!("together_trace", says(&folder, &["trace", "run.jsonl"]));
    insta::assert_snapshot!(
        "together_sequence",
        says(&folder, &["trace", "run.jsonl", "--format", "mermaid"])
    );
    let summary = says(&folder, &["trace", "--summary", "run.jsonl"]);
    assert!(summary.contains("questions   3: judge 1, write_contra 1, write_pro 1"), "{summary}");
    let time = summary.lines().find(|line| line.trim_start().starts_with("time"));
    assert_eq!(time.map(str::trim), Some("time        6s"), "{summary}");
}

#[test]
fn a_change_in_the_trace_is_found_by_replay() {
    let folder = written("changed");
    says(&folder, &[&RUN[..], &["--trace", "run.jsonl"]].concat());
    let path = folder.join("run.jsonl");
    let text = std::fs::read_to_string(&path).expect("it was written");
    let mut lines: Vec<&str> = text.lines().collect();
    let asked = |line: &&str| line.contains("\"question\"");
    let first = lines.iter().position(asked).expect("a question");
    let second = first + 1 + lines[first + 1..].iter().position(asked).expect("another");
    lines.swap(first, second);
    std::fs::write(&path, lines.join("\n")).expect("the folder can be written");
    let (code, out, _) = chartc(&folder, &["replay", "run.jsonl"]);
    assert_eq!(code, 1, "{out}");
}

#[test]
fn a_recorded_run_without_its_script() {
    let folder = written("recorded");
    let first = says(&folder, &[&RUN[..], &["--record", "calls"]].concat());
    assert_eq!(first, says(&folder, &["run", "pair.chart", "--llm", "replay:calls"]));
}

#[test]
fn a_run_that_stops_among_its_calls_is_resumed() {
    for ms in [2000, 4500] {
        let folder = written(&format!("stopped-{ms}"));
        // An event that the chart does not have ends the command there.
        let events = format!("[{{\"turn\":{{}}}},{{\"event\":\"nobody\",\"after_ms\":{ms}}}]");
        std::fs::write(folder.join("events.json"), events).expect("the folder can be written");
        let stops = ["--events", "events.json", "--snapshot", "run.json"];
        assert_eq!(chartc(&folder, &[&RUN[..], &stops].concat()).0, 2);
        let out = says(&folder, &[&RUN[..], &["--resume", "run.json"]].concat());
        // A script is not asked twice for those that were open when it stopped.
        assert!(out.ends_with("judged: ended ok (1 turn, 3 model calls)\n"), "{out}");
        assert_eq!(out.contains("write_contra: \"no\""), ms < 4000, "{out}");
    }
}

#[test]
fn answers_played_in_either_order() {
    let folder = written("simulated");
    for [first, second] in [["pro", "contra"], ["contra", "pro"]] {
        let events = format!(
            r#"[{{"turn":{{}}}},{{"answer":"a","step":"write_{first}"}},{{"answer":"b","step":"write_{second}"}},{{"answer":"c"}}]"#
        );
        std::fs::write(folder.join("events.json"), events).expect("the folder can be written");
        let out = says(&folder, &["simulate", "pair.chart", "--events", "events.json"]);
        let rows: Vec<&str> = out
            .lines()
            .map(|row| row.rsplit_once("  ").map_or(row, |(_, states)| states))
            .collect();
        let mut between = [format!("arguing.{first}.said"), format!("arguing.{second}.writing")];
        // In document order.
        between.sort_by_key(|path| !path.contains("pro"));
        let both = "arguing.pro.writing, arguing.contra.writing";
        assert_eq!(
            rows,
            [both, both, &between.join(", "), "judging", "judged", "ended ok"],
            "{out}"
        );
    }
}

#[test]
fn tests_checks_and_every_order_of_answers() {
    let folder = written("explored");
    let out = says(&folder, &["test", "pair.chart"]);
    assert!(out.ends_with("1 passed, 0 failed\n"), "{out}");
    says(&folder, &["check", "pair.chart"]);
    let out = says(&folder, &["explore", "pair.chart"]);
    for state in ["pro.said, arguing.contra", "contra.said, judging, judged"] {
        assert!(out.contains(state), "{out}");
    }
    assert!(out.contains("dead ends     none"), "{out}");
    let cost = says(&folder, &["check", "--cost", "pair.chart"]);
    assert!(cost.contains("write_pro 1 + write_contra 1 + judge 1"), "{cost}");
}

/// One question for the leaves of both regions.
const SHARED: &str = "chart Shared {
  initial both
  parallel both {
    ask which on turn else stay { prompt \"Which? {options}\" }
    state left { initial open state open { may go \"go on\" -> gone  may stop \"stop\" -> stopped } state gone state stopped }
    state right { initial open state open { may rest \"rest\" -> resting  may work \"work\" -> working } state resting state working }
  }
}
";

#[test]
fn two_questions_of_one_step_answered_in_either_order_replay() {
    for (left, right) in [("5s", "4s"), ("4s", "5s"), ("4s", "4s")] {
        let folder = folder(&format!("together-shared-{left}-{right}"));
        std::fs::write(folder.join("shared.chart"), SHARED).expect("the folder can be written");
        let script = format!(
            "answers: {{which: [{{answer: stop, after: {left}}}, {{answer: work, after: {right}}}]}}"
        );
        std::fs::write(folder.join("script.yaml"), script).expect("the folder can be written");
        let run = ["run", "shared.chart", "--llm", "script:script.yaml", "--turns", "1"];
        let out = says(&folder, &[&run[..], &["--trace", "run.jsonl"]].concat());
        assert!(out.contains("both.left.stopped, both.right.working"), "{out}");
        let again = says(&folder, &["replay", "run.jsonl"]);
        assert!(again.contains("2 answers from the trace, 0 model calls"), "{again}");
    }
}
