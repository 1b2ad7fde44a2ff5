//! `--snapshot` files that several processes write, and that several continue.

use super::*;
use crate::run::command::chartc;
use chartc_runtime::Saved;
use std::process::{Command, Stdio};
use test_support::project::root;

#[test]
fn a_snapshot_that_four_processes_write_is_one_of_theirs() {
    let folder = folder("store-snapshots");
    let builder = root().join("charts/builder.chart");
    let run = |turns: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_chartc"));
        command.current_dir(&folder).arg("run").arg(&builder);
        command.args(["--llm", "first", "--param", "agent_id=ada", "--snapshot", "s.json"]);
        command.args(["--turns", turns]).stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().expect("chartc runs")
    };
    let mut won = [0; 4];
    for _ in 0..60 {
        let children = ["1", "2", "3", "4"].map(run);
        for child in children {
            let done = child.wait_with_output().expect("it ends");
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        }
        let text = std::fs::read_to_string(folder.join("s.json")).expect("one has won");
        let saved = Saved::read(&text).expect("it is whole");
        assert!(saved.status().is_none());
        let turns = serde_json::to_value(&saved).expect("data")["turns"].as_u64().expect("turns");
        won[turns as usize - 1] += 1;
    }
    println!("written last, by process: {won:?}");
    let left = std::fs::read_dir(&folder).expect("the folder").count();
    assert_eq!(left, 1, "no other file is left");
    // Each that continues it is a run of its own, from the same moment.
    let builder = builder.to_str().expect("a path");
    let again = || {
        chartc(&folder, &["run", builder, "--llm", "first", "--resume", "s.json", "--turns", "2"])
    };
    assert_eq!(again(), again());
}
