//! `chartc check --witness`: runs that refute `check` lines, as files.

use std::path::Path;
use std::process::Command;
use test_support::project::root;

const CHART: &str = "chart Way {\n  event go\n  initial a\n  state a { on go -> b }\n  state b { on go -> c }\n  state c { on go -> a }\n  \
                     check never(b before c)\n}\n";

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("it is a folder");
    let name = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.expect("it can be read").file_name().to_string_lossy().into_owned()
    };
    let mut names: Vec<String> = entries.map(name).collect();
    names.sort();
    names
}

/// Checks files of these names, all with the same chart; what was written where the runs go, and what was said about it.
fn witnesses(case: &str, files: &[&str]) -> (Vec<String>, String, std::path::PathBuf) {
    let folder = root().join("target/tmp/runs").join(case);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    for file in files {
        std::fs::write(folder.join(file), CHART).expect("a file can be written");
    }
    let output = Command::new(env!("CARGO_BIN_EXE_chartc"))
        .args(["check", "--witness", "runs"])
        .args(files)
        .current_dir(&folder)
        .output()
        .expect("chartc runs");
    let said = String::from_utf8(output.stderr).expect("chartc prints text");
    (names(&folder.join("runs")), said, folder.join("runs"))
}

#[test]
fn a_run_is_called_as_its_chart_and_check() {
    let (names, said, folder) = witnesses("one", &["a.chart"]);
    assert_eq!(names, ["Way.never.1.events.jsonl"]);
    assert!(!said.contains("several"), "{said}");
    let run = std::fs::read_to_string(folder.join(&names[0])).expect("it can be read");
    assert!(run.contains("go"), "{run}");
}

#[test]
fn charts_of_one_name_keep_their_runs_apart() {
    let (found, said, folder) = witnesses("two", &["a.chart", "b.chart"]);
    assert_eq!(found, ["a.chart", "b.chart"]);
    assert!(said.contains("several charts have the same name"), "{said}");
    assert_eq!(names(&folder.join("b.chart")), ["Way.never.1.events.jsonl"]);
}
