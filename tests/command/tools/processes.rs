//! What is left of servers and runs when a process ends before its time.

use super::{project, told};
#[cfg(feature = "sqlite")]
use crate::run::command::chartc;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use test_support::project::until;

fn runs(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

#[test]
fn a_signal_leaves_no_process_behind() {
    let Some(folder) = project("signal", "stays", "") else { return };
    let chart =
        "tool h.hang() -> Text\nchart F { initial a state a { call f h.hang() -> b } final b }";
    std::fs::write(folder.join("f.chart"), chart).expect("a file");
    for (signal, code) in [("TERM", 1), ("HUP", 1), ("INT", 130)] {
        drop(std::fs::remove_file(folder.join("told")));
        let mut child = Command::new(env!("CARGO_BIN_EXE_chartc"))
            .args(["run", "f.chart", "--tools", "tools.toml"])
            // With a person at the terminal, Ctrl-C ends the process at once.
            .args(if signal == "INT" { &["--human", "terminal"][..] } else { &[] })
            .stdin(Stdio::piped())
            .current_dir(&folder)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("chartc runs");
        until("the tool is called", || told(&folder).contains("call hang"));
        let text = told(&folder);
        let pids: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("pids "))
            .flat_map(str::split_whitespace)
            .collect();
        assert_eq!(pids.len(), 2, "{text}");
        // The first one lets the call end, which never ends; the second one stops the run.
        let id = child.id().to_string();
        let kill = || {
            let kill = Command::new("kill").args(["-s", signal, &id]).status();
            assert!(kill.is_ok_and(|status| status.success()));
        };
        kill();
        if signal != "INT" {
            let told = BufReader::new(child.stderr.take().expect("a pipe")).lines();
            let told =
                told.map_while(Result::ok).find(|line| line.contains("the turn runs to its end"));
            assert!(told.is_some(), "{signal}");
            kill();
        }
        assert_eq!(child.wait().expect("it ends").code(), Some(code));
        until("its processes are gone", || !pids.iter().any(|pid| runs(pid)));
    }
}

#[cfg(feature = "sqlite")]
#[test]
fn a_call_that_a_crash_interrupts_is_in_doubt_and_not_made_again() {
    let Some(folder) = project("crash", "good", "") else { return };
    let chart = r#"
tool h.echo(text: Text) -> Text
tool h.hang() -> Text
chart F {
  initial a
  state a { call e h.echo("one") { done -> b } }
  state b { call f h.hang() { doubt -> unsure  error -> lost } -> done }
  final done
  final lost : error
  final unsure : partial
}
"#;
    std::fs::write(folder.join("f.chart"), chart).expect("a file");
    let run = ["run", "f.chart", "--tools", "tools.toml", "--store", "runs.db", "--run", "ada"];
    let mut child = Command::new(env!("CARGO_BIN_EXE_chartc"))
        .args(run)
        .current_dir(&folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("chartc runs");
    until("the tool is called", || told(&folder).contains("call hang"));
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    // Its server has nobody to talk to, and ends.
    until("the server ends", || told(&folder).ends_with("end of input\n"));
    let (code, out, err) = chartc(&folder, &["store", "runs.db", "resume", "ada"]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("b -> unsure") && out.contains("ended partial"), "{out}");
    assert_eq!(told(&folder).matches("call ").count(), 2, "{}", told(&folder));
}
