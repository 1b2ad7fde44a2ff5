//! A world in a store whose process is killed goes on as if it had not been.

use super::running::{lines, traders};
use super::{chartc, folder};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use test_support::project::{number, root};

/// Runs to the end; the log, and the last line of the output.
fn undisturbed(folder: &Path, end: [&str; 2]) -> (String, Value) {
    let mut command = chartc(folder, &["run", ".", end[0], end[1], "--log", "whole.jsonl"]);
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let all = lines(&String::from_utf8_lossy(&output.stdout));
    let log = std::fs::read_to_string(folder.join("whole.jsonl")).expect("a log");
    (log, all.last().cloned().expect("a last line"))
}

/// Kills the process behind a number of summaries, twice, and lets the third one run to the end. `CHARTC_WORLD_KILLS=20` is the whole campaign.
fn goes_on(folder: &Path, ends: [&str; 2], behind: impl Fn(usize) -> [usize; 2]) {
    let (log, end) = undisturbed(folder, ends);
    let args = ["run", ".", ends[0], ends[1], "--log", "log.jsonl", "--store", "w.db"];
    for kill in 0..number("CHARTC_WORLD_KILLS", 2_usize) {
        let store = folder.join("w.db");
        for file in ["w.db", "w.db-wal", "w.db-shm"] {
            drop(std::fs::remove_file(folder.join(file)));
        }
        let mut deaths = 0;
        for after in behind(kill) {
            let mut command = chartc(folder, &args);
            command.args(["--workers", "2"]);
            let mut child = command.stdout(Stdio::piped()).spawn().expect("it runs");
            let out = BufReader::new(child.stdout.take().expect("an output"));
            for _ in out.lines().take(after) {}
            // After a while that no condition decides: at any place of what comes next.
            let mut spin = kill * 1_000;
            while spin > 0 {
                spin -= 1;
                std::hint::spin_loop();
            }
            deaths += usize::from(child.try_wait().expect("it can be asked").is_none());
            drop(child.kill());
            child.wait().expect("it has ended");
        }
        let output = chartc(folder, &args).output().expect("it runs");
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{err}");
        let last = lines(&String::from_utf8_lossy(&output.stdout)).pop().expect("a last line");
        assert_eq!(last, end, "kill {kill}");
        let found = std::fs::read_to_string(folder.join("log.jsonl")).expect("a log");
        assert!(found == log, "the log differs after kill {kill}");
        assert!(deaths > 0 && store.exists(), "nothing was killed");
    }
}

#[test]
fn a_world_that_is_killed_goes_on_as_if_it_had_not_been() {
    let folder = traders("killed");
    goes_on(&folder, ["--ticks", "12"], |kill| [1 + kill % 5, 3 + kill % 4]);
}

#[test]
fn loops_and_auctions_that_are_killed_go_on_as_if_they_had_not_been() {
    let folder = folder("killed-loops");
    let shipped = root().join("examples/ecology");
    for file in std::fs::read_dir(shipped).expect("an example") {
        let file = file.expect("a file");
        std::fs::copy(file.path(), folder.join(file.file_name())).expect("a copy");
    }
    // The score of the first auction is under way from second 20 to 22.
    goes_on(&folder, ["--duration", "26"], |kill| [2 + kill, 20 - kill % 4]);
}

#[test]
fn a_store_goes_on_only_with_the_world_that_it_has() {
    let folder = traders("other");
    let run = |args: &[&str]| {
        let mut command = chartc(&folder, &["run", ".", "--store", "w.db", "--ticks", "3"]);
        let output = command.args(args).output().expect("it runs");
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), err, lines(&String::from_utf8_lossy(&output.stdout)))
    };
    assert_eq!(run(&[]).0, Some(0));
    let (code, err, _) = run(&["--seed", "5"]);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("was begun with --seed 0"), "{err}");
    let trader = std::fs::read_to_string(folder.join("trader.chart")).expect("a file");
    std::fs::write(folder.join("trader.chart"), trader.replace("rest: Int = 2", "rest: Int = 3"))
        .expect("a file");
    let (code, err, _) = run(&[]);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("other agents, or other charts"), "{err}");
}

#[test]
fn more_ticks_go_on_where_fewer_have_ended() {
    let folder = traders("more");
    let (log, end) = undisturbed(&folder, ["--ticks", "12"]);
    for ticks in ["4", "4", "9", "12"] {
        let args = ["run", ".", "--store", "w.db", "--log", "log.jsonl", "--ticks", ticks];
        let output = chartc(&folder, &args).output().expect("it runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        if ticks == "12" {
            let last = lines(&String::from_utf8_lossy(&output.stdout)).pop();
            assert_eq!(last.as_ref(), Some(&end));
        }
    }
    assert!(std::fs::read_to_string(folder.join("log.jsonl")).expect("a log") == log);
}

#[test]
fn the_store_of_a_world_is_checked_like_any_other() {
    let folder = traders("checked");
    let run = ["run", ".", "--ticks", "2", "--store", "w.db"];
    assert!(chartc(&folder, &run).output().expect("it runs").status.success());
    let check = || {
        let done = chartc(&folder, &["store", "w.db", "check"]).output().expect("it runs");
        (done.status.code(), String::from_utf8_lossy(&done.stdout).into_owned())
    };
    assert_eq!(check(), (Some(0), "w.db: no damage\n".to_owned()));
    let store = rusqlite::Connection::open(folder.join("w.db")).expect("an SQLite file");
    store.execute("UPDATE agent SET saved = 'x' WHERE name = 't_7'", []).expect("a row");
    assert_eq!(check(), (Some(1), "the agent `t_7`\n".to_owned()));
    store.execute("DELETE FROM agent WHERE name = 't_7'", []).expect("a row");
    let (code, out) = check();
    assert!(code == Some(1) && out.contains("the number of agents"), "{out}");
}
