//! Peak memory of one check, in a process of its own: what the operating system counts, so nothing is in the way of the clock.

use crate::shape::SHAPES;
use crate::{emitter, synthetic};
use chartc::load::Memory;
use std::process::Command;

/// Bytes that checking a chart of so many states needs at its peak, beyond its text; `None` where nothing tells.
pub(crate) fn of_check(shape: &str, states: usize) -> Option<u64> {
    told(&["memory", shape, &states.to_string()])
}

/// The same for checking it and emitting its Rust, which is part of it.
pub(crate) fn of_emit(states: usize) -> Option<u64> {
    told(&["emitted", &states.to_string()])
}

fn told(arguments: &[&str]) -> Option<u64> {
    let program = std::env::current_exe().ok()?;
    let output = Command::new(program).args(arguments).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}

/// Prints what a check of a chart of this shape needs in this process.
pub(crate) fn report(shape: &str, states: usize) {
    let made = SHAPES.iter().find(|(name, _)| *name == shape).map(|(_, make)| make(states));
    match made {
        Some(text) => print(&text, |loader| drop(emitter::checked(loader))),
        None => eprintln!("there is no shape {shape}"),
    }
}

/// Prints what a check and its emission need in this process.
pub(crate) fn report_emit(states: usize) {
    print(&synthetic::chart(states), |loader| drop(emitter::emitted(&emitter::checked(loader))));
}

fn print(text: &str, work: impl FnOnce(&Memory)) {
    let loader = Memory::of("synthetic.chart", text);
    let before = peak();
    work(&loader);
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
