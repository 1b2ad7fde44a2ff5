//! The charts we ship, run from the command line as their files say; their screens and traces are kept.

use super::command::{chartc, folder, trace};
use super::root;

/// Runs `charts/NAME.chart` with its script and its events, and gives the screen and the trace.
fn play(name: &str, params: &[&str]) -> (String, String) {
    let folder = folder(&format!("shipped-{name}"));
    let kept = folder.join("trace.jsonl");
    let [chart, script, events] =
        ["chart", "script.yaml", "events.jsonl"].map(|kind| format!("charts/{name}.{kind}"));
    let script = format!("script:{script}");
    let kept = kept.to_str().expect("the target folder is text");
    let mut arguments = vec!["run", &chart, "--llm", &script, "--events", &events, "--trace", kept];
    for param in params {
        arguments.extend(["--param", param]);
    }
    let (code, out, errors) = chartc(root(), &arguments);
    assert_eq!((code, errors.as_str()), (0, ""));
    (out, trace(&folder))
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
fn phases() {
    let (screen, trace) = play("phases", &["goal=Who kept the light in 1911?"]);
    insta::assert_snapshot!("phases_screen", screen);
    insta::assert_snapshot!("phases_trace", trace);
}
