//! The charts we ship, run from the command line as their files say; their screens and traces are kept.

use super::command::{chartc, folder, trace};
use super::root;

/// Runs `charts/NAME.chart` with its script and its events, if it has any, and gives the screen and the trace.
fn play(name: &str, params: &[&str]) -> (String, String) {
    let folder = folder(&format!("shipped-{name}"));
    let kept = folder.join("trace.jsonl");
    let [chart, script, events] =
        ["chart", "script.yaml", "events.jsonl"].map(|kind| format!("charts/{name}.{kind}"));
    let script = format!("script:{script}");
    let kept = kept.to_str().expect("the target folder is text");
    let mut arguments = vec!["run", &chart, "--llm", &script, "--trace", kept];
    if root().join(&events).exists() {
        arguments.extend(["--events", &events]);
    }
    for param in params {
        arguments.extend(["--param", param]);
    }
    let (code, out, errors) = chartc(root(), &arguments);
    assert_eq!((code, errors.as_str()), (0, ""));
    let trace = trace(&folder);
    super::schema::assert_fits(&trace);
    (out, trace)
}

#[test]
fn social() {
    let (screen, trace) = play(
        "social",
        &["name=ada", r#"interests=["rust", "space"]"#, "personality=You like to argue."],
    );
    insta::assert_snapshot!("social_screen", screen);
    insta::assert_snapshot!("social_trace", trace);
}

#[test]
fn researcher() {
    let (screen, trace) = play("researcher", &["question=Why did trams come back?"]);
    insta::assert_snapshot!("researcher_screen", screen);
    insta::assert_snapshot!("researcher_trace", trace);
}

#[test]
fn auction() {
    let (screen, trace) = play("auction", &[]);
    insta::assert_snapshot!("auction_screen", screen);
    insta::assert_snapshot!("auction_trace", trace);
}

#[test]
fn phases() {
    let (screen, trace) = play("phases", &["goal=Who kept the light in 1911?"]);
    insta::assert_snapshot!("phases_screen", screen);
    insta::assert_snapshot!("phases_trace", trace);
}

#[test]
fn support() {
    let (screen, trace) = play("support", &["signature=Robin"]);
    insta::assert_snapshot!("support_screen", screen);
    insta::assert_snapshot!("support_trace", trace);
}

#[test]
fn retrieval() {
    let question = "question=When did the lighthouse get electric light?";
    let (screen, trace) = play("retrieval", &[question]);
    insta::assert_snapshot!("retrieval_screen", screen);
    insta::assert_snapshot!("retrieval_trace", trace);
}

#[test]
fn debate() {
    let (screen, trace) = play("debate", &["topic=Tea is better than coffee."]);
    insta::assert_snapshot!("debate_screen", screen);
    insta::assert_snapshot!("debate_trace", trace);
}

#[test]
fn refunds() {
    let folder = folder("shipped-refunds");
    let kept = folder.join("trace.jsonl");
    let kept = kept.to_str().expect("the target folder is text");
    let (chart, events) = ("charts/refunds.chart", "charts/refunds.events.jsonl");
    let (code, out, errors) = chartc(root(), &["run", chart, "--events", events, "--trace", kept]);
    assert_eq!((code, errors.as_str()), (0, ""));
    insta::assert_snapshot!("refunds_screen", out);
    insta::assert_snapshot!("refunds_trace", trace(&folder));
}

/// How `charts/support.chart` ends with other answers, after the ticket and what `events` says.
fn support_ends(name: &str, script: &str, events: &[&str], turns: &str) -> String {
    let folder = folder(&format!("support-{name}"));
    let ticket =
        r#"{"event": "ticket", "data": {"id": "T1", "from": "a", "subject": "s", "body": "b"}}"#;
    let events = [&[ticket], events].concat().join("\n");
    let [script_file, events_file] =
        [("script.yaml", script), ("events.jsonl", &events)].map(|(file, text)| {
            let file = folder.join(file);
            std::fs::write(&file, text).expect("the target folder can be written");
            file.to_str().expect("the target folder is text").to_owned()
        });
    let llm = format!("script:{script_file}");
    let arguments = [
        "run",
        "charts/support.chart",
        "--llm",
        &llm,
        "--events",
        &events_file,
        "--turns",
        turns,
        "--param",
        "signature=R",
    ];
    let (_, out, errors) = chartc(root(), &arguments);
    assert_eq!(errors, "");
    let from =
        out.lines().position(|line| line.contains("-> handing_over") || line.contains("-> closed"));
    out.lines().skip(from.expect("one of the two")).collect::<Vec<_>>().join("\n")
}

const SENDS: &str = "
answers:
  classify: {then: repeat, answers: [billing]}
  next: {then: repeat, answers: [write]}
  write: {then: repeat, answers: [hello]}
  satisfied: {then: repeat, answers: [again]}
  approve: {then: repeat, answers: [send]}
functions: {send_reply: , hand_over: }
";

#[test]
fn support_for_nobody_who_answers() {
    let events = [
        r#"{"turn": {}}"#,
        r#"{"turn": {}}"#,
        r#"{"turn": {}}"#,
        r#"{"event": "reply", "data": {"text": "late"}, "after_ms": 172800000}"#,
    ];
    insta::assert_snapshot!("support_silence", support_ends("silence", SENDS, &events, "0"));
}

#[test]
fn support_whose_calls_are_used_up() {
    let round = [
        r#"{"turn": {}}"#,
        r#"{"turn": {}}"#,
        r#"{"turn": {}}"#,
        r#"{"event": "reply", "data": {"text": "more"}}"#,
        r#"{"turn": {}}"#,
    ];
    let taken = [r#"{"event": "taken", "data": {"by": "Zoe"}}"#];
    let events = [&round[..], &round, &round, &round, &round, &round, &taken].concat();
    insta::assert_snapshot!("support_limit", support_ends("limit", SENDS, &events, "0"));
}

const SEARCHES: &str = "
answers:
  classify: [billing]
  next: {then: repeat, answers: [{tool: kb.search, arguments: {query: x}}]}
functions: {hand_over: }
";

#[test]
fn support_by_a_model_that_repeats_itself() {
    let script = format!("{SEARCHES}tools: {{kb.search: {{then: repeat, results: [[]]}}}}");
    let late = [r#"{"turn": {}}"#; 5];
    let late = [&late[..], &[r#"{"after_ms": 86400000, "turn": {}}"#]].concat();
    insta::assert_snapshot!("support_repeats", support_ends("repeats", &script, &late, "0"));
}

#[test]
fn support_after_three_failed_tries() {
    let script =
        format!("{SEARCHES}tools: {{kb.search: {{then: repeat, results: [{{fail: no index}}]}}}}");
    let taken =
        [&[r#"{"turn": {}}"#; 4][..], &[r#"{"event": "taken", "data": {"by": "Zoe"}}"#]].concat();
    insta::assert_snapshot!("support_fails", support_ends("fails", &script, &taken, "0"));
}
