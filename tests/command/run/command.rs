//! The commands `run` and `simulate`.

use super::root;
use chartc_runtime::clock::VirtualClock;
use chartc_runtime::oracle::Script;
use chartc_runtime::trace::What;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use test_support::project::{blocks, read};

/// A folder of a test's own.
pub(crate) fn folder(name: &str) -> PathBuf {
    test_support::project::folder(&format!("run-{name}"))
}

/// Exit code, standard output, standard error.
pub(crate) fn chartc(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    typed(folder, arguments, "")
}

/// With what a person types.
fn typed(folder: &Path, arguments: &[&str], words: &str) -> (i32, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_chartc"))
        .args(arguments)
        .current_dir(folder)
        .env("COLUMNS", "100")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("chartc runs");
    // It may have ended without reading.
    let _ = child.stdin.take().expect("piped").write_all(words.as_bytes());
    let output = child.wait_with_output().expect("chartc ends");
    let text = |bytes| String::from_utf8(bytes).expect("chartc prints text");
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

fn builder(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    for name in ["builder.chart", "builder.script.yaml"] {
        let from = root().join("charts").join(name);
        std::fs::copy(from, folder.join(name)).expect("charts can be copied");
    }
    let fixed = ["run", "builder.chart", "--param", "agent_id=ada"];
    chartc(folder, &[&fixed[..], arguments].concat())
}

/// The trace that a run left in its folder, without the hash of the chart.
pub(super) fn trace(folder: &Path) -> String {
    let text = std::fs::read_to_string(folder.join("trace.jsonl")).expect("the trace was written");
    let lines = chartc_runtime::trace::read(&text).expect("it can be read back");
    assert!(matches!(lines[0].what, What::Run { .. }), "not the first: {:?}", lines[0]);
    lines.into_iter().fold(text, |text, line| match line.what {
        What::Run { hash, .. } => text.replace(&hash, "(hash)"),
        _ => text,
    })
}

#[test]
fn the_builder_from_the_command_line() {
    let folder = folder("builder");
    let script = ["--llm", "script:builder.script.yaml", "--trace", "trace.jsonl"];
    let (code, out, errors) = builder(&folder, &script);
    assert_eq!((code, errors.as_str()), (0, ""));
    insta::assert_snapshot!("builder_screen", out);
    insta::assert_snapshot!("builder_trace", trace(&folder));
}

#[test]
fn the_agent_yaml_from_the_command_line() {
    let folder = folder("agent");
    let kept = folder.join("trace.jsonl");
    let (code, out, errors) = chartc(
        root(),
        &[
            "run",
            "charts/builder.agent.yaml",
            "--llm",
            "script:charts/builder.agent.script.yaml",
            "--input",
            "agent_id=ada",
            "--input",
            "balance=100",
            "--turns",
            "6",
            "--trace",
            kept.to_str().expect("the target folder is text"),
        ],
    );
    assert_eq!((code, errors.as_str()), (0, ""));
    insta::assert_snapshot!("agent_screen", out);
    insta::assert_snapshot!("agent_trace", trace(&folder));
}

#[test]
fn without_a_model_it_stops_at_the_first_question() {
    let (code, out, errors) = builder(&folder("nobody"), &[]);
    assert_eq!(code, 1);
    assert!(out.contains("the turn failed at observe"), "{out}");
    assert!(errors.contains("say who answers: --llm script:FILE"), "{errors}");
}

#[test]
fn turns_bound_a_run_and_calls_the_turn() {
    let (code, out, _) = builder(&folder("turns"), &["--llm", "first", "--turns", "2"]);
    assert_eq!(code, 0);
    assert!(out.ends_with("implementing: stopped (2 turns, 2 model calls)\n"), "{out}");
    let (_, out, _) =
        builder(&folder("calls"), &["--llm", "first", "--turns", "1", "--calls-per-turn", "0"]);
    assert!(out.ends_with("implementing: stopped (1 turn, 5 model calls)\n"), "{out}");
    let (_, out, _) =
        builder(&folder("calls2"), &["--llm", "first", "--turns", "1", "--calls-per-turn", "2"]);
    assert!(out.ends_with("implementing: stopped (1 turn, 2 model calls)\n"), "{out}");
}

#[test]
fn events_set_inputs_turn_by_turn() {
    let folder = folder("events");
    std::fs::write(
        folder.join("e.jsonl"),
        "{\"turn\":{\"balance\":5}}\n{\"turn\":{}}\n{\"turn\":{\"balance\":50.5}}\n",
    )
    .expect("the folder can be written");
    let (code, out, errors) = builder(&folder, &["--llm", "first", "--events", "e.jsonl"]);
    assert_eq!((code, errors.as_str()), (0, ""));
    assert!(
        out.contains("turn 2\n  compute_metrics\n  ideate: noop\n  ideate: no outcome line holds"),
        "{out}"
    );
    assert!(out.ends_with("implementing: stopped (3 turns, 3 model calls)\n"), "{out}");
}

#[test]
fn wrong_usage_says_what_is_wrong() {
    let folder = folder("usage");
    std::fs::write(folder.join("bad.yaml"), "answer: {}").expect("the folder can be written");
    std::fs::write(folder.join("bad.jsonl"), "{\"event\":\"go\"}\n")
        .expect("the folder can be written");
    for (arguments, why) in [
        (&["--llm", "gpt"][..], "`gpt` is not a valid value of --llm: use script:FILE"),
        (&["--llm", "random:x"], "`x` is not a seed"),
        (&["--llm", "scirpt:s.yaml"], "did you mean `script`? If not, set SCIRPT_BASE_URL"),
        (&["--llm", "opanai:gpt-4o"], "did you mean `openai`?"),
        (&["--llm", "ours:small"], "the provider `ours` is unknown: set OURS_BASE_URL"),
        (&["--llm", "script:none.yaml"], "cannot read none.yaml"),
        (&["--llm", "script:bad.yaml"], "bad.yaml: `answer` is unknown"),
        (&["--llm", "first", "--events", "bad.jsonl"], "entry 1: no event `go`"),
        (&["--input", "balanse=3"], "has no input `balanse`; did you mean `balance`?"),
        (&["--input", "balance"], "`balance` is not NAME=VALUE"),
        (&["--input", "balance=much", "--llm", "first"], "balance"),
    ] {
        let (code, _, errors) = builder(&folder, arguments);
        assert!(code == 2 && errors.contains(why), "{arguments:?}: {code} {errors}");
    }
    let (code, _, errors) = chartc(&folder, &["run", "builder.chart", "--llm", "first"]);
    assert!(code == 2 && errors.contains("agent_id"), "{code} {errors}");
}

#[test]
fn answers_to_nobody_are_warned_of() {
    let folder = folder("strangers");
    std::fs::write(folder.join("s.yaml"), "answers: {obseve: [x]}\n")
        .expect("the folder can be written");
    let (code, _, errors) = builder(&folder, &["--llm", "script:s.yaml"]);
    assert_eq!(code, 1);
    assert!(
        errors.contains("answers `obseve`, which `Builder` never asks; did you mean `observe`?"),
        "{errors}"
    );
    assert!(errors.contains("has no answers for step `observe`"), "{errors}");
}

#[test]
fn a_chart_with_errors_does_not_run() {
    let folder = folder("faulty");
    let text = "chart A {\n  event go\n  initial a\n  state a { on go -> b }\n}\n";
    std::fs::write(folder.join("a.chart"), text).expect("the folder can be written");
    std::fs::write(folder.join("e.json"), "[]").expect("the folder can be written");
    for arguments in [&["run", "a.chart"][..], &["simulate", "a.chart", "--events", "e.json"]] {
        let (code, out, errors) = chartc(&folder, arguments);
        assert!(code == 1 && out.is_empty() && errors.contains("`b`"), "{arguments:?}: {errors}");
    }
}

#[test]
fn a_chart_of_events_has_no_turns() {
    let folder = folder("eventful");
    let text = "chart A {\n  event go\n  initial a\n  state a { on go -> b }\n  state b { after 20ms -> c }\n  final c\n}\n";
    std::fs::write(folder.join("a.chart"), text).expect("the folder can be written");
    let (code, out, _) = chartc(&folder, &["run", "a.chart"]);
    assert_eq!((code, out.as_str()), (0, "A\n  -> a\na: stopped (0 turns, 0 model calls)\n"));
    let events = "{\"event\":\"go\"}\n{\"after_ms\":30}\n";
    std::fs::write(folder.join("e.jsonl"), events).expect("the folder can be written");
    for clock in ["virtual", "real"] {
        let (code, out, _) =
            chartc(&folder, &["run", "a.chart", "--events", "e.jsonl", "--clock", clock]);
        assert_eq!(code, 0);
        assert!(
            out.ends_with("  b -> c  (after)\nc: ended ok (0 turns, 0 model calls)\n"),
            "{clock}: {out}"
        );
    }
}

#[test]
fn a_simulation_as_json_and_for_people() {
    let folder = folder("simulate");
    let text = "chart A {\n  event go\n  initial a\n  state a { on go -> b }\n  state b { after 2s -> c }\n  final c\n}\n";
    std::fs::write(folder.join("a.chart"), text).expect("the folder can be written");
    let events = r#"[{"event":"go"},{"event":"go"},{"event":"go","after_ms":2000}]"#;
    std::fs::write(folder.join("e.json"), events).expect("the folder can be written");
    let (code, out, errors) =
        chartc(&folder, &["simulate", "a.chart", "--events", "e.json", "--format", "json"]);
    assert_eq!((code, errors.as_str()), (0, ""));
    assert_eq!(
        out,
        concat!(
            r#"{"configurations":[["a"],["b"],["b"],["c"]],"paths":[["a"],["b"],["b"],["c"]],"#,
            r#""receipts":["handled","handled","unhandled","closed"],"status":"ok"}"#,
            "\n"
        )
    );
    let (_, out, _) = chartc(&folder, &["simulate", "a.chart", "--events", "e.json"]);
    assert_eq!(
        out,
        "start   a\ngo      b\ngo      b  (unhandled)\n+2s go  c  (closed)\nended ok\n"
    );
}

#[test]
fn the_files_that_the_docs_show_can_be_read() {
    let scripts = blocks(&read("docs/running.md"), "yaml");
    let events =
        [blocks(&read("docs/running.md"), "json"), blocks(&read("docs/running.md"), "jsonl")]
            .concat();
    let traces = blocks(&read("docs/trace.md"), "jsonl");
    assert_eq!((scripts.len(), events.len(), traces.len()), (1, 2, 2));
    for (line, text) in scripts {
        let script = Script::parse("docs", &text, std::sync::Arc::new(VirtualClock::new()));
        assert!(script.is_ok(), "line {line}: {script:?}");
    }
    for (line, text) in events {
        chartc_runtime::data::entries(&text).unwrap_or_else(|e| panic!("line {line}: {e}"));
    }
    for (line, text) in traces {
        chartc_runtime::trace::read(&text).unwrap_or_else(|e| panic!("line {line}: {e}"));
    }
}

#[test]
fn a_person_answers_in_the_terminal() {
    let folder = folder("person");
    std::fs::write(
        folder.join("buyer.chart"),
        "tool price(item: Text) -> Int
chart Buyer {
  param item: Text
  var cost: Int = 0
  var sure: Bool = false
  initial asking
  state asking {
    call look price(item) { returns Int into cost }
    human confirm \"Buy {item} for {cost}?\" {
      returns Bool into sure
      retry 1
      done if sure -> bought
    }
  }
  final bought
}
",
    )
    .expect("the folder can be written");
    std::fs::write(folder.join("shop.yaml"), "tools: {price: [12]}\n").expect("as before");
    let arguments = [
        "run",
        "buyer.chart",
        "--param",
        "item=tea",
        "--llm",
        "script:shop.yaml",
        "--human",
        "terminal",
    ];
    // A line may name its question; one that names another is no answer and uses no attempt.
    let lines = "q0000000z yes\nperhaps\nq0000000z yes\nyes\n";
    let (code, out, errors) = typed(&folder, &arguments, lines);
    assert_eq!((code, errors.as_str()), (0, ""), "{out}");
    assert_eq!(out.matches("question `q0000000z` is not open; open is q").count(), 2, "{out}");
    for part in [
        "Buy tea for 12?",
        " (yes or no)> ",
        "no usable answer: the answer is yes or no",
        "ended ok",
    ] {
        assert!(out.contains(part), "no {part:?} in\n{out}");
    }
    let (code, out, _) = typed(&folder, &arguments, "");
    assert!(out.contains("nobody answers: the input has ended"), "{out}");
    assert_eq!(code, 1, "{out}");
}

#[test]
fn a_person_sees_every_option_whatever_the_prompt_mentions() {
    let folder = folder("person_options");
    let chart = |options: &str| {
        format!(
            "chart Shop {{\n  initial a\n  state a {{\n    ask q on turn else stay {{ prompt \"A good stop to go on? {options}\" }}\n    \
             may go \"go on\" -> b\n    may stop \"stop it\" -> b\n  }}\n  final b\n}}\n"
        )
    };
    for (options, before) in
        [("", "- go\n- stop\n"), ("\\n{options}", "| - go: go on\n| - stop: stop it\n")]
    {
        std::fs::write(folder.join("a.chart"), chart(options)).expect("the folder can be written");
        let (code, out, _) = typed(&folder, &["run", "a.chart", "--llm", "human"], "go\n");
        assert_eq!(code, 0, "{out}");
        assert!(out.contains(&format!("{before}q (one of the options)> ")), "{out}");
    }
}
