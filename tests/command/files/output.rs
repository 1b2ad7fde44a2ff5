//! Standard output that nobody reads, or that cannot be written.
#![cfg(target_os = "linux")]

use super::{CHART, command, folder, write};
use std::fs::OpenOptions;
use std::process::Stdio;

const COMMANDS: &[&[&str]] = &[
    &["--help"],
    &["--version"],
    &["check", "--help"],
    &["check", "a.chart"],
    &["check", "a.chart", "--format", "json"],
    &["check", "a.chart", "--cost"],
    &["build", "a.chart"],
    &["graph", "a.chart"],
    &["show", "a.chart"],
    &["convert", "a.chart"],
    &["explore", "a.chart"],
    &["explain", "C0013"],
    &["explain", "--list"],
    &["completions", "bash"],
    &["man"],
    &["fmt", "--check", "wide.chart"],
    #[cfg(feature = "run")]
    &["test", "t.chart"],
    #[cfg(feature = "run")]
    &["run", "a.chart"],
    #[cfg(feature = "run")]
    &["simulate", "a.chart", "--events", "/dev/null"],
];

#[test]
fn an_output_that_is_full_is_a_fault_and_one_that_is_closed_is_none() {
    let folder = folder("output");
    write(&folder.join("a.chart"), CHART);
    write(&folder.join("wide.chart"), &CHART.replace("  event", "      event"));
    write(&folder.join("t.chart"), &format!("{CHART}test \"t\" for A {{ send e  expect at f }}\n"));
    for arguments in COMMANDS {
        let full = OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
        let output = command(&folder, arguments).stdout(full).output().expect("chartc starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?} {said}");
        assert!(said.contains("cannot write to standard output: No space"), "{arguments:?} {said}");

        let (reader, writer) = std::io::pipe().expect("there are pipes");
        drop(reader);
        let mut closed = command(&folder, arguments);
        let output = closed.stdout(Stdio::from(writer)).output().expect("chartc starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(matches!(output.status.code(), Some(0 | 1)), "{arguments:?} {said}");
        assert!(said.is_empty(), "{arguments:?} {said}");
    }
}
