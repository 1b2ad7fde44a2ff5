//! `callgrind`: instructions for an event, counted by valgrind, which no other load on the machine changes.

use crate::subjects::{NAMES, all};
use std::process::Command;

/// Two runs of so many events: what they differ by is the events' alone.
const COUNTS: [usize; 2] = [4_096, 36_864];

pub(crate) fn run(machine: Option<&str>) {
    if Command::new("valgrind").arg("--version").output().is_err() {
        return println!("skipped, valgrind not found");
    }
    let rivals = all();
    println!("instructions for an event, random stream (ratio to hand)");
    print!("{:<12}", "");
    let wanted = || rivals.iter().filter(|r| machine.is_none_or(|name| name == r.machine));
    for rivals in wanted() {
        print!(" {:>16}", rivals.machine);
    }
    println!();
    let mut hand = Vec::new();
    for name in NAMES {
        print!("{name:<12}");
        for (column, rivals) in wanted().enumerate() {
            let has = rivals.subjects.iter().any(|subject| subject.name == name);
            let count = if has { counted(name, rivals.machine) } else { None };
            if name == "hand" {
                hand.push(count);
            }
            let ratio = count.zip(hand[column]).map(|(own, hand)| own / hand);
            let cell = count.zip(ratio).map(|(count, ratio)| format!("{count:.1} ({ratio:.2})"));
            print!(" {:>16}", cell.unwrap_or("-".to_owned()));
        }
        println!();
    }
}

fn counted(name: &str, machine: &str) -> Option<f64> {
    let [few, many] = COUNTS.map(|count| collected(name, machine, count));
    Some((many? - few?) as f64 / (COUNTS[1] - COUNTS[0]) as f64)
}

/// Instructions of a whole run.
fn collected(name: &str, machine: &str, count: usize) -> Option<i64> {
    let program = std::env::current_exe().ok()?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(["dispatch", "--only", name, "--machine", machine, "--events", &count.to_string()])
        .output()
        .ok()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let line = said.lines().find_map(|line| line.split_once("Collected : "))?;
    line.1.trim().parse().ok()
}
