//! Runs that were saved and go on.

use super::command::{chartc, folder};
use super::root;
use chartc_runtime::trace::What;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

#[test]
fn the_command_line_saves_and_goes_on() {
    let folder = folder("resumed");
    let builder = root().join("charts/builder.chart");
    let builder = builder.to_str().expect("a path");
    let run = |more: &[&str]| {
        chartc(&folder, &[&["run", builder, "--llm", "first", "--trace", "t.jsonl"], more].concat())
    };
    let (code, out, err) =
        run(&["--param", "agent_id=ada", "--turns", "2", "--snapshot", "s.json"]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let (code, out, err) = run(&["--resume", "s.json", "--turns", "2"]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.ends_with("(4 turns, 4 model calls)\n"), "{out}");
    let trace = std::fs::read_to_string(folder.join("t.jsonl")).expect("a trace");
    let lines = chartc_runtime::trace::read(&trace).expect("it can be read");
    assert_eq!(lines.last().map(|l| l.seq), Some(lines.len() as u64), "the trace goes on");
    assert!(lines.iter().any(|l| matches!(l.what, What::Resumed { .. })));

    let (code, out, err) = chartc(&folder, &["replay", "t.jsonl"]);
    assert_eq!((code, err.as_str()), (0, ""), "both parts are one run: {out}");

    let (code, _, err) = run(&["--resume", "s.json", "--param", "agent_id=bob"]);
    assert_eq!(code, 2);
    assert!(err.contains("the snapshot already contains the params"), "{err}");
    let social = root().join("charts/social.chart");
    let (code, _, err) =
        chartc(&folder, &["run", social.to_str().expect("a path"), "--resume", "s.json"]);
    assert_eq!(code, 2);
    assert!(err.contains("`Builder`"), "{err}");
}

#[test]
fn deferred_events_are_saved_with_the_run() {
    let folder = folder("deferred");
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("a file");
    write(
        "kitchen.chart",
        "chart Kitchen {
           event order(dish: Text)
           event cooked
           do serve(dish: Text)
           initial idle
           state idle { on order(d) -> cooking { serve(d) } }
           state cooking { defer order  on cooked -> idle }
         }",
    );
    let order =
        |dish: &str| format!("{{\"event\": \"order\", \"data\": {{\"dish\": \"{dish}\"}}}}\n");
    write("orders.jsonl", &[order("soup"), order("cake"), order("tea")].concat());
    write("functions.yaml", "functions: {serve: null}\n");
    write("cooked.jsonl", "{\"event\": \"cooked\"}\n");
    let run = |more: &[&str]| {
        let given = [
            "run",
            "kitchen.chart",
            "--llm",
            "first",
            "--trace",
            "t.jsonl",
            "--functions",
            "functions.yaml",
            "--snapshot",
            "s.json",
        ];
        let (code, out, err) = chartc(&folder, &[&given, more].concat());
        assert_eq!((code, err.as_str()), (0, ""), "{out}");
        out
    };
    let out = run(&["--events", "orders.jsonl"]);
    assert_eq!(out.matches("deferred").count(), 2, "{out}");
    let saved = std::fs::read_to_string(folder.join("s.json")).expect("a snapshot");
    assert!(saved.contains("cake") && saved.contains("tea") && !saved.contains("soup"), "{saved}");
    // A version without the event, or one that keeps none, cannot go on.
    let text = std::fs::read_to_string(folder.join("kitchen.chart")).expect("a chart");
    for (changed, why) in
        [(text.replace("order", "meal"), "`order`"), (text.replace("defer order", ""), "deferred")]
    {
        write("changed.chart", &changed);
        let (code, out, err) =
            chartc(&folder, &["run", "changed.chart", "--llm", "first", "--resume", "s.json"]);
        assert_eq!(code, 2, "{out}");
        assert!(err.contains(why), "{err}");
    }
    for (dish, left) in [("cake", 1), ("tea", 0)] {
        let out = run(&["--resume", "s.json", "--events", "cooked.jsonl"]);
        assert!(out.contains(&format!("serve('{dish}')")), "{dish}: {out}");
        let saved = std::fs::read_to_string(folder.join("s.json")).expect("a snapshot");
        assert_eq!(saved.matches("\"event\":\"order\",\"due\"").count(), left, "{saved}");
    }
    let (code, out, err) = chartc(&folder, &["replay", "t.jsonl"]);
    assert_eq!((code, err.as_str()), (0, ""), "all parts are one run: {out}");
    let (code, out, _) = chartc(&folder, &["trace", "t.jsonl"]);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("deferred") && out.contains("recalled"), "{out}");
}

#[test]
fn ctrl_c_ends_at_a_stable_point() {
    let folder = folder("interrupted");
    std::fs::write(
        folder.join("wait.chart"),
        "chart Wait {\n  event go\n  initial a\n  state a { after 1h -> b  on go -> b }\n  state b { after 1h -> c }\n  final c\n}\n",
    )
    .expect("a file");
    let mut child = Command::new(env!("CARGO_BIN_EXE_chartc"))
        .current_dir(&folder)
        .args([
            "run",
            "wait.chart",
            "--clock",
            "real",
            "--events",
            "/dev/stdin",
            "--snapshot",
            "s.json",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    std::io::Write::write_all(&mut stdin, b"{\"event\": \"go\"}\n{\"after_ms\": 3000000}\n")
        .expect("it reads");
    drop(stdin);
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut line = String::new();
    while !line.contains("a -> b") {
        line.clear();
        assert!(out.read_line(&mut line).expect("text") > 0, "it ended");
    }
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.is_ok_and(|status| status.success()));
    let done = child.wait_with_output().expect("it ends");
    let err = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(1), "{err}");
    assert!(err.contains("--resume s.json"), "{err}");
    // An hour after it was entered, however long nobody ran it.
    let (code, out, err) = chartc(
        &folder,
        &["run", "wait.chart", "--resume", "s.json", "--turns", "0", "--events", "later.json"],
    );
    assert_eq!(code, 2, "{out}{err}");
    std::fs::write(folder.join("later.json"), "[{\"after_ms\": 3600000}]").expect("a file");
    let (code, out, err) = chartc(
        &folder,
        &["run", "wait.chart", "--resume", "s.json", "--turns", "0", "--events", "later.json"],
    );
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert!(out.contains("b -> c"), "{out}");
}
