//! Peak memory of one check, in a process of its own: what the operating system counts, so nothing is in the way of the clock.

use crate::synthetic;
use chartc::load::Memory;
use std::process::Command;

/// Bytes that checking a chart of so many states needs at its peak, beyond its text; `None` where nothing tells.
pub(crate) fn of_check(states: usize) -> Option<u64> {
    let program = std::env::current_exe().ok()?;
    let output = Command::new(program).args(["memory", &states.to_string()]).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}

/// Prints it for this process.
pub(crate) fn report(states: usize) {
    let loader = Memory::of("synthetic.chart", &synthetic::chart(states));
    let before = peak();
    let done = chartc::check(&["synthetic.chart".to_owned()], &loader);
    assert_eq!(done.charts.len(), 1, "synthetic charts are sound");
    if let (Some(before), Some(after)) = (before, peak()) {
        println!("{}", after - before);
    }
}

/// The most resident bytes that this process had so far.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kib| kib * 1024)
}
