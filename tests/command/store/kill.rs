//! `chartc run --store` whose process ends at any moment.

use super::damage::Dice;
use super::*;
use crate::run::command::chartc;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use test_support::project::root;

const RUN: [&str; 10] = [
    "run",
    "builder.chart",
    "--llm",
    "script:builder.script.yaml",
    "--param",
    "agent_id=ada",
    "--store",
    "s.db",
    "--run",
    "ada",
];

fn builder(name: &str) -> PathBuf {
    let folder = folder(&format!("store-{name}"));
    for file in ["builder.chart", "builder.script.yaml"] {
        std::fs::copy(root().join("charts").join(file), folder.join(file)).expect("a chart");
    }
    folder
}

/// Lets the process print so many lines, and a little more, and sends it a signal. Returns whether that has ended it.
fn ends_by(
    folder: &Path,
    arguments: &[&str],
    signal: &str,
    lines: usize,
    later: std::time::Duration,
    printed: &mut Vec<String>,
) -> bool {
    let mut child = Command::new(env!("CARGO_BIN_EXE_chartc"))
        .current_dir(folder)
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("chartc runs");
    let mut out = BufReader::new(child.stdout.take().expect("piped"));
    let mut line = String::new();
    for _ in 0..lines {
        line.clear();
        if out.read_line(&mut line).expect("text") == 0 {
            break;
        }
        printed.push(line.clone());
    }
    // No condition is waited for: any moment will do, those before the first line included.
    std::thread::sleep(later);
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(sent.expect("kill").success());
    // What was printed before the end is still in the pipe; the last line may be cut.
    let mut rest = String::new();
    out.read_to_string(&mut rest).expect("text");
    printed
        .extend(rest.split_inclusive('\n').filter(|line| line.ends_with('\n')).map(str::to_owned));
    let done = child.wait_with_output().expect("it ends");
    let err = String::from_utf8_lossy(&done.stderr);
    // SIGTERM and SIGHUP let calls under way end; then the process says that it was stopped.
    let was_stopped = done.status.code() == Some(1) && err.contains("the same command continues");
    assert!(done.status.signal().is_some() || was_stopped || done.status.success(), "{err}");
    done.status.signal().is_some() || was_stopped
}

#[test]
fn a_run_whose_process_is_killed_goes_on_as_if_it_had_not_been() {
    let folder = builder("kill");
    let (code, screen, err) = chartc(&folder, &RUN);
    assert_eq!(code, 0, "{err}");
    let file = folder.join("s.db");
    let lines = || timeless(&Store::open(&file).and_then(|s| s.lines("ada")).expect("a run"));
    let whole = lines();
    let mut dice = Dice(0xfeed);
    for signal in ["-KILL", "-KILL", "-TERM", "-HUP"] {
        for end in ["s.db", "s.db-wal", "s.db-shm", "s.db.lock"] {
            drop(std::fs::remove_file(folder.join(end)));
        }
        let mut ended = 0;
        let mut printed = Vec::new();
        for _ in 0..12 {
            let later = std::time::Duration::from_micros(dice.below(20_000) as u64);
            let lines = dice.below(4);
            ended += usize::from(ends_by(&folder, &RUN, signal, lines, later, &mut printed));
        }
        println!("{signal}: {ended} of 12 processes ended");
        assert!(ended > 2, "{signal}: {ended}");
        let (code, out, err) = chartc(&folder, &RUN);
        assert_eq!(code, 0, "{out}{err}");
        assert_eq!(lines(), whole, "{signal}");
        // Whatever a process has printed has happened, in this order, and no process after it has printed it again.
        printed.extend(out.split_inclusive('\n').map(str::to_owned));
        let mut all = screen.split_inclusive('\n');
        for line in printed.iter().filter(|line| line.contains(" -> ")) {
            assert!(
                all.any(|one| one == line),
                "{signal}: {line} in\n{}\nof\n{screen}",
                printed.concat()
            );
        }
        let (code, out, err) = chartc(&folder, &["replay", "--store", "s.db", "ada"]);
        assert_eq!(code, 0, "{signal}: {out}{err}");
        let (code, out, err) = chartc(&folder, &["store", "s.db", "check"]);
        assert_eq!(code, 0, "{signal}: {out}{err}");
    }
}

#[test]
fn a_wait_that_was_interrupted_goes_on_and_does_not_begin_again() {
    let folder = folder("store-wait");
    let mut chart = "chart Wait {\n  event go\n  initial s0\n".to_owned();
    for nth in 0..30 {
        chart += &format!("  state s{nth} {{ after 1m -> s{} }}\n", nth + 1);
    }
    chart += "  state s30 {}\n  on go -> gone\n  final gone\n}\n";
    std::fs::write(folder.join("wait.chart"), chart).expect("a file");
    let events = "[{\"event\": \"turn\"}, {\"after_ms\": 1200000, \"event\": \"go\"}]";
    std::fs::write(folder.join("e.json"), events).expect("a file");
    let run = "run wait.chart --llm first --events e.json --store s.db --run";
    let of = |name: &'static str| run.split(' ').chain([name]).collect::<Vec<&str>>();
    let lines = |name: &str| {
        let store = Store::open(&folder.join("s.db")).expect("a store");
        store.lines(name).expect("a run")
    };
    assert_eq!(chartc(&folder, &of("whole")).0, 0);
    let mut ended = 0;
    for name in ["a", "b", "c", "d", "e", "f", "g", "h"] {
        for nth in 0..3 {
            let later = std::time::Duration::from_millis(nth * 4);
            ended += usize::from(ends_by(&folder, &of(name), "-KILL", 3, later, &mut Vec::new()));
        }
        let (code, out, err) = chartc(&folder, &of(name));
        assert_eq!(code, 0, "{out}{err}");
        // Times included: the event comes when 20 minutes have passed, whoever counted them.
        assert_eq!(lines(name), lines("whole"), "{name}");
    }
    println!("{ended} of 24 processes ended");
    assert!(ended > 4, "{ended}");
}
