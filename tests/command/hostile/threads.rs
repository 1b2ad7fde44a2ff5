//! A machine that cannot start more threads: chartc reports an error and does not crash.

use crate::run::command::folder;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs chartc as a user with a limit on threads; `None` where there is no such limit.
fn with_threads(most: u32, folder: &Path, arguments: &[&str]) -> Option<Output> {
    let command = |arguments: &[&str]| {
        Command::new("setpriv")
            .args(["--reuid=65534", "--clear-groups", "prlimit", &format!("--nproc={most}")])
            .arg(env!("CARGO_BIN_EXE_chartc"))
            .args(arguments)
            .current_dir(folder)
            .stdin(Stdio::null())
            .output()
    };
    if !command(&["--version"]).is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: the number of threads cannot be limited here");
        return None;
    }
    Some(command(arguments).expect("it ran before"))
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

const ASKS: &str = r#"
chart Asks {
  initial asking
  state asking { llm think { prompt "Well?" } -> over }
  final over
}
"#;

#[test]
fn a_thread_that_cannot_start_is_an_error_with_a_remedy() {
    let folder = folder("no-threads");
    std::fs::write(folder.join("asks.chart"), ASKS).expect("a file");
    let world = "execution: {ticks: 2}\nagents: [{file: asks.chart, id: a, llm: deny}]\n";
    std::fs::write(folder.join("run.yaml"), world).expect("a file");
    let workers = ["run", ".", "--workers", "64", "--log", "/dev/null"];
    let Some(output) = with_threads(1, &folder, &workers) else { return };
    let text = said(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("cannot start 64 threads") && text.contains("--workers"), "{text}");
    // A name lookup needs a thread. Without one, the call fails and the run reports the reason.
    let asks = ["run", "asks.chart", "--llm", "http://localhost:9/v1", "--model", "m"];
    let output = with_threads(1, &folder, &asks).expect("as before");
    let text = said(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("Resource temporarily unavailable"), "{text}");
    // A check works with the threads that it gets.
    let output = with_threads(1, &folder, &["check", "asks.chart"]).expect("as before");
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
}
